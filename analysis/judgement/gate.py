"""The gate that an experiment states, or a command asks for: its kind and its bounds.

`point` judges the medians, `interval` the whole 95 % interval, `category` the medians again with a
bound for each scenario's kind of work. What judges by it is in gates.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from analysis.inputs.documents import Refusal
from analysis.inputs.shapes import is_number

NONE, POINT, INTERVAL, CATEGORY = "none", "point", "interval", "category"
KINDS = (POINT, INTERVAL, CATEGORY, NONE)
RPS_LEAST, CPU_MOST = 0.98, 1.02
# How much worse a scenario may become, by what it exercises.
THRESHOLDS = {"default": 0.15, "critical": 0.10, "allocator": 0.20}
FILE = "experiment.json"


@dataclass(frozen=True)
class Gate:
    """Bounds of the new side's number over the base's."""

    kind: str
    rps: float = RPS_LEAST
    cpu: float = CPU_MOST
    thresholds: dict[str, float] = field(default_factory=lambda: dict(THRESHOLDS))
    categories: dict[str, str] = field(default_factory=dict)  # scenario to name of its threshold
    stated: bool = True  # whether somebody asked for it, so that the exit status is by it

    def category_of(self, scenario: str | None) -> str:
        """The name of a scenario's threshold."""
        return self.categories.get(scenario or "", "default")

    def bounds(self, scenario: str | None) -> tuple[float, float]:
        """(least ratio of requests/s, greatest of CPU per request) in a scenario."""
        if self.kind != CATEGORY:
            return self.rps, self.cpu
        threshold = self.thresholds[self.category_of(scenario)]
        return 1 - threshold, 1 + threshold

    @property
    def says(self) -> str:
        """The bounds in words."""
        if self.kind == NONE:
            return "No gate: nothing is judged."
        if self.kind == CATEGORY:
            shares = ", ".join(f"{name} {share:.0%}" for name, share in self.thresholds.items())
            return f"Requests per second and CPU per request no worse than by category: {shares}."
        return (
            f"Requests per second at least {self.rps:g} of the base's and the server's CPU per"
            f" request at most {self.cpu:g} of it."
        )


# What variants are shown against where nobody asked for a gate.
USUAL = Gate(POINT, stated=False)


def asked(effective: dict[str, Any], kind: str | None = None) -> Gate | None:
    """The experiment's gate, or the kind that a command asks for with what bounds the experiment
    has. None where neither states one. Raises Refusal."""
    own = read(effective)
    if kind is None:
        return own
    return Gate(kind) if own is None else replace(own, kind=kind)


def read(effective: dict[str, Any]) -> Gate | None:
    """The `gate` of an experiment; None where it has none. Raises Refusal."""
    if "gate" not in effective:
        return None
    table = effective["gate"]
    if not isinstance(table, dict):
        _refuse("gate", "is not an object")
    kind = table.get("kind")
    if kind not in KINDS:
        _refuse("gate.kind", f"is {kind!r}; give one of {', '.join(KINDS)}")
    known = {NONE: (), CATEGORY: (*THRESHOLDS, "categories")}.get(kind, ("rps", "cpu"))
    for key in table:
        if key not in ("kind", *known):
            names = " and ".join(known) or "nothing but `kind`"
            _refuse(f"gate.{key}", f"is no part of a gate of kind {kind}, which has {names}")
    if kind == CATEGORY:
        thresholds = {name: _threshold(table, name) for name in THRESHOLDS}
        return Gate(kind, thresholds=thresholds, categories=_categories(table, effective))
    return Gate(kind, rps=_rps(table), cpu=_cpu(table))


def _rps(table: dict[str, Any]) -> float:
    value = _number(table, "rps", RPS_LEAST)
    if not 0 < value <= 1:
        _refuse("gate.rps", f"is {value:g}; give a share of the base above 0, at most 1")
    return value


def _cpu(table: dict[str, Any]) -> float:
    value = _number(table, "cpu", CPU_MOST)
    if value < 1:
        _refuse("gate.cpu", f"is {value:g}; give a share of the base of at least 1")
    return value


def _threshold(table: dict[str, Any], name: str) -> float:
    value = _number(table, name, THRESHOLDS[name])
    if not 0 < value < 1:
        _refuse(f"gate.{name}", f"is {value:g}; give a share above 0 and below 1, e.g. 0.15")
    return value


def _number(table: dict[str, Any], name: str, usual: float) -> float:
    value = table.get(name, usual)
    if not is_number(value):
        _refuse(f"gate.{name}", f"is {value!r}, not a number")
    return float(value)


def _categories(table: dict[str, Any], effective: dict[str, Any]) -> dict[str, str]:
    categories = table.get("categories", {})
    if not isinstance(categories, dict):
        _refuse("gate.categories", "is not an object of scenarios and their categories")
    # Those of a profile stand nowhere but in the cells.
    scenarios = None if "profiles" in effective else effective.get("scenarios")
    for scenario, name in categories.items():
        if name not in THRESHOLDS:
            _refuse(
                f"gate.categories.{scenario}", f"is {name!r}; give one of {', '.join(THRESHOLDS)}"
            )
        if isinstance(scenarios, dict) and scenario not in scenarios:
            _refuse(f"gate.categories.{scenario}", "is no scenario of the experiment")
    return dict(categories)


def _refuse(where: str, reason: str) -> NoReturn:
    raise Refusal(FILE, f"`{where}` {reason}")
