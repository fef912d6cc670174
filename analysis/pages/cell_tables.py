"""The cells as tables for people: one row a cell, its numbers, the reasons of unknown ones."""

from __future__ import annotations

from analysis.cells import words
from analysis.cells.aggregate import Aggregate, Cell, Value
from analysis.cells.columns import COLUMNS, Column
from analysis.judgement.study import Study
from analysis.pages.blocks import Block, Table, aligned

SHOWN = [column for column in COLUMNS if column.in_text]
KERNEL = [column for column in COLUMNS if column.of_kernel]
N_ABOUT = "n: valid samples of all; a sample is one server's boot"
KERNEL_ABOUT = "Per request, on the server's CPUs."


def blocks(study: Study) -> list[Block]:
    """The cells, and what their columns are."""
    return [
        Block("Cells", [], _table(study.found, SHOWN)),
        Block("What the columns are", [N_ABOUT, *about(SHOWN)], folded=True),
    ]


def kernel(study: Study) -> list[Block]:
    """What the kernel was asked for."""
    return [
        Block("What the kernel was asked for", [KERNEL_ABOUT], _table(study.found, KERNEL)),
        Block("What the kernel's columns are", [N_ABOUT, *about(KERNEL)], folded=True),
    ]


def _table(found: Aggregate, columns: list[Column]) -> Table:
    rows = [
        [
            *shown_levels(found, cell),
            cell.n,
            *(
                shown(column, cell.values[column.name]) or na(cell.values[column.name])
                for column in columns
            ),
        ]
        for cell in found.cells
    ]
    return Table(_titles(found, columns), rows, len(found.factors))


def _titles(found: Aggregate, columns: list[Column]) -> list[str]:
    return [*found.factors, "n", *(column.title for column in columns)]


def shown_levels(found: Aggregate, cell: Cell) -> list[str]:
    """The cell's level of each varied factor as people read it."""
    return [words.level_of(name, level) for name, level in zip(found.factors, cell.levels)]


def shown(column: Column, value: Value) -> str | None:
    """A known value for people, e.g. "1,234.5"; None if unknown."""
    return None if value.number is None else f"{value.number * column.scale:,.{column.digits}f}"


def na(value: Value) -> str:
    """The one form of an unknown value."""
    return f"n/a ({value.reason})"


def about(columns: list[Column]) -> list[str]:
    """A line a column: what it is."""
    return [f"{column.title}: {column.about}" for column in columns]


def as_text(found: Aggregate, columns: list[Column]) -> str:
    """These columns, aligned; reasons of unknown values as numbered notes beneath."""
    notes: list[str] = []
    rows = [
        [
            *shown_levels(found, cell),
            cell.n,
            *(_noted(column, cell.values[column.name], notes) for column in columns),
        ]
        for cell in found.cells
    ]
    lines = aligned(Table(_titles(found, columns), rows, len(found.factors)))
    numbered = [f"[{place}] {note}" for place, note in enumerate(notes, start=1)]
    return "\n".join(lines + numbered) + "\n"


def _noted(column: Column, value: Value, notes: list[str]) -> str:
    text = shown(column, value)
    if text is not None:
        return text
    if na(value) not in notes:
        notes.append(na(value))
    return f"n/a [{notes.index(na(value)) + 1}]"
