"""The verdicts of a run: one word for each comparison, with its interval, and the gate."""

from __future__ import annotations

from analysis.judgement.study import Study
from analysis.pages.blocks import Block


def blocks(study: Study) -> list[Block]:
    """The parts to be read in this order."""
    return []
