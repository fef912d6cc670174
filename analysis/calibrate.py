"""The command: `python3 -m analysis.calibrate RESULT_DIR` prints the noise floor that an A/A result
found. It writes nothing: the result's report has the same, and keeps it as calibration.json.

Exit: 0 printed; 1 the A/A run tells its two sides apart, so something is wrong; 2 too few runs to
know any spread; 3 no valid sample; 4 refused, e.g. what is no A/A result.
"""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.command import EXIT_INVALID, Parser, carry_out
from analysis.inputs.documents import Refusal
from analysis.inputs.load import load_result
from analysis.judgement.calibration import MEASURES
from analysis.judgement.study import Study, study
from analysis.pages import floor, verdicts
from analysis.pages.blocks import as_text

NAME = "weir calibrate"
EXIT_WRONG, EXIT_UNKNOWN = 1, 2


def main(argv: list[str] | None = None) -> int:
    """Parses, reads, prints; the exit status."""
    parser = Parser(
        prog=NAME,
        description="Prints the noise floor that an A/A result found: what this host can tell.",
    )
    parser.add_argument(
        "result",
        type=Path,
        metavar="RESULT_DIR",
        help="of two variants that are one program, e.g. of experiments/calibrate",
    )
    path = parser.parse_args(argv).result
    return carry_out(NAME, lambda: _calibrate(path))


def _calibrate(path: Path) -> int:
    of = study(load_result(path))
    if not of.result.valid:
        why = f"none of {len(of.result.samples)} samples is valid"
        print(f"{NAME}: {path}: {why}", file=sys.stderr)
        return EXIT_INVALID
    if of.no_a_a is not None:
        raise Refusal(
            path,
            (
                f"is no A/A result: {of.no_a_a}; `./weir calibrate` makes one, or give one"
                " whose two variants are the same build"
            ),
        )
    return _told(of)


def _told(of: Study) -> int:
    calibration = of.calibration
    assert calibration is not None  # it is an A/A run
    print("\n".join([*as_text([floor.block(calibration)]), *verdicts.a_a(of)]))
    if of.false_alarms:
        return EXIT_WRONG
    known = any(calibration.overall(name) is not None for name in MEASURES)
    return 0 if known else EXIT_UNKNOWN


if __name__ == "__main__":
    sys.exit(main())
