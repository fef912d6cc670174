"""A run's aggregate as csv, aligned text, Markdown and HTML."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jinja2

from analysis.cells import words
from analysis.figures import inline
from analysis.judgement import caveats
from analysis.pages import blocks
from analysis.pages import comparison
from analysis.pages import course
from analysis.pages import headline
from analysis.pages import method
from analysis.pages import sentences
from analysis.cells.aggregate import Aggregate, Cell, Value
from analysis.cells.columns import COLUMNS, Column
from analysis.pages.blocks import Table
from analysis.pages.facts import flat
from analysis.figures.canvas import Drawing
from analysis.inputs.load import Result

TEMPLATES = Path(__file__).parent / "templates"
SHOWN = [column for column in COLUMNS if column.in_text]
KERNEL = [column for column in COLUMNS if column.of_kernel]


def csv_bytes(found: Aggregate) -> bytes:
    """One row a cell; an unknown value is an empty field, its reason stands in `missing`."""
    settings = _setting_names(found)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    # `variant` was the cell's name before there was an axis of that name, and stays so.
    titles = ["variant_level" if name == "variant" else name for name in settings]
    columns = [column.name for column in COLUMNS]
    writer.writerow(
        ["variant", *titles, "n_valid", "n", *columns, "rss_peak_since", "missing"]
    )
    for cell in found.cells:
        missing = "; ".join(
            f"{column.name}: {na(cell.values[column.name])}"
            for column in COLUMNS
            if cell.values[column.name].number is None
        )
        writer.writerow(
            [
                cell.variant,
                *(_plain(cell.settings.get(name)) for name in settings),
                len(cell.valid),
                len(cell.samples),
                *(_number(cell.values[column.name]) for column in COLUMNS),
                cell.peak_since or "",
                missing,
            ]
        )
    return out.getvalue().encode()


def _setting_names(found: Aggregate) -> list[str]:
    return list(dict.fromkeys(name for cell in found.cells for name in cell.settings))


def _plain(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _number(value: Value) -> str:
    return "" if value.number is None else f"{value.number:.9g}"


def na(value: Value) -> str:
    """The one form of an unknown value."""
    return f"n/a ({value.reason})"


def shown(column: Column, value: Value) -> str | None:
    """A known value for people, e.g. "1,234.5"; None if unknown."""
    return None if value.number is None else f"{value.number * column.scale:,.{column.digits}f}"


def aligned(found: Aggregate, columns: list[Column]) -> str:
    """These columns, aligned; reasons of unknown values as numbered notes beneath."""
    notes: list[str] = []
    titles = [*found.factors, "n", *(column.title for column in columns)]
    rows = [
        [
            *shown_levels(found, cell),
            cell.n,
            *(_noted(column, cell.values[column.name], notes) for column in columns),
        ]
        for cell in found.cells
    ]
    lines = blocks.aligned(Table(titles, rows, len(found.factors)))
    return (
        "\n".join(lines + [f"[{place}] {note}" for place, note in enumerate(notes, start=1)]) + "\n"
    )


def shown_levels(found: Aggregate, cell: Cell) -> list[str]:
    """The cell's level of each varied factor as people read it."""
    return [words.level_of(name, level) for name, level in zip(found.factors, cell.levels)]


def _noted(column: Column, value: Value, notes: list[str]) -> str:
    text = shown(column, value)
    if text is not None:
        return text
    if na(value) not in notes:
        notes.append(na(value))
    return f"n/a [{notes.index(na(value)) + 1}]"


def text_bytes(result: Result, found: Aggregate) -> bytes:
    """aggregate.txt: what speaks against the run, the variants side by side, how the run went, the
    table, what the columns are."""
    head = [f"{title(result)}", ""]
    head += [
        f"! {caveat.what}: {caveat.detail}"
        for caveat in caveats.disqualifiers(result, found.cells)
    ]
    compared = comparison.blocks(result, found)
    return "\n".join(
        [
            *head,
            *headline.headline(result, found),
            "",
            *blocks.as_text(compared),
            *blocks.as_text(course.blocks(result, found)),
            *([] if compared else blocks.as_text(_invalid(result))),  # among its failures, if so
            "Cells:",
            "",
            aligned(found, SHOWN),
            "n: valid samples of all; a sample is one server's boot",
            *_about(SHOWN),
            "",
            "What the kernel was asked for, per request, on the server's CPUs:",
            "",
            aligned(found, KERNEL),
            *_about(KERNEL),
            "",
        ]
    ).encode()


