"""csv_rows: rows as CSV for programs: numbers to nine digits, an unknown value as an empty field."""

from __future__ import annotations

import csv
import io
from typing import Any, Iterable, Sequence


def csv_of(titles: Sequence[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """The titles in the first line, then a line a row."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([_field(value) for value in row] for row in rows)
    return out.getvalue().encode()


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.9g}" if isinstance(value, float) else str(value)
