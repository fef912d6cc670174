"""How the samples were taken, and what their numbers therefore do not show."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from analysis.cells.words import count, some, switch
from analysis.inputs.load import Result, Sample
from analysis.judgement import given, tls
from analysis.judgement.difference import HASH_DIGITS
from analysis.judgement.study import Study
from analysis.pages.blocks import Block

ROOT = Path(__file__).resolve().parents[2]

# Settings of cells, and what those are that do not say it by their name.
SETTINGS = {
    "stack": "",
    "protocol": "",
    "tls": "",
    "handler": "",
    "delivery": "",
    "depth": "",
    "connections": "",
    "workers": "",
    "request_bytes": "",
    "response_bytes": "",
    "refill": "when the client sends again",
    "wait": "how the server waits for work",
    "client_stack": "what the client uses",
    "client_wait": "how the client waits",
    "bare": "the stack's bare echo in the pipeline's place",
    "client_workers": "",
    "placement": "",
    "http_parser": "",
    "path": "what requests ask for",
    "hugepages": "whether the stack uses hugepages",
}

# So many keys of a configuration are told.
KEYS_MAX = 12

# Those of them that not every result has: earlier ones lack some, and what is of HTTP alone is there
# where it is spoken.
LATER = (
    "client_stack",
    "client_wait",
    "bare",
    "client_workers",
    "placement",
    "http_parser",
    "path",
)


def blocks(study: Study) -> list[Block]:
    """How the samples were taken."""
    return [Block("How it was measured", method(study.result))]


def not_shown(study: Study) -> list[Block]:
    """What the numbers therefore do not show."""
    return [Block("What these numbers do not show", limits(study.result))]


def again(study: Study) -> list[Block]:
    """What runs it again: from this directory, and without it."""
    result = study.result
    found = [Block("Run it again", verbatim=command(result))]
    name = result.experiment.get("name")
    if isinstance(name, str) and name:
        commit = result.commit_of() or "n/a (not recorded)"
        line = f"Without this directory, where experiments/{name} is as it was, at commit {commit}:"
        experiment = shlex.quote(f"experiments/{name}")
        found.append(Block("", [line], verbatim=f"./weir run {experiment}{_changes(result)}"))
    return found


def method(result: Result) -> list[str]:
    """From the experiment and from the samples themselves."""
    return [
        order_line(result),
        fixed(result),
        *tls_lines(result),
        *given_lines(result),
        *scenarios(result),
        "Server counters are differences of two snapshots at the measured window's ends.",
        f"Pins: {pins(result.samples)}.",
        *upstream(result),
        (
            "The load is closed loop: a connection keeps as many requests outstanding as its depth "
            "says, so a slow server is asked less. Every request is in the histograms; every "
            "response was checked for order, length and bytes."
        ),
    ]


def tls_lines(result: Result) -> list[str]:
    """What TLS was, of the valid samples that spoke it: by kind of cells where these differ."""
    by_cell: dict[str, list[Sample]] = {}
    for sample in result.valid:
        if tls.said(sample, "client") or tls.said(sample, "server"):
            by_cell.setdefault(sample.variant, []).append(sample)
    told: dict[str, list[str]] = {}
    kinds: dict[str, list[Sample]] = {}
    for name, samples in by_cell.items():
        key = tls.kinds(samples)
        told.setdefault(key, []).append(name)
        kinds.setdefault(key, []).extend(samples)
    return [
        f"TLS as it was negotiated{'' if len(told) == 1 else f' in {some(told[key])}'}: "
        f"{_negotiated(samples)}."
        for key, samples in kinds.items()
    ]


def _negotiated(samples: list[Sample]) -> str:
    """Connections by kind on each side, one number where both count the same."""
    sides = {side: tls.negotiated(samples, side) for side in tls.SIDES}
    texts = {
        side: ", ".join(f"{kind} ({conns:,})" for kind, conns in sorted(counts.items()))
        or "n/a (not recorded)"
        for side, counts in sides.items()
    }
    if len(set(texts.values())) == 1:
        return f"{texts['client']}, connections of {count(len(samples), 'sample')}"
    both = "; ".join(f"{side} {text}" for side, text in reversed(texts.items()))
    return f"{both}; connections of {count(len(samples), 'sample')}, the server's with checks"


def given_lines(result: Result) -> list[str]:
    """The configuration that servers were given, with its keys, and how many files besides."""
    name = given.config_name(result)
    if name is None:
        return []
    file = result.given.get(name)
    if file is None:
        return [f"Servers were given {name} (server_config), SHA-256 n/a (not recorded)."]
    keys = given.leaves(file.content)
    told = ", ".join(f"{key} {given.short(value)}" for key, value in list(keys.items())[:KEYS_MAX])
    more = len(keys) - KEYS_MAX
    told += f", and {more} more" if more > 0 else ""
    others = len(result.given) - 1
    besides = f" Besides it: {count(others, 'file')} that its routes serve." if others else ""
    digest = file.sha256[:HASH_DIGITS]
    of = f": {told}" if told else ""
    return [f"Servers were given {name} (server_config), SHA-256 {digest}{of}.{besides}"]


def upstream(result: Result) -> list[str]:
    """What the server passed requests on to, where the experiment has such."""
    told = result.effective.get("upstream")
    if not isinstance(told, dict):
        return []
    return [
        f"Behind each server stood an upstream, a server of the runner's own program: handler "
        f"{told.get('handler', 'respond')}, {told.get('response_bytes', 64)} response bytes, "
        f"workers: {told.get('workers', 1)}. Its CPU time is in no number of the server's."
    ]


def order_line(result: Result) -> str:
    """In which order, how often, and what a sample is."""
    return (
        f"Order: {_order(result)}, every cell {_runs(planned(result, 'runs'))}. Every "
        "sample starts its own server, waits for its ready line, warms up on it, and measures."
    )


def planned(result: Result, name: str) -> Any:
    """As the plan was made, defaults included; else as the experiment says; else None."""
    return result.plan.get(name, result.effective.get(name))


def _order(result: Result) -> str:
    """The order's name; with its seed where one makes a difference."""
    order = planned(result, "order")
    if order == "random":
        return f"{order} with seed {planned(result, 'seed')}"
    return "n/a (not stated)" if order is None else str(order)


