"""Statistics against hand-computed cases and against scipy's own tests."""

import math
import random
import unittest

from scipy import stats

from analysis.statistics.drift import drift
from analysis.statistics.effect import coefficient_of_variation, ratio_of_means


class Spread(unittest.TestCase):
    def test_by_hand(self):
        """the coefficient of variation of 1, 2, 3 is a half"""
        self.assertAlmostEqual(coefficient_of_variation([1, 2, 3]), 0.5)

    def test_of_one(self):
        """one value has no spread"""
        self.assertIsNone(coefficient_of_variation([5.0]))


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
        """one sample, or samples that do not vary, give a ratio without interval and say why"""
        for new, base, word in (([2], [1, 1.1], "one sample"), ([2, 2], [1, 1], "vary")):
            found = ratio_of_means(new, base)
            self.assertIsNone(found.low)
            self.assertIn(word, found.reason)
            self.assertFalse(found.excludes_one)
            self.assertGreater(found.ratio, 1.8)

    def test_excludes_one(self):
        """an interval on one side of 1 is told from one that holds it"""
        self.assertTrue(ratio_of_means([2.0, 2.1, 2.05], [1, 1.02, 1.01]).excludes_one)
        self.assertTrue(ratio_of_means([1, 1.02, 1.01], [2.0, 2.1, 2.05]).excludes_one)
        self.assertFalse(ratio_of_means([1, 1.2, 1.1], [1.05, 1.15, 1.1]).excludes_one)


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
