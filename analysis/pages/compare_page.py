"""The page of two results beside each other."""

from __future__ import annotations

from typing import Sequence

from analysis.cells.aggregate import Cell
from analysis.cells.columns import COLUMNS, Column
from analysis.cells.words import capital, chance, count, ends_of, point_of, sample_size
from analysis.figures.canvas import Drawing
from analysis.inputs.load import Result
from analysis.judgement.across import SIDES, Across
from analysis.judgement.caveats import Caveat
from analysis.judgement.judged import CPU, RPS, Judged
from analysis.pages import gate
from analysis.pages.blocks import Block, Table
from analysis.pages.page import Page, Section

WHY = frozenset({"why"})
SHOWN = [
    column
    for column in COLUMNS
    if column.name in ("rps_median", "rps_min", "rps_max", "rps_cv", "service_p99_us")
]


def page(of: Across, forced: bool, drawings: Sequence[Drawing]) -> Page:
    """Verdicts first, then what they rest on."""
    return Page(
        title=f"{name(of.new.result)} against {name(of.base.result)}",
        sections=[
            Section("verdicts", "Verdicts", verdicts(of)),
            Section("gate", gate.title(of.gate), [gate.block(of.gate, gate.calibrated(of.new.result, of.calibration))]),
            Section("spread", "Both sides", spread(of)),
            Section("figures", "Figures", [], list(drawings)),
            Section("unmatched", "What has no counterpart", unmatched(of)),
            Section("method", "How it was compared", method(of)),
            Section("files", "Files", files(of)),
        ],
        banner=banner(of),
        answer=answer(of),
        stamp=stamp(of) if forced else "",
    )


def name(result: Result) -> str:
    """The result's own name, that of its folder."""
    return result.path.resolve().name


def stamp(of: Across) -> str:
    """What a page and a figure say that were made against a refusal; empty where there is none."""
    what = ", ".join(dict.fromkeys(one.what for one in of.refused))
    return f"Forced: not comparable ({what})" if what else ""


def banner(of: Across) -> list[Caveat]:
    """What speaks against the comparison, then against each result."""
    found = [Caveat("not comparable", one.sentence) for one in of.refused]
    return found + of.doubts + _of_sides([study.caveats for study in (of.base, of.new)])


def _of_sides(caveats: Sequence[list[Caveat]]) -> list[Caveat]:
    """What speaks against both once, with both details where these differ; then against one."""
    found = {}
    for side, owns in zip(SIDES, caveats):
        for one in owns:
            found.setdefault(one.what, []).append((side, one.detail))
    made = []
    for what, told in sorted(found.items(), key=lambda one: -len({side for side, _ in one[1]})):
        sides, details = (list(dict.fromkeys(column)) for column in zip(*told))
        detail = details[0]
        if len(details) > 1:
            detail = "; ".join(f"{side}: {text}" for side, text in told)
        made.append(Caveat(f"{sides[0] if len(sides) == 1 else 'both sides'}: {what}", detail))
    return made


def answer(of: Across) -> list[str]:
    """What to know before, then how many cells have which word."""
    lines = [f"{capital(one.what)}: {one.detail}." for one in of.doubts]
    for measure in (RPS, CPU):
        words = [row.verdict.word for row in of.judged if row.measure == measure]
        told = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        lines.append(f"{measure} in {count(len(words), 'cell')}: {told}.")
    if of.asked is not None:
        lines.append(f"Gate ({of.gate.gate.kind}): {of.gate.word}.")
    return lines


def verdicts(of: Across) -> list[Block]:
    """A table for each number that is judged."""
    judged = of.judged[0].verdict.judged if of.judged else 0
    known = (
        f"{count(judged, 'ratio')} judged together, p after Holm's correction for all of them. A"
        " ratio is the new result's geometric mean over the base's; better and worse are the new"
        " one's."
    )
    return [Block("", [known]), *(_verdicts(of, measure) for measure in (RPS, CPU))]


