"""Two files of Google Benchmark beside each other: changes of real and of CPU time, by name."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cached_property

from analysis.inputs.benchmark import Benchmark, BenchmarkFile
from analysis.judgement import gates
from analysis.judgement.gates import CategoryRow, TimeChange
from analysis.judgement.refusals import Refused
from analysis.statistics import ranks
from analysis.statistics.ranks import RankTest

KINDS = ("real", "cpu")
# A benchmark's threshold is by what its name says that it exercises; the first that it holds.
WORDS = {
    "allocator": ("alloc", "slab", "pool", "arena"),
    "critical": ("frame", "packet", "codec", "parse"),
}
# What must be one on both sides: keys of `context`, and what to do.
CONTEXT = {
    "host_name": "measure both on one host",
    "num_cpus": "measure both with the same CPUs",
    "library_build_type": "build both in one way",
}


@dataclass(frozen=True)
class Change:
    """One time of one benchmark: medians of its repetitions, and whether ranks tell them apart."""

    name: str
    kind: str  # "real" or "cpu"
    base: Benchmark
    new: Benchmark
    gated: CategoryRow
    test: RankTest

    @property
    def relative(self) -> float:
        """New less base as a share of the base's."""
        return self.gated.relative


@dataclass(frozen=True)
class Benchmarks:
    """A new file against a base."""

    base: BenchmarkFile
    new: BenchmarkFile

    @cached_property
    def changes(self) -> list[Change]:
        """Real and CPU time of each benchmark that both sides have a time above 0 of."""
        return [
            change
            for name, base in self.base.benchmarks.items()
            if name in self.new.benchmarks
            for kind in KINDS
            if (change := _change(name, kind, base, self.new.benchmarks[name]))
        ]

    @property
    def unmatched(self) -> list[str]:
        """What is in one file alone, or has no time, each with why."""
        lines = []
        for side, of, other in (("base", self.base, self.new), ("new", self.new, self.base)):
            for name, one in of.benchmarks.items():
                if name not in other.benchmarks:
                    lines.append(f"{side}: {name}: the other file has none of this name")
                elif one.failed is not None:
                    n = len(one.real_ns)
                    lines.append(f"{side}: {name}: failed, {n} good repetitions: {one.failed}")
                elif min(one.real_ns + one.cpu_ns) <= 0:
                    lines.append(f"{side}: {name}: a time is 0, which has no ratio")
        return lines

    @property
    def exit_status(self) -> int:
        """1 if any change fails its category, or a benchmark of the base does not run any more; 2
        if one of the base is not judged: it is gone, or a repetition has no time."""
        failed = any(change.gated.word == gates.FAIL for change in self.changes)
        if failed or self.lost:
            return gates.EXIT_FAIL
        return gates.EXIT_UNDECIDED if self.unjudged else gates.EXIT_PASS

    @property
    def lost(self) -> list[str]:
        """Benchmarks of the base that the new side could not run."""
        return [
            name
            for name, one in self.new.benchmarks.items()
            if one.failed is not None and name in self.base.benchmarks
        ]

    @property
    def against(self) -> list[str]:
        """Why the exit status is not 0, a line each."""
        lines = [
            f"{change.name}, {change.kind} time: fail: {change.gated.why}"
            for change in self.changes
            if change.gated.word == gates.FAIL
        ]
        lines += [f"{name}: fail: it does not run any more" for name in self.lost]
        unjudged = [name for name in self.unjudged if name not in self.lost]
        return lines + [f"{name}: not judged: a time is not known" for name in unjudged]

    @property
    def unjudged(self) -> list[str]:
        """Benchmarks of the base of which not every time of both sides is known."""
        judged = {change.name for change in self.changes}
        return [
            name
            for name, one in self.base.benchmarks.items()
            if name not in judged or one.failed is not None
        ]


def _change(name: str, kind: str, base: Benchmark, new: Benchmark) -> Change | None:
    sides = [one.real_ns if kind == "real" else one.cpu_ns for one in (base, new)]
    if not all(side and min(side) > 0 for side in sides):
        return None
    medians = [statistics.median(side) for side in sides]
    (gated,) = gates.category([TimeChange(name, *medians, category_of(name))])
    return Change(name, kind, base, new, gated, ranks.mann_whitney(sides[1], sides[0]))


def category_of(name: str) -> str:
    """The name of a benchmark's threshold."""
    lower = name.lower()
    found = (category for category, words in WORDS.items() if any(word in lower for word in words))
    return next(found, "default")


def refused(base: BenchmarkFile, new: BenchmarkFile) -> list[Refused]:
    """Why the two files do not compare, as far as both say where they are from."""
    return [
        Refused(key.replace("_", " "), str(base.context[key]), str(new.context[key]), instead)
        for key, instead in CONTEXT.items()
        if key in base.context
        and key in new.context
        and base.context[key] != new.context[key]
    ]
