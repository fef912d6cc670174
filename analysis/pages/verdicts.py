"""The verdicts of a run: one word for each comparison, with its interval; then the gate.

The two may differ, for they ask different things: a verdict whether a change is real, a gate of
kind point whether a median lies beyond its bound. Where they do, it is said what each means.
"""

from __future__ import annotations

from collections import Counter

from analysis.cells.pairing import Pair
from analysis.cells.words import chance, ends_of, point_of, sample_size
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
from analysis.statistics.ranks import REPETITIONS_MIN, RankTest

TITLES = ["place", "number", "verdict", "ratio", "95 % interval", "p (Holm)", "n", "bootstrap"]
NUMBER = TITLES.index("number")
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
        made.append(gate.of_study(study))
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
            f"Judged together: {judged.family(rows)}, of which {with_interval} have an interval; n"
            " counts runs, with a server's boot a side, where these are paired, else boots."
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
        "This is an A/A run: both variants are one program with the same settings, and yet a verdict"
        f" tells them apart ({places}). Chance does so in at most {100 * ALPHA:.0f} of 100 such"
        " runs: run it again; twice running, something is wrong with the order of the samples, with"
        " drift, or with what else ran, and no other verdict of this host is to be believed."
    ]


def _table(rows: list[Judged]) -> Table:
    several = len({row.of.name for row in rows if isinstance(row.of, Pair)}) > 1
    by_rank = _has_ranks(rows)
    titles = [*TITLES, *(RANK_TITLES if by_rank else [])]
    table = [[*_row(row, several), *(_ranks(row) if by_rank else [])] for row in rows]
    if len({row.measure for row in rows}) == 1:  # the block's first line says which
        for line in (titles, *table):
            del line[NUMBER]
    return Table(titles, table, left=titles.index("verdict") + 1)


def _has_ranks(rows: list[Judged]) -> bool:
    return any(test.p is not None for row in rows for test in row.rank_tests)


def _ranks(row: Judged) -> list[str]:
    """p of both tests; Wilcoxon's is of shared runs alone."""
    *paired, both = row.rank_tests
    return [_p(paired[0]) if paired else "n/a (no shared runs)", _p(both)]


def _p(test: RankTest) -> str:
    return f"n/a ({test.reason})" if test.p is None else chance(test.p)


def _row(row: Judged, several: bool) -> list[str]:
    ratio, boot, p = row.ratio, row.ratio.boot, row.verdict.p_adjusted
    name = f" ({row.of.name})" if several and isinstance(row.of, Pair) else ""
    return [
        row.where + name,
        row.measure,
        row.verdict.word,
        point_of(ratio),
        ends_of(ratio),
        "n/a (no interval)" if p is None else chance(p),
        sample_size(ratio),
        ends_of(boot),
    ]
