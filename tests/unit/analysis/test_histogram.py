"""Histograms: percentiles by rank, merging without loss, refusal of what is not one."""

import random
import unittest
from collections import Counter

import numpy as np

from analysis.inputs.histogram import merge, parse
from analysis.statistics.spectrum import BEYOND_MIN


def histogram_of(values):
    """A histogram of whole numbers."""
    return parse([[value, count] for value, count in sorted(Counter(values).items())], 3)


class Percentiles(unittest.TestCase):
    def test_against_numpy(self):
        """percentiles are those of the raw values by rank (numpy's inverted_cdf)"""
        rng = random.Random(1)
        values = [int(rng.lognormvariate(8, 1)) for _ in range(5003)]
        found = histogram_of(values)
        for quantile in (0.001, 0.07, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0):
            expected = np.quantile(values, quantile, method="inverted_cdf")
            self.assertEqual(found.percentile_ns(quantile), expected, quantile)

    def test_exact_ranks(self):
        """a quantile that falls on a rank exactly is not pushed to the next by rounding"""
        found = histogram_of(range(1, 101))
        for percent in range(1, 101):
            self.assertEqual(found.percentile_ns(percent / 100), percent)

    def test_smallest(self):
        """one value is every percentile of itself, and an empty histogram has none"""
        self.assertEqual({histogram_of([7]).percentile_ns(q) for q in (0.0, 0.5, 1.0)}, {7.0})
        with self.assertRaises(ValueError):
            parse([], 3).percentile_ns(0.5)

    def test_curve(self):
        """a curve ascends and ends where fewer than ten values lie beyond"""
        quantiles, values = histogram_of(range(1000)).curve(BEYOND_MIN)
        self.assertEqual((quantiles[-1], values[-1]), (0.99, 989))
        self.assertTrue((np.diff(quantiles) > 0).all())
        self.assertEqual(len(histogram_of(range(5)).curve(BEYOND_MIN)[0]), 0)


class Merging(unittest.TestCase):
    def test_same_as_together(self):
        """merged parts are the histogram of all values together, in any order"""
        rng = random.Random(2)
        parts = [[int(rng.expovariate(1 / 900)) for _ in range(n)] for n in (1, 50, 4000)]
        together = histogram_of([value for part in parts for value in part])
        for order in (parts, parts[::-1]):
            found = merge(histogram_of(part) for part in order)
            self.assertEqual(found.values_ns.tolist(), together.values_ns.tolist())
            self.assertEqual(found.counts.tolist(), together.counts.tolist())

    def test_not_an_average(self):
        """a merged p99 is that of the values, not the mean of the parts' p99"""
        fast, slow = histogram_of([10] * 9900), histogram_of([1000] * 100)
        self.assertEqual(merge([fast, slow]).percentile_ns(0.99), 10)
        self.assertEqual(merge([fast, slow]).percentile_ns(0.991), 1000)

    def test_large_counts(self):
        """counts beyond 32 bits add up"""
        part = parse([[1, 3_000_000_000]], 3)
        self.assertEqual(merge([part, part]).n, 6_000_000_000)

    def test_precision(self):
        """histograms of different precision, or none at all, do not merge"""
        for parts in ([parse([[1, 1]], 3), parse([[1, 1]], 2)], []):
            with self.assertRaises(ValueError):
                merge(parts)


class Parsing(unittest.TestCase):
    def test_refused(self):
        """what is not ascending pairs of whole numbers is refused"""
        for pairs in (
            None,
            3,
            {},
            [1],
            [[1]],
            [[1, 2, 3]],
            [[1.5, 1]],
            [["1", 1]],
            [[True, 1]],
            [[-1, 1]],
            [[1, -1]],
            [[2**63, 1]],
            [[2, 1], [1, 1]],
            [[1, 1], [1, 1]],
        ):
            with self.subTest(pairs=pairs), self.assertRaises(ValueError):
                parse(pairs, 3)
        for digits in (None, "3", 3.0, True):
            with self.subTest(digits=digits), self.assertRaises(ValueError):
                parse([[1, 1]], digits)
