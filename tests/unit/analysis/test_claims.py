"""Claims: numbers that are known give the word that was worked out by hand."""

import math
import unittest
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

from analysis.cells.aggregate import Aggregate, Cell, Value
from analysis.inputs.load import Sample
from analysis.judgement.claims import exit_status
from analysis.judgement.claims import outcome as outcome_of
from analysis.judgement.statements import read
from analysis.judgement.study import study
from analysis.pages import claims as page
from claims_fixture import bound, claimed, ratio, rising

EPOLL, DPDK = "epoll@loopback", "dpdk@memif"
NOISE = (0.99, 1.0, 1.02, 0.995)


def rates(stack=EPOLL, **by_cell):
    """Numbers by cell from e.g. i1=100, c32=400, each with NOISE over four runs: in another order
    for each side, and for each of the depths 1, 8 and 32."""
    deliveries = {"i": "immediate", "c": "coalesce"}
    numbers = {}
    for name, number in by_cell.items():
        shift = int(name[1:]).bit_length() % len(NOISE)
        noise = NOISE[shift:] + NOISE[:shift]
        noise = noise if name[0] == "i" else noise[::-1]
        levels = (stack, deliveries[name[0]], int(name[1:]))
        numbers[levels] = [number * factor for factor in noise]
    return numbers


# Two deliveries at three depths, all the same.
SIX = {f"{side}{depth}": 100e3 for depth in (1, 8, 32) for side in "ic"}
MEASURED = {}  # results that were written, by their numbers


def outcome(numbers, claim, metric="effective_rps"):
    """Of a single claim about numbers, which are written and loaded once."""
    key = repr((numbers, metric))
    if key not in MEASURED:
        MEASURED[key] = claimed(numbers, metric=metric)
    (one,) = study(stating(MEASURED[key], [claim])).claims
    return one


def stating(result, claims):
    """The result as if its experiment had stated these claims."""
    return replace(result, plan=result.plan | {"effective": result.effective | {"claims": claims}})


