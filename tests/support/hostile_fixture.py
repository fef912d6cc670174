"""A result whose scenarios have names that would be markup, patterns or paths, were they not told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from result_fixture import SCENARIOS, write_json, write_variants

RAN = "a script ran"
NAMES = dict(
    zip(
        SCENARIOS,
        (
            f"\"><img src=x onerror=\"document.title='{RAN}'\">",
            f"'</text></svg><script>document.title='{RAN}'</script>&quot;<b>",
            "\\q \\g<9> \\1 $\\frac{",
            "two\nlines & ../../up",
        ),
        strict=True,
    )
)


def write_hostile(path: Path) -> Path:
    """The comparison of variants, its scenarios under NAMES."""
    return write_variants(path, finish=_rename)


def _rename(path: Path) -> None:
    lines = []
    for folder in sorted((path / "samples").iterdir()):
        result = _renamed(json.loads((folder / "result.json").read_text()))
        write_json(folder / "result.json", result)
        lines.append(json.dumps(result) + "\n")
    (path / "results.jsonl").write_text("".join(lines))
    for name in ("experiment.json", "plan.json"):
        write_json(path / name, _renamed(json.loads((path / name).read_text())))


def _renamed(value: Any) -> Any:
    """The same with each scenario's name, as a key or a text, replaced."""
    if isinstance(value, dict):
        return {NAMES.get(name, name): _renamed(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one) for one in value]
    return NAMES.get(value, value) if isinstance(value, str) else value
