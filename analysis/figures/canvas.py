"""A figure in the making: its axes, what is said around them, and rendering to SVG, PDF and PNG.

Title and legend stand above the axes, the note on n below, each in room of its own: nothing covers
data. The same drawing gives the same bytes.
"""

from __future__ import annotations

import io
import re
import textwrap
from dataclasses import dataclass, field
from typing import Any, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from analysis.figures.style import (
    AXES_INCHES,
    INK,
    NOTE_POINTS,
    PNG_DPI,
    TITLE_POINTS,
    WIDTH_INCHES,
    Width,
    letters,
)

# More dots than this are drawn as an image within the vector files.
DOTS_MAX = 2000
# More hover texts than this would make a page slow; of more dots, some have none.
POINTS_MAX = 1500
EDGE_INCHES, GAP_INCHES = 0.04, 0.03
LEGEND_COLUMNS = 6
# Letters of a name, which an ending and a number are added to.
NAME_MAX = 80

Point = tuple[float, float, str]


@dataclass(frozen=True)
class Drawing:
    """A figure as three files and in words. `name`: of a-z, 0-9 and hyphens alone, for it names
    files and ids within a page, and holds levels of factors, which are any text. `points`: (x, y,
    text shown on hover), as shares of the picture's width from the left and of its height from the
    top."""

    name: str
    width: Width
    caption: str
    svg: bytes
    pdf: bytes
    png: bytes
    points: list[Point]

    def files(self, folder: str = "figures") -> dict[str, bytes]:
        """Path to content of its files in a folder."""
        contents = {"svg": self.svg, "pdf": self.pdf, "png": self.png}
        return {f"{folder}/{self.name}.{kind}": content for kind, content in contents.items()}


@dataclass
class Canvas:
    """A figure in the making. `height_inches` is that of the axes with their labels; title, legend
    and note come on top."""

    figure: Figure
    axes: Axes
    width: Width
    title: str
    height_inches: float
    spots: list[tuple[Axes, float, float, str]] = field(default_factory=list)

    def dots(
        self, xs: Sequence[float], ys: Sequence[float], tips: Sequence[str], **look: Any
    ) -> None:
        """Markers in data coordinates as one artist; each says its tip on hover. `axes=` among the
        look names other axes of the figure than the first."""
        axes = look.pop("axes", self.axes)
        self.spots += [(axes, x, y, tip) for x, y, tip in zip(xs, ys, tips, strict=True)]
        axes.plot(xs, ys, gid=f"dots{len(self.spots)}", **(look | {"linestyle": "none"}))


def new_canvas(
    title: str, xlabel: str, ylabel: str, width: Width, height_inches: float = AXES_INCHES
) -> Canvas:
    """An empty figure; labels carry units, long ones go over several lines."""
    figure = Figure(figsize=(WIDTH_INCHES[width], height_inches), dpi=PNG_DPI, layout="constrained")
    axes = figure.add_subplot()
    room = letters(0.85 * WIDTH_INCHES[width])
    axes.set_xlabel(_wrapped(xlabel, room), loc="right" if len(xlabel) > room / 2 else "center")
    axes.set_ylabel(_wrapped(ylabel, letters(0.85 * height_inches)))
    return Canvas(figure, axes, width, title, height_inches)


def _wrapped(text: str, room: int) -> str:
    return "\n".join(textwrap.wrap(text, max(room, 8), break_on_hyphens=False))


def finish(canvas: Canvas, name: str, caption: str, note: str) -> Drawing:
    """Adds title, legend and the note on n, and renders all three files."""
    _frame(canvas, note)
    crowded = len(canvas.spots) > DOTS_MAX
    if crowded:
        for axes in canvas.figure.axes:
            for line in axes.get_lines():
                line.set_rasterized((line.get_gid() or "").startswith("dots"))
    canvas.figure.get_layout_engine().execute(canvas.figure)
    canvas.figure.set_layout_engine(None)  # each file would lay out again, which costs a drawing
    files = {kind: io.BytesIO() for kind in ("svg", "pdf", "png")}
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    canvas.figure.savefig(files["svg"], format="svg", metadata=metadata)
    metadata = dict.fromkeys(("CreationDate", "Creator", "Producer"))
    canvas.figure.savefig(files["pdf"], format="pdf", metadata=metadata)
    canvas.figure.savefig(files["png"], format="png", dpi=PNG_DPI, metadata={"Software": None})
    points = _points(canvas)
    caption += _thinned(len(points), len(canvas.spots)) if crowded else ""
    made = (file.getvalue() for file in files.values())
    return Drawing(safe_name(name), canvas.width, caption, *made, points)


