"""What kind of value stands where in a result's files, as far as anything relies on it.

A shape is a table of dotted names to kinds. What is absent or null passes unless its kind is said
to be required: earlier versions wrote less, and a number that is not known is null.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from analysis.inputs.documents import Refusal

# What it is called, whether a value is one, whether it must be there.
Kind = tuple[str, Callable[[Any], bool], bool]
Shape = dict[str, Kind]


def is_number(value: Any) -> bool:
    """A whole or a decimal number; true and false are none."""
    return type(value) in (int, float)


def _whole(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _plain(value: Any) -> bool:
    return value is None or type(value) in (str, int, float, bool)


def _levels(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(levels, list) and levels and all(map(_plain, levels))
        for levels in value.values()
    )


def _named(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())


def _settings(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_plain, value.values()))


OBJECT = ("an object", lambda value: isinstance(value, dict), False)
LIST = ("a list", lambda value: isinstance(value, list), False)
OBJECTS = (
    "a list of objects",
    lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
    False,
)
TEXT = ("a text", _text, False)
NUMBER = ("a number", is_number, False)
WHOLE = ("a whole number", _whole, False)
BOOL = ("true or false", lambda value: type(value) is bool, False)
LEVELS = ("an object of lists of plain values, none empty", _levels, False)
NAMED = ("an object of objects", _named, False)
SETTINGS = ("an object of plain values", _settings, False)


def required(kind: Kind) -> Kind:
    """The same kind of a value that must be there."""
    return kind[0], kind[1], True


SAMPLE: Shape = {
    "sample_id": required(TEXT),
    "order_index": required(WHOLE),
    "variant": required(TEXT),
    "valid": required(BOOL),
    "invalid_reasons": required(LIST),
    "cell": required(SETTINGS),
    "run": WHOLE,
    "server": OBJECT,
    "client": OBJECT,
    "latency_us": OBJECT,
    "pins": OBJECT,
    "binding": OBJECT,
}
EXPERIMENT: Shape = {
    "name": TEXT,
    "question": TEXT,
    "fixed": OBJECT,
    "factors": LEVELS,
    "scenarios": NAMED,
    "variants": NAMED,
    "runs": WHOLE,
}
PLAN: Shape = {
    "effective": OBJECT,
    **{f"effective.{name}": kind for name, kind in EXPERIMENT.items()},
    "samples": LIST,
    "files": OBJECTS,
}


def check(table: dict[str, Any], shape: Shape, where: Path | str) -> None:
    """Raises Refusal naming the first value that is not of its kind."""
    for name, (kind, holds, needed) in shape.items():
        value = find(table, name)
        if value is None and not needed:
            continue
        if not holds(value):
            raise Refusal(where, f"`{name}` is {'missing or ' if needed else ''}not {kind}")


def find(table: dict[str, Any], name: str) -> Any:
    """The value of a dotted name; None where a part of it is absent or no object."""
    value: Any = table
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