def _invalid(result: Result) -> list[blocks.Block]:
    """The samples that are not valid, each with its reasons; nothing where all are."""
    lines = [
        f"{sample.sample_id} {sample.variant}: "
        + ("; ".join(sample.invalid_reasons) or "n/a (no reason recorded)")
        for sample in result.samples
        if not sample.valid
    ]
    return [blocks.Block("Samples that are not valid, in none of the numbers", lines)] if lines else []


def _about(columns: list[Column]) -> list[str]:
    return [f"{column.title}: {column.about}" for column in columns]


def title(result: Result) -> str:
    """The run's name."""
    return f"{result.experiment.get('name', 'experiment')}: {result.path.resolve().name}"


def report_md(result: Result, found: Aggregate, drawings: list[Drawing]) -> bytes:
    """report.md, with links to figures/."""
    return _render("report.md.j2", result, found, drawings, autoescape=False)


def report_html(result: Result, found: Aggregate, drawings: list[Drawing]) -> bytes:
    """report.html, whole in itself."""
    return _render("report.html.j2", result, found, drawings, autoescape=True)


def _render(
    template: str, result: Result, found: Aggregate, drawings: list[Drawing], autoescape: bool
) -> bytes:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    return environment.get_template(template).render(_context(result, found, drawings)).encode()


def _context(result: Result, found: Aggregate, drawings: list[Drawing]) -> dict[str, Any]:
    """All that the templates name."""
    return {
        "title": title(result),
        "question": str(result.effective.get("question", "")),
        "caveats": caveats.disqualifiers(result, found.cells),
        "headline": headline.headline(result, found),
        "summary": sentences.summary(result, found.cells),
        "basis": sentences.basis(found),
        "findings": _findings(found),
        "multiplicity": sentences.multiplicity(found),
        "variants": comparison.blocks(result, found),
        "course": course.blocks(result, found),
        "factors": list(found.factors),
        "columns": SHOWN,
        "kernel": KERNEL,
        "cells": found.cells,
        "levels": lambda cell: shown_levels(found, cell),
        "shown": shown,
        "na": na,
        "rates": _rates,
        "ceiling": result.ceiling,
        "invalid": [sample for sample in result.samples if not sample.valid],
        "drawings": drawings,
        "inline_svg": inline.inline_svg,
        "theme_css": inline.theme_css,
        "method": method.method(result),
        "limits": method.limits(result),
        "command": method.command(result),
        "facts": _facts(result),
        "hashes": result.hashes,
        "n_samples": len(result.samples),
    }


def _findings(found: Aggregate) -> dict[str, list[str]]:
    """Sentences by factor; those of the bare echo, where there is one, are what was asked for."""
    sentences: dict[str, list[str]] = {}
    for comparison in sorted(found.comparisons, key=lambda one: one.factor != "bare"):
        name = "pipeline against bare echo" if comparison.factor == "bare" else comparison.factor
        sentences.setdefault(name, []).append(words.sentence(comparison))
    return sentences


def _rates(cell: Cell) -> str:
    """Every valid sample's rate, for a hover text."""
    return (
        "; ".join(f"{sample.sample_id}: {sample.rps:,.0f}" for sample in cell.valid)
        or "no valid sample"
    )


def _facts(result: Result) -> dict[str, list[tuple[str, str]]]:
    """Host and build files as (dotted name, value) rows; a missing file has no rows."""
    tables = {
        "Host before (host.json)": result.host,
        "Host after, where it differs (host-after.json)": _changed(result),
        "Build (build.json)": result.build,
    }
    if result.hosts is not None:
        tables["Machines (hosts.json)"] = result.hosts
    return {name: flat(table or {}) for name, table in tables.items()}


def _changed(result: Result) -> dict[str, Any]:
    before = dict(flat(result.host or {}))
    return {
        name: value for name, value in flat(result.host_after or {}) if before.get(name) != value
    }