def safe_name(words: str) -> str:
    """In small letters, with a hyphen for whatever else is no digit, and cut at NAME_MAX."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:NAME_MAX].strip("-")


def _thinned(points: int, dots: int) -> str:
    return (
        f" {dots:,} dots, drawn as an image within the vector files;"
        f" {points:,} of them show their values on hover."
    )


def _points(canvas: Canvas) -> list[Point]:
    """The dots' places in the picture as it was laid out; evenly chosen ones if there are many."""
    step = -(-len(canvas.spots) // POINTS_MAX) or 1
    box = canvas.figure.bbox
    points = []
    for axes, x, y, tip in canvas.spots[::step]:
        across, up = axes.transData.transform((x, y))
        points.append((round(across / box.width, 5), round(1 - up / box.height, 5), tip))
    return points


def _frame(canvas: Canvas, note: str) -> None:
    """Puts title, legend and note around the axes, and makes the figure as high as all need."""
    figure, width = canvas.figure, WIDTH_INCHES[canvas.width]
    renderer = FigureCanvasAgg(figure).get_renderer()
    room = width - 2 * EDGE_INCHES
    at = {"transform": figure.dpi_scale_trans, "color": INK}
    title = figure.text(
        EDGE_INCHES,
        0,
        _wrapped(canvas.title, letters(room, 1.1 * TITLE_POINTS)),
        va="top",
        fontsize=TITLE_POINTS,
        fontweight="bold",
        **at,
    )
    foot = figure.text(
        width - EDGE_INCHES,
        EDGE_INCHES,
        _wrapped(note, letters(room, NOTE_POINTS)),
        ha="right",
        va="bottom",
        fontsize=NOTE_POINTS,
        **at,
    )
    heights = [one.get_window_extent(renderer).height / figure.dpi for one in (title, foot)]
    legend = _legend(canvas, room, renderer)
    keys = legend.get_window_extent(renderer).height / figure.dpi if legend else 0.0
    above = EDGE_INCHES + heights[0] + GAP_INCHES + keys
    below = EDGE_INCHES + heights[1]
    height = above + canvas.height_inches + below
    figure.set_size_inches(width, height)
    title.set_y(height - EDGE_INCHES)
    if legend:
        top = height - EDGE_INCHES - heights[0] - GAP_INCHES
        legend.set_bbox_to_anchor((EDGE_INCHES, top), transform=figure.dpi_scale_trans)
    rect = (0, below / height, 1, canvas.height_inches / height)
    figure.get_layout_engine().set(rect=rect)


def _legend(canvas: Canvas, room: float, renderer: Any) -> Legend | None:
    """In as many columns as there is room for; labels that are too long even so go over lines."""
    handles, labels = canvas.axes.get_legend_handles_labels()
    if not handles:
        return None
    most = letters(room - 0.4)
    labels = [_wrapped(label, most) for label in labels]
    for columns in range(min(LEGEND_COLUMNS, len(labels)), 0, -1):
        legend = canvas.figure.legend(
            handles,
            labels,
            loc="upper left",
            ncol=columns,
            borderaxespad=0,
            borderpad=0,
            handlelength=2.4,
            handletextpad=0.5,
            columnspacing=1.2,
            labelspacing=0.3,
        )
        legend.set_in_layout(False)
        if columns == 1 or legend.get_window_extent(renderer).width / canvas.figure.dpi <= room:
            return legend
        legend.remove()
    return None
