"""What every command does alike: usage that exits with 4, and refusals told in one line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from typing import Callable, NoReturn

from analysis.inputs.documents import Refusal

EXIT_INVALID, EXIT_REFUSED = 3, 4
# Where this is set, a fault of the analysis is told with its traceback.
TRACEBACK = "WEIR_TRACEBACK"


class Parser(argparse.ArgumentParser):
    """Exits with 4 on wrong usage, as every verb does."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        self.exit(EXIT_REFUSED, f"{self.prog}: {message}\n")


def carry_out(name: str, work: Callable[[], int]) -> int:
    """The exit status of `work`; 4 for what it refuses, could not write or did not foresee, in one
    line: Python's own status of an exception, 1, is that of a gate that fails."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return work()
    except Refusal as refusal:
        print(f"{name}: {refusal}", file=sys.stderr)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{name}: {where}cannot be written: {error.strerror}", file=sys.stderr)
    except Exception as fault:  # whatever it is, it is no verdict
        print(f"{name}: {_told(fault)}", file=sys.stderr)
    return EXIT_REFUSED


def leave(status: int) -> NoReturn:
    """Ends the process at once: to free what thousands of samples hold would take seconds."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = EXIT_REFUSED
    os._exit(status)


def _told(fault: Exception) -> str:
    """In one line; after it the traceback, where it was asked for."""
    text = " ".join(str(fault).split())
    told = f"a fault of the analysis: {type(fault).__name__}: {text}; please report it"
    if os.environ.get(TRACEBACK):
        return told + "\n" + "".join(traceback.format_exception(fault)).rstrip()
    return told
