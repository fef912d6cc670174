"""Whether a later result says of an earlier one's claims what that one said.

The claims are the earlier experiment's own, judged anew in both results. Where it states none, its
verdicts are taken for claims: what it called better, worse or equivalent.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.inputs.documents import Refusal
from analysis.inputs.load import Result
from analysis.judgement.claims import ClaimOutcome, UNDECIDED, outcome
from analysis.judgement.identity import is_same_run
from analysis.judgement.judged import RPS
from analysis.judgement.statements import read
from analysis.judgement.study import Study
from analysis.judgement.verdicts import INCONCLUSIVE, Verdict

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
# Words that decide nothing.
OPEN = (UNDECIDED, INCONCLUSIVE)


@dataclass(frozen=True)
class Reproduced:
    """One claim in both results; `later` is None where the later one has not measured it."""

    name: str
    earlier: ClaimOutcome | Verdict
    later: ClaimOutcome | Verdict | None
    word: str  # reproduced, not reproduced or undecided
    why: str


def reproductions(old: Study, new: Study) -> tuple[list[Reproduced], bool]:
    """(every claim, whether they are the earlier experiment's own and not its verdicts). Raises
    Refusal where the two are not the same experiment, or a claim cannot be read."""
    _check_same(old.result, new.result)
    claims = read(old.result.effective, old.result.path)
    if not claims:
        return _of_verdicts(old, new), False
    sides = [(outcome(claim, old.found), outcome(claim, new.found)) for claim in claims]
    return [_judged(earlier.name, earlier, later) for earlier, later in sides], True


def _check_same(old: Result, new: Result) -> None:
    """That they are two runs, and the cells of the same names the same work."""
    if is_same_run(old, new):
        raise Refusal(
            new.path,
            (
                f"is the run of {old.path} itself, or a copy; ./weir reproduce {old.path} makes a"
                " repetition"
            ),
        )
    parts = [("name", *(result.effective.get("name") for result in (old, new)))]
    parts += [("fixed", *(result.effective.get("fixed") for result in (old, new)))]
    scenarios = [result.levels_of("scenario") for result in (old, new)]
    parts.append(("scenarios", *(", ".join(sorted(side)) for side in scenarios)))
    parts += [
        (f"scenario {name}", scenarios[0][name], scenarios[1][name])
        for name in scenarios[0]
        if name in scenarios[1]
    ]
    for part, earlier, later in parts:
        if earlier != later:
            raise Refusal(
                new.path,
                (
                    f"is not a repetition of {old.path}: `{part}` is"
                    f" {_first_unlike(later, earlier)}, there {_first_unlike(earlier, later)};"
                    f" ./weir reproduce {old.path} makes one"
                ),
            )


def _first_unlike(one: object, other: object) -> str:
    """A value, or of an object the first setting that the other has not alike."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
        return f"{names[0]} {one.get(names[0], 'not set')}"
    return str(one)


def _judged(
    name: str, earlier: ClaimOutcome | Verdict, later: ClaimOutcome | Verdict | None
) -> Reproduced:
    """Only what both decide can reproduce, or fail to."""
    if earlier.word in OPEN:
        return Reproduced(name, earlier, later, UNDECIDED, "the earlier result did not decide it")
    if later is None:
        return Reproduced(name, earlier, later, UNDECIDED, "the later result has not measured it")
    if later.word in OPEN:
        return Reproduced(name, earlier, later, UNDECIDED, f"now {later.word}: {later.why}")
    if later.word != earlier.word:
        why = f"{earlier.word} then, {later.word} now"
        return Reproduced(name, earlier, later, NOT_REPRODUCED, why)
    why = f"{later.word} both times"
    if _are_apart(earlier, later):
        why += ", but the intervals do not meet: the size is not the same"
    return Reproduced(name, earlier, later, REPRODUCED, why)


def _are_apart(earlier: ClaimOutcome | Verdict, later: ClaimOutcome | Verdict) -> bool:
    """Whether both have an interval of the same thing, and the two have nothing in common."""
    if isinstance(earlier, ClaimOutcome) and isinstance(later, ClaimOutcome):
        if not (earlier.decisive and later.decisive):
            return False
        if earlier.decisive.place.name != later.decisive.place.name:
            return False
    one, other = _interval(earlier), _interval(later)
    return one is not None and other is not None and (one[0] > other[1] or other[0] > one[1])


def _interval(said: ClaimOutcome | Verdict) -> tuple[float, float] | None:
    if isinstance(said, ClaimOutcome):
        return said.interval
    low, high = said.ratio.low, said.ratio.high
    return None if low is None or high is None else (low, high)


def _of_verdicts(old: Study, new: Study) -> list[Reproduced]:
    """Every comparison that the earlier result decided."""
    now = _verdicts(new)
    return [
        _judged(name, verdict, now.get(name))
        for name, verdict in _verdicts(old).items()
        if verdict.word not in OPEN
    ]


def _verdicts(of: Study) -> dict[str, Verdict]:
    """By what is compared, e.g. "coalesce against immediate at depth 8, on epoll@loopback"."""
    return {
        row.name if row.measure == RPS else f"{row.measure}: {row.name}": row.verdict
        for row in of.judged
    }
