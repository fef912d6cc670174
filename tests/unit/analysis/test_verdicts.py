"""The four words, at their edges, and what the seed's own figures come to."""

import math
import unittest

import numpy as np

from analysis.judgement.study import study
from analysis.judgement.verdicts import judge, within
from analysis.statistics import planted, student
from analysis.statistics.effect import Ratio, compare, ratio_of_blocks, ratio_of_means
from gates_fixture import around, result_of

# The seed's regression report: medians of five runs a side, base and new: requests/s, CPU in µs.
SEED_TABLE = {
    "static-small": (75_641, 74_787, 52.87, 53.47),
    "respond": (125_460, 127_674, 31.87, 31.32),
    "proxy": (51_601, 51_055, 77.50, 78.33),
    "cache-hit": (93_195, 94_490, 42.90, 42.32),
}
# What that report prints beside them: ratio of requests/s, ratio of CPU.
SEED_RATIOS = {
    "static-small": (0.989, 1.011),
    "respond": (1.018, 0.983),
    "proxy": (0.989, 1.011),
    "cache-hit": (1.014, 0.986),
}
# The seed's July figures, requests/s of two runs each, measured immediate, coalesced, coalesced,
# immediate.
IMMEDIATE, COALESCED = (764_854, 774_894), (1_072_662, 1_075_516)


def ratio(low, high, p):
    """A ratio with these ends."""
    return Ratio(math.sqrt(low * high), low, high, 5, 5, p=p)


def words(ratios):
    """The words of ratios of which more is better."""
    return [verdict.word for verdict in judge(ratios, True)]


def gated(**changed):
    """What the point gate says of the seed's table, with other rows where `changed` has them: five
    runs a side of those medians."""
    rps, cpu = {}, {}
    for name, row in (SEED_TABLE | changed).items():
        base, new, *times = (around(median, 0, 0.03, -0.02, 0.01, -0.04) for median in row)
        rps[name], cpu[name] = (base, new), times
    return study(result_of(rps, cpu, gate={"kind": "point"})).gate


