"""Series: the cells that a line joins, with their look and name, and the words that figures share.

Stacks differ by colour and marker, delivery policies by line; where there is one stack, variants
take the colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.cells import words
from analysis.cells.aggregate import Aggregate, Cell
from analysis.cells.labels import short
from analysis.cells.words import describe
from analysis.figures.style import LINES, MARKERS, PALETTE, PAPER
from analysis.inputs.load import Result
from analysis.inputs.shapes import is_number

COLOURED = ("stack", "variant", "scenario")


@dataclass(frozen=True)
class Series:
    """Cells that differ in the x factor only, with their look."""

    label: str
    colour: int  # place of its stack, or whatever colours tell apart, among the run's
    cells: list[Cell]
    look: dict[str, Any]

    @property
    def line(self) -> dict[str, Any]:
        """The look of its line alone."""
        return {name: self.look[name] for name in ("color", "linestyle")}


def series_of(found: Aggregate, x_factor: str | None) -> list[Series]:
    """Cells with valid samples by all varied factors but `x_factor`."""
    names = [name for name in found.factors if name != x_factor]
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in found.cells:
        if cell.valid:
            groups.setdefault(tuple(cell.settings[name] for name in names), []).append(cell)
    by = colour_factor(found)
    rest = list(dict.fromkeys(_without(names, by, levels) for levels in groups))
    colours = list(dict.fromkeys(_first(names, by, levels) for levels in groups))
    series = []
    for levels, cells in groups.items():
        colour = colours.index(_first(names, by, levels))
        look = look_of(colour, rest.index(_without(names, by, levels)))
        label = " ".join(
            short(name, level, found.factors[name]) for name, level in zip(names, levels)
        )
        series.append(Series(label or "all", colour, cells, look))
    return series


def colour_factor(found: Aggregate) -> str:
    """What colours tell apart: stacks; where they do not differ, variants, then scenarios."""
    several = [name for name in COLOURED if len(found.factors.get(name, [])) > 1]
    return several[0] if several else "stack"


def _first(names: list[str], wanted: str, levels: tuple[Any, ...]) -> Any:
    return levels[names.index(wanted)] if wanted in names else None


def _without(names: list[str], unwanted: str, levels: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(level for name, level in zip(names, levels) if name != unwanted)


def look_of(colour: int, rest: int) -> dict[str, Any]:
    """The look of a series by its place among colours, and among what else differs."""
    color = PALETTE[colour % len(PALETTE)]
    return {
        "color": color,
        "marker": MARKERS[colour % len(MARKERS)],
        "linestyle": LINES[rest % len(LINES)],
        "markerfacecolor": color if rest % 2 == 0 else PAPER,
        "zorder": 3 - 0.1 * colour,
    }


def x_factor(found: Aggregate) -> str | None:
    """Depth where it varies; else the first varied factor that is a number."""
    numeric = [name for name, levels in found.factors.items() if is_numeric(levels)]
    return "depth" if "depth" in numeric else numeric[0] if numeric else None


def panel_factor(found: Aggregate) -> str | None:
    """What has a panel, or a figure, for each of its levels: scenarios; where they do not differ,
    the x factor."""
    scenarios = found.factors.get("scenario", [])
    return "scenario" if len(scenarios) > 1 else x_factor(found)


def is_numeric(levels: list[Any]) -> bool:
    """Whether a factor varies, and in numbers above 0."""
    return len(levels) > 1 and all(is_number(level) and level > 0 for level in levels)


def note(result: Result, cells: list[Cell]) -> str:
    """How many samples stand behind a figure of these cells."""
    sizes = sorted({len(cell.valid) for cell in cells if cell.valid})
    each = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    noun = "sample" if sizes == [1] else "samples"
    return f"n = {each} {noun} a cell; {len(result.valid)} of {len(result.samples)} valid"


# Units of factors whose names do not carry them.
UNITS = {
    "depth": "pipeline depth (requests)",
    "connections": "connections",
    "rate": "offered rate (requests/s)",
    "response_bytes": "response size (B)",
    "request_bytes": "request size (B)",
    "workers": "workers",
}


def axis_label(factor: str) -> str:
    """A factor as the name of an axis, with its unit."""
    return UNITS.get(factor, factor.replace("_", " "))


def capital(factor: str) -> str:
    """A factor's name at the head of a caption, e.g. "Response bytes"."""
    return words.capital(words.factor_of(factor))


def name_of(factor: str, level: Any, levels: list[Any]) -> str:
    """A level in words, a stack as short as it is told from the others."""
    if factor in ("stack", "client_stack"):
        return short(factor, level, levels)
    return describe(factor, level)


def label_of(found: Aggregate, cell: Cell) -> str:
    """A cell among the run's by what varies, e.g. "epoll coalesce d8"."""
    named = [
        short(name, cell.settings[name], levels)
        for name, levels in found.factors.items()
        if len(levels) > 1
    ]
    return " ".join(named) or cell.variant


def spread_aside(count: int) -> list[float]:
    """Factors that set the dots of one cell side by side on a log axis."""
    step = min(0.07, 0.4 / max(count - 1, 1))
    return [2 ** (step * (place - (count - 1) / 2)) for place in range(count)]
