"""Results of two variants in memory, from the numbers of their runs alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

from analysis.inputs import histogram
from analysis.inputs.load import Result, Sample

HOST = {"hostname": "bench", "cpu_model": "synthetic", "kernel": "6.1.0", "governor": None}
Sides = tuple[Sequence[float], Sequence[float]]  # base, new: a number a run


def around(middle: float, *shifts: float) -> list[float]:
    """A number a run: the middle and a share of it more or less."""
    return [middle * (1 + shift) for shift in shifts]


def result_of(
    rps: dict[str, Sides],
    cpu: dict[str, Sides] | None = None,
    gate: dict[str, Any] | None = None,
    programs: tuple[str | None, str | None] = ("a" * 64, "b" * 64),
    **rest: Any,
) -> Result:
    """Scenario to requests/s of base and new; CPU per request is about 10 us where it is not
    given; `programs` are the program_sha256 of base and new, `rest` other fields of Result."""
    experiment: dict[str, Any] = {
        "name": "synthetic",
        "runs": len(next(iter(rps.values()))[0]),
        "warmup": "0.5s",
        "duration": "1s",
        "scenarios": {name: {} for name in rps},
        "variants": {"base": {}, "new": {}},
    }
    if gate is not None:
        experiment["gate"] = gate
    samples: list[Sample] = []
    for scenario, sides in rps.items():
        times = (cpu or {}).get(scenario) or tuple(
            around(10.0, *(0.001 * (run * step % 5 - 2) for run in range(len(side))))
            for step, side in zip((1, 2), sides)
        )
        for place, name in enumerate(("base", "new")):
            for run, (rate, time) in enumerate(zip(sides[place], times[place])):
                samples.append(
                    _sample(len(samples), run, scenario, name, rate, time, programs[place])
                )
    fields = {"host": HOST, "host_after": None, "build": None, "manifest": None, "plan": {}}
    return Result(
        **({"path": Path("synthetic"), "experiment": experiment, "samples": samples} | fields | rest)
    )


def _sample(
    index: int, run: int, scenario: str, variant: str, rps: float, cpu: float, program: str | None
) -> Sample:
    cell = {
        "stack": "epoll@loopback",
        "wait": "block",
        "handler": scenario,
        "scenario": scenario,
        "variant": variant,
    }
    raw = {
        "run": run,
        "effective_rps": rps,
        "program_sha256": program,
        "started_at": f"2026-01-01T00:00:{index:02}Z",
        "server": {"os_cpu_us_per_request": cpu},
    }
    name = f"{scenario}.{variant}"
    return Sample(
        f"s{index}", index, name, True, [], cell, raw, histogram.parse([[1000, 1]], 3)
    )
