"""aggregate.csv: the cells for programs."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from analysis.cells.aggregate import Aggregate, Cell, Value
from analysis.cells.columns import COLUMNS
from analysis.pages.cell_tables import na


def csv_bytes(found: Aggregate) -> bytes:
    """One row a cell; an unknown value is an empty field, its reason stands in `missing`."""
    settings = list(dict.fromkeys(name for cell in found.cells for name in cell.settings))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    # `variant` was the cell's name before there was an axis of that name, and stays so.
    titles = ["variant_level" if name == "variant" else name for name in settings]
    columns = [column.name for column in COLUMNS]
    writer.writerow(
        ["variant", *titles, "n_valid", "n", *columns, "rss_peak_since", "missing"]
    )
    for cell in found.cells:
        writer.writerow(
            [
                cell.variant,
                *(_plain(cell.settings.get(name)) for name in settings),
                len(cell.valid),
                len(cell.samples),
                *(_number(cell.values[name]) for name in columns),
                cell.peak_since or "",
                _missing(cell),
            ]
        )
    return out.getvalue().encode()


def _missing(cell: Cell) -> str:
    """Which columns are not known, and why."""
    unknown = [name for name in cell.values if cell.values[name].number is None]
    names = [column.name for column in COLUMNS if column.name in unknown]
    return "; ".join(f"{name}: {na(cell.values[name])}" for name in names)


def _plain(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _number(value: Value) -> str:
    return "" if value.number is None else f"{value.number:.9g}"
