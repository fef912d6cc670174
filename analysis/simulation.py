"""The command: `python3 -m analysis.simulation` measures the judgement itself on boots whose truth
is known, and prints the tables of docs/measurement.md.

How often the interval holds the planted ratio, how often a verdict is a false alarm, how often a
change is seen; the same of a gate on two medians, and of a host with slow phases. The same
arguments print the same bytes. Exit: 0 printed; 4 refused or not writable.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from pathlib import Path
from typing import Callable, Iterator, Sequence

import numpy as np

from analysis.command import Parser, carry_out
from analysis.figures import power
from analysis.figures.power import Seen
from analysis.judgement.gate import RPS_LEAST
from analysis.judgement.gates import DECIMALS
from analysis.judgement.verdicts import ALPHA, MARGIN, within
from analysis.statistics import bootstrap, planted, student
from analysis.statistics.bootstrap import SEED
from analysis.statistics.holm import holm
from analysis.statistics.planted import Boots
from analysis.statistics.power import half_width, least_detectable, runs_needed

NAME = "python3 -m analysis.simulation"
REPETITIONS = 1000
# What is cheap to simulate and seldom happens is repeated so many times as often.
OFTEN = 10
EFFECTS = (0.0, 0.01, 0.02, 0.03, 0.05)
CVS = (0.01, 0.025, 0.05)
BLOCKS = (3, 5, 7, 9, 15)
FAMILIES = (4, 8, 36)
# A change of twice the noise, in one cell of a family.
AMONG_CV, AMONG_EFFECT = 0.025, 0.05
# The numbers of runs that people ask about.
FEW = (3, 5, 9)
MARGINS = (0.01, 0.02, 0.03, 0.05)
# The cases of the seed's gate whose rates are known: noise, runs.
GATE_CASES = ((0.01, 5), (0.02, 5), (0.025, 3))
GATE_SCENARIOS = 4
GATE_LOSS = -0.03
SLOW_CV = 0.01

Interval = tuple[np.ndarray, np.ndarray]
Method = Callable[[np.ndarray, np.ndarray], Interval]


def paired_t(new: np.ndarray, base: np.ndarray) -> Interval:
    """Of the log ratio, as a report has it where blocks are shared."""
    return student.of_blocks(new, base).interval()


def welch_t(new: np.ndarray, base: np.ndarray) -> Interval:
    """Of the log ratio, as a report has it where no blocks are shared."""
    return student.of_sides(new, base).interval()


def paired_bootstrap(new: np.ndarray, base: np.ndarray) -> Interval:
    """Of the log ratio, as it stands beside the paired t."""
    return bootstrap.ends_of_blocks(new, base)


def generator(*case: float) -> np.random.Generator:
    """Of its own for each case, so that one case's numbers do not hang on another's."""
    return np.random.default_rng([SEED, *(round(1e6 * number) + 10**6 for number in case)])


def quiet(repetitions: int, n: int, cv: float, effect: float) -> Boots:
    """(repetitions, n) boots a side."""
    return planted.quiet(generator(n, cv, effect), (repetitions, n), cv, effect)


def coverage(boots: Boots, method: Method) -> float:
    """The share of intervals that hold the truth."""
    low, high = method(boots.new, boots.base)
    return float(np.mean((low <= boots.truth) & (boots.truth <= high)))


def told(boots: Boots, method: Method) -> float:
    """The share of intervals that exclude a ratio of 1; under no effect, the false alarms."""
    low, high = method(boots.new, boots.base)
    return float(np.mean((low > 0) | (high < 0)))


def seen(repetitions: int, n: int, cv: float, effect: float) -> Seen:
    """How often that effect is told from none on a quiet host."""
    return Seen(n, cv, effect, told(quiet(repetitions, n, cv, effect), paired_t))


def equivalent(boots: Boots, margin: float) -> float:
    """The share of paired t intervals that lie inside the margin."""
    low, high = paired_t(boots.new, boots.base)
    return float(np.mean(within(np.exp(low), np.exp(high), margin)))


def family_alarms(repetitions: int, cells: int, n: int, cv: float) -> tuple[float, float]:
    """(without, with Holm's correction): the share of families of cells, none of which changed, in
    which at least one is called better or worse."""
    rng = generator(n, cv, cells)
    boots = planted.quiet(rng, (repetitions, cells, n), cv, 0.0)
    estimate = student.of_blocks(boots.new, boots.base)
    low, high = (np.exp(end) for end in estimate.interval())
    p, inside = estimate.p(), within(low, high, MARGIN)
    alarms = (np.any((p_of <= ALPHA) & ~inside, axis=-1) for p_of in (p, holm(p)))
    without, corrected = (float(np.mean(alarm)) for alarm in alarms)
    return without, corrected


def told_among(repetitions: int, cells: int, n: int) -> float:
    """How often a change of AMONG_EFFECT in one cell is called better or worse, judged with others
    that did not change."""
    boots = planted.quiet(generator(n, cells), (repetitions, cells, n), AMONG_CV, 0.0)
    boots.new[:, 0] += math.log1p(AMONG_EFFECT)
    estimate = student.of_blocks(boots.new, boots.base)
    low, high = (np.exp(end[:, 0]) for end in estimate.interval())
    found = holm(estimate.p())[:, 0] <= ALPHA
    return float(np.mean(found & ~within(low, high, MARGIN)))


def gate_fails(boots: Boots) -> np.ndarray:
    """Whether the seed's gate, a bound on the ratio of medians of requests/s, fails."""
    medians = [np.median(side, axis=-1) for side in (boots.new, boots.base)]
    return np.round(np.exp(medians[0] - medians[1]), DECIMALS) < RPS_LEAST


def gate_rates(repetitions: int, cv: float, n: int) -> tuple[float, float, float]:
    """Of the seed's gate: (false fails of one scenario, of any of GATE_SCENARIOS, misses of
    GATE_LOSS)."""
    same, loss = (quiet(repetitions, n, cv, effect) for effect in (0.0, GATE_LOSS))
    one = float(np.mean(gate_fails(same)))
    return one, 1 - (1 - one) ** GATE_SCENARIOS, 1 - float(np.mean(gate_fails(loss)))


def coverage_table(repetitions: int) -> Iterator[Sequence[object]]:
    """A row for each noise and number of blocks: the least and greatest over planted effects; of
    the bootstrap, which costs the most, without an effect."""
    yield ("CV", "blocks", "t, paired", "t, Welch", "bootstrap, paired")
    for cv in CVS:
        for n in BLOCKS:
            drawn = [quiet(repetitions, n, cv, effect) for effect in EFFECTS]
            paired, welch = (
                _range([coverage(boots, method) for boots in drawn])
                for method in (paired_t, welch_t)
            )
            yield (_percent(cv), n, paired, welch, _percent(coverage(drawn[0], paired_bootstrap)))


def alarm_table(repetitions: int) -> Iterator[Sequence[object]]:
    """False alarms of families, a row for each number of blocks; repeated OFTEN."""
    titles = [f"{cells} cells{how}" for cells in FAMILIES for how in (", uncorrected", ", Holm")]
    yield ("blocks", *titles)
    for n in BLOCKS:
        found = [family_alarms(OFTEN * repetitions, cells, n, CVS[-1]) for cells in FAMILIES]
        yield (n, *(_percent(rate) for pair in found for rate in pair))


def power_table(repetitions: int) -> Iterator[Sequence[object]]:
    """How often a planted effect is told from 1, a row for each noise and number of blocks."""
    yield ("CV", "blocks", *(f"effect {_percent(effect)}" for effect in EFFECTS))
    for cv in CVS:
        for n in BLOCKS:
            found = (seen(repetitions, n, cv, effect) for effect in EFFECTS)
            yield (_percent(cv), n, *(_percent(one.share) for one in found))


def among_table(repetitions: int) -> Iterator[Sequence[object]]:
    """How often a change in one cell is told among unchanged ones, a row for each number of
    blocks."""
    families = (1, *FAMILIES)
    yield ("blocks", "alone", *(f"among {cells} cells" for cells in FAMILIES))
    for n in BLOCKS:
        yield (n, *(_percent(told_among(repetitions, cells, n)) for cells in families))


def few_table(repetitions: int) -> Iterator[Sequence[object]]:
    """What so many runs tell, side by side."""
    spread, change = AMONG_CV * math.sqrt(2), _percent(AMONG_EFFECT)

    def same(n: int) -> float:
        return equivalent(quiet(repetitions, n, AMONG_CV, 0.0), AMONG_EFFECT)

    rows: dict[str, Callable[[int], object]] = {
        "degrees of freedom": lambda n: n - 1,
        "standard errors to the interval's end": (
            lambda n: f"{student.Estimate(0, 1, n - 1).interval()[1]:.3g}"
        ),
        "the interval reaches": lambda n: _percent(half_width(spread, n)),
        "a change seen 8 of 10 times": lambda n: _percent(least_detectable(spread, n)),
    }
    for cells in (1, *FAMILIES[1:]):
        where = "alone" if cells == 1 else f"among {cells} cells"
        rows[f"a change of {change} is told, {where}"] = (
            lambda n, cells=cells: _percent(told_among(repetitions, cells, n))
        )
    rows[f"no change is called equivalent, margin {change}"] = lambda n: _percent(same(n))
    yield ("", *(f"{n} runs" for n in FEW))
    yield from ((title, *map(of, FEW)) for title, of in rows.items())


def reach_table(repetitions: int) -> Iterator[Sequence[object]]:
    """What so many blocks of two sides with that noise can show; computed, not simulated."""
    yield ("CV", "blocks", "the interval reaches", "a change seen 8 of 10 times")
    for cv in CVS:
        for n in BLOCKS:
            found = (about(cv * math.sqrt(2), n) for about in (half_width, least_detectable))
            yield (_percent(cv), n, *map(_percent, found))


def needed_table(repetitions: int) -> Iterator[Sequence[object]]:
    """How many blocks it takes to see a change 8 of 10 times; computed, not simulated."""
    changes = [effect for effect in EFFECTS if effect]
    yield ("CV", *(f"to see {_percent(change)}" for change in changes))
    for cv in CVS:
        needed = (runs_needed(cv * math.sqrt(2), 1 + change) for change in changes)
        yield (_percent(cv), *needed)


def equivalent_table(repetitions: int) -> Iterator[Sequence[object]]:
    """How often nothing is called equivalent, by margin; and a change as great as the margin."""
    same = [f"no effect, margin {_percent(margin)}" for margin in MARGINS]
    yield ("CV", "blocks", *same, f"effect {_percent(MARGIN)}, margin {_percent(MARGIN)}")
    for cv in CVS:
        for n in BLOCKS:
            none, at_margin = (quiet(repetitions, n, cv, effect) for effect in (0.0, MARGIN))
            rates = [equivalent(none, margin) for margin in MARGINS]
            rates.append(equivalent(at_margin, MARGIN))
            yield (_percent(cv), n, *map(_percent, rates))


def gate_table(repetitions: int) -> Iterator[Sequence[object]]:
    """The seed's gate where its rates are known; repeated OFTEN."""
    yield (
        *("CV", "runs", "fails though nothing changed", f"any of {GATE_SCENARIOS} does"),
        f"passes a loss of {_percent(-GATE_LOSS)}",
    )
    for cv, n in GATE_CASES:
        yield (_percent(cv), n, *map(_percent, gate_rates(OFTEN * repetitions, cv, n)))


def slow_table(repetitions: int) -> Iterator[Sequence[object]]:
    """On a host with slow phases: false alarms of each order and judgement, and how often the
    greatest effect is seen."""
    yield (
        *("blocks", "false alarms: t, paired", "t, Welch", "consecutive t, Welch", "point gate"),
        *("consecutive point gate", f"sees {_percent(EFFECTS[-1])}: t, paired", "t, Welch"),
    )
    for n in BLOCKS:
        shape = repetitions, n

        def boots(effect: float, order: planted.Order) -> Boots:
            return planted.slow_phases(generator(n, effect), shape, SLOW_CV, effect, order)

        turns, rows, more = boots(0, "interleaved"), boots(0, "consecutive"), EFFECTS[-1]
        changed = boots(more, "interleaved")
        rates = (
            *(told(turns, paired_t), told(turns, welch_t), told(rows, welch_t)),
            *(float(np.mean(gate_fails(one))) for one in (turns, rows)),
            *(told(changed, paired_t), told(changed, welch_t)),
        )
        yield (n, *map(_percent, rates))


TABLES: dict[str, Callable[[int], Iterator[Sequence[object]]]] = {
    "How often the 95 % interval holds the planted ratio, least to greatest of all effects": (
        coverage_table
    ),
    "How often at least one of unchanged cells is called better or worse": alarm_table,
    "How often the interval excludes 1": power_table,
    f"How often a change of {100 * AMONG_EFFECT:g} % is told, at a CV of {100 * AMONG_CV:g} %": (
        among_table
    ),
    f"What a few runs tell, at a CV of {100 * AMONG_CV:g} %": few_table,
    "What so many blocks can show": reach_table,
    "How many blocks it takes": needed_table,
    "How often the verdict is equivalent": equivalent_table,
    "The point gate, requests/s at least 0.98 of the base's": gate_table,
    "A host with slow phases": slow_table,
}


def markdown(rows: Iterator[Sequence[object]]) -> str:
    """A table, its first row the titles."""
    titles, *body = [[str(cell) for cell in row] for row in rows]
    lines = [titles, ["---:"] * len(titles), *body]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share < 0.9995 else f"{100 * share:.0f} %"


def _range(shares: Sequence[float]) -> str:
    return f"{100 * min(shares):.1f} to {100 * max(shares):.1f} %"


def power_figure(repetitions: int) -> bytes:
    """The power curves as SVG."""
    cases = itertools.product(BLOCKS, CVS, EFFECTS)
    found = [seen(repetitions, n, cv, effect) for n, cv, effect in cases]
    return power.draw(found, repetitions).svg


def main(argv: list[str] | None = None) -> int:
    """Parses, simulates, prints; the exit status."""
    parser = Parser(
        prog=NAME,
        description="Measures intervals, verdicts and gates on simulated boots of known truth.",
    )
    parser.add_argument("--repetitions", type=_above_0, default=REPETITIONS, help="of each case")
    parser.add_argument("--figure", type=Path, metavar="PATH", help="also draw the power curves")
    options = parser.parse_args(argv)
    return carry_out(NAME, lambda: _simulate(options.repetitions, options.figure))


def _simulate(repetitions: int, figure: Path | None) -> int:
    print(f"{repetitions:,} repetitions of each case")
    for title, table in TABLES.items():
        print(f"\n{title}\n\n{markdown(table(repetitions))}", end="")
    if figure is not None:
        figure.write_bytes(power_figure(repetitions))
    return 0


def _above_0(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
