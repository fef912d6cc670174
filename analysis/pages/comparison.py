"""The variants side by side: requests/s and CPU, spread, latency, memory, and what stands out. Which
they are and how they were measured stands before it; the verdicts and the gate have parts of their
own."""

from __future__ import annotations

import math

from analysis.cells import pairing
from analysis.cells.aggregate import Cell
from analysis.cells.pairing import KIB_IN_MIB, Measure, Pair
from analysis.judgement.study import Study
from analysis.pages import gate, variants
from analysis.pages.blocks import Block, Table
from analysis.pages.gate import place_noun


def blocks(study: Study) -> list[Block]:
    """The comparison as parts to be read in this order; none where no two variants ran."""
    result, found, pairs = study.result, study.found, study.pairs
    if not pairs:
        return []
    return [
        *variants.blocks(result, found),
        *_tables(study),
        Block("Spread of the runs, requests/s", _spread(pairs)),
        Block("Latency, from the merged histograms", [], _latency(pairs, place_noun(found))),
        Block("Peak resident memory of the server", _memory(pairs)),
        Block("What stands out", _observations(pairs)),
        variants.where(result),
    ]


def _cpu(rows: list[Pair]) -> list[str]:
    """Which meaning of CPU per request stands where in a variant's table."""
    meanings: dict[tuple[str, str], list[str]] = {}
    for pair in rows:
        meanings.setdefault((pair.cpu_column, pair.cpu_why), []).append(pair.place)
    return [
        f"CPU per request is {column.removesuffix('_per_request')}"
        f" {'everywhere' if len(meanings) == 1 else ', '.join(places)}: {why}."
        for (column, why), places in meanings.items()
    ]


def _place(pair: Pair, pairs: list[Pair]) -> str:
    """Where a pair stands, with the variant's name if several are judged."""
    several = len({pair.name for pair in pairs}) > 1
    return f"{pair.place} ({pair.name})" if several else pair.place


def _tables(study: Study) -> list[Block]:
    """One table a variant, as names of both sides stand in the titles."""
    made, outcome = [], study.gate
    word = gate.title(outcome).lower()
    texts = {
        (row.pair.name, row.pair.place): gate.word_of(row, outcome) for row in outcome.rows
    }
    for name in dict.fromkeys(pair.name for pair in study.pairs):
        rows = [pair for pair in study.pairs if pair.name == name]
        base = rows[0].base_name
        titles = [
            place_noun(study.found),
            f"{base} req/s",
            f"{name} req/s",
            f"{name} / {base}",
            f"cpu_us {base}",
            f"cpu_us {name}",
            f"cpu {name} / {base}",
            "n",
            word,
        ]
        cells = [[*_row(pair), texts.get((pair.name, pair.place), "none")] for pair in rows]
        table = Table(titles, cells, words=frozenset({word}))
        made.append(Block(f"{name} against {base}", _cpu(rows), table))
    return made


def _row(pair: Pair) -> list[str]:
    return [
        pair.place,
        shown(pair.base, "rps_median", 0),
        shown(pair.new, "rps_median", 0),
        _ratio(pair.rps.medians.number),
        shown(pair.base, pair.cpu_column, 3),
        shown(pair.new, pair.cpu_column, 3),
        _ratio(pair.cpu.medians.number),
        f"{pair.base.n} + {pair.new.n}",
    ]


def shown(cell: Cell, column: str, digits: int, scale: float = 1) -> str:
    """A column's value in a table of variants; "n/a" where it is unknown, for the gate says why."""
    number = cell.values[column].number
    return "n/a" if number is None else f"{number * scale:,.{digits}f}"


def _ratio(number: float | None) -> str:
    return "n/a" if number is None else f"{number:.3f}"


def _sides(pairs: list[Pair]) -> dict[str, list[tuple[str, Cell]]]:
    """Place to (variant, cell), the base first, each once."""
    sides: dict[str, list[tuple[str, Cell]]] = {}
    for pair in pairs:
        known = sides.setdefault(pair.place, [(pair.base_name, pair.base)])
        known.append((pair.name, pair.new))
    return sides


def _spread(pairs: list[Pair]) -> list[str]:
    return [
        f"{place}: " + "; ".join(f"{name} {_range(cell)}" for name, cell in sides) + "."
        for place, sides in _sides(pairs).items()
    ]


