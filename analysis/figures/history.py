"""A place over many results: every sample, the medians, and lines where nothing compares across."""

from __future__ import annotations

from typing import Iterator

from analysis.cells.words import count
from analysis.figures.axes import tick
from analysis.figures.canvas import Drawing, finish, new_canvas
from analysis.figures.style import INK, PALETTE, styled
from analysis.judgement.history import History, Point, Series

# More figures than these are not drawn; the table has every place.
FIGURES_MAX = 24
# How much of the way to the next result the dots of one take.
SPREAD = 0.3


def draw_all(of: History) -> list[Drawing]:
    """One figure a place, of the first FIGURES_MAX."""
    with styled():
        return list(_draw(of))


def _beside(x: float, n: int) -> list[float]:
    """Places of one result's dots, side by side around it."""
    return [x + SPREAD * (place / (n - 1) - 0.5) if n > 1 else x for place in range(n)]


def _draw(of: History) -> Iterator[Drawing]:
    for number, series in enumerate(of.series[:FIGURES_MAX], start=1):
        yield _figure(of, series, f"trend-{number:02d}")


def _figure(of: History, series: Series, name: str) -> Drawing:
    canvas = new_canvas(series.place, "result, in the order of time", "requests/s", "single")
    for point in series.points:
        samples = point.cell.valid
        canvas.dots(
            _beside(point.result + 1, len(samples)),
            [sample.rps for sample in samples],
            [f"{of.studies[point.result].result.path.name}: {one.rps:,.0f}" for one in samples],
            color=PALETTE[0],
            marker="o",
            alpha=0.6,
        )
    for stretch in _stretches(of, series):
        xs = [point.result + 1 for point in stretch]
        ys = [point.cell.known("rps_median") for point in stretch]
        canvas.axes.plot(xs, ys, color=PALETTE[1], marker="_")
    for at in of.breaks:
        canvas.axes.axvline(at + 0.5, color=INK, linewidth=0.8, linestyle=":")
    for at in sorted(set(of.other_clients) - set(of.breaks)):
        canvas.axes.axvline(at + 0.5, color=INK, linewidth=0.4, linestyle="--")
    canvas.axes.set_xlim(0.5, len(of.studies) + 0.5)
    canvas.axes.xaxis.get_major_locator().set_params(integer=True)
    canvas.axes.set_ylim(bottom=0)
    canvas.axes.yaxis.set_major_formatter(lambda value, _: tick(value))
    caption = f"{series.place}. Dots: samples; line: medians of results that compare."
    if of.breaks:
        caption += " Dotted lines: host or build changed; not comparable across."
    if set(of.other_clients) - set(of.breaks):
        caption += " Dashed lines: the client changed; ratios are of both."
    sizes = sorted({len(point.cell.valid) for point in series.points})
    each = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    results = count(len(series.points), "result")
    return finish(canvas, name, caption, f"n = {each} samples of {results}")


def _stretches(of: History, series: Series) -> list[list[Point]]:
    """The points between which nothing changed that results do not compare across."""
    found: dict[int, list[Point]] = {}
    for point in series.points:
        found.setdefault(sum(at <= point.result for at in of.breaks), []).append(point)
    return list(found.values())
