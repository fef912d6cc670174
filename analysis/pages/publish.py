"""A report's files, put into a result directory that is whole at every moment.

All of them, manifest.json and manifest.sha256 included, are first written into report.part, which
counts for nothing. One rename makes it report.next: from then on each file in there is meant
instead of the one of its name beside it, for `weir verify` as for whoever repeats the run. So
moving them to their places, one by one, changes nothing, and may be stopped at any point; the next
report goes on with it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

STAGE = "report.part"
NEXT = "report.next"


@contextlib.contextmanager
def sole_writer(directory: Path) -> Iterator[None]:
    """Holds the lock of a result directory, which runs take as well. Raises OSError if another
    process has it. What is no directory is locked by nobody."""
    if not directory.is_dir():
        yield
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(
                errno.EBUSY, "another process writes into it", str(directory)
            ) from None
        yield
    finally:
        os.close(descriptor)


def settle(directory: Path) -> None:
    """Brings what an earlier report left to its end: removes what it had not finished, puts into
    place what it had. Raises OSError."""
    shutil.rmtree(directory / STAGE, ignore_errors=True)
    ready = directory / NEXT
    _check_folder(ready)
    if ready.is_dir():
        files = (path for path in ready.rglob("*") if not path.is_dir())
        _check_places(directory, [str(path.relative_to(ready)) for path in files])
        _take_over(directory)


def publish(directory: Path, contents: dict[str, bytes]) -> None:
    """Writes all files (path within the directory to content) or, if that fails, none: a full disk
    or a signal leaves what was there. The directory is settled. Raises OSError."""
    stage = directory / STAGE
    _check_places(directory, contents)
    try:
        for folder in sorted({(stage / name).parent for name in contents} | {stage}):
            os.mkdir(folder)
        for name, content in contents.items():
            with open(stage / name, "wb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
        for folder in {(stage / name).parent for name in contents}:
            _sync(folder)
        os.rename(stage, directory / NEXT)
    except BaseException:  # a signal too must leave nothing behind
        shutil.rmtree(stage, ignore_errors=True)
        raise
    _sync(directory)
    _take_over(directory)


def _check_places(directory: Path, names: Iterable[str]) -> None:
    """Raises OSError where a file's place is a folder, or its folder is something else or a link,
    which may lead to files of somebody else."""
    for name in names:
        for folder in list(Path(name).parents)[:-1]:
            _check_folder(directory / folder)
        place = directory / name
        if place.is_dir() and not place.is_symlink():
            raise OSError(errno.EISDIR, "a folder is in its place; move it away", str(place))


def _check_folder(path: Path) -> None:
    """Raises OSError for what is there and is no folder, or a link to one."""
    if path.is_symlink():
        raise OSError(errno.ENOTDIR, "it is a link; move it away", str(path))
    if path.exists() and not path.is_dir():
        raise OSError(errno.ENOTDIR, "it is no folder; move it away", str(path))


def _take_over(directory: Path) -> None:
    """Moves each file of report.next to its place, and removes the folder."""
    ready = directory / NEXT
    for folder, _, names in os.walk(ready, topdown=False):
        place = directory / Path(folder).relative_to(ready)
        if names and not place.is_dir():
            os.makedirs(place)
        for name in names:
            os.replace(Path(folder, name), place / name)
        if names:
            _sync(place)
        os.rmdir(folder)


def _sync(path: Path) -> None:
    """Makes renames in `path` durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
