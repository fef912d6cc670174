"""What a person needs to judge a comparison of variants: machine, commits, configuration, schedule,
failures, gate, spread, latency, memory, what stands out, verdict, where it all lies."""

from __future__ import annotations

import math
from typing import Any, Callable

from analysis.cells import pairing
from analysis.judgement import gates
from analysis.judgement.gates import Row
from analysis.judgement.study import Study
from analysis.pages import method
from analysis.cells.aggregate import Aggregate, Cell
from analysis.pages.blocks import Block, Table
from analysis.pages.facts import phrase
from analysis.cells.words import count
from analysis.inputs.load import Result
from analysis.cells.pairing import KIB_IN_MIB, Measure, Pair

# Facts of host.json in words; those that it does not have are left out.
MACHINE = (
    ("hostname", "{}"),
    ("cpu_model", "{}"),
    ("packages", "packages {}"),
    ("cores_allowed", "cores {}"),
    ("cpus_logical", "logical CPUs {}"),
    ("smt_active", "SMT {}"),
    ("numa_nodes", "NUMA nodes {}"),
    ("memory_total_kib", "memory {} KiB"),
    ("os", "{}"),
    ("kernel", "kernel {}"),
    ("governor", "governor {}"),
    ("turbo", "turbo {}"),
    ("virtualization.hypervisor", "virtual machine {}"),
)
# Facts of a build in words, likewise.
BUILD = (
    ("compiler", "{}"),
    ("build_type", "build type {}"),
    ("optimization", "optimization {}"),
    ("setup", "set up with {}"),
    ("meson_setup", "set up by {}"),
    ("variant_options", "options of its own {}"),
    ("c_args", "C flags {}"),
    ("sanitizers", "sanitizers {}"),
    ("assertions", "assertions {}"),
)
KEY_DIGITS = 12  # of a build's key, as its folder's name has them


def blocks(study: Study) -> list[Block]:
    """The comparison as parts to be read in this order; none where no two variants ran."""
    result, found, pairs = study.result, study.found, study.pairs
    if not pairs:
        return []
    return [
        Block("Machine", [*_machines(result), f"Pins: {method.pins(result.samples)}."]),
        Block("Variants", [*_variants(result, found), client(result)]),
        Block("Configuration", [method.fixed(result), *method.scenarios(result)]),
        Block("Schedule", _schedule(result)),
        Block("Comparable", [_comparable(result)]),
        Block("Failures", _failures(result)),
        Block("Gate", _gate(study)),
        *_tables(study),
        Block("Spread of the runs, requests/s", _spread(pairs)),
        Block("Latency, from the merged histograms", [], _latency(pairs, place_noun(found))),
        Block("Peak resident memory of the server", _memory(pairs)),
        Block("What stands out", _observations(pairs)),
        Block("Verdict", _judged(study)),
        Block("Where it lies", _where(result)),
    ]


# Machine, commits, configuration, schedule


def machine(result: Result) -> str:
    """The host in one line."""
    if result.host is None:
        return "n/a (no host.json)"
    return "; ".join(_words(result.host, MACHINE)) or "n/a (host.json says nothing of it)"


def _machines(result: Result) -> list[str]:
    """The host; where server and clients ran elsewhere, theirs too, by name."""
    if result.hosts is None:
        return [machine(result)]
    named = [f"{name}: {'; '.join(_words(facts, MACHINE))}" for name, facts in result.machines]
    return [f"runner: {machine(result)}", *named]


def _words(table: dict[str, Any], wanted: tuple[tuple[str, str], ...]) -> list[str]:
    words = []
    for path, form in wanted:
        owner, name = table, path
        if "." in path:
            group, name = path.split(".")
            owner = table.get(group) if isinstance(table.get(group), dict) else {}
        if name in owner:
            words.append(form.format(_fact(owner, name)))
    return words


def _fact(table: dict[str, Any], name: str) -> str:
    """A fact as people read it; an unknown one with its reason."""
    value = table.get(name)
    if value is None:
        return f"n/a ({table.get(f'{name}_reason') or 'not recorded'})"
    if isinstance(value, bool) or name == "smt_active":
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return phrase(value)
    if isinstance(value, int):
        return f"{value:,}"
    return str(value) or "none"


def build_of(result: Result, name: str) -> dict[str, Any]:
    """What is known of a variant's program; `own` where that is the runner's."""
    build = result.build or {}
    built = build.get("variants")
    own = built.get(name) if isinstance(built, dict) else None
    if not isinstance(own, dict):
        return {**build, "own": True}
    digest = own.get("program_sha256")
    return {**own, "own": digest is not None and digest == build.get("program_sha256")}


