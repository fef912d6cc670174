"""What a result says of TLS: what did it, how each side was told to, and what came of it.

Of what was negotiated the kinds are compared (version, cipher and group), as the client counts
them, whose connections are those of the load; the server's count has those of checks, too.
Whether a session was resumed depends on when its ticket came, so it makes a difference only where
one side resumed in every sample and the other in none.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterator, Sequence

from analysis.cells.aggregate import Cell
from analysis.cells.words import switch
from analysis.inputs.load import Result
from analysis.inputs.sample import Sample
from analysis.judgement.difference import Refused, unlike

SIDES = ("server", "client")
# What each side was told, and what it is called.
TOLD = (
    ("version_min", "least TLS version"),
    ("version_max", "greatest TLS version"),
    ("ciphers", "TLS ciphers"),
    ("ciphersuites", "TLS ciphersuites"),
    ("groups", "TLS groups"),
    ("alpn", "ALPN"),
    ("tickets", "TLS tickets"),
)
DEFAULT = "the provider's default"
NEGOTIATED = "negotiated TLS"
RESUMED = " resumed"
_SAME_TLS = "measure both with the same TLS configuration"


def providers(a: Result, b: Result) -> Iterator[Refused]:
    """What did TLS on each side, with its version, where both results have samples under TLS."""
    for side in SIDES:
        sides = [_provider(result.samples, side) for result in (a, b)]
        if all(sides):
            yield from unlike(f"{side}'s TLS provider", *sides, "measure both with one TLS library")


def results(a: Result, b: Result) -> list[Refused]:
    """Of the cells that both results have by name."""
    named: list[dict[str, list[Sample]]] = [{}, {}]
    for own, result in zip(named, (a, b)):
        for sample in result.valid:
            own.setdefault(sample.variant, []).append(sample)
    both = [name for name in named[0] if name in named[1]]
    found = [one for name in both for one in samples(*(own[name] for own in named))]
    return list(dict.fromkeys(found))


def cells(a: Cell, b: Cell) -> list[Refused]:
    """Of two cells, of one result or of two."""
    return samples(a.valid, b.valid)


def samples(a: Sequence[Sample], b: Sequence[Sample]) -> list[Refused]:
    """Of two cells' valid samples; what one of them does not state is not compared."""
    found = []
    for side in SIDES:
        for key, title in TOLD:
            values = [_values(one, side, key) for one in (a, b)]
            if all(values):
                told = (", ".join(sorted(value)) for value in values)
                found += unlike(f"{side}'s {title}", *told, _SAME_TLS)
    came = [kinds(one) for one in (a, b)]
    if all(came):
        found += unlike(NEGOTIATED, *came, _SAME_TLS)
        again = [_resumed(one) for one in (a, b)]
        if {True, False} == set(again):
            found += unlike("resumed TLS sessions", *again, _SAME_TLS)
    return found


def negotiated(found: Sequence[Sample], side: str = "client") -> Counter[str]:
    """Connections by kind over all samples, e.g. {"TLSv1.3 TLS_AES_256_GCM_SHA384 X25519": 64};
    empty where nothing is known of them."""
    sums: Counter[str] = Counter()
    for sample in found:
        kinds = said(sample, side).get("negotiated")
        for name, conns in (kinds if isinstance(kinds, dict) else {}).items():
            sums[str(name)] += conns if isinstance(conns, int) else 0
    return sums


def kinds(found: Sequence[Sample]) -> str:
    """What the client negotiated, without how often and whether resumed: "TLSv1.3 ...", "" where it
    is not known."""
    return ", ".join(sorted({name.removesuffix(RESUMED) for name in negotiated(found)}))


def said(sample: Sample, side: str) -> dict[str, Any]:
    """What a side says of TLS; empty without TLS."""
    both = sample.raw.get("tls")
    own = both.get(side) if isinstance(both, dict) else None
    return own if isinstance(own, dict) else {}


def told(value: Any) -> str:
    """A side's setting as people read it."""
    return DEFAULT if value is None else switch(value)


def _values(found: Sequence[Sample], side: str, key: str) -> set[str]:
    owns = [said(sample, side) for sample in found]
    return {told(own[key]) for own in owns if key in own}


def _resumed(found: Sequence[Sample]) -> bool | None:
    """Whether every sample resumed sessions, or none did; None if some did."""
    each = {any(name.endswith(RESUMED) for name in negotiated([sample])) for sample in found}
    return each.pop() if len(each) == 1 else None


def _provider(found: Sequence[Sample], side: str) -> str:
    owns = [said(sample, side) for sample in found]
    return ", ".join(sorted({str(own["provider"]) for own in owns if own.get("provider")}))
