"""What a claim may be about: the column that shows it, and the number that one boot has of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Callable

from analysis.cells.columns import COLUMNS, Column, MEDIANS, PERCENTILES
from analysis.inputs.load import Sample


@dataclass(frozen=True)
class Metric:
    """`of` gives None where the boot does not know its number."""

    name: str
    column: str  # of the aggregate: a median over samples, or of the merged histograms
    of: Callable[[Sample], float | None]
    counted: bool = False  # the delivery decides it, so that boots may agree to the last digit
    percentile: bool = False

    @property
    def title(self) -> str:
        """As the tables have it, e.g. "requests/s"."""
        return self._shown_as.title

    def show(self, number: float) -> str:
        """A number of it as the tables have it, e.g. "1,234"."""
        return f"{number:,.{self._shown_as.digits}f}"

    @property
    def _shown_as(self) -> Column:
        return next(column for column in COLUMNS if column.name == self.column)


def _of_server(name: str, sample: Sample) -> float | None:
    return sample.find(*MEDIANS[name])[0]


def _percentile(kind: str, key: str, sample: Sample) -> float | None:
    """In microseconds, of one boot's own histogram."""
    histogram = sample.service if kind == "service" else sample.intended
    return None if histogram is None else histogram.percentile_ns(PERCENTILES[key]) / 1000


_COUNTED = ("responses_per_write", "bytes_per_write", "segments_out_per_request")
_MEASURED = (
    *("os_cpu_us_per_request", "busy_us_per_request", "core_us_per_request"),
    *("syscalls_per_request", "rss_peak_kib"),
)
_PERCENTILES = (
    *(("service", key) for key in ("p50", "p99", "p999")),
    *(("intended", key) for key in ("p50", "p99")),
)

METRICS = {
    metric.name: metric
    for metric in (
        Metric("rps", "rps_median", lambda sample: sample.rps),
        *(
            Metric(name, name, functools.partial(_of_server, name), counted=name in _COUNTED)
            for name in (*_COUNTED, *_MEASURED)
        ),
        *(
            Metric(
                f"{kind}_{key}_us",
                f"{kind}_{key}_us",
                functools.partial(_percentile, kind, key),
                percentile=True,
            )
            for kind, key in _PERCENTILES
        ),
    )
}
