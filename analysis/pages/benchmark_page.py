"""The page of two files of Google Benchmark beside each other, and its rows for programs."""

from __future__ import annotations

from analysis.cells.words import chance, count
from analysis.inputs import files
from analysis.inputs.benchmark import BenchmarkFile
from analysis.judgement import gates
from analysis.judgement.benchmarks import Benchmarks, Change, refused
from analysis.judgement.caveats import Caveat
from analysis.pages.blocks import Block, Table
from analysis.pages.csv_rows import csv_of
from analysis.pages.page import Page, Section


def page(of: Benchmarks, forced: bool) -> Page:
    """The changes first, then what has none, and how they were compared."""
    against = refused(of.base, of.new)
    what = ", ".join(one.what for one in against)
    return Page(
        title=f"{of.new.path.name} against {of.base.path.name}",
        sections=[
            Section("changes", "Changes", [_changes(of)]),
            Section("unmatched", "What has no change", _unmatched(of)),
            Section("method", "How it was compared", [Block("", _method())]),
            Section("files", "Files", [_files(of)]),
        ],
        banner=[Caveat("not comparable", one.sentence) for one in against] + _debug(of),
        answer=[_answer(of)],
        stamp=f"Forced: not comparable ({what})" if forced and against else "",
    )


def _answer(of: Benchmarks) -> str:
    failed = [change for change in of.changes if change.gated.word == gates.FAIL]
    names = len({change.name for change in of.changes})
    if not failed:
        of_all = count(names, "benchmark")
        return f"Gate (category): pass; none of {of_all} is worse than it may be."
    worst = max(failed, key=lambda change: change.relative)
    return (
        f"Gate (category): fail in {len({change.name for change in failed})} of"
        f" {count(names, 'benchmark')}; {worst.name}: {worst.kind} time {worst.gated.why}."
    )


def _changes(of: Benchmarks) -> Block:
    titles = ["benchmark", "time", "gate", "base ns", "new ns", "change", "n", "p", "why"]
    rows = [
        [
            change.name,
            change.kind,
            change.gated.word,
            f"{change.gated.change.base_ns:,.2f}",
            f"{change.gated.change.new_ns:,.2f}",
            f"{change.relative:+.2%}",
            f"{change.base.repetitions} + {change.new.repetitions}",
            _p(change),
            change.gated.why,
        ]
        for change in of.changes
    ]
    about = "Medians of repetitions; a change above 0 is slower."
    return Block("", [about], Table(titles, rows, 3, frozenset({"why"})))


def _p(change: Change) -> str:
    aggregate = change.base.aggregate or change.new.aggregate
    if aggregate is not None:
        return f"n/a (only the {aggregate} is kept)"
    p = change.test.p
    return f"n/a ({change.test.reason})" if p is None else chance(p)


def _unmatched(of: Benchmarks) -> list[Block]:
    return [Block("", of.unmatched)] if of.unmatched else []


def _method() -> list[str]:
    return [
        "Benchmarks are matched by name, never by their place in the file.",
        "p is that of the Mann-Whitney test, two-sided, without correction for the number of"
        " benchmarks; it decides nothing. The gate is by the medians.",
        f"A change under {gates.FLOOR_RELATIVE:.0%}, or under {gates.FLOOR_ABSOLUTE_NS:g} ns, is"
        " none: timers and alignment make as much.",
        "The two files were measured at different times: what the host did meanwhile is in the"
        " change.",
    ]


def _debug(of: Benchmarks) -> list[Caveat]:
    return [
        Caveat("debug build", f"{one.path.name}: the benchmark library is a debug build")
        for one in (of.base, of.new)
        if one.context.get("library_build_type") == "debug"
    ]


def _files(of: Benchmarks) -> Block:
    rows = [
        [side, one.path.name, str(one.context.get("date", "n/a (not recorded)")), _digest(one)]
        for side, one in (("base", of.base), ("new", of.new))
    ]
    return Block("", [], Table(["side", "file", "date", "SHA-256"], rows, 4))


def _digest(one: BenchmarkFile) -> str:
    return files.sha256_of(one.path)


def csv_bytes(of: Benchmarks, stamp: str = "") -> bytes:
    """One row a benchmark and a time; an unknown p is empty, and so is `forced` but for what was made against a
    refusal."""
    rows = []
    for change in of.changes:
        gated = change.gated
        row = [change.name, change.kind, *_ns(change), change.relative]
        row += [change.base.repetitions, change.new.repetitions, change.test.p]
        rows.append([*row, gated.change.category, gated.threshold, gated.word, gated.why, stamp])
    return csv_of(
        ["benchmark", "time", "base_ns", "new_ns", "change", "n_base", "n_new", "p", "category"]
        + ["threshold", "gate", "why", "forced"],
        rows,
    )


def _ns(change: Change) -> tuple[float, float]:
    return change.gated.change.base_ns, change.gated.change.new_ns
