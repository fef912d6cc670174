"""A figure's SVG as part of an HTML page: no links, ids of its own, colours that follow the page's
theme. Hover texts are the page's work."""

from __future__ import annotations

import re
from html import escape

from analysis.figures.canvas import Drawing
from analysis.figures.style import FAINT, INK, PALETTE, PAPER

# Figure colour: (name of the CSS variable, light, dark).
THEME = {
    INK: ("fig-ink", "#1f2328", "#e6edf3"),
    FAINT: ("fig-faint", "#d8dee4", "#30363d"),
    PAPER: ("fig-paper", "#ffffff", "#12161c"),
    **{
        colour: (f"fig-{place}", colour, dark)
        for place, (colour, dark) in enumerate(
            zip(PALETTE, ("#58b5f5", "#ff9152", "#2fd0a0", "#e6a3cb", "#f5bf45", "#a5dbff"))
        )
    },
}


def theme_css(dark: bool) -> str:
    """Declarations of the figures' colours for one theme."""
    return " ".join(
        f"--{name}: {after if dark else before};" for name, before, after in THEME.values()
    )


def inline_svg(drawing: Drawing) -> str:
    """The drawing as an <svg> element for an HTML page."""
    svg = drawing.svg.decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r"<style type=.*?</style>", "", svg, count=1, flags=re.S)
    svg = _own_ids(svg, drawing.name)
    for colour, (name, _, _) in THEME.items():
        svg = svg.replace(f"{colour};", f"var(--{name});").replace(f'{colour}"', f'var(--{name})"')
    svg = svg.replace("</svg>", f"{_spots(svg, drawing)}</svg>")
    return re.sub(
        r"<svg [^>]*?(viewBox=\"[^\"]*\")[^>]*>",
        lambda match: f'<svg {match[1]} role="img" aria-label="{escape(drawing.caption)}">',
        svg,
        count=1,
    )


def _spots(svg: str, drawing: Drawing) -> str:
    """An unseen circle for each point, whose title a browser shows; the page's script takes them
    for a quicker hint."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if box is None or not drawing.points:
        return ""
    width, height = float(box[1]), float(box[2])
    spots = (
        f'<circle cx="{x * width:.1f}" cy="{y * height:.1f}" r="4"><title>{escape(tip)}</title>'
        "</circle>"
        for x, y, tip in drawing.points
    )
    return f'<g fill-opacity="0">{"".join(spots)}</g>'


def _own_ids(svg: str, prefix: str) -> str:
    """Ids under a prefix, so that several figures live on one page."""
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    return re.sub(r"url\(#", f"url(#{prefix}-", svg)
