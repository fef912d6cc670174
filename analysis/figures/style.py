"""The one look of all figures: sizes, fonts, colours, markers and line styles.

Whoever prints in grey or does not see red and green still tells series apart: neighbours differ in
marker and line, too. Sizes are those of a two-column paper; text is 7 pt at both widths, so that
figures of both stand beside each other in one size of letters.
"""

from __future__ import annotations

import contextlib
from typing import Iterator, Literal

import matplotlib

from analysis.figures import fonts

Width = Literal["single", "double"]
# Of one column and of both of a two-column page (IEEE), which ACM's and USENIX' columns hold too.
WIDTH_INCHES: dict[Width, float] = {"single": 3.5, "double": 7.16}
AXES_INCHES = 2.1  # height of axes, their labels included, unless a figure says otherwise
PNG_DPI = 220

# Okabe and Ito (2008), in an order that keeps neighbours apart; `inline` gives each a second shade
# for dark pages.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
INK, FAINT, PAPER = "#1f2328", "#d8dee4", "#ffffff"
MARKERS, LINES = ("o", "s", "^", "D", "v", "P"), ("-", "--", ":", "-.")

TEXT_POINTS, TITLE_POINTS, NOTE_POINTS = 7.0, 8.0, 6.5
# Of a letter of DejaVu Sans, on average and with a margin, as a part of its size.
LETTER = 0.58

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": TEXT_POINTS,
    "axes.labelsize": TEXT_POINTS,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": TEXT_POINTS,
    "ytick.labelsize": TEXT_POINTS,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.4,
    "lines.markeredgewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": TEXT_POINTS,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": PAPER,
    "savefig.dpi": 300,  # of what is rasterised within a vector file
    "text.parse_math": False,  # names are shown as they are, dollars and all
    "svg.fonttype": "none",
    "svg.hashsalt": "weir",
    "pdf.fonttype": 42,
    "path.simplify": True,
}


def letters(inches: float, points: float = TEXT_POINTS) -> int:
    """How many letters of a size stand side by side in a length."""
    return int(72 * inches / (LETTER * points))


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """What is drawn within has this look, whatever a user's matplotlibrc says."""
    with matplotlib.rc_context(), fonts.lean():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield
