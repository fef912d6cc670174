"""What speaks against a run, the worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.cells.aggregate import Cell
from analysis.cells.words import count, some
from analysis.inputs.load import Result, Sample
from analysis.judgement import tls

# A sample in which other processes took more than this many CPUs' worth of time is named.
OTHER_CPUS_MAX = 0.1
# A runner that took more than this share of a CPU in a measured window is named.
RUNNER_SHARE_MAX = 0.01
# Less than this is too little to judge by: seconds of measured window, valid samples of a cell.
WINDOW_MIN_S = 1.0
SAMPLES_MIN = 3


@dataclass(frozen=True)
class Caveat:
    """One reason not to take the numbers at their face: what it is, and why it matters."""

    what: str
    detail: str


def disqualifiers(result: Result, cells: list[Cell]) -> list[Caveat]:
    """Everything that speaks against the run, the worst first."""
    found = [
        *_validity(result),
        *_builds(result.build),
        *_host(result),
        *_course(result),
        *_client(result.valid),
        *_others(result.valid),
        *_window(result.valid),
        *_few(cells),
        *_mixed(cells),
        *_tls(cells),
    ]
    if result.manifest is None:
        found.append(
            Caveat(
                "no manifest",
                "manifest.json is missing: nothing vouches that these files are the run's own",
            )
        )
    return found


def _validity(result: Result) -> list[Caveat]:
    bad = len(result.samples) - len(result.valid)
    if not result.valid:
        return [
            Caveat(
                "no valid sample",
                f"none of {count(bad, 'sample')} is valid, so this report holds no measurement",
            )
        ]
    if bad:
        return [
            Caveat(
                "invalid samples",
                (
                    f"{bad} of {count(len(result.samples), 'sample')} invalid; in none of the"
                    " numbers, and listed below with reasons"
                ),
            )
        ]
    return []


def _builds(build: dict[str, Any] | None) -> list[Caveat]:
    """The runner's own build, then each variant's, by name."""
    if build is None:
        return [
            Caveat(
                "build unknown",
                "build.json is missing: neither commit nor compiler flags are known",
            )
        ]
    found = _build(build)
    variants = build.get("variants")
    for name, own in (variants if isinstance(variants, dict) else {}).items():
        if isinstance(own, dict):
            found += [Caveat(one.what, f"variant {name}: {one.detail}") for one in _build(own)]
    return found


def _build(build: dict[str, Any]) -> list[Caveat]:
    found = []
    kind = str(build.get("build_type") or "")
    if kind.startswith("debug") and kind != "debugoptimized":
        found.append(Caveat("debug build", f"its type is {kind}: not a performance result"))
    sanitizers = build.get("sanitizers")
    if sanitizers and sanitizers != "none":
        found.append(Caveat("sanitizer build", f"{sanitizers}: not a performance result"))
    if build.get("unfit_for_performance") and not found:
        found.append(Caveat("unfit build", str(build["unfit_for_performance"])))
    if build.get("git_dirty"):
        text = "the commit named in build.json is not all that was built"
        found.append(Caveat("uncommitted changes", text))
    return found


def _host(result: Result) -> list[Caveat]:
    found = []
    if result.host is None:
        found.append(
            Caveat("host unknown", "host.json is missing: the numbers belong to no known machine")
        )
    reasons: list[str] = []
    degraded = False
    for source in (result.host, result.plan):
        table = source or {}
        stated = table.get("degraded")
        degraded = degraded or bool(stated)
        for reason in (stated, table.get("degraded_reason")):
            reasons += (
                [reason]
                if isinstance(reason, str)
                else map(str, reason) if isinstance(reason, list) else []
            )
    if degraded:
        text = (
            "; ".join(dict.fromkeys(reasons))
            or "too few cores to keep one for the operating system"
        )
        found.append(Caveat("degraded host", text))
    hosts = [result.host or {}, *(facts for _, facts in result.machines)]
    virtual = [host.get("virtualization") for host in hosts]
    if any(isinstance(one, dict) and one.get("hypervisor") for one in virtual):
        text = "what its hypervisor does, and who else uses its CPUs, is not seen from inside"
        found.append(Caveat("virtual machine", text))
    return found


def _course(result: Result) -> list[Caveat]:
    """What went otherwise than planned while the run lasted."""
    found = []
    busy = result.plan.get("busy_at_start")
    if isinstance(busy, dict) and busy.get("disturbed"):
        found.append(Caveat("busy at the start", f"others used {busy_words(busy)}"))
    unlike = [when for when in ("before", "after") if unlike_answers(result.parity, when)]
    if unlike:
        where = " and ".join(f"{when} the run" for when in unlike)
        found.append(
            Caveat("unlike answers", f"the same request had different answers {where}; see below")
        )
    elif (result.summary or {}).get("servers_differ"):
        text = "the same request had different answers in an earlier part of the run; see below"
        found.append(Caveat("unlike answers", text))
    facts = [*(result.drift_earlier or []), *(result.drift or [])]
    changed = [str(fact["fact"]) for fact in facts if fact.get("matters") is True]
    if changed:
        text = f"{some(list(dict.fromkeys(changed)))} changed while the run lasted; see below"
        found.append(Caveat("drifting host", text))
    shares = [sample.find(None, "runner_cpu_share")[0] or 0 for sample in result.valid]
    over = [share for share in shares if share > RUNNER_SHARE_MAX]
    if over:
        text = f"the runner itself took more than {RUNNER_SHARE_MAX:.0%} of a CPU, {max(over):.1%} at most"
        found.append(Caveat("busy runner", _in_samples(len(over), result.valid, text)))
    if (result.hosts or {}).get("differences"):
        found.append(Caveat("unlike machines", "server and clients do not run alike; see below"))
    if result.attempts:
        text = (
            f"{count(len(result.attempts), 'earlier attempt')} kept in attempts/, in none of the numbers:"
            " what was not valid was measured anew, at another time than its neighbours"
        )
        found.append(Caveat("measured anew", text))
    return found


def busy_words(busy: dict[str, Any]) -> str:
    """E.g. "1.02 CPUs (python3 1.00)"."""
    who = busy.get("who")
    names = [
        f"{one.get('name')} {one['cpus']:.2f}"
        for one in (who if isinstance(who, list) else [])
        if isinstance(one, dict) and isinstance(one.get("cpus"), (int, float))
    ]
    cpus = busy.get("cpus")
    size = f"{cpus:.2f}" if isinstance(cpus, (int, float)) else f"n/a ({busy.get('cpus_reason')})"
    return f"{size} CPUs" + (f" ({', '.join(names)})" if names else "")


def unlike_answers(parity: dict[str, Any] | None, when: str) -> bool:
    """Whether the check at that time found that answers differ."""
    found = (parity or {}).get(when)
    return isinstance(found, dict) and found.get("equal") is False


def _in_samples(found: int, valid: list[Sample], what: str) -> str:
    return f"in {found} of {count(len(valid), 'valid sample')} {what}"


def _client(valid: list[Sample]) -> list[Caveat]:
    names = [
        sample.variant
        for sample in valid
        if (sample.raw.get("client") or {}).get("saturated") is True
    ]
    if not names:
        return []
    where = some(list(dict.fromkeys(sorted(names))))
    text = f"the load generator had no time to spare, so the server's limit may lie higher ({where})"
    return [Caveat("saturated client", _in_samples(len(names), valid, text))]


def _others(valid: list[Sample]) -> list[Caveat]:
    """Samples in which other processes took CPUs' worth of time, worst first."""
    known = [(sample.find(None, "other_busy_cpus")[0] or 0.0, sample) for sample in valid]
    busy = sorted(
        ((cpus, sample) for cpus, sample in known if cpus > OTHER_CPUS_MAX),
        key=lambda one: (-one[0], one[1].order_index),
    )
    if not busy:
        return []
    where = some([f"{sample.sample_id} {sample.variant}: {cpus:.2f}" for cpus, sample in busy])
    text = f"other processes took more than {OTHER_CPUS_MAX:g} CPUs' worth of time ({where})"
    return [Caveat("busy host", _in_samples(len(busy), valid, text))]


