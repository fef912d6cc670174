"""The command: `python3 -m analysis.compare BASE NEW` compares two results, or two files of Google
Benchmark's JSON, and writes a folder of pages beside NEW.

Exit: 0 written and the gate passes, or none was asked for; 1 the gate failed; 2 it is undecided;
3 a result has no valid sample; 4 refused: not comparable without --force, a gate below the noise
floor, or bad input.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from analysis.cells.aggregate import aggregate
from analysis.command import EXIT_INVALID, Parser, carry_out, leave
from analysis.figures import across as figures
from analysis.inputs import benchmark
from analysis.inputs.documents import Refusal
from analysis.inputs.load import load_result
from analysis.judgement import benchmarks, calibration_file, gate
from analysis.judgement.across import Across
from analysis.judgement.benchmarks import Benchmarks
from analysis.judgement.identity import is_same_run
from analysis.judgement.study import Study
from analysis.pages import benchmark_page, compare_csv, compare_page, folder, render
from analysis.pages.blocks import as_text
from analysis.pages.page import Page

NAME = "weir compare"
SCHEMA = "weir.compare/1"


def main(argv: list[str] | None = None) -> int:
    """Parses, reads, writes; the exit status."""
    asked = _parser().parse_args(argv)
    return carry_out(NAME, lambda: _compare(asked))


def _parser() -> Parser:
    parser = Parser(
        prog=NAME,
        description="Compares two results, or two files of Google Benchmark's JSON, by name.",
    )
    parser.add_argument("base", type=Path, metavar="BASE", help="the earlier one")
    parser.add_argument("new", type=Path, metavar="NEW", help="the one that is judged")
    parser.add_argument(
        "--force", action="store_true", help="compare what is not comparable; stamps every page"
    )
    parser.add_argument(
        "--gate",
        choices=[kind for kind in gate.KINDS if kind != gate.NONE],
        help="what the exit status is by; else the gate of NEW's experiment, if it has one",
    )
    parser.add_argument(
        "--calibration", type=Path, metavar="PATH", help="a calibration.json, or an A/A result"
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="else BASE-vs-NEW.compare beside NEW"
    )
    return parser


def _compare(asked: argparse.Namespace) -> int:
    files = [path.is_file() for path in (asked.base, asked.new)]
    if files[0] != files[1]:
        path = asked.base if files[0] else asked.new
        raise Refusal(path, "is a file, the other is not; give two result directories or two files")
    return _benchmarks(asked) if files[0] else _results(asked)


def _results(asked: argparse.Namespace) -> int:
    base, new = (load_result(path) for path in (asked.base, asked.new))
    if is_same_run(base, new):
        raise Refusal(asked.new, f"is {asked.base} itself, or a copy of it: measure again")
    of = Across(
        Study(base, aggregate(base)),
        Study(new, aggregate(new)),
        gate.asked(new.effective, asked.gate),
        calibration_file.adopt(new, asked.calibration),
    )
    if not of.pairs:
        raise Refusal(asked.new, f"has no cell with the settings of one of {asked.base}")
    stamp = compare_page.stamp(of)
    _check([one.sentence for one in of.refused], asked)
    page = compare_page.page(of, asked.force, figures.draw_all(of, stamp))
    made = _pages(page) | {"compare.csv": compare_csv.csv_bytes(of, page.stamp)}
    _write(asked, page, made)
    for side in (base, new):
        if not side.valid:
            print(f"{NAME}: {side.path}: no sample is valid", file=sys.stderr)
            return EXIT_INVALID
    if of.gate.exit_status:
        print(f"{NAME}: {new.path}: gate {of.gate.word}: {of.gate.why}", file=sys.stderr)
    return of.gate.exit_status


def _benchmarks(asked: argparse.Namespace) -> int:
    if asked.gate not in (None, gate.CATEGORY):
        raise Refusal(asked.new, f"has no boots: --gate {asked.gate} needs results; use category")
    if asked.calibration is not None:
        raise Refusal(asked.calibration, "calibrates results, not benchmarks")
    of = Benchmarks(benchmark.read(asked.base), benchmark.read(asked.new))
    if not of.changes:
        raise Refusal(asked.new, f"has no benchmark with a time that {asked.base} names, too")
    _check([one.sentence for one in benchmarks.refused(of.base, of.new)], asked)
    page = benchmark_page.page(of, asked.force)
    _write(asked, page, _pages(page) | {"compare.csv": benchmark_page.csv_bytes(of, page.stamp)})
    for line in of.against:
        print(f"{NAME}: {asked.new}: {line}", file=sys.stderr)
    return of.exit_status


def _check(reasons: list[str], asked: argparse.Namespace) -> None:
    """Raises Refusal for what does not compare, unless it was forced."""
    if reasons and not asked.force:
        told = " ".join([*reasons, "--force does it anyway"])
        raise Refusal(asked.new, f"does not compare with {asked.base}. {told}")


def _pages(page: Page) -> dict[str, bytes]:
    """The page in each of its forms, and its figures."""
    drawn = {
        path: content
        for section in page.sections
        for drawing in section.drawings
        for path, content in drawing.files().items()
    }
    text = [page.title, "", *([f"!! {page.stamp}"] if page.stamp else [])]
    text += [f"! {caveat.what}: {caveat.detail}" for caveat in page.banner] + ["", *page.answer, ""]
    for section in page.shown:
        text += as_text([replace(one, title=one.title or section.title) for one in section.blocks])
    return {
        "compare.md": render.markdown(page),
        "compare.html": render.html(page),
        "compare.txt": ("\n".join(text) + "\n").encode(),
        **drawn,
    }


def _write(asked: argparse.Namespace, page: Page, made: dict[str, bytes]) -> None:
    base, new = (path.resolve() for path in (asked.base, asked.new))
    named = f"{base.name.removesuffix('.json')}-vs-{new.name.removesuffix('.json')}.compare"
    directory = asked.output or new.parent / named
    folder.write(directory, SCHEMA, made)
    print("\n".join([*([page.stamp] if page.stamp else []), *page.answer]))
    print(f"comparison: {directory / 'compare.html'}")


if __name__ == "__main__":
    leave(main())
