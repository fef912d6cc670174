"""The command: `python3 -m analysis.report RESULT_DIR` writes the report into the directory.

Exit: 0 written, and the gate passes if there is one; 1 it fails; 2 it is undecided; 3 no sample is
valid; 4 refused or not writable, or written with a gate that is tighter than the noise floor. A
gate is judged where the experiment states one or --gate asks for one. Claims are judged on the page
always, in the exit status only with --claims: where the gate passes it is then 1 if a claim is
contradicted, 2 if none is but one is undecided. `weir run` does not ask for that.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from analysis.command import Parser, carry_out, leave
from analysis.figures import catalogue
from analysis.inputs import files
from analysis.inputs.load import OWN_OUTPUTS, Result, load_result
from analysis.judgement import calibration_file, claims, gate
from analysis.judgement.study import Study, study
from analysis.pages import cells_csv
from analysis.pages import comparison_csv
from analysis.pages import latex
from analysis.pages import publish
from analysis.pages import render
from analysis.pages import sections
from analysis.pages import terminal
from analysis.pages.headline import headline

NAME = "weir report"


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
        made |= drawing.files("figures" if drawing.width == "single" else "figures/wide")
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
    asked = _parser().parse_args(argv)
    return carry_out(NAME, lambda: _report(asked))


def _parser() -> Parser:
    parser = Parser(
        prog=NAME,
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
        "--claims",
        action="store_true",
        help="exit with 1 if a claim is contradicted, 2 if one is undecided, where the gate passes",
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
    return parser


def _report(asked: argparse.Namespace) -> int:
    path = asked.result
    with publish.sole_writer(path):
        publish.settle(path)
        of = study(load_result(path), asked.gate, asked.calibration)
        write(of.result, outputs(of, asked.wide))
    for line in headline(of):
        print(line)
    print(f"report: {path / 'report.html'}")
    return status(of) or (_of_claims(of) if asked.claims else 0)


def status(of: Study) -> int:
    """The exit status of a report that is written, claims aside; says on stderr why it is not 0."""
    outcome, path = of.gate, of.result.path
    if not of.result.valid:
        print(f"{NAME}: {path}: none of {len(of.result.samples)} samples is valid", file=sys.stderr)
    elif outcome.exit_status:
        print(f"{NAME}: {path}: gate {outcome.word}: {outcome.why}", file=sys.stderr)
    return outcome.exit_status


def _of_claims(of: Study) -> int:
    """Likewise of the experiment's claims."""
    for one in of.claims:
        if one.word != claims.SUPPORTED:
            print(f"{NAME}: {of.result.path}: claim {one.name} {one.word}: {one.why}", file=sys.stderr)
    return claims.exit_status(of.claims)


if __name__ == "__main__":
    leave(main())
