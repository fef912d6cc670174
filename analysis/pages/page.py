"""A page in parts, the same for every report: a banner, an answer, sections."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.figures.canvas import Drawing
from analysis.judgement.caveats import Caveat
from analysis.pages.blocks import Block


@dataclass(frozen=True)
class Section:
    """What one heading holds; `id` is what a link within the page names."""

    id: str
    title: str
    blocks: list[Block]
    drawings: list[Drawing] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """All that a template shows, from above to below. A section that holds nothing is not shown."""

    title: str
    sections: list[Section]
    banner: list[Caveat] = field(default_factory=list)  # what speaks against the numbers
    answer: list[str] = field(default_factory=list)  # in a few sentences
    question: str = ""
    stamp: str = ""  # on every screen and sheet of what was made against a refusal; else empty

    @property
    def shown(self) -> list[Section]:
        """The sections that hold something."""
        return [section for section in self.sections if section.blocks or section.drawings]
