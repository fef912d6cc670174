"""What every command does alike: usage that exits with 4, and refusals told in one line."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Callable

from analysis.inputs.documents import Refusal

EXIT_INVALID, EXIT_REFUSED = 3, 4


class Parser(argparse.ArgumentParser):
    """Exits with 4 on wrong usage, as every verb does."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        self.exit(EXIT_REFUSED, f"{self.prog}: {message}\n")


def carry_out(name: str, work: Callable[[], int]) -> int:
    """The exit status of `work`; 4 for what it refuses or could not write, in one line."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return work()
    except Refusal as refusal:
        print(f"{name}: {refusal}", file=sys.stderr)
        return EXIT_REFUSED
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{name}: {where}cannot be written: {error.strerror}", file=sys.stderr)
        return EXIT_REFUSED