def scenarios(result: Result) -> list[str]:
    """What each scenario is: its settings, and those that another sets, as they were in effect."""
    cells = {
        sample.cell["scenario"]: sample.cell
        for sample in sorted(result.samples, key=lambda sample: sample.valid)
        if "scenario" in sample.cell
    }
    names = _of_scenarios(result)
    order = result.axes.get("scenario", [])
    return [
        f"Scenario {scenario}: "
        + (", ".join(f"{name} {_setting(cell, name)}" for name in names if name in cell) or "n/a")
        + "."
        for scenario, cell in ((scenario, cells.get(scenario, {})) for scenario in order)
    ]


def _of_scenarios(result: Result) -> list[str]:
    """Settings that a scenario sets, and those in which scenarios came to differ otherwise."""
    named = [settings for settings in result.levels_of("scenario").values()]
    seen: dict[str, set[str]] = {}
    for sample in result.samples:
        if not named and "scenario" in sample.cell:
            for name in SETTINGS:
                if name in sample.cell:
                    seen.setdefault(name, set()).add(_setting(sample.cell, name))
    return [
        name
        for name in SETTINGS
        if any(name in settings for settings in named) or len(seen.get(name, ())) > 1
    ]


def fixed(result: Result) -> str:
    """All that nothing varies, with its effective values."""
    varied = set(result.axes) | set(_of_scenarios(result))
    for variant in result.levels_of("variant").values():
        settings = variant.get("set")
        varied.update(settings if isinstance(settings, dict) else {})
    names = [name for name in SETTINGS if name not in varied]
    samples = result.valid or result.samples
    names = [name for name in names if name not in LATER or _knows(samples, name)]
    settings = [f"{_titled(name)}: {_by_stack(samples, name)}" for name in names]
    times = [f"warm-up: {time_of(result, 'warmup')}", f"duration: {time_of(result, 'duration')}"]
    return f"Fixed, as it was in effect: {'; '.join(settings + times)}."


def _knows(samples: list[Sample], name: str) -> bool:
    return any(name in sample.cell for sample in samples)


def time_of(result: Result, name: str) -> str:
    """As the plan told the client, default or not; else as the experiment says. With its unit."""
    samples = result.plan.get("samples")
    for sample in samples if isinstance(samples, list) else []:
        told = sample.get("client_argv") if isinstance(sample, dict) else None
        if isinstance(told, list) and f"--{name}" in told[:-1]:
            return str(told[told.index(f"--{name}") + 1])
    return str(result.effective.get(name, "n/a (not stated)"))


def _titled(name: str) -> str:
    """E.g. "refill (when the client sends again)"."""
    return name + (f" ({SETTINGS[name]})" if SETTINGS[name] else "")


def _runs(runs: Any) -> str:
    return (
        "once"
        if runs == 1
        else f"{runs} times" if isinstance(runs, int) else "n/a (runs not stated)"
    )