def _window(valid: list[Sample]) -> list[Caveat]:
    """A measured window too short to average a host's moods; it may miss its end by 5 ms."""
    windows = [sample.find(None, "elapsed_s")[0] for sample in valid]
    shortest = min((seconds for seconds in windows if seconds is not None), default=WINDOW_MIN_S)
    if round(shortest, 2) >= WINDOW_MIN_S:
        return []
    return [
        Caveat(
            "short window",
            (
                f"the shortest measured window is {shortest:.2f} s, under {WINDOW_MIN_S:g} s: one"
                " pause of the host weighs much in it"
            ),
        )
    ]


def _few(cells: list[Cell]) -> list[Caveat]:
    """Cells with too few valid samples; nothing where none is valid, which has its own banner."""
    few = [f"{cell.variant}: {cell.n}" for cell in cells if len(cell.valid) < SAMPLES_MIN]
    if not few or not any(cell.valid for cell in cells):
        return []
    return [
        Caveat(
            "few samples",
            (
                f"{len(few)} of {count(len(cells), 'cell')} with fewer than {SAMPLES_MIN} valid"
                f" samples: intervals there are wide, and tell large differences only ({some(few)})"
            ),
        )
    ]


def _tls(cells: list[Cell]) -> list[Caveat]:
    """Cells under TLS that did not negotiate the same: their ratio is of that, too."""
    came: dict[str, list[str]] = {}
    for cell in cells:
        if kinds := tls.kinds(cell.valid):
            came.setdefault(kinds, []).append(cell.variant)
    if len(came) < 2:
        return []
    told = "; ".join(f"{kinds} in {some(names)}" for kinds, names in came.items())
    return [Caveat("unlike TLS", f"cells that are compared did not negotiate the same: {told}")]


def _mixed(cells: list[Cell]) -> list[Caveat]:
    variants = [cell.variant for cell in cells]
    twice = sorted({variant for variant in variants if variants.count(variant) > 1})
    if not twice:
        return []
    return [
        Caveat(
            "mixed settings",
            (
                f"samples of {some(twice)} did not all run with the same effective settings; "
                "they are separate rows and enter no ratio"
            ),
        )
    ]
