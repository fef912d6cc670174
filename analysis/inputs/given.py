"""Files that every server of a run was given: its configuration and what its routes serve, as
plan.json lists them with their digests, and as the result holds them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.inputs.documents import Refusal, parse_json, present, read_text

# A larger file is known by its digest alone.
READ_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class GivenFile:
    """One of them; `content` is its JSON object or list, None where it is none."""

    path: str
    sha256: str
    content: Any = None


def read_given(path: Path, plan: dict[str, Any]) -> dict[str, GivenFile]:
    """By name, in the plan's order; raises Refusal for an entry that names no file below the result
    or has no digest."""
    found = {}
    for entry in plan.get("files") or []:
        name, sha256 = entry.get("path"), entry.get("sha256")
        if not isinstance(name, str) or not isinstance(sha256, str):
            raise Refusal(path / "plan.json", "`files` has an entry without path and sha256")
        if name.startswith("/") or ".." in name.split("/"):
            raise Refusal(path / "plan.json", f"`files` names a file outside the directory: {name}")
        found[name] = GivenFile(name, sha256, _content(path / name))
    return found


def _content(file: Path) -> Any:
    """A JSON object or list; None of anything else, which need be no text."""
    if not present(file) or not file.is_file() or file.stat().st_size > READ_MAX_BYTES:
        return None
    try:
        value = parse_json(read_text(file), file)
    except Refusal:
        return None
    return value if isinstance(value, (dict, list)) else None
