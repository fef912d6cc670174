"""Several axes in one figure."""

from __future__ import annotations

from matplotlib.axes import Axes

from analysis.figures.canvas import Canvas
from analysis.figures.style import Width

# Panels side by side at each width.
ACROSS: dict[Width, int] = {"single": 1, "double": 3}
PANEL_INCHES = 1.75


def panels(canvas: Canvas, count: int, across: int | None = None) -> list[Axes]:
    """That many axes in rows, the canvas' own first, which keeps its labels; the figure grows with
    the rows."""
    columns = min(count, across or ACROSS[canvas.width])
    rows = -(-count // columns)
    grid = canvas.figure.add_gridspec(rows, columns)
    canvas.axes.set_subplotspec(grid[0])
    canvas.height_inches = PANEL_INCHES * rows
    return [canvas.axes, *(canvas.figure.add_subplot(grid[at]) for at in range(1, count))]