def _variants(result: Result, found: Aggregate) -> list[str]:
    lines = []
    for name in found.factors[pairing.AXIS]:
        asked = result.levels_of(pairing.AXIS).get(name, {})
        role = " (the base)" if name == found.factors[pairing.AXIS][0] else ""
        lines.append(f"{name}{role}: {'; '.join(_asked(asked) + _built(build_of(result, name)))}.")
    return lines


def _asked(asked: dict[str, Any]) -> list[str]:
    """What the experiment says of a variant."""
    words = [f"{key} {asked[key]}" for key in ("commit", "options", "c_args") if key in asked]
    settings = asked.get("set")
    if isinstance(settings, dict) and settings:
        words.append("set " + ", ".join(f"{key} {method.plain(settings[key])}" for key in settings))
    return ["asked for: " + ", ".join(words)] if words else []


def _built(build: dict[str, Any]) -> list[str]:
    """Commit, digest, flags."""
    whose = ["the runner's own program"] if build.get("own") else []
    state = {True: ", with uncommitted changes", False: ", clean"}.get(build.get("git_dirty"), "")
    return [
        *whose,
        f"built from commit {_fact(build, 'git_commit')}{state}",
        *([f"diff SHA-256 {build['git_diff_sha256']}"] if build.get("git_diff_sha256") else []),
        f"program SHA-256 {_fact(build, 'program_sha256')}",
        *_words(build, BUILD),
    ]


def client(result: Result) -> str:
    """The load generator, which is the same beside every variant."""
    known = {**(result.build or {}), "own": True}
    return f"Load generator, the same for every variant: {'; '.join(_built(known))}."


def _schedule(result: Result) -> list[str]:
    return [
        method.order_line(result),
        (
            f"Warm-up {method.time_of(result, 'warmup')}, measured window"
            f" {method.time_of(result, 'duration')}; numbers are medians over the samples."
        ),
        f"Run again: {method.command(result)}",
    ]


def _comparable(result: Result) -> str:
    where = "one host" if result.hosts is None else "the machines of hosts.json"
    return (
        f"With each other only: {where}, one schedule, one load generator. Numbers of other hosts,"
        " builds or directories are no base for these."
    )


# Failures


def _failures(result: Result) -> list[str]:
    lines = [f"Answers other than OK: {not_ok(result)}."]
    bad = [sample for sample in result.samples if not sample.valid]
    lines.append(f"Samples that are not valid: {len(bad) or 'none'} of {len(result.samples)}.")
    lines += [
        f"  {sample.sample_id} {sample.variant}: {_reasons(sample.invalid_reasons)}"
        for sample in bad
    ]
    lines.append(f"Earlier attempts that were measured anew: {len(result.attempts) or 'none'}.")
    lines += [f"  {one.folder}: {_reasons(one.reasons)}" for one in result.attempts]
    lines.append("Runs excluded: none; every valid sample is in the numbers.")
    return lines


def _reasons(reasons: list[str]) -> str:
    return "; ".join(reasons) or "n/a (no reason recorded)"


def not_ok(result: Result) -> str:
    """Requests without a right answer, of all samples and earlier attempts: "none" or how many,
    where, and how many cannot say."""
    counts, silent = [], 0
    attempts = [(sample.sample_id, sample.raw) for sample in result.samples]
    attempts += [(one.folder, one.raw) for one in result.attempts]
    for where, raw in attempts:
        failed = raw.get("failed")
        silent += bool(raw) and not isinstance(failed, int)
        if isinstance(failed, int) and failed:
            counts.append((where, failed))
    words = "none"
    if counts:
        places = ", ".join(f"{where}: {failed:,}" for where, failed in counts)
        words = f"{sum(failed for _, failed in counts):,} ({places})"
    return words + (f"; {count(silent, 'attempt')} cannot say" if silent else "")


# Gate and tables


def _gate(study: Study) -> list[str]:
    """The bounds, and which meaning of CPU per request stands where."""
    pairs, lines = study.pairs, [study.gate.gate.says]
    meanings: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        meanings.setdefault((pair.cpu_column, pair.cpu_why), []).append(_place(pair, pairs))
    for (column, why), places in meanings.items():
        where = "everywhere" if len(meanings) == 1 else ", ".join(places)
        lines.append(f"CPU per request is {column.removesuffix('_per_request')} {where}: {why}.")
    return lines


def _place(pair: Pair, pairs: list[Pair]) -> str:
    """Where a pair stands, with the variant's name if several are judged."""
    several = len({pair.name for pair in pairs}) > 1
    return f"{pair.place} ({pair.name})" if several else pair.place


def place_noun(found: Aggregate) -> str:
    """What the variants are compared in."""
    return "scenario" if "scenario" in found.factors else "cell"