class Words(unittest.TestCase):
    def word(self, numbers, claim, metric="effective_rps"):
        return outcome(numbers, claim, metric).word

    def test_ratio(self):
        """A ratio is supported below its interval, contradicted above it, undecided inside it"""
        numbers = rates(i8=100e3, c8=500e3)
        self.assertEqual(self.word(numbers, ratio(at_least=4.5)), "supported")
        self.assertEqual(self.word(numbers, ratio(at_least=5)), "undecided")
        self.assertEqual(self.word(numbers, ratio(at_least=5.5)), "contradicted")
        self.assertEqual(self.word(numbers, ratio(at_most=4.5)), "contradicted")
        self.assertEqual(self.word(numbers, ratio(at_least=4.5, at_most=5.5)), "supported")

    def test_interval_is_the_t_interval(self):
        """The interval is the t interval of the runs' log ratios, and n their number"""
        numbers = rates(i8=100e3, c8=500e3)
        one = outcome(numbers, ratio(at_least=3))
        logs = [math.log(5 * new / base) for new, base in zip(NOISE[::-1], NOISE)]
        low, high = stats.t.interval(0.95, 3, sum(logs) / 4, stats.sem(logs))
        self.assertAlmostEqual(one.interval[0], math.exp(low))
        self.assertAlmostEqual(one.interval[1], math.exp(high))
        self.assertEqual(one.n, "4")

    def test_bound(self):
        """A bound is judged by the t interval of the logarithms of one cell's boots"""
        one = outcome(rates(i8=100e3), bound(at_least=90e3))
        logs = [math.log(100e3 * noise) for noise in NOISE]
        low, _ = stats.t.interval(0.95, 3, sum(logs) / 4, stats.sem(logs))
        self.assertEqual((one.word, one.n), ("supported", "4"))
        self.assertAlmostEqual(one.interval[0], math.exp(low), places=3)
        self.assertEqual(self.word(rates(i8=100e3), bound(at_least=110e3)), "contradicted")
        self.assertEqual(self.word(rates(i8=100e3), bound(at_most=100e3)), "undecided")

    def test_bound_of_every_cell(self):
        """A bound without a selection is one on every cell, and the worst of them decides"""
        one = outcome(rates(i8=100e3, c8=500e3), bound(at_least=90e3))
        self.assertEqual(one.word, "supported")
        self.assertEqual(one.decisive.place.name, f"{EPOLL}.immediate.d8")
        self.assertEqual(len(one.findings), 2)

    def test_monotone(self):
        """A line rises if every step of it does, and not if one step falls"""
        numbers = rates(c1=100e3, c8=500e3, c32=800e3)
        self.assertEqual(self.word(numbers, rising()), "supported")
        self.assertEqual(self.word(numbers, rising(direction="falling")), "contradicted")
        bent = rates(c1=100e3, c8=500e3, c32=400e3)
        one = outcome(bent, rising())
        self.assertEqual(one.word, "contradicted")
        self.assertIn("d32 against", one.decisive.place.name)
        noisy = {**numbers, (EPOLL, "coalesce", 32): [500e3 * x for x in NOISE]}
        self.assertEqual(self.word(noisy, rising()), "undecided")

    def test_monotone_orders_numbers(self):
        """Levels that are numbers are steps by their size, whatever the experiment's order"""
        self.assertEqual(self.word(rates(c32=800e3, c1=100e3, c8=500e3), rising()), "supported")

    def test_equivalence(self):
        """Equal is what has its whole interval inside the margin, not what cannot be told apart"""
        claim = ratio(kind="equivalence")
        same = rates(i8=100e3, c8=100e3)
        self.assertEqual(self.word(same, claim | {"margin": 0.05}), "supported")
        self.assertEqual(self.word(same, claim | {"margin": 0.01}), "undecided")
        self.assertEqual(self.word(rates(i8=100e3, c8=120e3), claim), "contradicted")

    def test_exact_counts(self):
        """Counts that every boot has to the last digit are judged without an interval"""
        numbers = {
            (EPOLL, "coalesce", 1): [1.0] * 3,
            (EPOLL, "coalesce", 8): [8.0] * 3,
            (EPOLL, "coalesce", 32): [8.0] * 3,
        }
        name = "responses_per_write"
        at = lambda depth: {"metric": name, "where": {"depth": depth}}
        self.assertEqual(self.word(numbers, bound(at_least=8, **at(8)), name), "supported")
        self.assertEqual(self.word(numbers, bound(at_most=7, **at(8)), name), "contradicted")
        self.assertEqual(self.word(numbers, rising(metric=name), name), "contradicted")
        one = outcome(numbers, bound(at_least=8, **at(8)), name)
        self.assertIn("the same of every boot", page.measured(one))

    def test_measured_numbers_without_spread(self):
        """A measured number that does not vary has no interval, so nothing is concluded"""
        numbers = {(EPOLL, "coalesce", 8): [5000.0] * 3}
        one = outcome(numbers, bound(metric="rss_peak_kib", at_most=6000), "rss_peak_kib")
        self.assertEqual((one.word, one.interval), ("undecided", None))
        self.assertIn("do not vary", one.why)


class ManyCells(unittest.TestCase):
    def test_all_must_support(self):
        """One pair that is undecided leaves the whole claim undecided"""
        numbers = rates(i1=100e3, c1=100e3, i8=100e3, c8=500e3)
        one = outcome(numbers, ratio(at_least=1))
        self.assertEqual([finding.word for finding in one.findings], ["undecided", "supported"])
        self.assertEqual(one.word, "undecided")
        self.assertIn("1 of 2 undecided", one.why)

    def test_supported_at_its_own_level(self):
        """Support needs no correction: the least of many is judged as if it stood alone"""
        cells = rates(**SIX) | rates(DPDK, **SIX)
        claim = ratio(at_least=0.965)
        alone = outcome(rates(i8=100e3, c8=100e3), claim)
        self.assertEqual(alone.word, "supported")
        among = outcome(cells, claim)
        self.assertEqual((among.word, len(among.findings)), ("supported", 6))

    def test_contradicted_after_correction(self):
        """What would contradict alone is undecided among many, by Holm's correction"""
        claim = ratio(at_least=1.03)
        alone = rates(i8=100e3, c8=100e3)
        self.assertEqual(outcome(alone, claim).word, "contradicted")
        better = SIX | {"c1": 200e3, "c32": 200e3}
        among = outcome(rates(**better) | rates(DPDK, **better) | rates(DPDK, c8=200e3), claim)
        self.assertEqual(among.word, "undecided")
        self.assertIn("after correction for 6", among.why)
        self.assertIn("d8", among.decisive.place.name)

    def test_pairs_are_equal_in_all_else(self):
        """Cells are paired where all that the claim does not name is the same"""
        numbers = rates(i1=100e3, c1=100e3, i8=100e3, c8=500e3)
        one = outcome(numbers, ratio(at_least=1))
        names = [finding.place.name for finding in one.findings]
        expected = [
            f"{EPOLL}.coalesce.d{depth} against {EPOLL}.immediate.d{depth}" for depth in (1, 8)
        ]
        self.assertEqual(names, expected)

    def test_named_once_holds_of_both(self):
        """A level that only one side names chooses the other side's cells too"""
        claim = ratio(of={"delivery": "coalesce", "depth": 8}, at_least=4)
        one = outcome(rates(i1=100e3, c1=100e3, i8=100e3, c8=500e3), claim)
        self.assertEqual((len(one.findings), one.word), (1, "supported"))