def _verdicts(of: Across, measure: str) -> Block:
    titles = ["place", "verdict", "base", "new", "ratio", "95 % interval", "n", "p", "why"]
    rows = [_row(row) for row in of.judged if row.measure == measure]
    kinds = sorted({pair.cpu_column for pair in of.pairs})
    lines = [f"CPU per request is {' or '.join(kinds)}, in µs; medians."] if measure == CPU else []
    return Block(measure, lines or ["Medians of the samples."], Table(titles, rows, 2, WHY))


def _row(row: Judged) -> list[str]:
    pair, ratio = row.of, row.ratio
    column, form = ("rps_median", "{:,.0f}") if row.measure == RPS else (pair.cpu_column, "{:,.3f}")
    p = row.verdict.p_adjusted
    return [
        pair.place,
        row.verdict.word,
        *(_value(cell, column, form) for cell in (pair.base, pair.new)),
        point_of(ratio),
        ends_of(ratio),
        sample_size(ratio),
        f"n/a ({ratio.reason})" if p is None else chance(p),
        row.verdict.why,
    ]


def _value(cell: Cell, column: str, form: str) -> str:
    value = cell.values[column]
    return f"n/a ({value.reason})" if value.number is None else form.format(value.number)


def spread(of: Across) -> list[Block]:
    """Both cells of each pair, one below the other."""
    titles = ["place", "side", "n", *(column.title for column in SHOWN)]
    rows = [
        [pair.place, side, cell.n, *(_shown(cell, column) for column in SHOWN)]
        for pair in of.pairs
        for side, cell in zip(SIDES, (pair.base, pair.new))
    ]
    about = [f"{column.title}: {column.about}" for column in SHOWN]
    return [Block("", ["n: valid samples of all", *about], Table(titles, rows, 2))]


def _shown(cell: Cell, column: Column) -> str:
    value = cell.values[column.name]
    if value.number is None:
        return f"n/a ({value.reason})"
    return f"{value.number * column.scale:,.{column.digits}f}"


def unmatched(of: Across) -> list[Block]:
    """Cells of one side alone, and settings that were not looked at."""
    lines = [f"{SIDES[one.result]}: {one.cell.variant}: {one.why}" for one in of.matching.unmatched]
    named = {id(one.cell) for one in of.matching.unmatched}
    for row in of.matching.rows:
        for side, cell, other in zip(SIDES, row.cells, reversed(row.cells)):
            if cell is not None and other is None and id(cell) not in named:
                lines.append(f"{side}: {cell.variant}: the other has no one cell of these settings")
    if of.matching.unstated:
        names = ", ".join(of.matching.unstated)
        lines.append(f"Settings that one side does not state, and so were not compared: {names}")
    return [Block("", lines)] if lines else []


def method(of: Across) -> list[Block]:
    """When each was measured, and what the interval is of."""
    lines = [
        f"{side}: {name(study.result)}, {when(study.result)}, commit"
        f" {study.result.commit_of() or 'n/a (not recorded)'}"
        for side, study in zip(SIDES, (of.base, of.new))
    ]
    lines.append(
        "The unit of evidence is the server's boot. The boots of the two results did not take"
        " turns: the interval is Welch's over the boots of each side, and holds what varied while"
        " each was measured, not what changed between them."
    )
    lines.append(
        "To learn of a change without that doubt, measure both as variants of one experiment"
        " (docs/variants.md)."
    )
    return [Block("", lines)]


def when(result: Result) -> str:
    """E.g. "first sample 2026-01-01T00:00:00Z, last 2026-01-01T00:03:00Z"."""
    if result.measured is None:
        return "measured n/a (not recorded)"
    first, last = result.measured
    return f"first sample {first}, last {last}"


def files(of: Across) -> list[Block]:
    """The inputs' manifests, by which each is known again."""
    rows = []
    for side, study in zip(SIDES, (of.base, of.new)):
        entry = study.result.hashes.get("results.jsonl")
        rows.append(
            [
                side,
                name(study.result),
                entry["sha256"] if entry else "n/a (no manifest)",
            ]
        )
    return [Block("", [], Table(["side", "result", "SHA-256 of results.jsonl"], rows, 3))]
