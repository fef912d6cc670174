"""The command: `python3 -m analysis.trend RESULT...` shows many results in the order of time.

Exit: 0 written; 3 written, but a result has no valid sample; 4 refused, e.g. a directory that is no
result, unless --skip-bad.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.cells.aggregate import aggregate
from analysis.command import EXIT_INVALID, Parser, carry_out, leave
from analysis.figures import history as figures
from analysis.inputs.documents import Refusal
from analysis.inputs.load import is_comparison, load_result
from analysis.judgement.history import in_order
from analysis.judgement.identity import is_same_run
from analysis.judgement.study import Study
from analysis.pages import folder, render, trend_page

NAME = "weir trend"
SCHEMA = "weir.trend/1"


def main(argv: list[str] | None = None) -> int:
    """Parses, reads, writes; the exit status."""
    parser = Parser(prog=NAME, description="Shows many results in the order of time.")
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULT")
    parser.add_argument(
        "--skip-bad", action="store_true", help="list what cannot be read on the page, and go on"
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="else `trend` beside the newest result"
    )
    asked = parser.parse_args(argv)
    return carry_out(NAME, lambda: _trend(asked))


def _trend(asked: argparse.Namespace) -> int:
    studies, skipped = _read(asked.results, asked.skip_bad)
    of = in_order(studies)
    drawings = figures.draw_all(of)
    page = trend_page.page(of, skipped, drawings)
    made = {
        "trend.md": render.markdown(page),
        "trend.html": render.html(page),
        "trend.csv": trend_page.csv_bytes(of),
    }
    for drawing in drawings:
        made |= drawing.files()
    directory = asked.output or of.studies[-1].result.path.resolve().parent / "trend"
    folder.write(directory, SCHEMA, made)
    print("\n".join([*(f"skipped: {one}" for one in skipped), *page.answer]))
    print(f"trend: {directory / 'trend.html'}")
    empty = [study.result.path for study in of.studies if not study.result.valid]
    for path in empty:
        print(f"{NAME}: {path}: no sample is valid", file=sys.stderr)
    return EXIT_INVALID if empty else 0


def _read(paths: list[Path], skip_bad: bool) -> tuple[list[Study], list[str]]:
    """(results, each run once; what was skipped and why, pages of comparisons among it, which lie
    beside results); raises Refusal that names every bad directory."""
    studies: list[Study] = []
    bad: list[Refusal] = []
    passed: list[str] = []
    for path in paths:
        try:
            if is_comparison(path):
                passed.append(f"{path}: is a comparison, not a result")
                continue
            result = load_result(path)
            same = next((one for one in studies if is_same_run(one.result, result)), None)
            if same is None:
                studies.append(Study(result, aggregate(result)))
            elif same.result.path.resolve() != path.resolve():
                passed.append(f"{path}: is the run of {same.result.path}, or a copy of it")
        except Refusal as refusal:
            bad.append(refusal)
    if not (studies or bad):
        raise Refusal(paths[0], "is a comparison, not a result; give result directories")
    if bad and not (skip_bad and studies):
        others = "".join(f"; {one}" for one in bad[1:])
        hint = "" if skip_bad else "; --skip-bad lists it on the page and goes on"
        raise Refusal(bad[0].file, f"{bad[0].reason}{others}{hint}")
    return studies, [*passed, *(str(one) for one in bad)]


if __name__ == "__main__":
    leave(main())
