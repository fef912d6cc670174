"""Nested JSON as (dotted name, words) rows; what is not known keeps its reason."""

from __future__ import annotations

from typing import Any


def flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Leaves of nested objects; a list of plain values is one leaf, a null takes its reason
    along."""
    if isinstance(value, dict):
        return [leaf for key in value for leaf in _member(value, key, name)]
    if isinstance(value, list) and any(isinstance(inner, (dict, list)) for inner in value):
        return [leaf for at, inner in enumerate(value) for leaf in flat(inner, f"{name}.{at}")]
    if isinstance(value, list):
        return [(name, ", ".join(map(word, value)))]
    return [(name, word(value))]


def _member(table: dict[str, Any], key: str, name: str) -> list[tuple[str, str]]:
    path = f"{name}.{key}" if name else key
    if key.endswith("_reason") and key.removesuffix("_reason") in table:
        return []
    if table[key] is None and f"{key}_reason" in table:
        return [(path, f"n/a ({table[f'{key}_reason']})")]
    return flat(table[key], path)


def word(value: Any) -> str:
    """A plain value as people read it."""
    return "n/a" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def listed(value: Any) -> list[Any]:
    """What should be a list as one: nothing is none, and what is no list is told as its one
    member."""
    return value if isinstance(value, list) else [] if value is None else [value]


def phrase(value: Any) -> str:
    """Any value in one line: a text as it is, an object as "name: words; ..."."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {words}" for name, words in flat(value))
    if isinstance(value, list):
        return ", ".join(map(phrase, value))
    return word(value)
