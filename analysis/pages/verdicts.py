"""The verdicts of a run: one word for each comparison, with its interval; then the gate.

The two may differ, for they ask different things: a verdict whether a change is real, a gate of
kind point whether a median lies beyond its bound. Where they do, it is said what each means.
"""

from __future__ import annotations

from collections import Counter

from analysis.cells.pairing import Pair
from analysis.judgement import judged
from analysis.judgement.judged import CPU, Judged
from analysis.judgement.study import Study
from analysis.judgement.verdicts import (
    ALPHA,
    BETTER,
    EQUIVALENT,
    INCONCLUSIVE,
    MARGIN,
    WORSE,
)
from analysis.pages import floor, gate
from analysis.pages.blocks import Block, Table
from analysis.pages.ratios import ends, number
from analysis.statistics.ranks import REPETITIONS_MIN, RankTest

TITLES = [
    "place",
    "number",
    "ratio",
    "95 % interval",
    "bootstrap",
    "p (Holm)",
    "blocks",
]
RANK_TITLES = ["Wilcoxon p", "Mann-Whitney p"]
WORDS = (BETTER, WORSE, EQUIVALENT, INCONCLUSIVE)
MEANING = (
    f"better, worse: the ratio is not 1, with p at most {ALPHA:g} after Holm's correction for all"
    f" that are judged together; equivalent: the whole 95 % interval lies within {MARGIN:.0%} of 1;"
    " inconclusive: neither, which does not say that they are equal."
)
BY_RANK = (
    "By rank, beside the interval: Wilcoxon's signed ranks over the shared runs and Mann-Whitney's"
    " test of both sides, two-sided, without correction, where there are"
    f" {REPETITIONS_MIN} runs or more. They decide nothing."
)


def blocks(study: Study) -> list[Block]:
    """Verdicts, the gate where variants ran, the noise floor that an A/A run found; nothing where
    nothing was compared."""
    made = []
    if study.judged:
        made.append(Block("Verdicts", [*_lines(study), *a_a(study)], _table(study.judged)))
    if study.pairs or study.gate.gate.stated:
        made.append(gate.block(study))
    if study.no_a_a is None and study.calibration is not None:
        made.append(floor.block(study.calibration))
    return made


def _lines(study: Study) -> list[str]:
    """How many were judged, what the words mean, how often each fell."""
    rows = study.judged
    with_interval = sum(row.ratio.low is not None for row in rows)
    fallen = Counter(row.verdict.word for row in rows)
    lines = [
        (
            f"Judged together: {judged.family(rows)}, of which {with_interval} have an interval; a"
            " block is one run, with a server's boot a side."
        ),
        MEANING,
        f"Here: {', '.join(f'{fallen[word]} {word}' for word in WORDS if fallen[word])}.",
    ]
    if any(row.measure == CPU for row in rows):
        lines.append("Of CPU per request less is better.")
    return [*lines, BY_RANK] if _has_ranks(rows) else lines


def a_a(study: Study) -> list[str]:
    """Of an A/A run, whether it found what cannot be there."""
    if study.no_a_a is not None:
        return []
    wrong = study.false_alarms
    if not wrong:
        return [
            "This is an A/A run: both variants are one program with the same settings, and no"
            " verdict tells them apart, as it should be."
        ]
    places = ", ".join(f"{row.measure} of {row.where}: {row.verdict.word}" for row in wrong)
    return [
        f"SOMETHING IS WRONG: this is an A/A run, both variants are one program with the same"
        f" settings, and yet {places}. Chance does this in at most {ALPHA:.0%} of A/A runs. Look"
        " at the order of the samples, at drift, and at what else ran; believe no other verdict of"
        " this host until another A/A run is clean."
    ]


def _table(rows: list[Judged]) -> Table:
    several = len({row.of.name for row in rows if isinstance(row.of, Pair)}) > 1
    by_rank = _has_ranks(rows)
    titles = [*TITLES, *(RANK_TITLES if by_rank else []), "verdict"]
    table = [
        [*_row(row, several), *(_ranks(row) if by_rank else []), row.verdict.word] for row in rows
    ]
    return Table(titles, table, left=2, words=frozenset({"verdict"}))


def _has_ranks(rows: list[Judged]) -> bool:
    return any(test.p is not None for row in rows for test in row.rank_tests)


def _ranks(row: Judged) -> list[str]:
    """p of both tests; Wilcoxon's is of shared runs alone."""
    *paired, both = row.rank_tests
    return [_p(paired[0]) if paired else "n/a (no shared runs)", _p(both)]


def _p(test: RankTest) -> str:
    return f"n/a ({test.reason})" if test.p is None else _shown_p(test.p)


def _shown_p(p: float) -> str:
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _row(row: Judged, several: bool) -> list[str]:
    ratio, boot, p = row.ratio, row.ratio.boot, row.verdict.p_adjusted
    name = f" ({row.of.name})" if several and isinstance(row.of, Pair) else ""
    return [
        row.where + name,
        row.measure,
        number(ratio.ratio) or f"n/a ({ratio.reason})",
        ends(ratio.low, ratio.high) or f"n/a ({ratio.reason})",
        ends(boot.low, boot.high) or f"n/a ({boot.reason})",
        "n/a (no interval)" if p is None else _shown_p(p),
        str(ratio.blocks) if ratio.blocks else f"{ratio.n_new} + {ratio.n_base}, not paired",
    ]
