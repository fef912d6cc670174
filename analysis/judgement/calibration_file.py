"""calibration.json: a host's noise as its A/A run's report wrote it, read back and checked, and
found beside a result that has none of its own."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from analysis.cells.moment import moment
from analysis.inputs import shapes
from analysis.inputs.documents import Refusal, read_object
from analysis.inputs.load import Result
from analysis.judgement.calibration import (
    HOST_FACTS,
    MEASURES,
    SPREAD_MAX,
    CalibratedCell,
    Calibration,
    Noise,
    host_of,
)
from analysis.statistics.interval import CONFIDENCE
from analysis.statistics.power import POWER

NAME = "calibration.json"
SCHEMA = "weir.calibration/1"
# Changes for which the runs that find them are told.
CHANGES = (0.01, 0.02, 0.05)
SECONDS_OF_DAY = 86_400
CV_MAX, BLOCKS_MAX = 1000, 1_000_000
FILE: shapes.Shape = {
    **{name: shapes.required(shapes.OBJECT) for name in ("host", "source", "settings")},
    "cells": shapes.required(shapes.LIST),
}
CELL: shapes.Shape = {
    "place": shapes.required(shapes.TEXT),
    "settings": shapes.required(shapes.OBJECT),
    "cpu_is": shapes.required(shapes.TEXT),
}


def as_bytes(calibration: Calibration) -> bytes:
    """The file. What follows from spread and blocks stands in it for readers; it is not read."""
    table = {
        "schema": SCHEMA,
        "host": calibration.host,
        "source": calibration.source,
        "settings": calibration.settings,
        "confidence": CONFIDENCE,
        "power": POWER,
        "cells": [_cell_as_json(cell) for cell in calibration.cells],
        "overall": {name: _as_json(calibration.overall(name)) for name in MEASURES},
    }
    return (json.dumps(table, indent=1, ensure_ascii=False) + "\n").encode()


def _cell_as_json(cell: CalibratedCell) -> dict[str, Any]:
    table = {"place": cell.place, "settings": cell.settings, "cpu_is": cell.cpu_is}
    table |= {name: _as_json(noise) for name, noise in cell.noise.items()}
    return table | {f"{name}_reason": reason for name, reason in cell.reasons.items()}


def _as_json(noise: Noise | None) -> dict[str, Any] | None:
    if noise is None:
        return None
    return {
        "spread": noise.spread,
        "cv": noise.cv,
        "blocks": noise.blocks,
        "half_width": noise.half_width(noise.blocks),
        "half_width_of_medians": noise.half_width_of_medians(noise.blocks),
        "least_detectable": noise.least_detectable,
        "runs_needed": {f"{change:g}": noise.runs_needed(change) for change in CHANGES},
    }


def read(path: Path) -> Calibration:
    """Raises Refusal for what is no such file."""
    table = read_object(path)
    if table.get("schema") != SCHEMA:
        raise Refusal(path, f"is no calibration: its schema is not {SCHEMA!r}")
    shapes.check(table, FILE, path)
    cells = [_cell(path, f"cells[{at}]", cell) for at, cell in enumerate(table["cells"])]
    return Calibration(table["host"], table["source"], table["settings"], cells)


def _cell(path: Path, where: str, table: Any) -> CalibratedCell:
    if not isinstance(table, dict):
        raise Refusal(path, f"`{where}` is not an object")
    shapes.check(table, CELL, f"{path}: {where}")
    reasons = {
        name: str(table.get(f"{name}_reason") or "not recorded")
        for name in MEASURES
        if table.get(name) is None
    }
    noise = {name: _noise(path, f"{where}.{name}", table.get(name)) for name in MEASURES}
    return CalibratedCell(table["place"], table["settings"], table["cpu_is"], noise, reasons)


def _noise(path: Path, where: str, table: Any) -> Noise | None:
    if table is None:
        return None
    if not isinstance(table, dict):
        raise Refusal(path, f"`{where}` is not an object")
    blocks = table.get("blocks")
    if type(blocks) is not int or not 2 <= blocks <= BLOCKS_MAX:
        raise Refusal(path, f"`{where}.blocks` is not a whole number from 2 to {BLOCKS_MAX}")
    spread, cv = table.get("spread"), table.get("cv")
    if not shapes.is_number(spread) or not 0 < spread <= SPREAD_MAX:
        raise Refusal(path, f"`{where}.spread` is not a number above 0, at most {SPREAD_MAX}")
    if not shapes.is_number(cv) or not 0 <= cv <= CV_MAX:
        raise Refusal(path, f"`{where}.cv` is not a number from 0 to {CV_MAX}")
    return Noise(float(spread), float(cv), blocks)


def adopt(result: Result, asked: Path | None = None) -> Calibration | None:
    """The calibration that a result is judged by: the asked one (the file, or its result), else
    that in its directory, else of those of the same host beside it the newest that began before
    the result's end, or the first after it. None where there is none.
    Raises Refusal for a bad one that was asked for or lies in the directory."""
    if asked is not None:
        return _of_same_host(result, asked / NAME if asked.is_dir() else asked)
    own = result.path / NAME
    return _of_same_host(result, own) if own.exists() else _beside(result)


def _of_same_host(result: Result, path: Path) -> Calibration:
    calibration, here = read(path), host_of(result)
    if here is None:
        raise Refusal(path, "cannot be matched: no host.json names the result's host")
    if calibration.host != here:
        names = [*HOST_FACTS, "machines"]
        unlike = [name for name in names if calibration.host.get(name) != here.get(name)]
        raise Refusal(
            path,
            (
                f"is of another host than the result ({', '.join(unlike)} differ); calibrate this"
                " one with `weir calibrate`, or remove the file"
            ),
        )
    return calibration


def _beside(result: Result) -> Calibration | None:
    """Of the whole results in the same folder: the one measured last before this result's end, so
    that what others measure later alters nothing; the first after it where there is none. What is
    not a calibration is passed over there: it is no part of this result."""
    here, found = host_of(result), []
    if here is None:
        return None
    for path in sorted(result.path.resolve().parent.glob(f"*/{NAME}")):
        if path.parent.name.endswith(".partial"):
            continue
        try:
            calibration = read(path)
        except Refusal:
            continue
        if calibration.host == here:
            found.append(calibration)
    end = moment((result.measured or ("", ""))[1])
    before = [one for one in found if _began(one) <= end]
    return max(before, key=_began) if before else min(found, key=_began, default=None)


def _began(calibration: Calibration) -> float:
    return moment(calibration.source.get("started_at"))


def age(result: Result, calibration: Calibration) -> str:
    """How long before a result a calibration began, e.g. "3.5 days before this run"."""
    apart = moment((result.measured or ("", ""))[0]) - _began(calibration)
    if not math.isfinite(apart):
        return "how long before this run is not known"
    days = abs(apart) / SECONDS_OF_DAY
    told = f"{days:.1f} days" if days >= 1 else f"{24 * days:.1f} hours"
    return f"{told} {'before' if apart >= 0 else 'after'} this run"
