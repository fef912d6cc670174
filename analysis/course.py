"""How the run went: what was planned and left out, whether the variants answered alike, what
changed on the host, what the runner itself took, what was measured anew."""

from __future__ import annotations

from statistics import median_low
from typing import Any

from analysis.aggregate import Aggregate
from analysis.blocks import Block, Table
from analysis.facts import phrase
from analysis.findings import busy_words, count
from analysis.load import Result, Sample


# How a counter of the device begins in a sample's `details`.
XSTAT = "xstat_"
NOTES_MAX = 40


def blocks(result: Result, found: Aggregate) -> list[Block]:
    """What is known of it; none for a directory that has nothing of the kind."""
    lines = [
        *_plan(result.plan),
        *_parity(result.parity),
        *_drift(result.drift),
        *_bindings(result.samples),
        *_runner(result.valid),
    ]
    made = [Block("How the run went", lines)] if lines else []
    if result.attempts:
        kept = [f"{one.folder} {one.variant}: {'; '.join(one.reasons)}" for one in result.attempts]
        made.append(Block("Attempts at samples that were measured anew, in no number", kept))
    notes = _notes(result.valid)
    if notes:
        made.append(Block("What speaks against single samples without making them invalid", notes))
    counters = _xstats(found)
    if counters:
        made.append(Block("Counters of the device, lower median over samples", [], counters))
    return made


def _plan(plan: dict[str, Any]) -> list[str]:
    lines = [f"The plan warns: {phrase(warning)}." for warning in plan.get("warnings") or []]
    lines += [f"Left out: {_omitted(omitted)}." for omitted in plan.get("omitted") or []]
    if plan.get("repeats"):
        lines.append(f"It repeats the plan of {phrase(plan['repeats'])}.")
    if plan.get("resumed"):
        said = plan["resumed"]
        lines.append(f"It was resumed{'' if said is True else ': ' + phrase(said)}.")
    busy = plan.get("busy_at_start")
    if isinstance(busy, dict):
        lines.append(f"As it began, others used {busy_words(busy)}.")
    return lines


def _omitted(omitted: Any) -> str:
    """E.g. "capacity-36cpu-0kb (omitted: 36 workers are more than the 4 CPUs ...)"."""
    if isinstance(omitted, dict) and "what" in omitted:
        return f"{omitted['what']} ({omitted.get('why') or 'no reason recorded'})"
    return phrase(omitted)


def _parity(parity: dict[str, Any] | None) -> list[str]:
    """Whether the same request had the same answer of every server, and what the answers were."""
    lines = []
    for when, words in (("before", "before the first sample"), ("after", "after the last")):
        found = (parity or {}).get(when)
        if isinstance(found, dict):
            lines.append(f"Same answers to the same requests, {words}: {_equal(found)}.")
            lines += [f"  {line}" for line in map(_group, found.get("groups") or []) if line]
    return lines


def _equal(found: dict[str, Any]) -> str:
    if found.get("equal") is None:
        return f"n/a ({found.get('equal_reason') or 'not recorded'})"
    return "yes" if found["equal"] is True else f"no, {phrase(found.get('mismatch'))}"


def _group(group: Any) -> str | None:
    """One kind of request: how many servers were asked, and the hash of what they said."""
    servers = group.get("servers") if isinstance(group, dict) else None
    if not isinstance(servers, list):
        return None
    digests = dict.fromkeys(str(one.get("digest")) for one in servers if one.get("digest"))
    said = ", ".join(digests) or "n/a"
    return f"{phrase(group.get('request'))}: {count(len(servers), 'server')} said {said}"


def _drift(drift: list[dict[str, Any]] | None) -> list[str]:
    if drift is None:
        return []
    if not drift:
        return ["Nothing that was looked at changed on the host."]
    return [f"Changed on the host: {change(fact)}." for fact in drift]


def change(fact: dict[str, Any]) -> str:
    """E.g. "governor from performance to powersave"."""
    return f"{fact['fact']} from {phrase(fact.get('before'))} to {phrase(fact.get('after'))}"


def _bindings(samples: list[Sample]) -> list[str]:
    """Whether every process ran where it was told to."""
    said = [sample.raw.get("binding") for sample in samples]
    said = [binding for binding in said if isinstance(binding, dict)]
    if not said:
        return []
    kept = sum(binding.get("kept") is True for binding in said)
    lost = sum(binding.get("kept") is False for binding in said)
    text = f"Binding kept in {kept} of {count(len(samples), 'sample')}"
    text += f", not kept in {lost}" if lost else ""
    silent = len(samples) - kept - lost
    return [text + (f"; {silent} cannot say." if silent else ".")]


def _runner(valid: list[Sample]) -> list[str]:
    shares = [sample.find(None, "runner_cpu_share")[0] for sample in valid]
    known = [share for share in shares if share is not None]
    if not known:
        return []
    most, silent = 100 * max(known), len(shares) - len(known)
    apart = all(sample.raw.get("runner_apart") is True for sample in valid)
    where = ", on CPUs that no sample used" if apart else ""
    text = f"The runner itself used at most {most:.2f} % of one CPU in a measured window{where}"
    return [text + (f"; {silent} cannot say." if silent else ".")]


def _notes(valid: list[Sample]) -> list[str]:
    lines = [
        f"{sample.sample_id} {sample.variant}: {note}"
        for sample in valid
        for note in sample.raw.get("notes") or []
    ]
    more = len(lines) - NOTES_MAX
    return lines[:NOTES_MAX] + ([f"and {more} more, in results.jsonl"] if more > 0 else [])


def _xstats(found: Aggregate) -> Table | None:
    """What the device counted in the windows, if anything: a row for each cell and counter. A
    sample has only those that grew."""
    rows = []
    for cell in found.cells:
        tables = [(sample.raw.get("server") or {}).get("details") or {} for sample in cell.valid]
        for name in sorted({name for table in tables for name in table if name.startswith(XSTAT)}):
            numbers = [table.get(name, 0) for table in tables]
            if all(isinstance(number, int) for number in numbers):
                middle = median_low(numbers)
                rows.append([cell.variant, name.removeprefix(XSTAT), f"{middle:,}"])
    return Table(["cell", "counter", "median"], rows, left=2) if rows else None