class FalseAlarms(unittest.TestCase):
    """Six pairs with a block effect of 20 % and noise of 2.5 %, five runs, 100 simulated results;
    the generator's seed is fixed."""

    def simulated(self, worth):
        """How often each word falls where coalescing is worth so much, place by place, and at
        least 1 is claimed."""
        rng = np.random.default_rng(7)
        (claim,) = read({"claims": [ratio(at_least=1)]}, Path("run"))
        words = [outcome_of(claim, self.aggregate(rng, worth)).word for _ in range(100)]
        return Counter(words)

    def aggregate(self, rng, worth):
        cells = []
        for place, gain in enumerate(worth):
            blocks = rng.normal(0, 0.2, 5)
            for delivery, log in (("immediate", 0), ("coalesce", math.log(gain))):
                numbers = 1e5 * np.exp(blocks + log + rng.normal(0, 0.025, 5))
                samples = [
                    Sample(f"s{run}", run, "x", True, [], {}, {"run": run, "effective_rps": rate})
                    for run, rate in enumerate(map(float, numbers))
                ]
                levels, known = (place, delivery), {"rps_median": Value(1e5)}
                cells.append(Cell(f"{place}.{delivery}", {}, levels, samples, values=known))
        factors = {"place": list(range(len(worth))), "delivery": ["immediate", "coalesce"]}
        return Aggregate(factors, cells, [])

    def test_true_claim_is_seldom_contradicted(self):
        """Where all six places lie on the bound, at most 5 in 100 results contradict the claim"""
        self.assertLessEqual(self.simulated([1.0] * 6)["contradicted"], 5)

    def test_false_claim_is_seldom_supported(self):
        """Where one place of six makes the claim false, at most 5 in 100 results support it"""
        self.assertLessEqual(self.simulated([1.5] * 5 + [0.999])["supported"], 5)

    def test_effects_are_found(self):
        """What is far on either side of the bound is nearly always found"""
        self.assertGreaterEqual(self.simulated([1.15] * 6)["supported"], 90)
        self.assertGreaterEqual(self.simulated([1.5] * 5 + [0.8])["contradicted"], 90)


class Status(unittest.TestCase):
    def test_worst_decides(self):
        """A claim that is contradicted outweighs one that is undecided; none at all is well"""
        result = claimed(rates(i8=100e3, c8=500e3))
        good, open_, bad = (
            ratio(name=f"at-least-{least}", at_least=least) for least in (4, 5, 6)
        )
        for claims, expected in (
            ([], 0),
            ([good], 0),
            ([good, open_], 2),
            ([open_, bad, good], 1),
        ):
            with self.subTest(expected=expected, n=len(claims)):
                self.assertEqual(exit_status(study(stating(result, claims)).claims), expected)