def pins(samples: list[Sample]) -> str:
    """Which CPUs either side had."""
    seen = []
    for sample in samples:
        held = sample.raw.get("pins") or {}
        text = " and ".join(
            f"{side} on CPU {_cpus(held.get(f'{side}_cpus'))}"
            for side in ("server", "client", "upstream")
            if side != "upstream" or f"{side}_cpus" in held
        )
        if text not in seen:
            seen.append(text)
    return seen[0] + ", in every sample" if len(seen) == 1 else "; ".join(seen)


def _cpus(value: Any) -> str:
    return (
        ", ".join(map(str, value))
        if isinstance(value, list)
        else str(value) if value is not None else "n/a (not recorded)"
    )


def _by_stack(samples: list[Sample], name: str) -> str:
    """A setting's effective values; by stack where they differ."""
    seen: dict[str, list[str]] = {}
    for sample in samples:
        values = seen.setdefault(str(sample.cell.get("stack", "?")), [])
        text = _setting(sample.cell, name)
        if text not in values:
            values.append(text)
    shown = {stack: " and ".join(values) for stack, values in seen.items()}
    if len(set(shown.values())) == 1:
        return next(iter(shown.values()))
    return ", ".join(f"{values} with {stack}" for stack, values in shown.items())


def _setting(cell: dict[str, Any], name: str) -> str:
    value = cell.get(name)
    if value is None:
        return f"n/a ({cell.get(f'{name}_reason', 'not recorded')})"
    return switch(value)


def limits(result: Result) -> list[str]:
    """What the numbers do not show."""
    stacks = sorted({str(sample.cell.get("stack", "")) for sample in result.samples})
    where = "host" if result.hosts is None else "set of machines"
    found = [
        (
            f"One {where}, one day. The intervals speak of this {where} between its first and last"
            " sample, not of other hosts, kernels or compilers."
        ),
        (
            "Closed loop: no claim about latency under an offered load. The percentiles are those"
            " at full speed, where queueing in the pipeline is most of them."
        ),
        (
            "The requests have one size and one handler in each cell; nothing is said about work"
            " that takes time, mixed sizes, or connections that come and go."
        ),
    ]
    links = sorted({_link(stack) for stack in stacks if "@" in stack})
    if links and not {"pci", "network"} & set(links):
        found.append(
            f"No wire and no NIC ({' and '.join(links)} only): device interrupts, PCIe, offloads, "
            "loss and propagation are all absent."
        )
    if len(links) > 1:
        found.append(
            "Stacks over different links differ in the link too, and in the client's stack: their "
            "ratio is of the whole path, client included."
        )
    if len({sample.cell.get("wait") for sample in result.valid}) > 1:
        found.append(
            "Stacks that spin and stacks that block differ in that too; OS CPU per request "
            "compares only among equals, busy time compares across."
        )
    return found


def _link(stack: str) -> str:
    """The link of STACK@LINK[:...][,OPTION=VALUE]..."""
    return stack.split("@")[1].split(",")[0].split(":")[0]


def command(result: Result) -> str:
    """What runs the same experiment again, from the project's root."""
    place = shlex.quote(_place(result.path.resolve()))
    if "run_id" in result.plan:  # what it then repeats is the plan, with all that was overridden
        return f"./weir run {place}"
    return f"./weir run {place}{_changes(result)}"


def _changes(result: Result) -> str:
    """What the command line changed in the experiment."""
    return "".join(
        [f" --set {shlex.quote(text)}" for text in _overrides(result)]
        + [f" --variant {shlex.quote(text)}" for text in _commits(result)]
    )


def _place(path: Path) -> str:
    """A directory as one names it from the project's root."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _overrides(result: Result) -> list[str]:
    """KEY=VALUE for what the plan changed in the experiment."""
    asked, ran = result.experiment, result.effective
    changed = []
    for part in ("factors", "fixed"):
        before, after = (table.get(part) for table in (asked, ran))
        for name, value in (after if isinstance(after, dict) else {}).items():
            if not isinstance(before, dict) or before.get(name) != value:
                changed.append(_override(name, value[0] if part == "factors" else value))
    apart = ("factors", "fixed", "scenarios", "variants", "profiles")
    others = [name for name in ran if name not in apart]
    return changed + [_override(name, ran[name]) for name in others if asked.get(name) != ran[name]]


def _commits(result: Result) -> list[str]:
    """NAME=COMMIT for each variant that was named on the command line."""
    asked = result.experiment.get("variants")
    return [
        f"{name}={variant['commit']}"
        for name, variant in result.levels_of("variant").items()
        if "commit" in variant and (not isinstance(asked, dict) or asked.get(name) != variant)
    ]


def _override(name: str, value: Any) -> str:
    return f"{name}={value if isinstance(value, str) else json.dumps(value)}"