def _range(cell: Cell) -> str:
    """E.g. "75,170 to 77,079 (CV 0.9 %)"."""
    if not cell.valid:
        return "n/a (no valid sample)"
    spread = cell.values["rps_cv"]
    noise = f"n/a ({spread.reason})" if spread.number is None else f"{100 * spread.number:.1f} %"
    return f"{shown(cell, 'rps_min', 0)} to {shown(cell, 'rps_max', 0)} (CV {noise})"


def _latency(pairs: list[Pair], noun: str) -> Table:
    names = [name for name, _ in next(iter(_sides(pairs).values()))]
    keys = ("p50", "p99", "p999")
    titles = [noun]
    titles += [f"{key.replace('999', '99.9')} µs {name}" for key in keys for name in names]
    rows = [
        [place, *(shown(cell, f"service_{key}_us", 1) for key in keys for _, cell in sides)]
        for place, sides in _sides(pairs).items()
    ]
    return Table(titles, rows)


def _memory(pairs: list[Pair]) -> list[str]:
    """A line a pair, each of a peak that both sides have."""
    lines: list[str] = []
    kinds: list[str] = []
    for pair in pairs:
        common = pairing.memory(pair.base, pair.new)
        if common is None:
            lines.append(f"{_place(pair, pairs)}: n/a (no peak since the same time on both sides).")
            continue
        column, since = common
        kinds.append(since)
        sides = ((pair.base_name, pair.base), (pair.name, pair.new))
        peaks = "; ".join(f"{name} {_peak(cell, column)}" for name, cell in sides)
        lines.append(f"{_place(pair, pairs)}, since {since}: {peaks}.")
    return lines + [SINCE[since] for since in dict.fromkeys(kinds)]


SINCE = {
    "measurement start": (
        "Every sample has a server of its own, and its peak is set back when the measured window"
        " begins: nothing that an earlier scenario left is in it, and no peak of connecting or"
        " warm-up."
    ),
    "server start": (
        "Every sample has a server of its own, so nothing that an earlier scenario left is in it;"
        " but a peak since the server's start has connecting and warm-up in it, and is all that a"
        " server of an earlier commit knows."
    ),
}


def _peak(cell: Cell, column: str) -> str:
    """E.g. "median 43.1 MiB (42.9 to 43.4)"."""
    peak = cell.values[column]
    if peak.number is None:
        return f"n/a ({peak.reason})"
    low, median, high = (
        shown(cell, f"{column}{of}", 1, 1 / KIB_IN_MIB) for of in ("_min", "", "_max")
    )
    return f"median {median} MiB ({low} to {high})"


def _observations(pairs: list[Pair]) -> list[str]:
    """Which differences exceed the spread of the runs, in words that explain nothing."""
    lines, inside, unknown = [], [], []
    for pair in pairs:
        for measure in pairing.measures(pair):
            what = f"{measure.name} of {_place(pair, pairs)}"
            sides = pairing.ranges(pair, measure)
            if sides is None:
                unknown.append(what)
            elif pairing.apart(*sides) == 0:
                inside.append(what)
            else:
                how = _apart(pair, measure, *sides)
                lines.append(f"Outside the spread of the runs: {what}, {how}.")
    if inside:
        lines.append(f"Inside it, for the ranges of the runs meet: {', '.join(inside)}.")
    if unknown:
        lines.append(f"Not known, with fewer than two runs or no number: {', '.join(unknown)}.")
    return [*lines, *_chance(pairs), "Causes were not looked for."]


def _chance(pairs: list[Pair]) -> list[str]:
    """How often ranges of runs that are alike do not meet, so that nobody takes it for proof."""
    sizes = [(len(pair.base.valid), len(pair.new.valid)) for pair in pairs]
    sizes = [size for size in sizes if min(size) > 1]
    if not sizes:
        return []
    base, new = min(sizes, key=lambda size: math.comb(sum(size), size[0]))
    looked = len(sizes) * len(pairing.measures(pairs[0]))
    return [
        f"The ranges of {base} + {new} runs that are alike fail to meet by chance once in"
        f" {math.comb(base + new, base) / 2:,.0f} comparisons; {looked} were made here."
    ]


def _apart(pair: Pair, measure: Measure, base: list[float], new: list[float]) -> str:
    """E.g. "new above base in every run (46.00 to 51.00 against 44.00 to 45.00 MiB)"."""
    way = "above" if pairing.apart(base, new) > 0 else "below"
    ends = [
        " to ".join(measure.show.format(end * measure.scale) for end in (side[0], side[-1]))
        for side in (new, base)
    ]
    unit = f" {measure.unit}" if measure.unit else ""
    return f"{pair.name} {way} {pair.base_name} in every run ({ends[0]} against {ends[1]}{unit})"
