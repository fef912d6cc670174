"""Rate and p99 against load, with the knee.

Load is the offered rate where it varies, else the number of connections, else the pipeline depth.
The knee is the load of greatest power, which is rate over p99 (Kleinrock, "Power and deterministic
rules of thumb for probabilistic problems in computer communications", 1979): beyond it, latency
grows faster than the rate.
"""

from __future__ import annotations

from typing import Iterator

from analysis.cells.aggregate import Aggregate, Cell, percentile_us
from analysis.figures.axes import level_axis, log_y, tick_us
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import Series, axis_label, is_numeric, note, series_of, spread_aside
from analysis.figures.style import INK, Width
from analysis.judgement.study import Study

LOADS = ("rate", "connections", "depth")
# So many loads at least: with fewer, none lies inside the range.
LEVELS_MIN = 3


def load_factor(found: Aggregate) -> str | None:
    """What is taken as the load, if anything varies that is one."""
    usable = (
        name
        for name in LOADS
        if is_numeric(found.factors.get(name, [])) and len(found.factors[name]) >= LEVELS_MIN
    )
    return next(usable, None)


def knee(cells: list[Cell]) -> Cell | None:
    """Of cells in ascending order of load, that of greatest power; None where it is the first or
    the last, for then it may lie outside the range."""
    powers = [cell.known("rps_median") / cell.known("service_p99_us") for cell in cells]
    place = powers.index(max(powers)) if powers else 0
    return cells[place] if 0 < place < len(cells) - 1 else None


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """Two axes above each other, of rate and of p99, over one of load."""
    factor = load_factor(study.found)
    if factor is None:
        return
    words = factor.replace("_", " ")
    canvas = new_canvas(f"Rate and p99 against {words}", "", "requests/s", width, 3.4)
    canvas.axes.remove()
    above, below = canvas.figure.subplots(2, 1, sharex=True)
    rates = Canvas(canvas.figure, above, width, canvas.title, canvas.height_inches, canvas.spots)
    tails = Canvas(canvas.figure, below, width, canvas.title, canvas.height_inches, canvas.spots)
    series = series_of(study.found, factor)
    knees = [_plot(rates, tails, one, factor) for one in series]
    for one in (rates, tails):
        level_axis(one, study.found.factors[factor])
    log_y(rates)
    log_y(tails, tick_us)
    above.set_ylabel("requests/s")
    above.tick_params(labelbottom=False)
    below.set_ylabel("p99 service time")
    below.set_xlabel(axis_label(factor))
    yield finish(rates, "load", _caption(factor, series, knees), _rule(study, knees))


def _plot(rates: Canvas, tails: Canvas, series: Series, factor: str) -> Cell | None:
    """Draws a series in both axes, every sample a dot; its knee, marked by a ring."""
    cells = sorted(series.cells, key=lambda cell: cell.settings[factor])
    xs = [cell.settings[factor] for cell in cells]
    rates.axes.plot(xs, [cell.known("rps_median") for cell in cells], **series.line)
    rates.axes.plot([], [], label=series.label, **series.look)
    tails.axes.plot(xs, [cell.known("service_p99_us") for cell in cells], **series.line)
    for canvas, unit in ((rates, "requests/s"), (tails, "µs p99")):
        dots = []
        for cell in cells:
            for aside, sample in zip(spread_aside(len(cell.valid)), cell.valid):
                y = sample.rps if canvas is rates else percentile_us(sample, "p99")
                tip = f"{cell.variant}\n{sample.sample_id}: {y:,.0f} {unit}"
                dots.append((cell.settings[factor] * aside, y, tip))
        canvas.dots(*zip(*dots), **series.look)
    found = knee(cells)
    if found is not None:
        ring = {"marker": "o", "markersize": 9, "color": "none", "zorder": 5}
        ring["markeredgecolor"] = INK
        x = found.settings[factor]
        rates.axes.plot([x], [found.known("rps_median")], **ring)
        tails.axes.plot([x], [found.known("service_p99_us")], **ring)
    return found


def _rule(study: Study, knees: list[Cell | None]) -> str:
    """The note: what a ring is, in how many series there is none, and n."""
    none = sum(one is None for one in knees)
    rule = "Ring: knee (load of greatest rate / p99)"
    if none:
        rule += f"; none inside the range in {none} of {len(knees)} series"
    return f"{rule}. {note(study.result, study.found.cells)}"


def _caption(factor: str, series: list[Series], knees: list[Cell | None]) -> str:
    words = factor.replace("_", " ")
    said = [
        f"{one.label}: " + (f"{words} {at.settings[factor]}" if at else "none inside the range")
        for one, at in zip(series, knees)
    ]
    return (
        "Every sample is a dot, with its own p99; lines join medians of rates and p99 of merged"
        " histograms. The knee is the load of greatest power, rate / p99 (Kleinrock, 1979), where"
        f" lower and higher loads were measured too. {'; '.join(said)}."
    )
