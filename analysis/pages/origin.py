"""Where a run's numbers come from: host, build, and the files with their hashes."""

from __future__ import annotations

import hashlib
from typing import Any

from analysis.inputs.load import Result
from analysis.judgement.study import Study
from analysis.pages import variants
from analysis.pages.blocks import Block, Table
from analysis.pages.facts import flat

# A longer table is opened by who wants it.
OPEN_MAX = 40


def blocks(study: Study) -> list[Block]:
    """The host in a line, then each file of facts as a table."""
    result = study.result
    tables = {
        "Host before (host.json)": result.host,
        "Host after, where it differs (host-after.json)": _changed(result),
        "Build (build.json)": result.build,
    }
    if result.hosts is not None:
        tables["Machines (hosts.json)"] = result.hosts
    short = Block("Host and build", [f"Host: {variants.machine(result)}."])
    return [short, *(_facts(name, table) for name, table in tables.items())]


def _facts(name: str, table: dict[str, Any] | None) -> Block:
    rows = [list(row) for row in flat(table or {})]
    if not rows:
        return Block(name, ["Nothing recorded."])
    return Block(name, [], Table(["fact", "value"], rows, left=2), folded=len(rows) > OPEN_MAX)


def _changed(result: Result) -> dict[str, Any]:
    before = dict(flat(result.host or {}))
    return {
        name: value for name, value in flat(result.host_after or {}) if before.get(name) != value
    }


def files(study: Study) -> list[Block]:
    """What the report was made from, as the manifest lists it."""
    hashes = study.result.hashes
    if not hashes:
        return [Block("Files", ["n/a (no manifest)"])]
    rows = [
        [name, f"{entry['bytes']:,}", entry["sha256"]] for name, entry in hashes.items()
    ]
    about = (
        f"{len(hashes)} files that this report was made from, as the manifest lists them; each was"
        " checked"
    )
    table = Table(["file", "bytes", "SHA-256"], rows)
    listed = "".join(f"{entry['sha256']}  {name}\n" for name, entry in hashes.items())
    digest = hashlib.sha256(listed.encode()).hexdigest()
    brief = f"{about}; SHA-256 of the list, as sha256sum prints it in that order: {digest}"
    return [Block(about, [], table, folded=True, brief=brief)]
