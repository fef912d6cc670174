"""JSON and text files, read strictly: what is not exactly what it should be is refused."""

from __future__ import annotations

import json
import math
import re
import stat
from pathlib import Path
from typing import Any, NoReturn

# Bounds on one file: its bytes, how deep its values nest, and how large its whole numbers are. The
# results of 10,000 samples stay a tenth below each.
BYTES_MAX = 1 << 30
DEPTH_MAX = 64
WHOLE_MAX = 1 << 64


class Refusal(Exception):
    """The input cannot be used; says which file and why."""

    def __init__(self, file: str | Path, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file, self.reason = str(file), reason


def parse_json(text: str, where: Path | str) -> Any:
    """Strict JSON: numbers in range, no key twice, DEPTH_MAX levels. Raises Refusal with line and
    column."""
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique
        )
        if _deeper_than(text, DEPTH_MAX):
            raise ValueError(f"its values nest deeper than {DEPTH_MAX} levels")
        if "\\u" in text:
            _check_text(value)
        return value
    except json.JSONDecodeError as error:
        raise Refusal(
            f"{where}:{error.lineno}:{error.colno}", f"is not JSON: {error.msg}; is it cut off?"
        ) from None
    except (ValueError, RecursionError) as error:
        raise Refusal(where, f"is not acceptable JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key stands twice in one object")
    for name, value in pairs:
        if type(value) is int and not -WHOLE_MAX < value < WHOLE_MAX:
            raise ValueError(f"`{name}` is out of range")
    return table


def _deeper_than(text: str, levels: int) -> bool:
    """Whether lists and objects of valid JSON nest more than so many levels: of its brackets, those
    outside strings, each pass takes the innermost away, in C."""
    if text.count("[") + text.count("{") <= levels:
        return False
    brackets = _STRING.sub("", text).encode().translate(None, _NO_BRACKETS)
    for _ in range(levels):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return bool(brackets)


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _check_text(value: Any) -> None:
    """Raises ValueError for half of a surrogate pair, which no file could hold again."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair") from None


def read_text(path: Path) -> str:
    """A regular file's text; raises Refusal."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise Refusal(path, "is not a regular file")
        if about.st_size > BYTES_MAX:
            raise Refusal(path, f"has {about.st_size} bytes; at most {BYTES_MAX} are read")
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise Refusal(path, "is missing; is the directory whole?") from None
    except UnicodeDecodeError as error:
        raise Refusal(path, f"is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise Refusal(path, f"cannot be read: {error.strerror}") from None


def read_object(path: Path, schema: str | None = None) -> dict[str, Any]:
    """A file's JSON object, of that schema if one is given; raises Refusal."""
    table = parse_json(read_text(path), path)
    if not isinstance(table, dict):
        raise Refusal(path, "is not a JSON object")
    if schema is not None:
        check_schema(table, schema, path)
    return table


def read_optional(path: Path, schema: str) -> dict[str, Any] | None:
    """The same of a file that need not be there, and that may not say its schema, as early ones do
    not."""
    if not present(path):
        return None
    table = read_object(path)
    if "schema" in table:
        check_schema(table, schema, path)
    return table


def present(path: Path) -> bool:
    """Whether there is anything of that name, a link that leads nowhere included."""
    return path.is_symlink() or path.exists()


def check_schema(table: dict[str, Any], schema: str, where: Path | str) -> None:
    """Raises Refusal unless the object says that it is of this schema."""
    found = table.get("schema")
    if found != schema:
        has = f"has schema {found!r}" if found else "has no schema"
        raise Refusal(where, f"{has}; this reads {schema!r}")
