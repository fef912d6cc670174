"""What servers were given besides their settings: files, of which the configuration says what no
setting does. Two runs that differ in them measured something else."""

from __future__ import annotations

import json
from typing import Any

from analysis.cells.words import count, some
from analysis.inputs.given import GivenFile
from analysis.inputs.load import Result
from analysis.judgement.difference import HASH_DIGITS, NOT_RECORDED, Refused

CONFIG = "configuration of servers (server_config)"
NOT_GIVEN = "n/a (not given)"
NOT_SET = "n/a (not set)"
# So many files that differ are named one by one, and so many keys of one.
NAMED_MAX = 5
VALUE_MAX = 60  # characters of a key's value
_SAME_FILES = "give both runs the same files"


def files(a: Result, b: Result) -> list[Refused]:
    """The two configurations, whatever they are called, then every other file by its name. Another
    way of writing the same configuration is no difference; what is served counts byte for byte."""
    names = [config_name(result) for result in (a, b)]
    found = _configs(a, b, names)
    others = [name for name in {**a.given, **b.given} if name not in names]
    unlike = [name for name in others if _digest(a.given.get(name)) != _digest(b.given.get(name))]
    for name in unlike[:NAMED_MAX]:
        sides = _sides(a.given.get(name), b.given.get(name))
        found.append(Refused(f"file {name}", *sides, _SAME_FILES))
    rest = unlike[NAMED_MAX:]
    if rest:
        given = (sum(name in one.given for name in rest) for one in (a, b))
        sides = [f"{number} of them given" for number in given]
        found.append(Refused(count(len(rest), "more file"), *sides, _SAME_FILES))
    return found


def config_name(result: Result) -> str | None:
    """The file's, as the experiment names it; None where servers had none."""
    name = result.effective.get("server_config")
    return name if isinstance(name, str) else None


def leaves(value: Any, name: str = "") -> dict[str, str]:
    """Every value of nested JSON by its dotted name, written as JSON; an empty object or list is
    one."""
    inner: Any = None
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    if not value or inner is None:
        return {name: json.dumps(value, ensure_ascii=False)} if name else {}
    found: dict[str, str] = {}
    for key, one in inner:
        found |= leaves(one, f"{name}.{key}" if name else str(key))
    return found


def short(text: str) -> str:
    """A value that does not fill the page."""
    return text if len(text) <= VALUE_MAX else text[: VALUE_MAX - 3] + "..."


def _configs(a: Result, b: Result, names: list[str | None]) -> list[Refused]:
    """None either where both name one of the same name and neither knows its digest, as early runs
    did not."""
    both = [result.given.get(name or "") for result, name in zip((a, b), names)]
    if _digest(both[0]) == _digest(both[1]) and (None not in both or names[0] == names[1]):
        return []
    contents = [None if one is None else one.content for one in both]
    if None not in contents and _written(contents[0]) == _written(contents[1]):
        return []
    sides = [_config(*one) for one in zip(names, both, _sides(*both))]
    return [Refused(CONFIG, *sides, _SAME_FILES)]


def _config(name: str | None, file: GivenFile | None, side: str) -> str:
    if name is None:
        return NOT_GIVEN
    return f"{name}, {NOT_RECORDED if file is None else side}"


def _written(content: Any) -> str:
    """The same text for the same JSON; 1, 1.0 and true are three."""
    return json.dumps(content, sort_keys=True)


def _digest(file: GivenFile | None) -> str | None:
    return None if file is None else file.sha256


def _sides(*both: GivenFile | None) -> list[str]:
    """What each side has: its digest and, of two JSON files, the keys that differ."""
    keys: list[dict[str, str]] = [{}, {}]
    if all(one is not None and one.content is not None for one in both):
        keys = [leaves(one.content) for one in both]
    unlike = [name for name in {**keys[0], **keys[1]} if keys[0].get(name) != keys[1].get(name)]
    return [
        NOT_GIVEN if one is None else f"SHA-256 {one.sha256[:HASH_DIGITS]}" + _keys(unlike, own)
        for one, own in zip(both, keys)
    ]


def _keys(names: list[str], own: dict[str, str]) -> str:
    """E.g. " (tls_max "1.2", limits.headers n/a (not set))"."""
    told = some([f"{name} {short(own.get(name, NOT_SET))}" for name in names])
    return f" ({told})" if names else ""
