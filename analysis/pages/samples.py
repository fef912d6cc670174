"""Every sample of a run: what each measured, and which are in none of the numbers."""

from __future__ import annotations

from analysis.cells import aggregate
from analysis.cells.words import count
from analysis.inputs.load import Sample
from analysis.judgement.study import Study
from analysis.pages.blocks import Block, Table

# A page shows so many; results.jsonl has all.
ROWS_MAX = 1000
# A cell's are those of its merged histograms.
PERCENTILES = ("sample p50 µs", "sample p99 µs")


def blocks(study: Study) -> list[Block]:
    """What the figures' dots are, as a table in execution order."""
    valid = study.result.valid
    if not valid:
        return []
    rows = [_row(sample) for sample in valid[:ROWS_MAX]]
    titles = ["sample", "cell", "order", "requests/s", *PERCENTILES, "OS CPU µs per request"]
    lines = ["The percentiles are of the sample's own service times."]
    if len(valid) > ROWS_MAX:
        lines.append(f"The first {ROWS_MAX:,} of {len(valid):,}; results.jsonl has all.")
    name = f"{count(len(valid), 'valid sample')}, in execution order"
    return [Block(name, lines, Table(titles, rows, left=2), folded=True)]


def _row(sample: Sample) -> list[str]:
    cpu, reason = sample.find("server", "os_cpu_us_per_request")
    return [
        sample.sample_id,
        sample.variant,
        str(sample.order_index),
        f"{sample.rps:,.0f}",
        *(f"{aggregate.percentile_us(sample, key):,.1f}" for key in ("p50", "p99")),
        f"n/a ({reason})" if cpu is None else f"{cpu:,.3f}",
    ]


def invalid(study: Study) -> list[Block]:
    """The samples that are not valid, each with its reasons; nothing where all are."""
    bad = [sample for sample in study.result.samples if not sample.valid]
    if not bad:
        return []
    rows = [
        [str(sample.order_index), sample.sample_id, sample.variant, _reasons(sample)]
        for sample in bad
    ]
    line = f"{len(bad)} of {len(study.result.samples)}; in none of the numbers of this report."
    table = Table(["order", "sample", "cell", "reasons"], rows, left=4)
    return [Block("Invalid samples", [line], table)]


def invalid_lines(study: Study) -> list[Block]:
    """The same for a terminal, where reasons are too long for a table."""
    lines = [
        f"{sample.sample_id} {sample.variant}: {_reasons(sample)}"
        for sample in study.result.samples
        if not sample.valid
    ]
    title = "Samples that are not valid, in none of the numbers"
    return [Block(title, lines)] if lines else []


def _reasons(sample: Sample) -> str:
    return "; ".join(sample.invalid_reasons) or "n/a (no reason recorded)"
