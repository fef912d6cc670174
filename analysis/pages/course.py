"""How the run went: what was planned and left out, whether the variants answered alike, what
changed on the host, what the runner itself took, what was measured anew."""

from __future__ import annotations

import re
from statistics import median_low
from typing import Any

from analysis.cells.aggregate import Aggregate
from analysis.pages.blocks import Block, Table
from analysis.pages.facts import listed, phrase
from analysis.cells.words import count, switch
from analysis.judgement.caveats import busy_words, unlike_answers
from analysis.judgement.study import Study
from analysis.inputs.load import Result, Sample


# How a counter of the device begins in a sample's `details`.
XSTAT = "xstat_"
NOTES_MAX = 40

# From so many samples on, notes that differ in numbers alone are one line.
ALIKE_MIN = 4
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def blocks(study: Study) -> list[Block]:
    """What is known of it; none for a directory that has nothing of the kind."""
    result = study.result
    lines = [
        *_plan(result),
        *_parts(result),
        *_parity(result.parity),
        *_once_unlike(result),
        *_drift(result),
        *_machines(result.hosts),
        *_bindings(result.samples),
        *_runner(result.valid),
    ]
    made = [Block("How the run went", lines)] if lines else []
    if result.attempts:
        kept = [f"{one.folder} {one.variant}: {'; '.join(one.reasons)}" for one in result.attempts]
        made.append(Block("Attempts at samples that were measured anew, in none of the numbers", kept))
    notes = _notes(result.valid)
    if notes:
        made.append(Block("What speaks against single samples without making them invalid", notes))
    counters = _xstats(study.found)
    if counters:
        made.append(Block("Counters of the device, lower median over samples", [], counters))
    return made


def _plan(result: Result) -> list[str]:
    plan = result.plan
    lines = [f"Left out: {_omitted(omitted)}." for omitted in listed(plan.get("omitted"))]
    if plan.get("form_reason"):
        lines.append(f"Form of the profile: {phrase(plan['form_reason'])}.")
    lines += _repeated(plan.get("repeats"))
    busy = plan.get("busy_at_start")
    if isinstance(busy, dict):
        lines.append(f"As it began, others used {busy_words(busy)}.")
    return lines


def _repeated(repeats: Any) -> list[str]:
    """Which result's plan was carried out once more, and what was otherwise than then."""
    if not isinstance(repeats, dict):
        return []
    lines = [
        f"It repeats the plan of {phrase(repeats.get('result'))}, manifest SHA-256"
        f" {phrase(repeats.get('manifest_sha256'))}."
    ]
    differences = listed(repeats.get("differences"))
    for one in (one for one in differences if isinstance(one, dict)):
        was, now = phrase(one.get("was")), phrase(one.get("now"))
        lines.append(f"Otherwise than then: {one.get('what')} was {was}, now {now}.")
    return lines


def _parts(result: Result) -> list[str]:
    """When the run was gone on with, as the plan has it; the summary alone where that does not."""
    for table in (result.plan, result.summary or {}):
        parts = table.get("resumed")
        if isinstance(parts, list) and parts:
            return [_resumed(one) for one in parts]
    return []


def _once_unlike(result: Result) -> list[str]:
    """What an earlier part of the run found of the servers' answers, which parity.json no longer
    says."""
    differ = (result.summary or {}).get("servers_differ")
    if not differ or any(unlike_answers(result.parity, when) for when in ("before", "after")):
        return []
    return [f"In an earlier part of the run the servers answered differently: {phrase(differ)}."]


def _resumed(one: Any) -> str:
    """E.g. "It was gone on with at TIME from sample s0003; others used 0.02 CPUs then."."""
    if not isinstance(one, dict):
        return f"It was gone on with: {phrase(one)}."
    busy = one.get("busy_at_start")
    then = f"; others used {busy_words(busy)} then" if isinstance(busy, dict) else ""
    at, sample = phrase(one.get("at")), one.get("from_sample")
    start = f" from sample {phrase(sample)}" if sample else ""
    return f"It was gone on with at {at}{start}{then}."


