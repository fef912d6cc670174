"""aggregate.csv: the cells for programs."""

from __future__ import annotations

import json
from typing import Any

from analysis.cells.aggregate import Aggregate, Cell
from analysis.cells.columns import COLUMNS
from analysis.pages.cell_tables import na
from analysis.pages.csv_rows import csv_of


def csv_bytes(found: Aggregate) -> bytes:
    """One row a cell; an unknown value is an empty field, its reason stands in `missing`."""
    settings = list(dict.fromkeys(name for cell in found.cells for name in cell.settings))
    # `variant` was the cell's name before there was an axis of that name, and stays so.
    titles = ["variant_level" if name == "variant" else name for name in settings]
    columns = [column.name for column in COLUMNS]
    rows = [
        [
            cell.variant,
            *(_plain(cell.settings.get(name)) for name in settings),
            len(cell.valid),
            len(cell.samples),
            *(cell.values[name].number for name in columns),
            cell.peak_since,
            _missing(cell),
        ]
        for cell in found.cells
    ]
    return csv_of(["variant", *titles, "n_valid", "n", *columns, "rss_peak_since", "missing"], rows)


def _missing(cell: Cell) -> str:
    """Which columns are not known, and why."""
    unknown = [name for name in cell.values if cell.values[name].number is None]
    names = [column.name for column in COLUMNS if column.name in unknown]
    return "; ".join(f"{name}: {na(cell.values[name])}" for name in names)


def _plain(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
