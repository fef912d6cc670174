"""The command: `python3 -m analysis.reproduce OLD NEW` says whether NEW, a repetition of OLD, says
of OLD's claims what OLD said. Reads both directories and writes into neither.

Exit: 0 every claim is reproduced; 1 one is not; 2 none is not, but one is undecided, or there is
none; 3 a directory has no valid sample; 4 refused.
"""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.command import EXIT_INVALID, Parser, carry_out
from analysis.inputs.load import load_result
from analysis.judgement.reproduction import NOT_REPRODUCED, REPRODUCED, Reproduced, reproductions
from analysis.judgement.study import study
from analysis.pages import reproduction
from analysis.pages.blocks import as_text

NAME = "weir reproduce"
EXIT_NOT_REPRODUCED, EXIT_UNDECIDED = 1, 2


def exit_status(found: list[Reproduced]) -> int:
    """Of all claims together."""
    words = {one.word for one in found}
    if NOT_REPRODUCED in words:
        return EXIT_NOT_REPRODUCED
    return 0 if words == {REPRODUCED} else EXIT_UNDECIDED


def main(argv: list[str] | None = None) -> int:
    """Parses, reads, prints; the exit status."""
    parser = Parser(
        prog=NAME,
        description="Says whether a repetition of a run says of its claims what the run said.",
    )
    parser.add_argument("old", type=Path, metavar="OLD", help="the earlier result directory")
    parser.add_argument("new", type=Path, metavar="NEW", help="that of its repetition")
    asked = parser.parse_args(argv)
    return carry_out(NAME, lambda: _reproduce(asked.old, asked.new))


def _reproduce(*paths: Path) -> int:
    """Prints the table; the exit status."""
    old, new = (study(load_result(path)) for path in paths)
    found, stated = reproductions(old, new)
    print(f"{new.result.path} as a repetition of {old.result.path}\n")
    print("\n".join(as_text(reproduction.blocks(old.result, new.result, found, stated))))
    for side in (old, new):
        if not side.result.valid:
            reason = f"none of {len(side.result.samples)} samples is valid"
            print(f"{NAME}: {side.result.path}: {reason}", file=sys.stderr)
            return EXIT_INVALID
    return exit_status(found)


if __name__ == "__main__":
    sys.exit(main())
