"""Files of a result directory: whole-or-nothing writing, hashes, and the manifest that lists
them."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
SEAL = "manifest.sha256"


def write_whole(path: Path, content: bytes) -> None:
    """Writes to a temporary name, syncs, renames: there is the old file or the new. Raises
    OSError."""
    write_together({path: content})


def write_together(contents: dict[Path, bytes]) -> None:
    """The same for files of one directory that must fit each other: all are on the disk before the
    first is renamed, so only a stop between two renames can part them. Raises OSError."""
    temporaries = {path.with_name(f"{path.name}.tmp{os.getpid()}"): path for path in contents}
    try:
        for temporary, path in temporaries.items():
            with open(temporary, "wb") as out:
                out.write(contents[path])
                out.flush()
                os.fsync(out.fileno())
        for temporary, path in temporaries.items():
            os.replace(temporary, path)
    except BaseException:  # a signal too must not leave half a file behind
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)
        raise
    sync_directory(next(iter(contents)).parent)


def seal_of(digest: str) -> str:
    """The one line of manifest.sha256, which `sha256sum -c` reads."""
    return f"{digest}  {MANIFEST}\n"


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


def manifest_entries(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Path to {path, bytes, sha256} of a manifest; raises ValueError saying what is wrong with it."""
    if not isinstance(manifest.get("files"), list):
        raise ValueError("has no list `files`")
    entries = {}
    for entry in manifest["files"]:
        if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
            raise ValueError("has an entry without a path")
        path = entry["path"]
        if path.startswith("/") or ".." in path.split("/"):
            raise ValueError(f"names a file outside the directory: {path}")
        if not isinstance(entry.get("sha256"), str) or not isinstance(entry.get("bytes"), int):
            raise ValueError(f"has no sha256 and bytes for {path}")
        entries[path] = entry
    return entries


def manifest_with(manifest: dict[str, Any], outputs: dict[str, bytes]) -> bytes:
    """The manifest with `outputs` (path to content) added or replaced, sorted by path."""
    entries = manifest_entries(manifest)
    for path, content in outputs.items():
        digest = hashlib.sha256(content).hexdigest()
        entries[path] = {"path": path, "bytes": len(content), "sha256": digest}
    files = [entries[path] for path in sorted(entries)]
    return (json.dumps(manifest | {"files": files}, indent=1, ensure_ascii=False) + "\n").encode()
