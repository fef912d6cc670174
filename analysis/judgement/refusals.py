"""What must not be compared: numbers that differ in more than what one wants to learn of.

Between two results everything is looked at that changes numbers without being the server's doing:
the machine, the client, how the programs were built, what servers were given. Within one result
that is the same for all, and what is left is the path of a request: a variant may have been given
another one.

What both sides do not know is no difference, except host, build and client, which must be known;
what only one side knows is one.
"""

from __future__ import annotations

from typing import Any, Collection, Iterable, Iterator, Sequence

from analysis.cells.aggregate import Cell
from analysis.cells.pairing import Pair
from analysis.cells.words import count, some, switch
from analysis.inputs.load import Result
from analysis.judgement import given, tls
from analysis.judgement.difference import HASH_DIGITS, Refused, shown, unlike

# Facts of host.json, what they are called, and what to do where they differ.
_SAME_HOST = "measure both on one host, in turns, as variants of one experiment"
HOST = (
    ("hostname", "host", _SAME_HOST),
    ("cpu_model", "processor", _SAME_HOST),
    ("cores_allowed", "cores", "give both runs the same cores"),
    ("cpus_logical", "logical CPUs", "give both runs the same CPUs"),
    ("kernel", "kernel", "measure both under one kernel"),
    ("governor", "governor", "set one governor and measure both again"),
)
# Facts of a build likewise.
BUILD = (
    ("build_type", "build type"),
    ("sanitizers", "sanitizers"),
    ("assertions", "assertions"),
)
# Meson's options that decide each of them: a variant whose own `options` name one means it.
OPTIONS = {
    "build_type": ("buildtype",),
    "sanitizers": ("b_sanitize",),
    "assertions": ("b_ndebug", "buildtype"),
}
_SAME_BUILD = "build both in one way; `weir run` builds variants with the same options"
# Settings of a cell that decide the path of a request, and whose they are.
PATH = (
    ("tls", "TLS", "compare plain with plain and TLS with TLS: they are different paths"),
    ("protocol", "protocol", "compare cells of one protocol"),
)
CLIENT_REVISION = "client revision"
_SAME_CLIENT = "give both the same client"
CLIENT = (
    "client_stack",
    "client_wait",
    "client_workers",
    "connections",
    "depth",
    "path",
    "refill",
    "request_bytes",
)


def between(a: Result, b: Result) -> list[Refused]:
    """Why numbers of two results do not compare; empty where they do."""
    return [
        *_schemas(a, b),
        *_client(a, b),
        *_hosts(a, b),
        *given.files(a, b),
        *tls.providers(a, b),
        *tls.results(a, b),
        *_builds(a, b),
        *_degraded(a, b),
    ]


def of_pairs(result: Result, pairs: Sequence[Pair]) -> list[str]:
    """Why variants do not compare with the base that they stand beside, a sentence for each reason
    with its places; empty where they do."""
    variants, places = result.levels_of("variant"), {}
    for pair in pairs:
        meant = _meant(variants.get(pair.base_name, {})) | _meant(variants.get(pair.name, {}))
        for one in within(pair, result.build, meant):
            places.setdefault((pair.name, one), []).append(pair.place)
    return [
        f"{name} in {count(len(where), 'place')} ({some(where)}): {one.sentence}"
        for (name, one), where in places.items()
    ]


def _meant(variant: dict[str, Any]) -> set[str]:
    """What a variant sets on purpose, of a cell or of its build."""
    settings, options = variant.get("set"), str(variant.get("options") or "")
    built = {fact for fact, named in OPTIONS.items() if any(one in options for one in named)}
    return built | set(settings if isinstance(settings, dict) else {})


def within(
    pair: Pair, build: dict[str, Any] | None = None, meant: Collection[str] = ()
) -> list[Refused]:
    """Why a variant does not compare with the base it stands beside, by their settings and, where
    build.json is given, by how the two programs were built; empty where they do. What is `meant`
    is what the experiment compares; the path of a request is not, whoever sets it."""
    found = cells(pair.base, pair.new, meant)
    if build is not None:
        sides = [_program(build, name) for name in (pair.base_name, pair.name)]
        found += _facts_of_builds(*sides, what="", meant=meant)
    return found


def servers(a: Result, b: Result) -> list[Refused]:
    """Variants of one name whose programs were built from different commits: what a comparison of
    two results may be about, and what a repetition of one must say."""
    named = [_variants(result.build or {}) for result in (a, b)]
    instead = "it is not the same program that was measured again"
    return [
        one
        for name in named[0]
        if name in named[1]
        for one in unlike(
            f"variant {name}'s revision", *(_commit(side[name]) for side in named), instead
        )
    ]


