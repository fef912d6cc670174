"""One difference of two sides that keeps their numbers from being compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.cells.words import capital

HASH_DIGITS = 12  # of a digest that people read
NOT_RECORDED = "n/a (not recorded)"


@dataclass(frozen=True)
class Refused:
    """One difference for which two sides do not compare, with the values of both."""

    what: str
    a: str
    b: str
    instead: str  # what to do

    @property
    def sentence(self) -> str:
        """E.g. "Kernel: 6.1.0 against 6.12.3; measure both under one kernel."."""
        return f"{capital(self.what)}: {self.a} against {self.b}; {self.instead}."


def unlike(what: str, a: Any, b: Any, instead: str) -> list[Refused]:
    """The difference, if there is one."""
    return [] if a == b else [Refused(what, shown(a), shown(b), instead)]


def shown(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return NOT_RECORDED if value is None else str(value)
