"""Fonts within PDF files: each holds the glyphs it uses, as TrueType (Type 42).

Journals refuse Type 3, so that fonts are embedded as they are; matplotlib then cuts each figure's
glyphs out of the whole font, which takes longer than drawing. Here they are cut out of a lean one,
made once a process: the letters of western languages without the tables for shaping text, which a
PDF has no use for.
"""

from __future__ import annotations

import contextlib
import functools
import io
from typing import Iterator

from fontTools import subset
from matplotlib.backends import _backend_pdf_ps

# Latin with its accents, Greek, punctuation, arrows and signs of mathematics.
RANGES = ((0x20, 0x17F), (0x370, 0x3FF), (0x2000, 0x206F), (0x2190, 0x22FF))
LEAN = frozenset(chr(code) for first, last in RANGES for code in range(first, last + 1))
# Of shaping, and of programs that edit fonts.
DROPPED = ("GSUB", "GPOS", "GDEF", "kern", "FFTM", "PfEd", "BDF", "meta")


@contextlib.contextmanager
def lean() -> Iterator[None]:
    """PDF files written within take their glyphs from lean fonts."""
    whole = _backend_pdf_ps.get_glyphs_subset

    def cut(fontfile: str, characters: str) -> io.BytesIO:
        if not LEAN.issuperset(characters) or fontfile.endswith(".ttc"):
            return whole(fontfile, characters)
        return io.BytesIO(_cut(io.BytesIO(_lean(fontfile)), characters))

    _backend_pdf_ps.get_glyphs_subset = cut
    try:
        yield
    finally:
        _backend_pdf_ps.get_glyphs_subset = whole


@functools.lru_cache(maxsize=8)
def _lean(fontfile: str) -> bytes:
    return _cut(fontfile, "".join(sorted(LEAN)))


def _cut(font: str | io.BytesIO, characters: str) -> bytes:
    """The font with these characters' glyphs alone."""
    options = subset.Options(glyph_names=True, recommended_glyphs=True)
    options.drop_tables += DROPPED
    made = io.BytesIO()
    with subset.load_font(font, options) as loaded:
        subsetter = subset.Subsetter(options=options)
        subsetter.populate(text=characters)
        subsetter.subset(loaded)
        loaded.save(made, reorderTables=False)
    return made.getvalue()
