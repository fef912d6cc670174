"""The command: `python3 -m analysis.report RESULT_DIR` writes the report into the directory.

Exit: 0 written, and the gate passes if there is one; 1 it fails; 2 it is undecided; 3 no sample is
valid; 4 refused or not writable, or written with a gate that is tighter than the noise floor. A
gate is judged where the experiment states one or --gate asks for one.
"""

from __future__ import annotations

import argparse
import hashlib
import signal
import sys
from pathlib import Path

from analysis.figures import catalogue
from analysis.inputs import files
from analysis.judgement import calibration_file, gate
from analysis.judgement.study import Study, study
from analysis.pages import cells_csv
from analysis.pages import comparison_csv
from analysis.pages import latex
from analysis.pages import publish
from analysis.pages import render
from analysis.pages import sections
from analysis.pages import terminal
from analysis.pages.headline import headline
from analysis.inputs.load import OWN_OUTPUTS, Refusal, Result, load_result

EXIT_REFUSED = 4


def outputs(of: Study, wide: bool = False) -> dict[str, bytes]:
    """Every file of the report: path in the result directory to content; figures as wide as a page,
    too, if asked for. The same result gives the same bytes."""
    drawings = catalogue.draw_all(of, ("single", "double") if wide else ("single",))
    made = {
        "aggregate.csv": cells_csv.csv_bytes(of.found),
        "aggregate.txt": terminal.text_bytes(of),
    }
    compared = comparison_csv.csv_bytes(of)
    if compared is not None:
        made["variants.csv"] = compared
    made |= latex.files(of)
    if of.calibration is not None:
        made[calibration_file.NAME] = calibration_file.as_bytes(of.calibration)
    for drawing in drawings:
        folder = "figures" if drawing.width == "single" else "figures/wide"
        for kind in ("svg", "pdf", "png"):
            made[f"{folder}/{drawing.name}.{kind}"] = getattr(drawing, kind)
    page = sections.page(of, [drawing for drawing in drawings if drawing.width == "single"])
    made["report.md"] = render.markdown(page)
    made["report.html"] = render.html(page)
    return made


def write(result: Result, made: dict[str, bytes]) -> None:
    """Writes all files, with the manifest that lists them, or none; then removes what an earlier
    report wrote and this one does not, as figures/wide. Raises OSError."""
    contents, gone = dict(made), []
    if result.manifest is not None:
        gone = files.left_behind(result.manifest, made, OWN_OUTPUTS)
        manifest = files.manifest_with(result.manifest, made, gone)
        contents[files.MANIFEST] = manifest
        if result.sealed:
            digest = hashlib.sha256(manifest).hexdigest()
            contents[files.SEAL] = files.seal_of(digest).encode()
    publish.publish(result.path, contents)
    files.remove(result.path, gone)


def main(argv: list[str] | None = None) -> int:
    """Parses, reads, writes; the exit status."""
    parser = _Parser(
        prog="weir report",
        description="Writes tables, figures and reports into a result directory.",
    )
    parser.add_argument(
        "result",
        type=Path,
        metavar="RESULT_DIR",
        help="e.g. results/20260101T000000Z-first-look-host",
    )
    parser.add_argument(
        "--gate",
        choices=gate.KINDS,
        help="judge by this kind of gate, with the experiment's bounds where it states some",
    )
    parser.add_argument(
        "--calibration",
        type=Path,
        metavar="PATH",
        help="the noise floor to judge by: a calibration.json or its A/A result",
    )
    parser.add_argument(
        "--wide",
        action="store_true",
        help="also draw every figure as wide as both columns of a page, into figures/wide",
    )
    asked = parser.parse_args(argv)
    path = asked.result
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        with publish.sole_writer(path):
            publish.settle(path)
            of = study(load_result(path), asked.gate, asked.calibration)
            write(of.result, outputs(of, asked.wide))
    except Refusal as refusal:
        print(f"weir report: {refusal}", file=sys.stderr)
        return EXIT_REFUSED
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OSError as error:
        print(
            f"weir report: {error.filename or path}: cannot be written: {error.strerror}",
            file=sys.stderr,
        )
        return EXIT_REFUSED
    for line in headline(of):
        print(line)
    print(f"report: {path / 'report.html'}")
    return status(of)


def status(of: Study) -> int:
    """The exit status of a report that is written; says on stderr why it is not 0."""
    outcome, path = of.gate, of.result.path
    if not of.result.valid:
        print(
            f"weir report: {path}: none of {len(of.result.samples)} samples is valid",
            file=sys.stderr,
        )
    elif outcome.exit_status:
        print(f"weir report: {path}: gate {outcome.word}: {outcome.why}", file=sys.stderr)
    return outcome.exit_status


class _Parser(argparse.ArgumentParser):
    """Exits with 4 on wrong usage, as every verb does."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        self.exit(EXIT_REFUSED, f"{self.prog}: {message}\n")


if __name__ == "__main__":
    sys.exit(main())