def _omitted(omitted: Any) -> str:
    """E.g. "capacity-36cpu-0kb (omitted: 36 workers are more than the 4 CPUs ...)"."""
    if isinstance(omitted, dict) and "what" in omitted:
        return f"{omitted['what']} ({omitted.get('why') or 'no reason recorded'})"
    return phrase(omitted)


def _parity(parity: dict[str, Any] | None) -> list[str]:
    """Whether the same request had the same answer of every server, and what the answers were."""
    lines, told = [], []
    for when, words in (("before", "before the first sample"), ("after", "after the last")):
        found = (parity or {}).get(when)
        if isinstance(found, dict):
            groups = [f"  {line}" for line in map(_group, listed(found.get("groups"))) if line]
            as_before = groups == told and bool(told)
            lines.append(
                f"Same answers to the same requests, {words}: {_equal(found)}"
                + (", and the same as before." if as_before else ".")
            )
            lines += [] if as_before else groups
            told = groups
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
    said = [one.get("digest") for one in servers if isinstance(one, dict)]
    digests = dict.fromkeys(phrase(digest) for digest in said if digest)
    answers = ", ".join(digests) or "n/a"
    asked, of = _settings(group.get("request")), count(len(servers), "server")
    return f"{asked}: SHA-256 {answers} from {of}"


def _settings(request: Any) -> str:
    """What was asked for, in the words of the report's settings."""
    if not isinstance(request, dict):
        return phrase(request)
    switched = {name: switch(one) for name, one in request.items() if isinstance(one, bool)}
    return phrase(request | switched)


def _drift(result: Result) -> list[str]:
    lines = [
        f"Changed on the host until the run was gone on with: {change(fact)}."
        for fact in result.drift_earlier or []
    ]
    lines += [f"Changed on the host: {change(fact)}." for fact in result.drift or []]
    if result.drift == []:
        since = " since then" if result.drift_earlier else ""
        lines.append(f"Nothing that was looked at changed on the host{since}.")
    if result.steal_share is not None:
        lines.append(f"Stolen of all CPU time meanwhile: {100 * result.steal_share:.2f} %.")
    return lines


def _machines(hosts: dict[str, Any] | None) -> list[str]:
    """In which facts the machines of a run on several are not alike."""
    found = (hosts or {}).get("differences")
    return [
        f"The machines differ in {one.get('fact')}: {phrase(one.get('values'))}."
        for one in (found if isinstance(found, list) else [])
        if isinstance(one, dict)
    ]


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
    """Each note with its sample; those of several that differ in numbers alone, in one line."""
    alike: dict[str, list[tuple[Sample, str]]] = {}
    for sample in valid:
        for note in map(phrase, listed(sample.raw.get("notes"))):
            alike.setdefault(NUMBER.sub("0", note), []).append((sample, note))
    lines = []
    for noted in alike.values():
        if len(noted) < ALIKE_MIN:
            lines += [f"{sample.sample_id} {sample.variant}: {note}" for sample, note in noted]
        else:
            words = _ranged([note for _, note in noted])
            lines.append(f"{len(noted)} of {count(len(valid), 'valid sample')}: {words}")
    more = len(lines) - NOTES_MAX
    return lines[:NOTES_MAX] + ([f"and {more} more, in results.jsonl"] if more > 0 else [])


def _ranged(notes: list[str]) -> str:
    """The words that the notes share; for a number that differs, the least and the greatest."""
    numbers = zip(*(NUMBER.findall(note) for note in notes))
    ends = [(min(column, key=float), max(column, key=float)) for column in numbers]
    shown = iter(low if low == high else f"{low} to {high}" for low, high in ends)
    return NUMBER.sub(lambda _: next(shown), notes[0])


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
