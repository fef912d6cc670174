"""Files of a result directory: whole-or-nothing writing, hashes, and the manifest that lists
them."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"


def write_whole(path: Path, content: bytes) -> None:
    """Writes to a temporary name, syncs, renames: there is the old file or the new. Raises
    OSError."""
    temporary = path.with_name(f"{path.name}.tmp{os.getpid()}")
    try:
        with open(temporary, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Makes renames in `path` durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_entries(manifest: Any) -> dict[str, dict[str, Any]]:
    """Path to {sha256, bytes} of `files`, be it a list with `path` or an object by path.

    Raises ValueError saying what is wrong.
    """
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if isinstance(files, dict):
        files = [
            {"path": path, **entry} for path, entry in files.items() if isinstance(entry, dict)
        ]
    if not isinstance(files, list):
        raise ValueError("has no `files`")
    entries = {}
    for entry in files:
        if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
            raise ValueError("has an entry without a path")
        path, size = entry["path"], entry.get("bytes", entry.get("size"))
        if path.startswith("/") or ".." in path.split("/"):
            raise ValueError(f"names a file outside the directory: {path}")
        if not isinstance(entry.get("sha256"), str) or not isinstance(size, int):
            raise ValueError(f"has no sha256 and size for {path}")
        entries[path] = {"sha256": entry["sha256"], "bytes": size}
    return entries


def manifest_with(manifest: dict[str, Any], outputs: dict[str, bytes]) -> bytes:
    """The manifest with `outputs` (path to content) added or replaced, in the form that it had."""
    fresh = {
        path: {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        for path, content in outputs.items()
    }
    files = manifest["files"]
    if isinstance(files, dict):
        updated: Any = dict(
            sorted((files | {path: _like(files, entry) for path, entry in fresh.items()}).items())
        )
    else:
        kept = [entry for entry in files if entry["path"] not in fresh]
        added = [{"path": path, **_like(files, entry)} for path, entry in fresh.items()]
        updated = sorted(kept + added, key=lambda entry: entry["path"])
    return (json.dumps(manifest | {"files": updated}, indent=1, ensure_ascii=False) + "\n").encode()


def _like(files: Any, entry: dict[str, Any]) -> dict[str, Any]:
    """`entry` with its size under the name that the manifest's other entries use."""
    entries = list(files.values() if isinstance(files, dict) else files)
    first: dict[str, Any] = entries[0] if entries else {}
    name = "bytes" if "bytes" in first else "size"
    return {"sha256": entry["sha256"], name: entry["size"]}
