"""Statistics against hand-computed cases and against scipy's own tests."""

import math
import random
import unittest
import warnings

import numpy as np
from scipy import stats

from analysis.statistics import bootstrap, planted, power, ranks
from analysis.statistics.drift import drift
from analysis.statistics.effect import (
    coefficient_of_variation,
    compare,
    ratio_of_blocks,
    ratio_of_means,
)
from analysis.statistics.holm import holm


def boots(seed, n, cv, center=1.0):
    """Values of n boots by block."""
    rng = random.Random(seed)
    return {run: rng.lognormvariate(math.log(center), cv) for run in range(n)}


class Spread(unittest.TestCase):
    def test_by_hand(self):
        """the coefficient of variation of 1, 2, 3 is a half"""
        self.assertAlmostEqual(coefficient_of_variation([1, 2, 3]), 0.5)

    def test_of_one(self):
        """one value has no spread, and zeros have none that is a share of them"""
        self.assertIsNone(coefficient_of_variation([5.0]))
        self.assertIsNone(coefficient_of_variation([0.0, 0.0]))

    def test_any_size(self):
        """values near the ends of the range of numbers have the spread of others"""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for size in (1e308, 1e-300):
                found = coefficient_of_variation([size, 1.2 * size, 1.4 * size])
                self.assertAlmostEqual(found, 0.2 / 1.2)


class Ratios(unittest.TestCase):
    def test_point(self):
        """the ratio is of geometric means"""
        self.assertAlmostEqual(ratio_of_means([2, 8], [1, 4]).ratio, 2)
        self.assertAlmostEqual(ratio_of_means([1, 100], [5, 5.0001]).ratio, 2, places=3)

    def test_interval_by_hand(self):
        """three against three with equal spread gives the interval computed by hand"""
        base = [math.exp(x) for x in (0.0, 0.1, 0.2)]
        new = [math.exp(x) for x in (0.1, 0.2, 0.3)]
        found = ratio_of_means(new, base)
        half = 2.7764451 * math.sqrt(2 * 0.01 / 3)  # t(0.975, 4 degrees of freedom)
        self.assertAlmostEqual(found.low, math.exp(0.1 - half), places=6)
        self.assertAlmostEqual(found.high, math.exp(0.1 + half), places=6)
        self.assertEqual((found.n_new, found.n_base), (3, 3))

    def test_interval_by_scipy(self):
        """at each end of an interval scipy's Welch test has p = 0.05, for unequal n too"""
        rng = random.Random(7)
        for n_new, n_base in ((2, 2), (3, 3), (3, 7), (10, 4)):
            new = [rng.lognormvariate(1, 0.2) for _ in range(n_new)]
            base = [rng.lognormvariate(0, 0.05) for _ in range(n_base)]
            found = ratio_of_means(new, base)
            for end in (found.low, found.high):
                shifted = [math.log(value / end) for value in new]
                p = stats.ttest_ind(shifted, [math.log(v) for v in base], equal_var=False).pvalue
                self.assertAlmostEqual(p, 0.05, places=9)

    def test_coverage(self):
        """of 2,000 intervals over known data about 95 % hold the true ratio"""
        rng = random.Random(3)
        held = 0
        for _ in range(2000):
            new = [rng.lognormvariate(math.log(5), 0.03) for _ in range(3)]
            base = [rng.lognormvariate(0, 0.03) for _ in range(3)]
            found = ratio_of_means(new, base)
            held += found.low <= 5 <= found.high
        self.assertTrue(0.935 <= held / 2000 <= 0.985, held)

    def test_unknown(self):
        """one sample, or samples that do not vary, give a ratio without any interval and say why"""
        same = [2.0, 2.0, 2.0]
        for found, word in (
            (ratio_of_means([2], [1, 1.1]), "one sample"),
            (ratio_of_means([2, 2], [1, 1]), "vary"),
            (ratio_of_blocks(same, [1.0, 1.0, 1.0]), "vary"),
            (ratio_of_blocks([2], [1]), "one block"),
        ):
            self.assertIsNone(found.low)
            self.assertIn(word, found.reason)
            self.assertEqual((found.boot.low, found.boot.reason), (None, found.reason))
            self.assertFalse(found.excludes_one)
            self.assertGreater(found.ratio, 1.8)

    def test_excludes_one(self):
        """an interval on one side of 1 is told from one that holds it"""
        self.assertTrue(ratio_of_means([2.0, 2.1, 2.05], [1, 1.02, 1.01]).excludes_one)
        self.assertTrue(ratio_of_means([1, 1.02, 1.01], [2.0, 2.1, 2.05]).excludes_one)
        self.assertFalse(ratio_of_means([1, 1.2, 1.1], [1.05, 1.15, 1.1]).excludes_one)