def _tables(study: Study) -> list[Block]:
    """One table a variant, as names of both sides stand in the titles."""
    made, gate = [], _gate_by_pair(study)
    for name in dict.fromkeys(pair.name for pair in study.pairs):
        rows = [pair for pair in study.pairs if pair.name == name]
        base = rows[0].base_name
        titles = [
            place_noun(study.found),
            f"{base} req/s",
            f"{name} req/s",
            f"{name} / {base}",
            f"cpu_us {base}",
            f"cpu_us {name}",
            f"cpu {name} / {base}",
            "n",
            "gate",
        ]
        table = Table(titles, [[*_row(pair), gate(pair)] for pair in rows])
        made.append(Block(f"{name} against {base}", [], table))
    return made


def _gate_by_pair(study: Study) -> Callable[[Pair], str]:
    """A pair's word in the gate."""
    texts = {(row.pair.name, row.pair.place): row.text for row in study.gate.rows}
    return lambda pair: texts.get((pair.name, pair.place), "none")


def _row(pair: Pair) -> list[str]:
    return [
        pair.place,
        shown(pair.base, "rps_median", 0),
        shown(pair.new, "rps_median", 0),
        _ratio(pair.rps.medians.number),
        shown(pair.base, pair.cpu_column, 3),
        shown(pair.new, pair.cpu_column, 3),
        _ratio(pair.cpu.medians.number),
        f"{pair.base.n} + {pair.new.n}",
    ]


def shown(cell: Cell, column: str, digits: int, scale: float = 1) -> str:
    """A column's value in a table of variants; "n/a" where it is unknown, for the gate says why."""
    number = cell.values[column].number
    return "n/a" if number is None else f"{number * scale:,.{digits}f}"


def _ratio(number: float | None) -> str:
    return "n/a" if number is None else f"{number:.3f}"


def _sides(pairs: list[Pair]) -> dict[str, list[tuple[str, Cell]]]:
    """Place to (variant, cell), the base first, each once."""
    sides: dict[str, list[tuple[str, Cell]]] = {}
    for pair in pairs:
        known = sides.setdefault(pair.place, [(pair.base_name, pair.base)])
        known.append((pair.name, pair.new))
    return sides


def _spread(pairs: list[Pair]) -> list[str]:
    return [
        f"{place}: " + "; ".join(f"{name} {_range(cell)}" for name, cell in sides) + "."
        for place, sides in _sides(pairs).items()
    ]


def _range(cell: Cell) -> str:
    """E.g. "75,170 to 77,079 (CV 0.9 %)"."""
    if not cell.valid:
        return "n/a (no valid sample)"
    spread = cell.values["rps_cv"]
    noise = f"n/a ({spread.reason})" if spread.number is None else f"{100 * spread.number:.1f} %"
    return f"{shown(cell, 'rps_min', 0)} to {shown(cell, 'rps_max', 0)} (CV {noise})"


def _latency(pairs: list[Pair], noun: str) -> Table:
    names = [name for name, _ in next(iter(_sides(pairs).values()))]
    keys = ("p50", "p99", "p999")
    titles = [noun]
    titles += [f"{key.replace('999', '99.9')} µs {name}" for key in keys for name in names]
    rows = [
        [place, *(shown(cell, f"service_{key}_us", 1) for key in keys for _, cell in sides)]
        for place, sides in _sides(pairs).items()
    ]
    return Table(titles, rows)


def _memory(pairs: list[Pair]) -> list[str]:
    """A line a pair, each of a peak that both sides have."""
    lines: list[str] = []
    kinds: list[str] = []
    for pair in pairs:
        common = pairing.memory(pair.base, pair.new)
        if common is None:
            lines.append(f"{_place(pair, pairs)}: n/a (no peak since the same time on both sides).")
            continue
        column, since = common
        kinds.append(since)
        sides = ((pair.base_name, pair.base), (pair.name, pair.new))
        peaks = "; ".join(f"{name} {_peak(cell, column)}" for name, cell in sides)
        lines.append(f"{_place(pair, pairs)}, since {since}: {peaks}.")
    return lines + [SINCE[since] for since in dict.fromkeys(kinds)]


SINCE = {
    "measurement start": (
        "Every sample has a server of its own, and its peak is set back when the measured window"
        " begins: nothing that an earlier scenario left is in it, and no peak of connecting or"
        " warm-up."
    ),
    "server start": (
        "Every sample has a server of its own, so nothing that an earlier scenario left is in it;"
        " but a peak since the server's start has connecting and warm-up in it, and is all that a"
        " server of an earlier commit knows."
    ),
}


