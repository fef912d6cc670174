"""What the log-linear model of requests/s leaves over: whether its intervals can be trusted."""

from __future__ import annotations

import math
from typing import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from scipy import stats

from analysis.figures.axes import tick
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.panels import panels
from analysis.figures.series import colour_factor, look_of, name_of
from analysis.figures.style import INK, Width
from analysis.judgement.grid import Grid
from analysis.judgement.study import Study


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """Residuals against fitted values, in execution order and against a normal's quantiles; nothing
    where nothing varies or the model leaves nothing."""
    modelled = study.rates
    if modelled is None or modelled.model.error is None:
        return
    left = np.expm1(modelled.model.residuals) * 100
    canvas = new_canvas("What the model leaves over", "fitted requests/s", "residual, %", width)
    _, order, normal = axes = panels(canvas, 3)
    ranks = stats.rankdata(left, method="ordinal")
    quantiles = stats.norm.ppf((ranks - 0.375) / (len(left) + 0.25))
    _dots(study, canvas, modelled, left, axes, quantiles)
    canvas.axes.set_xscale("log")
    low, high = canvas.axes.get_xlim()
    subs = (1, 2, 5) if high / low < 50 else (1,)
    canvas.axes.xaxis.set_major_locator(LogLocator(base=10, subs=subs))
    canvas.axes.xaxis.set_minor_locator(NullLocator())
    canvas.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    order.set_xlabel("order of execution")
    order.xaxis.set_major_locator(MaxNLocator(integer=True))
    normal.set_xlabel("quantile of a normal distribution")
    spread = 100 * math.expm1(modelled.model.error)
    ends = np.array([quantiles.min(), quantiles.max()])
    normal.plot(ends, ends * float(np.std(left)), color=INK, linewidth=0.8)
    for one in axes[:2]:
        one.axhline(0, color=INK, linewidth=0.8)
    for one in axes[1:]:
        one.set_ylabel("residual, %")
    expected = "cell" if modelled.model.pure else "factors, alone and in pairs,"
    caption = (
        f"Every sample's requests/s over what its {expected} and run let expect. A funnel in the"
        " first panel says that noise differs between cells, a slope or a step in execution order"
        " that the host changed, a bend away from the line in the last that intervals, which assume"
        f" normal noise, are rough. The model's own noise is {spread:.1f} %."
    )
    text = f"n = {len(left)} samples, {modelled.model.freedom} degrees of freedom left"
    yield finish(canvas, "residuals", caption, text)


def _dots(
    study: Study,
    canvas: Canvas,
    modelled: Grid,
    left: np.ndarray,
    axes: Sequence[Axes],
    quantiles: np.ndarray,
) -> None:
    """One look for each stack, or whatever colours tell apart."""
    factor = colour_factor(study.found)
    levels = study.found.factors.get(factor, [None])
    fitted = np.exp(modelled.model.fitted)
    for colour, level in enumerate(levels):
        own = [
            at
            for at, (_, cell) in enumerate(modelled.samples)
            if cell.settings.get(factor) == level or level is None
        ]
        if not own:
            continue
        samples = [modelled.samples[at] for at in own]
        tips = [
            f"{sample.sample_id} {cell.variant}\n{sample.rps:,.0f} requests/s, {left[at]:+.1f} %"
            for at, (sample, cell) in zip(own, samples)
        ]
        orders = np.array([sample.order_index for sample, _ in samples])
        look = {name: look_of(colour, 0)[name] for name in ("color", "marker")}
        if level is not None:
            canvas.axes.plot([], [], linestyle="none", label=name_of(factor, level, levels), **look)
        for one, xs in zip(axes, (fitted[own], orders, quantiles[own])):
            canvas.dots(list(xs), list(left[own]), tips, axes=one, **look)