class Words(unittest.TestCase):
    def test_four(self):
        """each of the four words has its interval"""
        cases = {
            "better": ratio(1.01, 1.10, 0.004),
            "worse": ratio(0.80, 0.95, 0.004),
            "equivalent": ratio(0.99, 1.01, 0.9),
            "inconclusive": ratio(0.95, 1.06, 0.7),
        }
        self.assertEqual(words(list(cases.values())), list(cases))

    def test_direction(self):
        """where less is better, a ratio below 1 is better"""
        low, high = ratio(0.80, 0.95, 0.004), ratio(1.05, 1.2, 0.004)
        judged = judge([low, high], False)
        self.assertEqual([verdict.word for verdict in judged], ["better", "worse"])
        judged = judge([low, low, high, high], [True, False, True, False])
        found = [(verdict.word, verdict.ratio, verdict.judged) for verdict in judged]
        self.assertEqual(
            found,
            [("worse", low, 4), ("better", low, 4), ("better", high, 4), ("worse", high, 4)],
        )
        with self.assertRaises(ValueError):
            judge([low, high], [True])

    def test_small_but_sure(self):
        """a sure difference inside the margin is equivalent, not better"""
        self.assertEqual(words([ratio(1.005, 1.015, 1e-9)]), ["equivalent"])
        self.assertEqual(words([ratio(1.005, 1.0201, 1e-9)]), ["better"])

    def test_margin_is_symmetric(self):
        """the margin's ends are inside it, and it reaches as far down as up on a log scale"""
        self.assertTrue(within(1 / 1.02, 1.02, 0.02))
        self.assertFalse(within(0.98, 1.02, 0.02))
        self.assertFalse(within(1.0, 1.0201, 0.02))

    def test_correction(self):
        """what is better alone may be inconclusive among others, and says so"""
        one = ratio(1.01, 1.10, 0.02)
        self.assertEqual(words([one]), ["better"])
        first, *_ = judge([one, ratio(0.9, 1.1, 0.5), ratio(0.9, 1.1, 0.6)], True)
        self.assertEqual((first.word, first.judged), ("inconclusive", 3))
        self.assertAlmostEqual(first.p_adjusted, 0.06)
        self.assertIn("its own interval excludes 1, but p = 0.06", first.why)

    def test_level_is_inside(self):
        """an adjusted p of exactly 0.05 still counts"""
        self.assertEqual(words([ratio(1.01, 1.10, 0.05)]), ["better"])

    def test_no_interval(self):
        """what has no interval is inconclusive, says why, and is not counted as judged"""
        found = [
            ratio_of_blocks([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
            ratio_of_blocks([2.0, 2.0, 2.0], [1.0, 1.0, 1.0]),
            ratio_of_means([2.0], [1.0, 1.1]),
            ratio(1.01, 1.10, 0.04),
        ]
        judged = judge(found, True)
        self.assertEqual([one.word for one in judged], ["inconclusive"] * 3 + ["better"])
        for one, reason in zip(judged, ("a value is 0", "do not vary", "one sample only")):
            self.assertIn(reason, one.why)
            self.assertIsNone(one.p_adjusted)
            self.assertEqual(one.judged, 1)
        self.assertEqual(judge([], True), [])

    def test_tiny_p(self):
        """a p value that rests on far tails is told by a bound"""
        (found,) = judge([ratio(1.5, 1.6, 0.0)], True)
        self.assertIn("p < 0.0001 after", found.why)


class Seed(unittest.TestCase):
    def test_table_passes(self):
        """by the point gate the seed's table of medians gives its ratios and its four passes"""
        outcome = gated()
        found = {row.pair.place: row for row in outcome.rows}
        self.assertEqual(list(found), list(SEED_TABLE))
        for name, row in found.items():
            ratios = tuple(round(half.ratio.number, 3) for half in row.halves)
            self.assertEqual((ratios, row.text), (SEED_RATIOS[name], "pass"))
        self.assertEqual((outcome.word, outcome.exit_status), ("pass", 0))

    def test_table_can_fail(self):
        """a little beyond 0.98 of its requests/s, or 1.02 of its CPU, the same gate fails there"""
        base, new, cpu_base, cpu_new = SEED_TABLE["proxy"]
        for row, text in (
            ((base, 0.9799 * base, cpu_base, cpu_new), "fail (requests/s)"),
            ((base, new, cpu_base, 1.0201 * cpu_base), "fail (CPU)"),
        ):
            outcome = gated(proxy=row)
            found = [row.text for row in outcome.rows]
            self.assertEqual(found, ["pass", "pass", text, "pass"])
            self.assertEqual((outcome.word, outcome.exit_status), ("fail", 1))

    def test_table_has_no_interval(self):
        """medians alone say nothing of their noise: each cell of that table is inconclusive"""
        found = [compare({0: new}, {0: base}) for base, new, *_ in SEED_TABLE.values()]
        self.assertEqual(words(found), ["inconclusive"] * 4)

    def test_july(self):
        """the seed's July figures are better, with the interval of two boots against two"""
        sides = (dict(enumerate(COALESCED)), dict(enumerate(IMMEDIATE)))
        (verdict,) = judge([compare(*sides)], True)
        self.assertEqual((verdict.word, verdict.judged), ("better", 1))
        found = verdict.ratio
        self.assertAlmostEqual(found.ratio, 1.395, places=3)
        self.assertEqual((found.blocks, found.n_new, found.n_base), (0, 2, 2))
        # By hand: standard error 0.006655, 1.083 degrees of freedom, t = 10.62.
        self.assertAlmostEqual(found.low, 1.300, places=3)
        self.assertAlmostEqual(found.high, 1.497, places=3)
        self.assertIn("3 blocks are needed", found.boot.reason)

    def test_two_boots(self):
        """an interval of two boots a side is right as often as it says, and seldom decides"""
        rng, shape = np.random.default_rng(1), (20_000, 2)

        def excludes(boots):
            low, high = student.of_sides(boots.new, boots.base).interval()
            return 100 * float(np.mean((low > 0) | (high < 0)))

        for cv in (0.01, 0.025, 0.05):
            self.assertLess(excludes(planted.quiet(rng, shape, cv, 0)), 5)
        self.assertLess(excludes(planted.slow_phases(rng, shape, 0.01, 0, "interleaved")), 5)
        five_times, often = (planted.quiet(rng, shape, 0.025, by) for by in (0.125, 1.0))
        self.assertLess(excludes(five_times), 50)
        self.assertGreater(excludes(often), 80)

    def test_july_in_blocks(self):
        """taken as two blocks, whichever runs stood beside each other, they are better as well"""
        for coalesced in (COALESCED, COALESCED[::-1]):
            self.assertEqual(words([ratio_of_blocks(coalesced, IMMEDIATE)]), ["better"])
