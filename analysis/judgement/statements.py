"""What an experiment claims before it is run: `claims` of experiment.json, read and checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.cells.metrics import METRICS, Metric
from analysis.cells.words import describe
from analysis.inputs.documents import Refusal
from analysis.inputs.shapes import is_number

SOURCE = "experiment.json"
MARGIN = 0.02  # of an equivalence that states none
MARGIN_MAX = 1.0
NUMBER_MAX = 1e15
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

Selection = dict[str, Any]  # axis to level

# Keys of each kind beside name, says, kind and metric; those that must be given end in "!".
_KEYS = {
    "ratio": ("of!", "against!", "at_least", "at_most"),
    "bound": ("where", "at_least", "at_most"),
    "monotone": ("along!", "direction!", "where"),
    "equivalence": ("of!", "against!", "margin"),
}
_COMMON = ("name!", "says", "kind!", "metric")
# A step in this direction is a ratio on this side of 1.
_DIRECTIONS = {"rising": (1.0, None), "falling": (None, 1.0)}


@dataclass(frozen=True)
class Claim:
    """One claim. Every kind comes to numbers that must lie between two bounds: ratios of two cells,
    ratios of neighbours along an axis, or the cells' own numbers."""

    name: str
    says: str
    kind: str
    metric: Metric
    of: Selection  # cells; those that are divided, where two are compared
    against: Selection | None  # the cells that they are divided by
    along: str | None  # the axis along which neighbours are compared
    at_least: float | None
    at_most: float | None

    @property
    def strict(self) -> bool:
        """Whether a number on a bound is already on the wrong side: what stays equal does not
        rise."""
        return self.along is not None

    @property
    def asks(self) -> str:
        """What is judged, as a sentence."""
        what = f"{self.metric.title} ({self.metric.name}) of {_chosen(self.of)}"
        if self.along is not None:
            way = "rises" if self.at_least is not None else "falls"
            return f"{what} {way} with every step along {self.along}."
        if self.against is None:
            return f"{what} is {self.bounds}."
        return f"{what} is {self.bounds} times that of {_chosen(self.against)}, all else equal."

    @property
    def bounds(self) -> str:
        """E.g. "at least 3", "between 0.98 and 1.02"."""
        if self.at_least is not None and self.at_most is not None:
            ends = [_plain(self.at_least), _plain(self.at_most)]
            return f"exactly {ends[0]}" if ends[0] == ends[1] else f"between {' and '.join(ends)}"
        if self.at_least is not None:
            return f"{'above' if self.strict else 'at least'} {_plain(self.at_least)}"
        return f"{'below' if self.strict else 'at most'} {_plain(self.at_most or 0.0)}"


def _plain(number: float) -> str:
    """E.g. "1,000,000", "0.952381"."""
    return f"{number:,.0f}" if number >= 1e6 else f"{number:,.6g}"


def _chosen(selection: Selection) -> str:
    """E.g. "coalesce, depth 32"."""
    return ", ".join(describe(axis, level) for axis, level in selection.items()) or "every cell"


def read(effective: dict[str, Any], path: Path) -> list[Claim]:
    """The claims of an experiment whose result directory is `path`, in their order; none where it
    states none. Raises Refusal naming experiment.json and the claim."""
    stated = effective.get("claims", [])
    if not isinstance(stated, list):
        raise Refusal(path / SOURCE, "`claims` is not a list of objects; mend it or leave it out")
    claims: list[Claim] = []
    for number, table in enumerate(stated, start=1):
        try:
            claim = _claim(table)
            if claim.name in (other.name for other in claims):
                raise ValueError("its name stands twice; give each claim a name of its own")
        except ValueError as error:
            raise Refusal(path / SOURCE, f"{_which(number, table)}: {error}") from None
        claims.append(claim)
    return claims


def _which(number: int, table: Any) -> str:
    """E.g. "claim 2 (`faster`)"."""
    name = table.get("name") if isinstance(table, dict) else None
    return f"claim {number}" + (f" (`{name}`)" if isinstance(name, str) else "")


def _claim(table: Any) -> Claim:
    """Raises ValueError saying what is wrong with it."""
    if not isinstance(table, dict):
        raise ValueError("is not an object")
    kind = _one_of(table, "kind", _KEYS)
    _check_keys(table, (*_COMMON, *_KEYS[kind]))
    name, says = table["name"], table.get("says", "")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError("`name` is not 1 to 64 of a-z, 0-9 and -, or begins with -")
    if not isinstance(says, str):
        raise ValueError("`says` is not a text")
    at_least, at_most = _bounds(table, kind)
    return Claim(
        name=name,
        says=" ".join(says.split()),
        kind=kind,
        metric=METRICS[_one_of({"metric": "rps"} | table, "metric", METRICS)],
        of=_selection(table, "of" if "of" in table else "where"),
        against=_selection(table, "against") if "against" in table else None,
        along=_axis(table["along"]) if "along" in table else None,
        at_least=at_least,
        at_most=at_most,
    )


def _check_keys(table: dict[str, Any], keys: tuple[str, ...]) -> None:
    names = [key.rstrip("!") for key in keys]
    unknown = [name for name in table if name not in names]
    if unknown:
        raise ValueError(f"has `{unknown[0]}`; known of {table['kind']} are {', '.join(names)}")
    missing = [key[:-1] for key in keys if key.endswith("!") and key[:-1] not in table]
    if missing:
        raise ValueError(f"has no `{missing[0]}`, which {table['kind']} must have")


def _one_of(table: dict[str, Any], key: str, known: dict[str, Any]) -> str:
    value = table.get(key)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"`{key}` is not one of {', '.join(known)}")
    return value


def _bounds(table: dict[str, Any], kind: str) -> tuple[float | None, float | None]:
    """(at least, at most) of the numbers that the claim comes to."""
    if kind == "monotone":
        return _DIRECTIONS[_one_of(table, "direction", _DIRECTIONS)]
    if kind == "equivalence":
        margin = _positive({"margin": MARGIN} | table, "margin")
        if margin > MARGIN_MAX:
            raise ValueError(f"`margin` is a share; it must not be above {MARGIN_MAX:g}")
        return 1 / (1 + margin), 1 + margin
    low, high = (
        _positive(table, key) if key in table else None for key in ("at_least", "at_most")
    )
    if low is None and high is None:
        raise ValueError("has neither `at_least` nor `at_most`")
    if low is not None and high is not None and low > high:
        raise ValueError("its `at_least` is above its `at_most`")
    return low, high


def _positive(table: dict[str, Any], key: str) -> float:
    number = table[key]
    if is_number(number) and 0 < number < NUMBER_MAX:
        return float(number)
    raise ValueError(f"`{key}` is not a number above 0 and below {NUMBER_MAX:g}")


def _axis(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("`along` is not the name of a factor")
    return value


def _selection(table: dict[str, Any], key: str) -> Selection:
    """Empty, where that is allowed, chooses all cells."""
    chosen = table.get(key, {})
    if not isinstance(chosen, dict) or not all(
        isinstance(level, (str, int, float, bool)) for level in chosen.values()
    ):
        raise ValueError(f"`{key}` is not an object of factors, each with one level")
    if not chosen and key != "where":
        raise ValueError(f"`{key}` is empty; name the factor and its level")
    return chosen
