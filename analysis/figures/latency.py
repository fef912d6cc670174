"""Latency: by percentile with its bounds, as shares below and above a value, and what a request
waits before it is sent."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from analysis.cells.aggregate import Cell
from analysis.cells.spectra import spectrum_of
from analysis.figures.axes import log_y, percentile_axis, row_names, tick_us
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.panels import panels
from analysis.figures.series import (
    Series,
    capital,
    is_numeric,
    label_of,
    name_of,
    note,
    panel_factor,
    series_of,
)
from analysis.figures.style import INK, PALETTE, Width
from analysis.judgement.study import Study
from analysis.statistics.spectrum import BEYOND_MIN, told

# Figures of levels, curves in one figure, rows of cells: what is beyond is read in tables.
LEVELS_MAX, CURVES_MAX, ROWS_MAX = 4, 8, 24
# Where bounds are drawn, each at 1 - 1 / this.
NINES = np.geomspace(1, 1e5, 31)
MARKED = (0.5, 0.9, 0.99, 0.999)
BAND_ALPHA = 0.18


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """A spectrum for each level of the factor that changes latency most plainly, at most
    LEVELS_MAX; the distribution at the last of these; response beside service time."""
    factor = panel_factor(study.found)
    levels = study.found.factors[factor] if factor else [None]
    measured = [level for level in levels if _at(study, factor, level)]
    if is_numeric(measured):
        measured.sort()
    shown = _chosen(measured)
    for level in shown:
        yield _spectrum(study, width, factor, level, len(measured) - len(shown))
    yield _distribution(study, width, factor, shown[-1])
    yield from _response(study, width)


def _chosen(levels: list[Any]) -> list[Any]:
    """All, or as many from the first to the last, evenly."""
    if len(levels) <= LEVELS_MAX:
        return levels
    return [levels[at] for at in np.linspace(0, len(levels) - 1, LEVELS_MAX).round().astype(int)]


def _at(study: Study, factor: str | None, level: Any) -> list[Cell]:
    """The cells with valid samples at a level."""
    return [
        cell
        for cell in study.found.cells
        if cell.valid and (factor is None or cell.settings[factor] == level)
    ]


def _curves(study: Study, factor: str | None, level: Any) -> tuple[list[tuple[Series, Cell]], int]:
    """(series with its cell at the level, how many more there are)."""
    found = [
        (series, cell)
        for series in series_of(study.found, factor)
        for cell in series.cells
        if factor is None or cell.settings[factor] == level
    ]
    return found[:CURVES_MAX], len(found) - len(found[:CURVES_MAX])


def _left_out(number: int, noun: str) -> str:
    return f" {number} more {noun} are in the tables only." if number > 0 else ""


# By percentile


def _spectrum(
    study: Study, width: Width, factor: str | None, level: Any, unseen: int
) -> Drawing:
    where = f", {name_of(factor, level, study.found.factors[factor])}" if factor else ""
    canvas = new_canvas(f"Service time by percentile{where}", "percentile", "service time", width)
    curves, more = _curves(study, factor, level)
    percentile_axis(canvas, max(_plot(canvas, series, cell) for series, cell in curves))
    log_y(canvas, tick_us)
    caption = (
        (f"{capital(factor)} {level}. " if factor else "")
        + "From the merged histograms of each cell's boots; bands: 95 % bounds by a bootstrap of"
        " whole boots, of which few make hardly more than their range. A curve ends where fewer"
        f" than {BEYOND_MIN} values lie beyond it."
        + _left_out(more, "cells")
        + _left_out(unseen, "levels")
    )
    name = f"latency-{factor.replace('_', '-')}-{level}" if factor else "latency"
    return finish(canvas, name, caption, note(study.result, _at(study, factor, level)))


def _plot(canvas: Canvas, series: Series, cell: Cell) -> float:
    """Draws a cell's curve and band; returns how far it reaches as 1 / (1 - quantile)."""
    quantiles, values_ns = cell.percentiles().curve(BEYOND_MIN)
    if not len(quantiles):
        return 1.0
    xs, ys = 1 / (1 - quantiles), values_ns / 1000
    xs, ys = np.concatenate([[1], xs]), np.concatenate([ys[:1], ys])
    canvas.axes.plot(xs, ys, label=series.label, drawstyle="steps-pre", **series.line)
    _band(canvas, series, cell)
    marks = _marks(cell)
    places = [1 / (1 - quantile) for quantile, _ in marks]
    look = series.look | {"markersize": 2.5}
    canvas.dots(places, [value for _, value in marks], _tips(series, marks), **look)
    return float(xs[-1])


def _marks(cell: Cell) -> list[tuple[float, float]]:
    """(quantile, µs) of the percentiles that show their values, as far as the curve goes."""
    merged = cell.percentiles()
    known = [one for one in MARKED if told(merged.n, one)]
    return [(one, merged.percentile_ns(one) / 1000) for one in known]


def _tips(series: Series, marks: list[tuple[float, float]]) -> list[str]:
    return [f"{series.label}\np{100 * one:g}: {value:,.1f} µs" for one, value in marks]