def _peak(cell: Cell, column: str) -> str:
    """E.g. "median 43.1 MiB (42.9 to 43.4)"."""
    peak = cell.values[column]
    if peak.number is None:
        return f"n/a ({peak.reason})"
    low, median, high = (
        shown(cell, f"{column}{of}", 1, 1 / KIB_IN_MIB) for of in ("_min", "", "_max")
    )
    return f"median {median} MiB ({low} to {high})"


# What stands out, verdict


def _observations(pairs: list[Pair]) -> list[str]:
    """Which differences exceed the spread of the runs, in words that explain nothing."""
    lines, inside, unknown = [], [], []
    for pair in pairs:
        for measure in pairing.measures(pair):
            what = f"{measure.name} of {_place(pair, pairs)}"
            sides = pairing.ranges(pair, measure)
            if sides is None:
                unknown.append(what)
            elif pairing.apart(*sides) == 0:
                inside.append(what)
            else:
                how = _apart(pair, measure, *sides)
                lines.append(f"Outside the spread of the runs: {what}, {how}.")
    if inside:
        lines.append(f"Inside it, for the ranges of the runs meet: {', '.join(inside)}.")
    if unknown:
        lines.append(f"Not known, with fewer than two runs or no number: {', '.join(unknown)}.")
    return [*lines, *_chance(pairs), "Causes were not looked for."]


def _chance(pairs: list[Pair]) -> list[str]:
    """How often ranges of runs that are alike do not meet, so that nobody takes it for proof."""
    sizes = [(len(pair.base.valid), len(pair.new.valid)) for pair in pairs]
    sizes = [size for size in sizes if min(size) > 1]
    if not sizes:
        return []
    base, new = min(sizes, key=lambda size: math.comb(sum(size), size[0]))
    looked = len(sizes) * len(pairing.measures(pairs[0]))
    return [
        f"The ranges of {base} + {new} runs that are alike fail to meet by chance once in"
        f" {math.comb(base + new, base) / 2:,.0f} comparisons; {looked} were made here."
    ]


def _apart(pair: Pair, measure: Measure, base: list[float], new: list[float]) -> str:
    """E.g. "new above base in every run (46.00 to 51.00 against 44.00 to 45.00 MiB)"."""
    way = "above" if pairing.apart(base, new) > 0 else "below"
    ends = [
        " to ".join(measure.show.format(end * measure.scale) for end in (side[0], side[-1]))
        for side in (new, base)
    ]
    unit = f" {measure.unit}" if measure.unit else ""
    return f"{pair.name} {way} {pair.base_name} in every run ({ends[0]} against {ends[1]}{unit})"


def verdict(study: Study) -> list[str]:
    """One sentence a variant: where the gate holds, where it does not, where nobody knows."""
    lines, outcome = [], study.gate
    for name in dict.fromkeys(pair.name for pair in study.pairs):
        base = study.pairs[0].base_name
        rows = [row for row in outcome.rows if row.pair.name == name]
        words = {
            gates.NO_GATE: "no gate is judged",
            gates.REFUSED: "the gate is refused, for it is tighter than this host's noise floor",
        }.get(outcome.word) or _holds(rows, place_noun(study.found))
        lines.append(f"{name} against {base}: {words}")
    return lines


def _holds(rows: list[Row], noun: str) -> str:
    """E.g. "the gate holds in 1 of 2 scenarios; it fails in 1 (echo: fail (CPU))"."""
    held = [row for row in rows if row.word == gates.PASS]
    text = f"the gate holds in {len(held)} of {count(len(rows), noun)}"
    for word, verb in ((gates.FAIL, "fails"), (gates.UNDECIDED, "is undecided")):
        places = [f"{row.pair.place}: {row.text}" for row in rows if row.word == word]
        if places:
            text += f"; it {verb} in {len(places)} ({', '.join(places)})"
    return text


def _judged(study: Study) -> list[str]:
    """The gate's word beside what speaks against the run, which the gate does not know."""
    lines = [f"{line}." for line in verdict(study)]
    against = list(dict.fromkeys(caveat.what for caveat in study.caveats))
    if against:
        lines.append(f"Against the run, and so against this, speaks: {', '.join(against)}.")
    return lines


def _where(result: Result) -> list[str]:
    lines = [
        (
            f"{result.path.resolve().name}: aggregate.csv and variants.csv (for programs),"
            " aggregate.txt, samples/ (one folder a run of each cell), results.jsonl."
        )
    ]
    for name in result.levels_of(pairing.AXIS):
        key = build_of(result, name).get("cache_key")
        if key:
            lines.append(f"Program of {name}: in the cache of builds, key {str(key)[:KEY_DIGITS]}.")
    return lines
