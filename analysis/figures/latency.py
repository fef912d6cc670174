"""Latency by percentile, from merged histograms."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from analysis.figures.axes import log_y, percentile_axis, tick_us
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import Series, capital, note, series_of, x_factor
from analysis.figures.style import Width
from analysis.judgement.study import Study

# More scenarios than this are read in tables.
SCENARIOS_MAX = 12


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """One figure for each scenario, or each level of the x factor where there are none."""
    found = study.found
    scenarios = found.factors.get("scenario", [])
    factor = "scenario" if len(scenarios) > 1 else x_factor(found)
    if len(scenarios) > SCENARIOS_MAX:
        return
    for level in found.factors[factor] if factor else [None]:
        cells = [cell for cell in found.cells if factor is None or cell.settings[factor] == level]
        if not any(cell.valid for cell in cells):
            continue
        where = f", {factor.replace('_', ' ')} {level}" if factor else ""
        canvas = new_canvas(f"Latency by percentile{where}", "percentile", "service time", width)
        ends = [_plot(canvas, series, factor, level) for series in series_of(found, factor)]
        percentile_axis(canvas, max(ends))
        log_y(canvas, tick_us)
        caption = (
            (f"{capital(factor)} {level}. " if factor else "")
            + "From the merged histograms of each cell's valid samples; a curve ends where"
            " fewer than 10 values lie beyond it."
        )
        name = f"latency-{factor.replace('_', '-')}-{level}" if factor else "latency"
        yield finish(canvas, name, caption, note(study.result, cells))


def _plot(canvas: Canvas, series: Series, factor: str | None, level: Any) -> float:
    """Draws a series' curve at `level`; returns how far it reaches as 1 / (1 - quantile)."""
    reach = 1.0
    for cell in series.cells:
        if factor is not None and cell.settings[factor] != level:
            continue
        quantiles, values_ns = cell.percentiles().curve()
        if not len(quantiles):
            continue
        xs, ys = 1 / (1 - quantiles), values_ns / 1000
        canvas.axes.plot(
            np.concatenate([[1], xs]),
            np.concatenate([ys[:1], ys]),
            label=series.label,
            drawstyle="steps-pre",
            **series.line,
        )
        for quantile in (0.5, 0.9, 0.99, 0.999):
            value_us = cell.percentiles().percentile_ns(quantile) / 1000
            if quantile <= quantiles[-1]:
                tip = f"{series.label}\np{100 * quantile:g}: {value_us:,.1f} µs"
                look = series.look | {"markersize": 2.5}
                canvas.dots([1 / (1 - quantile)], [value_us], [tip], **look)
        reach = max(reach, float(xs[-1]))
    return reach