class Blocks(unittest.TestCase):
    def test_interval_by_scipy(self):
        """at each end of a paired interval scipy's paired test has p = 0.05"""
        for n in (3, 4, 10):
            new, base = (list(boots(seed, n, 0.1).values()) for seed in (1, 2))
            found = ratio_of_blocks(new, base)
            for end in (found.low, found.high):
                shifted = [math.log(value / end) for value in new]
                p = stats.ttest_rel(shifted, [math.log(value) for value in base]).pvalue
                self.assertAlmostEqual(p, 0.05, places=9)

    def test_slow_block(self):
        """a block in which both sides were 1.5 times slower leaves the ratio as it was"""
        base, new = boots(1, 5, 0.01), boots(2, 5, 0.01, 1.05)
        before = compare(new, base)
        base[3], new[3] = base[3] / 1.5, new[3] / 1.5
        after = compare(new, base)
        self.assertAlmostEqual(after.ratio, before.ratio, places=12)
        self.assertAlmostEqual(after.low, before.low, places=12)
        self.assertLess(ratio_of_means(list(new.values()), list(base.values())).low, 0.9)

    def test_shared(self):
        """three shared blocks are paired, what only one side has is left out; two are not paired"""
        base, new = boots(1, 6, 0.01), boots(2, 6, 0.01)
        found = compare({run: new[run] for run in (0, 1, 2)}, base)
        self.assertEqual((found.blocks, found.n_new, found.n_base), (3, 3, 3))
        found = compare({run: new[run] for run in (0, 1)}, base)
        self.assertEqual((found.blocks, found.n_new, found.n_base), (0, 2, 6))
        found = compare({f"s{run}": value for run, value in new.items()}, base)
        self.assertEqual((found.blocks, found.n_new, found.n_base), (0, 6, 6))

    def test_uneven(self):
        """sides of different length are no pairs"""
        with self.assertRaises(ValueError):
            ratio_of_blocks([1, 2], [1, 2, 3])

    def test_no_ratio(self):
        """a value that is 0, negative, infinite or no number gives a reason instead of a ratio"""
        good = [1.0, 1.1, 1.2]
        for bad in (0, 0.0, -1.0, math.inf, math.nan):
            for new, base, side in (([1, bad, 2], good, "new"), (good, [1, 2, bad], "base")):
                for found in (ratio_of_blocks(new, base), ratio_of_means(new, base)):
                    self.assertEqual((found.ratio, found.low, found.p), (None, None, None))
                    self.assertIn(f"{side}: a value is {bad:g}", found.reason)
                    self.assertIn("no ratio", found.boot.reason)
        self.assertEqual(compare({}, {1: 1.0}).reason, "new: no value")

    def test_rounding(self):
        """pairs whose ratio is one number but for rounding have no interval of no width"""
        base = [1 / 3, 1e9 / 7, 12345.678, 0.1]
        for found in (
            ratio_of_blocks([3.3 * value for value in base], base),
            ratio_of_means([0.1 + 0.2, 0.3, 0.3], [0.7, 0.7, 0.7]),
        ):
            self.assertEqual((found.low, found.reason), (None, "the samples do not vary"))

    def test_beyond_measure(self):
        """values over the whole range of numbers do not overflow"""
        found = compare({0: 1e-300, 1: 1e300}, {2: 1e300, 3: 1e-300})
        self.assertEqual((found.low, found.reason), (None, "the samples vary beyond measure"))

    def test_apart(self):
        """sides that lie beyond measure apart have no ratio, either way round and however many"""
        some, wide = [1.0, 1.1, 1.2], [1e-150, 1.0, 1e150]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for big, small in ((1e308, 1e-3), (1e308, 1e-308), (1.0, 1e-308)):
                for n in (1, 2, 3):
                    new, base = [big * value / 1.2 for value in some[:n]], [small] * n
                    for sides in ((new, base), (base, new), ([big] * n, base)):
                        for found in (ratio_of_blocks(*sides), ratio_of_means(*sides)):
                            self.assertEqual((found.ratio, found.low), (None, None))
                            self.assertEqual(found.reason, "the numbers differ beyond measure")
            found = ratio_of_blocks(wide * 100, wide[::-1] * 100)
            self.assertAlmostEqual(found.ratio, 1)
            self.assertLess(found.high, math.inf)

    def test_boot_beyond_measure(self):
        """a bootstrap interval whose ends no number holds has a reason instead"""
        logs = np.array([-700.0, 0.0, 700.0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = bootstrap.of_blocks(logs, np.zeros(3))
        self.assertEqual((found.low, found.reason), (None, "the samples vary beyond measure"))

    def test_many(self):
        """10,000 blocks have an interval of t and one of bootstrap, nearly the same"""
        found = compare(boots(1, 10_000, 0.02, 1.01), boots(2, 10_000, 0.02))
        self.assertEqual(found.blocks, 10_000)
        self.assertAlmostEqual(found.boot.low, found.low, places=4)
        self.assertAlmostEqual(found.boot.high, found.high, places=4)


class Bootstrap(unittest.TestCase):
    def test_by_hand(self):
        """three blocks: the ends are those of the 27 possible resamples"""
        logs = np.array([0.0, 0.1, 0.3])
        grid = np.array([[a + b + c for a in logs for b in logs] for c in logs]).ravel() / 3
        found = ratio_of_blocks(list(np.exp(logs)), [1, 1, 1]).boot
        # 1 of 27 lies below the 2.5 % point and at it, and as many above.
        self.assertAlmostEqual(found.low, math.exp(min(grid)), places=9)
        self.assertAlmostEqual(found.high, math.exp(max(grid)), places=9)

    def test_scipy(self):
        """both kinds agree with scipy's percentile bootstrap to its own noise"""
        new, base = (np.log(list(boots(seed, 20, 0.1).values())) for seed in (1, 2))

        def mean(values, axis):
            return np.mean(values, axis=axis)

        def difference(one, other, axis):
            return np.mean(one, axis=axis) - np.mean(other, axis=axis)

        for found, data, statistic in (
            (ratio_of_blocks(np.exp(new), np.exp(base)), (new - base,), mean),
            (ratio_of_means(np.exp(new), np.exp(base)), (new, base), difference),
        ):
            theirs = stats.bootstrap(
                data, statistic, n_resamples=9999, method="percentile", random_state=3
            ).confidence_interval
            width = theirs.high - theirs.low
            self.assertLess(abs(math.log(found.boot.low) - theirs.low), 0.05 * width)
            self.assertLess(abs(math.log(found.boot.high) - theirs.high), 0.05 * width)

    def test_same_bytes(self):
        """the same values give the same interval"""
        once, again = (compare(boots(1, 9, 0.02), boots(2, 9, 0.02)).boot for _ in range(2))
        self.assertEqual(once, again)

    def test_few(self):
        """under three blocks there is a reason instead"""
        for found in (ratio_of_blocks([1, 2], [1, 1]), ratio_of_means([1, 2, 3], [1, 2])):
            self.assertIsNone(found.boot.low)
            self.assertIn("3 blocks are needed", found.boot.reason)


class Ranks(unittest.TestCase):
    def test_few(self):
        """below nine repetitions a side there is no test, and it says why"""
        for found in ranks.tests(boots(1, 8, 0.1), boots(2, 8, 0.1)):
            self.assertIsNone(found.p)
            self.assertEqual(found.reason, "9 repetitions a side are needed, 8 are there")

    def test_which(self):
        """shared blocks are judged by signed ranks first; other sides by Mann-Whitney alone"""
        new, base = boots(1, 9, 0.1), boots(2, 9, 0.1)
        names = [found.name for found in ranks.tests(new, base)]
        self.assertEqual(names, ["Wilcoxon signed rank", "Mann-Whitney U"])
        apart = {f"other {run}": value for run, value in base.items()}
        self.assertEqual([one.name for one in ranks.tests(new, apart)], ["Mann-Whitney U"])

    def test_by_hand(self):
        """nine against nine that do not overlap: 2 of the 48,620 orders, and 2 of the 512 signs"""
        low, high = [1 + k / 100 for k in range(9)], [2 + k**3 / 1000 for k in range(9)]
        found = ranks.mann_whitney(high, low)
        self.assertEqual((found.statistic, found.exact), (81, True))
        self.assertAlmostEqual(found.p, 2 / math.comb(18, 9), places=15)
        found = ranks.signed_rank(high, low)
        self.assertEqual((found.statistic, found.exact), (0, True))
        self.assertAlmostEqual(found.p, 2 / 2**9, places=15)

    def test_pairs_know_more(self):
        """with slow phases that both sides share, signed ranks see what all ranks do not"""
        base = {run: 100.0 * (1 + run) for run in range(12)}
        new = {run: value * (1.03 + run / 1000) for run, value in base.items()}
        signed, both = ranks.tests(new, base)
        self.assertLess(signed.p, 0.001)
        self.assertGreater(both.p, 0.5)

    def test_ties(self):
        """ties take the normal approximation; values all alike, or not above 0, have no test"""
        found = ranks.mann_whitney([1, 2, 3] * 3, [2, 3, 4] * 3)
        self.assertFalse(found.exact)
        self.assertTrue(0 < found.p < 1)
        self.assertIn("same", ranks.mann_whitney([5] * 9, [5] * 9).reason)
        self.assertIn("not above 0", ranks.signed_rank([0] * 9, [5] * 9).reason)
        some = ranks.signed_rank([2.0] * 5 + [3.0] * 4, [1.0] * 9)
        self.assertFalse(some.exact)
        self.assertLess(some.p, 0.02)


    def test_pairs_that_differ(self):
        """nine pairs must differ, as those that do not tell nothing"""
        high = [1 + k / 100 for k in range(1, 10)]
        found = ranks.signed_rank([1.0] + high[1:], [1.0] * 9)
        self.assertEqual(found.p, None)
        self.assertEqual(found.reason, "9 pairs that differ are needed, 8 do")
        self.assertEqual(ranks.signed_rank([5] * 9, [5] * 9).p, None)
        self.assertAlmostEqual(ranks.signed_rank([1.0, *high], [1.0] * 10).p, 2 / 2**9)

    def test_paired_as_the_interval(self):
        """sides are paired from three shared blocks on, as the interval is"""
        for shared in range(5):
            new, base = boots(1, 12, 0.1), boots(2, 12, 0.1)
            base = {run if run < shared else f"other {run}": base[run] for run in base}
            paired = ranks.tests(new, base)[0].name == "Wilcoxon signed rank"
            self.assertEqual((paired, compare(new, base).blocks > 0), (shared > 2, shared > 2))


class Power(unittest.TestCase):
    def test_half_width(self):
        """the half width is that of the interval of blocks with this spread"""
        logs = np.array([-0.02, 0.0, 0.02, 0.01, -0.01])
        found = ratio_of_blocks(list(np.exp(logs)), [1] * 5)
        self.assertAlmostEqual(power.half_width(found.spread, 5), found.high - 1, places=12)

    def test_table(self):
        """80 % power for one standard deviation takes ten blocks, as in Cohen's (1988) tables"""
        self.assertEqual(power.runs_needed(0.02, math.exp(0.02)), 10)
        self.assertEqual(power.runs_needed(0.02, math.exp(-0.01)), 34)

    def test_round_trip(self):
        """at the least detectable change the power is what was asked for"""
        for n in (2, 3, 5, 9, 30, 1000):
            for wanted in (0.5, 0.8, 0.95):
                change = power.least_detectable(0.014, n, wanted)
                self.assertAlmostEqual(power.power(0.014, n, change), wanted, places=6)

    def test_no_change(self):
        """of no change the power is the level of the test"""
        self.assertAlmostEqual(power.power(0.014, 5, 0.0), 0.05, places=9)

    def test_monotone(self):
        """more blocks, more change or less spread never lower the power"""
        ns, changes = (2, 3, 5, 9, 15, 50), (0.0, 0.005, 0.01, 0.02, 0.05)
        table = np.array([[power.power(0.02, n, change) for change in changes] for n in ns])
        self.assertTrue((np.diff(table[:, 1:], axis=0) > 0).all(), table)
        self.assertTrue((np.diff(table, axis=1) > 0).all(), table)
        self.assertGreater(power.power(0.01, 5, 0.02), power.power(0.02, 5, 0.02))

    def test_fewest(self):
        """one block fewer than needed does not show the bound; both directions count alike"""
        n = power.runs_needed(0.03, 0.98)
        self.assertLessEqual(power.least_detectable(0.03, n), 1 / 0.98 - 1)
        self.assertGreater(power.least_detectable(0.03, n - 1), 1 / 0.98 - 1)
        self.assertEqual(power.runs_needed(0.03, 1 / 0.98), n)

    def test_medians(self):
        """of 20,000 ratios of medians of unchanged sides 95 of 100 lie within the half width"""
        for cv, runs, room in ((0.05, 9, 0.01), (0.02, 51, 0.005)):
            boots = planted.quiet(np.random.default_rng(1), (20_000, runs), cv, 0.0)
            medians = [np.median(side, axis=-1) for side in (boots.new, boots.base)]
            reach = math.log1p(power.half_width_of_medians(cv, runs))
            held = np.mean(np.abs(medians[0] - medians[1]) <= reach)
            self.assertAlmostEqual(held, 0.95, delta=room)

    def test_medians_needed(self):
        """with as many runs as are needed medians lie beyond their half width 80 times in 100"""
        runs = power.runs_needed_of_medians(0.02, 0.01)
        boots = planted.quiet(np.random.default_rng(2), (10_000, runs), 0.02, 0.01)
        medians = [np.median(side, axis=-1) for side in (boots.new, boots.base)]
        reach = math.log1p(power.half_width_of_medians(0.02, runs))
        self.assertAlmostEqual(np.mean(medians[0] - medians[1] > reach), 0.8, delta=0.02)
        # By hand: 2.802 standard errors of 0.02 * sqrt(2) * 1.2533, for a log ratio of 0.00995.
        self.assertEqual(runs, 100)

    def test_edges(self):
        """no spread takes two blocks, too much of it no number; a bound of 1 is refused"""
        self.assertEqual(power.runs_needed(0.0, 0.98), 2)
        self.assertIsNone(power.runs_needed(1.0, 1.0001))
        for call in (
            lambda: power.runs_needed(0.02, 1),
            lambda: power.runs_needed(0.02, 0),
            lambda: power.half_width(0.02, 1),
            lambda: power.power(0.0, 5, 0.02),
        ):
            with self.assertRaises(ValueError):
                call()


class Holm(unittest.TestCase):
    def test_by_hand(self):
        """three p values step down as by hand, and keep their order"""
        self.assertEqual(holm([0.01, 0.04, 0.03]).tolist(), [0.03, 0.06, 0.06])
        self.assertEqual(holm([0.5, 0.9]).tolist(), [1.0, 1.0])
        self.assertEqual(holm([0.02]).tolist(), [0.02])
        self.assertEqual(holm([]).tolist(), [])

    def test_rows(self):
        """each row of an array is a family of its own"""
        rows = [[0.01, 0.04, 0.03], [0.5, 0.001, 0.02]]
        self.assertEqual(holm(rows).tolist(), [holm(row).tolist() for row in rows])

    def test_refused(self):
        """what is no p value is refused"""
        for bad in (-0.1, 1.1, math.nan):
            with self.assertRaises(ValueError):
                holm([0.5, bad])


class Drift(unittest.TestCase):
    def test_monotone(self):
        """values that only fall have tau -1 and a small p"""
        tau, p = drift(range(10), [1 - 0.01 * k for k in range(10)])
        self.assertAlmostEqual(tau, -1)
        self.assertLess(p, 1e-5)

    def test_unknown(self):
        """few values, or values that are all one, have no drift to judge"""
        self.assertIsNone(drift([0, 1, 2], [1, 2, 3]))
        self.assertIsNone(drift([0, 1, 2, 3], [1, 1, 1, 1]))
