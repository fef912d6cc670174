"""A folder of pages beside results: whole or not at all, and never over anything else."""

from __future__ import annotations

import errno
import hashlib
import json
from pathlib import Path

from analysis.inputs import files
from analysis.inputs.documents import Refusal, present, read_object
from analysis.pages import publish


def write(directory: Path, schema: str, contents: dict[str, bytes]) -> None:
    """Writes all files (path within the folder to content) with a manifest of that schema, in place
    of those that an earlier call left. Raises Refusal where the folder holds anything else, OSError
    where it cannot be written."""
    new = not present(directory)
    if new:
        directory.mkdir(parents=True)
    try:
        with publish.sole_writer(directory):
            publish.settle(directory)
            before = set() if new else _own(directory, schema)
            publish.publish(directory, contents | {files.MANIFEST: _manifest(schema, contents)})
            for name in before - set(contents):
                (directory / name).unlink(missing_ok=True)
    except BaseException:
        if new:
            _remove_empty(directory)
        raise


def _own(directory: Path, schema: str) -> set[str]:
    """The files that an earlier call left, all that is there; none in an empty folder."""
    if not directory.is_dir():
        raise Refusal(directory, "is not a folder; give another with --output")
    there = {
        str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()
    }
    if not there:
        return set()
    try:
        manifest = read_object(directory / files.MANIFEST, schema)
        listed = set(files.manifest_entries(manifest))
    except (Refusal, ValueError):
        raise Refusal(
            directory, "holds files of somebody else; give another folder with --output"
        ) from None
    others = sorted(there - listed - {files.MANIFEST})
    if others:
        raise Refusal(
            directory / others[0], "was not written by this; give another folder with --output"
        )
    return listed


def _manifest(schema: str, contents: dict[str, bytes]) -> bytes:
    entries = [
        {"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in sorted(contents.items())
    ]
    return (json.dumps({"schema": schema, "files": entries}, indent=1) + "\n").encode()


def _remove_empty(directory: Path) -> None:
    try:
        directory.rmdir()
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
