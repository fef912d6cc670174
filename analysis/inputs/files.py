"""Files of a result directory: hashes, and the manifest that lists them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Collection

MANIFEST = "manifest.json"
SEAL = "manifest.sha256"
CHUNK_BYTES = 1 << 20


def seal_of(digest: str) -> str:
    """The one line of manifest.sha256, which `sha256sum -c` reads."""
    return f"{digest}  {MANIFEST}\n"


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


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


def left_behind(
    manifest: dict[str, Any], outputs: dict[str, bytes], own: tuple[str, ...]
) -> list[str]:
    """What earlier reports wrote, that is what begins with one of `own`, and this one does not."""
    listed = manifest_entries(manifest)
    return [name for name in listed if name.startswith(own) and name not in outputs]


def remove(directory: Path, names: list[str]) -> None:
    """Removes these files of a directory, and folders that this empties; none that a link leads to.
    Raises OSError."""
    root = directory.resolve()
    names = [name for name in names if (directory / name).parent.resolve().is_relative_to(root)]
    for name in names:
        (directory / name).unlink(missing_ok=True)
    for folder in sorted({(directory / name).parent for name in names} - {directory}):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def manifest_with(
    manifest: dict[str, Any], outputs: dict[str, bytes], gone: Collection[str] = ()
) -> bytes:
    """The manifest with `outputs` (path to content) added or replaced and what is `gone` left out,
    sorted by path."""
    entries = {
        name: entry for name, entry in manifest_entries(manifest).items() if name not in gone
    }
    for path, content in outputs.items():
        digest = hashlib.sha256(content).hexdigest()
        entries[path] = {"path": path, "bytes": len(content), "sha256": digest}
    files = [entries[path] for path in sorted(entries)]
    return (json.dumps(manifest | {"files": files}, indent=1, ensure_ascii=False) + "\n").encode()
