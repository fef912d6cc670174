"""A page as Markdown and as HTML, which is whole in itself."""

from __future__ import annotations

from pathlib import Path

import jinja2

from analysis.figures import inline
from analysis.pages.page import Page

TEMPLATES = Path(__file__).parent / "templates"


def markdown(page: Page) -> bytes:
    """With links to figures/."""
    return _render("page.md.j2", page, autoescape=False)


def html(page: Page, template: str = "base.html.j2") -> bytes:
    """One file that loads nothing; `template` is base.html.j2 or extends it."""
    return _render(template, page, autoescape=True)


def _render(template: str, page: Page, autoescape: bool) -> bytes:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = _escaped
    environment.globals["inline_svg"] = inline.inline_svg
    environment.globals["theme_css"] = inline.theme_css
    return environment.get_template(template).render(page=page).encode()


def _escaped(text: object) -> str:
    """Any text within a line of Markdown: no tag, no column, and no line of its own."""
    line = " ".join(str(text).splitlines())
    for mark in ("|", "<"):
        line = line.replace(mark, f"\\{mark}")
    return line