class NotMeasured(unittest.TestCase):
    def why(self, claim, numbers=None):
        one = outcome(numbers or rates(i8=100e3, c8=500e3), claim)
        self.assertEqual(one.word, "undecided")
        self.assertEqual((page.measured(one), one.n), ("n/a (see why)", "0"))
        return one.why

    def test_reasons(self):
        """What chooses nothing is undecided, with the reason"""
        self.assertIn("`colour` is not", self.why(bound(where={"colour": "red"}, at_least=1)))
        why = self.why(bound(where={"depth": 99}, at_least=1))
        self.assertIn("no cell has depth 99; measured are 8", why)
        self.assertIn("true", self.why(bound(where={"depth": True}, at_least=1)).lower())
        self.assertIn("alone", self.why(rising()))
        same = ratio(of={"depth": 8}, against={"depth": 8}, at_least=1)
        self.assertIn("no two cells differ", self.why(same))
        far = bound(where={"delivery": "coalesce", "depth": 1}, at_least=1)
        self.assertIn("together", self.why(far, rates(i1=1e3, c8=1e3)))

    def test_unknown_number(self):
        """A column that a cell does not know leaves the claim undecided, with its reason"""
        one = outcome(rates(i8=1e3), bound(metric="syscalls_per_request", at_most=2))
        self.assertEqual(one.word, "undecided")
        self.assertIn("not recorded", one.why)

    def test_zero(self):
        """A number of 0 has no logarithm: undecided, not an error"""
        numbers = {(EPOLL, "coalesce", 8): [0.0, 0.0, 1.0]}
        name = "syscalls_per_request"
        one = outcome(numbers, bound(metric=name, at_most=2), name)
        self.assertEqual((one.word, one.interval), ("undecided", None))

    def test_one_run(self):
        """A single boot supports nothing"""
        numbers = {(EPOLL, "coalesce", 8): [5e5], (EPOLL, "immediate", 8): [1e5]}
        self.assertIn("no interval", outcome(numbers, ratio(at_least=2)).why)


class Percentiles(unittest.TestCase):
    def test_of_merged_histograms(self):
        """A percentile is told of the merged histograms, with an interval of the boots' own"""
        numbers = rates(i8=100e3, c8=500e3)
        result = claimed(numbers, [ratio(metric="service_p99_us", at_most=1)])
        (one,) = study(result).claims
        cells = {cell.variant: cell for cell in study(result).found.cells}
        new, base = (cells[f"{EPOLL}.{side}.d8"] for side in ("coalesce", "immediate"))
        merged = new.known("service_p99_us") / base.known("service_p99_us")
        self.assertEqual(one.word, "supported")
        self.assertAlmostEqual(one.decisive.number, merged)
        self.assertIn("merged histograms", "\n".join(page.blocks(study(result))[0].lines))

    def test_merged_must_agree(self):
        """Where the merged histograms contradict the boots' interval, nothing is concluded"""
        result = claimed(rates(i8=100e3), [bound(metric="service_p99_us", at_least=1)])
        merged = study(result).found.cells[0].known("service_p99_us")
        slow = result.samples[0].service
        # One boot alone is a hundred times slower and holds nearly all requests.
        heavy = replace(slow, values_ns=slow.values_ns * 100, counts=slow.counts * 1000)
        samples = [replace(result.samples[0], service=heavy), *result.samples[1:]]
        claim = bound(metric="service_p99_us", at_most=merged * 90)
        (one,) = study(replace(stating(result, [claim]), samples=samples)).claims
        self.assertEqual(one.word, "undecided")


class Page(unittest.TestCase):
    def test_table(self):
        """The page has a row for each claim, in the experiment's order"""
        claims = [ratio(at_least=4), bound(at_least=9e3, says="It is\n fast.")]
        (block,) = page.blocks(study(claimed(rates(i8=100e3, c8=500e3), claims)))
        self.assertEqual([row[0] for row in block.table.rows], ["worth", "level"])
        row = block.table.rows[0]
        self.assertEqual(row[1:4], ["supported", "5.00 x (4.87 to 5.13)", "4"])
        level = block.table.rows[1]
        self.assertEqual((level[6], row[6]), ("It is fast.", "the same"))
        self.assertRegex(level[2], r"^[\d,]+ requests/s \([\d,]+ to [\d,]+\)$")
        self.assertIn("requests/s (rps) of every cell", level[4])

    def test_client_at_its_limit(self):
        """It is said where a claim rests on a server that its client could not keep busy"""
        result = claimed(rates(i8=100e3, c8=500e3), [ratio(at_least=4)])
        for sample in result.samples:
            sample.raw["client"]["saturated"] = sample.cell["delivery"] == "coalesce"
        (block,) = page.blocks(study(result))
        expected = f"worth: in 4 of 4 boots of {EPOLL}.coalesce.d8 the client was at its limit"
        self.assertTrue(block.lines[-1].startswith(expected), block.lines[-1])

    def test_nothing_claimed(self):
        """Without claims there is no such part"""
        self.assertEqual(page.blocks(study(claimed(rates(i8=100e3)))), [])


if __name__ == "__main__":
    unittest.main()
