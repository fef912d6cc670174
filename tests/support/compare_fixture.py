"""Results and files that the tests of `weir compare` and `weir trend` put beside each other."""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import result_fixture

# One kernel stack, both deliveries, one depth: two cells.
CELLS = [result_fixture.cell_of("epoll@loopback", way, 8) for way in result_fixture.DELIVERIES]


def write_at(
    path: Path,
    day: int,
    factor: float = 1.0,
    runs: int = 5,
    host: dict[str, Any] | None = None,
    build: dict[str, Any] | None = None,
    cells: list[dict[str, Any]] = CELLS,
) -> Path:
    """A result that was measured on that day of a month, all its rates times `factor`; `host` and
    `build` change what is known of them."""

    def change(result: dict[str, Any], client: dict[str, Any]) -> None:
        result["effective_rps"] *= factor
        result["started_at"] = f"2026-01-{day:02d}T00:00:{result['order_index']:02d}Z"
        for kind in ("os_cpu", "busy", "core"):
            result["server"][f"{kind}_us_per_request"] /= factor

    result_fixture.write_result(path, change, runs=runs, cells=cells)
    result_fixture.edit_json(path / "host.json", **(host or {}))
    result_fixture.edit_json(path / "build.json", program_sha256="c" * 64, **(build or {}))
    result_fixture.write_manifest(path)
    return path


def undrawn(test: unittest.TestCase, module: Any) -> None:
    """For the length of a test, a module of figures draws none: they take most of the time."""
    patch = mock.patch.object(module, "draw_all", lambda *_: [])
    patch.start()
    test.addCleanup(patch.stop)


def said(main: Callable[[list[str]], int], *arguments: object) -> tuple[int, str]:
    """(exit status, all that a command says); wrong usage exits, too."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            status = main([str(one) for one in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue()


def write_benchmarks(path: Path, times: dict[str, list[float]], **context: Any) -> Path:
    """Google Benchmark's JSON: each benchmark's repetitions, real and CPU time alike, in ns."""
    rows = [
        {
            "name": name,
            "run_name": name,
            "run_type": "iteration",
            "repetitions": len(values),
            "repetition_index": place,
            "iterations": 1000,
            "real_time": value,
            "cpu_time": value,
            "time_unit": "ns",
        }
        for name, values in times.items()
        for place, value in enumerate(values)
    ]
    known = {"host_name": "bench", "num_cpus": 2, "library_build_type": "release"} | context
    path.write_text(json.dumps({"context": known, "benchmarks": rows}))
    return path
