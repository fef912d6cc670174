"""A cell's latency spectrum, its boots being the samples."""

from __future__ import annotations

from typing import Literal, Sequence

from analysis.cells.aggregate import Cell
from analysis.statistics.spectrum import Counts, Spectrum, spectrum

Kind = Literal["service", "intended"]


def spectrum_of(cell: Cell, kind: Kind, quantiles: Sequence[float]) -> Spectrum | None:
    """Of service times, or of response times from the intended send; None where no sample is valid
    or one of them did not record these."""
    merged = cell.service if kind == "service" else cell.intended
    if merged is None:
        return None
    own = [sample.service if kind == "service" else sample.intended for sample in cell.valid]
    return spectrum([Counts(one.values_ns, one.counts) for one in own if one], quantiles)
