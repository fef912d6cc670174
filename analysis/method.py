"""How the samples were taken, and what their numbers therefore do not show."""

from __future__ import annotations

from typing import Any

from analysis.load import Result, Sample


def method(result: Result) -> list[str]:
    """How the samples were taken, from the experiment and from the samples themselves."""
    experiment = result.experiment
    lines = [
        f"Order: {experiment.get('order', 'not stated')}, {experiment.get('runs', '?')} runs of every cell, seed {experiment.get('seed', 'not stated')}. "
        "Every sample starts its own server, waits for its ready line, warms up on it, and measures.",
        f"Warm-up {experiment.get('warmup', 'not stated')}, measured window {experiment.get('duration', 'not stated')}; "
        "server counters are differences of two snapshots at the window's ends.",
        "Pins: " + _pins(result.samples) + ".",
    ]
    for name, about in (
        ("wait", "how the server waits for work"),
        ("refill", "when the client sends again"),
        ("hugepages", "whether the stack uses hugepages"),
    ):
        lines.append(
            f"{name.capitalize()} ({about}), as it was in effect: {_by_stack(result.samples, name)}."
        )
    lines.append(
        "The load is closed loop: a connection keeps the depth's number of requests outstanding, so a slow server is asked less. Every request is in the "
        "histograms; every response was checked for order, length and bytes."
    )
    return lines


def _pins(samples: list[Sample]) -> str:
    seen = []
    for sample in samples:
        pins = sample.raw.get("pins") or {}
        text = " and ".join(
            f"{side} on CPU {_cpus(pins.get(f'{side}_cpus'))}" for side in ("server", "client")
        )
        if text not in seen:
            seen.append(text)
    return seen[0] + ", in every sample" if len(seen) == 1 else "; ".join(seen)


def _cpus(value: Any) -> str:
    return (
        ", ".join(map(str, value))
        if isinstance(value, list)
        else str(value)
        if value is not None
        else "n/a (not recorded)"
    )


def _by_stack(samples: list[Sample], name: str) -> str:
    """A setting's effective values; by stack where they differ."""
    seen: dict[str, list[str]] = {}
    for sample in samples:
        value = sample.cell.get(name)
        text = (
            {True: "yes", False: "no", None: "n/a"}[value]
            if value is None or isinstance(value, bool)
            else str(value)
        )
        values = seen.setdefault(str(sample.cell.get("stack", "?")), [])
        if text not in values:
            values.append(text)
    shown = {stack: " and ".join(values) for stack, values in seen.items()}
    if len(set(shown.values())) == 1:
        return next(iter(shown.values()))
    return ", ".join(f"{values} with {stack}" for stack, values in shown.items())


def limits(result: Result) -> list[str]:
    """What the numbers do not show."""
    stacks = sorted({str(sample.cell.get("stack", "")) for sample in result.samples})
    found = [
        "One host, one day. The intervals speak of this host between its first and last sample, not of other hosts, kernels or compilers.",
        "Closed loop: no claim about latency under an offered load. The percentiles are those at full speed, where queueing in the pipeline is most of them.",
        "The requests have one size and one handler each cell; nothing is said about work that takes time, mixed sizes, or connections that come and go.",
    ]
    links = sorted({stack.split("@")[1].split(":")[0] for stack in stacks if "@" in stack})
    if links and not any(stack.split("@")[-1].startswith("pci") for stack in stacks):
        found.append(
            f"No wire and no NIC: the links are {', '.join(links)}. Device interrupts, PCIe, offloads, loss and propagation are all absent."
        )
    if len(links) > 1:
        found.append(
            "Stacks over different links differ in the link too, and in the client's stack: their ratio is of the whole path, client included."
        )
    if len({sample.cell.get("wait") for sample in result.samples}) > 1:
        found.append(
            "Stacks that spin and stacks that block differ in that too; OS CPU per request compares only among equals, busy time compares across."
        )
    found.append(
        "Percentiles have no interval: they come from merged histograms, in which the requests of one server are not independent."
    )
    return found


def command(result: Result) -> str:
    """What runs the same experiment again, from the project's root."""
    return f"./weir run results/{result.path.resolve().name}"