def cells(a: Cell, b: Cell, meant: Collection[str] = ()) -> list[Refused]:
    """Why two cells, of one result or of two, are not the same path with the same client."""
    if not (a.valid and b.valid):  # then the effective settings may not be known
        return []
    found = []
    for name, what, instead in PATH:
        sides = [one.settings.get(name) for one in (a, b)]
        found += unlike(what, *(switch(one) if one is not None else None for one in sides), instead)
    for name in CLIENT:
        if name in meant:
            continue
        what = name.replace("_", " ")
        what = what if "client" in what else f"client's {what}"
        found += unlike(what, a.settings.get(name), b.settings.get(name), _SAME_CLIENT)
    return found + tls.cells(a, b)


def _schemas(a: Result, b: Result) -> Iterator[Refused]:
    """The files that load does not check itself."""
    for name in ("plan", "host", "build"):
        sides = [(getattr(result, name) or {}).get("schema") for result in (a, b)]
        if None not in sides:
            instead = "measure the older one again: its facts may mean something else"
            yield from unlike(f"schema of {name}.json", *sides, instead)


def _client(a: Result, b: Result) -> list[Refused]:
    """By the program's bytes where both know them, else by the commit that it was built from."""
    instead = "measure both with one client, as variants of one experiment (docs/variants.md)"
    builds = [result.build or {} for result in (a, b)]
    hashes = [_client_hash(build) for build in builds]
    commits = [_commit(build) for build in builds]
    if None not in hashes:
        alike = hashes[0] == hashes[1]
        commits = [f"{shown(commit)}, program {sha}" for commit, sha in zip(commits, hashes)]
    else:
        alike = commits[0] == commits[1] is not None
    return [] if alike else [Refused(CLIENT_REVISION, *map(shown, commits), instead)]


def _client_hash(build: dict[str, Any]) -> str | None:
    """The first digits, as a build's key has them."""
    own = build.get("client")
    digest = (own if isinstance(own, dict) else build).get("program_sha256")
    return None if digest is None else str(digest)[:HASH_DIGITS]


def _commit(build: dict[str, Any]) -> str | None:
    """With the hash of what was not committed, so that two dirty trees are not taken for one."""
    commit = build.get("git_commit")
    if commit is None or not build.get("git_dirty"):
        return commit
    return f"{commit} with uncommitted changes {shown(build.get('git_diff_sha256'))}"


def _hosts(a: Result, b: Result) -> Iterator[Refused]:
    """The runner's host, then each other machine by its role and name."""
    if a.host is None and b.host is None:
        yield Refused("host", shown(None), shown(None), _SAME_HOST)
    sides = [dict(result.machines) for result in (a, b)]
    yield from unlike("set of machines", *(_names(side) for side in sides), _SAME_HOST)
    both = [name for name in sides[0] if name in sides[1]]
    hosts = [("", a.host or {}, b.host or {})]
    hosts += [(f"{name}'s ", sides[0][name], sides[1][name]) for name in both]
    for whose, one, other in hosts:
        for name, what, instead in HOST:
            yield from unlike(f"{whose}{what}", one.get(name), other.get(name), instead)


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "this host only"


def _builds(a: Result, b: Result) -> Iterator[Refused]:
    """The runner's program, and each variant that both results have."""
    sides = [result.build or {} for result in (a, b)]
    if a.build is None and b.build is None:
        yield Refused("build", shown(None), shown(None), _SAME_BUILD)
    yield from _facts_of_builds(*sides, what="")
    named = [_variants(side) for side in sides]
    for name in named[0]:
        if name in named[1]:
            yield from _facts_of_builds(named[0][name], named[1][name], f"variant {name}'s ")


def _variants(build: dict[str, Any]) -> dict[str, dict[str, Any]]:
    named = build.get("variants")
    return {
        name: own
        for name, own in (named if isinstance(named, dict) else {}).items()
        if isinstance(own, dict)
    }


def _program(build: dict[str, Any], name: str) -> dict[str, Any]:
    """What is known of a variant's program; the runner's own where it has none."""
    return _variants(build).get(name, build)


def _facts_of_builds(
    a: dict[str, Any], b: dict[str, Any], what: str, meant: Collection[str] = ()
) -> list[Refused]:
    return [
        one
        for name, title in BUILD
        if name not in meant
        for one in unlike(f"{what}{title}", a.get(name), b.get(name), _SAME_BUILD)
    ]


def _degraded(a: Result, b: Result) -> list[Refused]:
    """Whether a core was left for the operating system."""
    instead = "measure both with cores enough, or both without"
    return unlike("degraded flag", *(_is_degraded(result) for result in (a, b)), instead)


def _is_degraded(result: Result) -> bool | None:
    known = [
        bool(table["degraded"])
        for table in (result.plan, result.host or {})
        if table.get("degraded") is not None
    ]
    return any(known) if known else None
