"""What each factor is worth: main effects and interactions of a log-linear model."""

from __future__ import annotations

from analysis.judgement.study import Study
from analysis.pages.blocks import Block


def blocks(study: Study) -> list[Block]:
    """The parts to be read in this order."""
    return []