def _band(canvas: Canvas, series: Series, cell: Cell) -> None:
    found = spectrum_of(cell, "service", list(1 - 1 / NINES))
    if found is None or found.boots < 2:
        return
    low, high = found.low_ns / 1000, found.high_ns / 1000
    color = series.look["color"]
    canvas.axes.fill_between(NINES, low, high, color=color, alpha=BAND_ALPHA, linewidth=0)


# As shares


def _distribution(study: Study, width: Width, factor: str | None, level: Any) -> Drawing:
    where = f", {name_of(factor, level, study.found.factors[factor])}" if factor else ""
    title = f"Shares of requests by service time{where}"
    canvas = new_canvas(title, "service time", "share not slower", width)
    _, above = axes = panels(canvas, 2, across=1 if width == "single" else 2)
    curves, more = _curves(study, factor, level)
    for series, cell in curves:
        quantiles, values_ns = cell.percentiles().curve(BEYOND_MIN)
        look = series.line | {"drawstyle": "steps-post"}
        canvas.axes.plot(values_ns / 1000, quantiles, label=series.label, **look)
        above.plot(values_ns / 1000, 1 - quantiles, **look)
        _mark_shares(canvas, axes, series, cell)
    for one in axes:
        _time_axis(one)
    above.set_yscale("log")
    above.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))
    above.set_xlabel("service time")
    above.set_ylabel("share slower")
    caption = (
        (f"{capital(factor)} {level}. " if factor else "")
        + "The distribution of service times (share not slower than a value) and its complement"
        " (share slower), time on a log axis in both, the complement's share on one, too. From the"
        " merged histograms of each cell's boots."
        + _left_out(more, "cells")
    )
    return finish(canvas, "latency-shares", caption, note(study.result, _at(study, factor, level)))


def _plain(share: float) -> str:
    """A share in digits, e.g. "0.00001", never as a power of ten."""
    return f"{share:.12f}".rstrip("0").rstrip(".")


def _time_axis(axes: Axes) -> None:
    """Log axis of µs, with marks at 1, 2 and 5 where that leaves room for their names."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    subs = (1, 2, 5) if high / low < 50 else (1,)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=subs))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_us(value)))
    axes.xaxis.set_minor_locator(NullLocator())


def _mark_shares(canvas: Canvas, axes: list[Axes], series: Series, cell: Cell) -> None:
    """The same percentiles as a spectrum marks, in both panels."""
    marks = _marks(cell)
    values = [value for _, value in marks]
    for one, slower in zip(axes, (False, True)):
        shares = [1 - quantile if slower else quantile for quantile, _ in marks]
        tips = _tips(series, marks)
        canvas.dots(values, shares, tips, axes=one, **(series.look | {"markersize": 2.5}))


# Response beside service time


def _response(study: Study, width: Width) -> Iterator[Drawing]:
    """Median and p99 of both, a row a cell; none where no cell recorded response times."""
    known = [cell for cell in study.found.cells if cell.valid and cell.intended]
    if not known:
        return
    worst = sorted(range(len(known)), key=lambda at: -_wait(known[at]))[:ROWS_MAX]
    rows = [known[at] for at in sorted(worst, reverse=True)]
    canvas = new_canvas("Service and response time", "time, p50 and p99", "", width)
    for place, quantile in enumerate((0.5, 0.99)):
        _pairs(canvas, rows, quantile, PALETTE[place])
    _time_axis(canvas.axes)
    row_names(canvas, [label_of(study.found, cell) for cell in rows])
    caption = (
        "Filled: service time, from a request's actual send. Open: response time, from the moment"
        " at which it should have been sent; where the two lie apart, requests waited for the"
        " client. From the merged histograms."
        + _left_out(len(known) - len(rows), "cells, in which they lie less apart,")
    )
    yield finish(canvas, "latency-response", caption, note(study.result, rows))


def _wait(cell: Cell) -> float:
    """Response over service time at p99."""
    assert cell.intended is not None
    return cell.intended.percentile_ns(0.99) / max(cell.percentiles().percentile_ns(0.99), 1)


def _pairs(canvas: Canvas, rows: list[Cell], quantile: float, color: str) -> None:
    """The two times of each row at one percentile, joined."""
    kinds = (
        ("service", color, 3.4, [cell.percentiles() for cell in rows]),
        ("response", "none", 5.5, [cell.intended or cell.percentiles() for cell in rows]),
    )
    ends = []
    for kind, fill, size, times in kinds:
        xs = [one.percentile_ns(quantile) / 1000 for one in times]
        name = f"{kind} p{100 * quantile:g}"
        tips = [f"{cell.variant}\n{name}: {x:,.1f} µs" for cell, x in zip(rows, xs)]
        look = {"color": color, "marker": "o", "markerfacecolor": fill, "markersize": size}
        canvas.dots(xs, range(len(rows)), tips, label=name, **look)
        ends.append(xs)
    canvas.axes.hlines(range(len(rows)), *ends, color=INK, linewidth=0.8, zorder=1)
