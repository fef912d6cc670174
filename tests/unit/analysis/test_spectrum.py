"""Spectra: percentiles of merged counts, and bounds that come from boots."""

import unittest

import numpy as np

from analysis.inputs.histogram import Histogram, merge
from analysis.statistics.spectrum import Counts, holds, spectrum, told

QUANTILES = (0.5, 0.9, 0.99, 0.999)


def boot_of(rng, n, shift=1.0):
    """A boot of `n` log-normal latencies around 100,000 ns, times its own luck."""
    values, counts = np.unique(
        (rng.lognormal(np.log(1e5 * shift), 0.3, n) // 100 * 100).astype(int), return_counts=True
    )
    return Counts(values, counts)


class Percentiles(unittest.TestCase):
    def test_merged(self):
        """percentiles are those of the merged histogram, to the bucket, and no average"""
        rng = np.random.default_rng(1)
        boots = [boot_of(rng, n, shift) for n, shift in ((500, 1), (20000, 3), (4000, 0.5))]
        merged = merge([Histogram(3, boot.values_ns, boot.counts) for boot in boots])
        found = spectrum(boots, QUANTILES)
        self.assertEqual(list(found.values_ns), [merged.percentile_ns(q) for q in QUANTILES])
        self.assertEqual((found.n, found.boots), (24500, 3))

    def test_beyond(self):
        """a percentile beyond which fewer than ten values lie is not known"""
        found = spectrum([boot_of(np.random.default_rng(2), 5000)], (0.99, 0.999))
        self.assertTrue(np.isfinite(found.values_ns[0]))
        self.assertTrue(np.isnan(found.values_ns[1]))

    def test_ten_beyond(self):
        """ten values beyond are enough, though binary numbers make them a little less; nine not"""
        for n, quantile in ((100, 0.9), (1000, 0.99), (10_000, 0.999), (100_000, 0.9999)):
            boot = Counts(np.arange(n), np.ones(n, dtype=int))
            found = spectrum([boot], (quantile,))
            self.assertEqual(found.values_ns[0], n - 11)
            self.assertTrue(told(n, quantile))
            self.assertFalse(told(n - 1, quantile))
        self.assertEqual([told(n, 0.5) for n in (0, 19, 20)], [False, False, True])

    def test_maximum(self):
        """the greatest value is told with the boots' own ones, without bounds"""
        boots = [Counts(np.array([1, top]), np.array([100, 1])) for top in (9, 5, 7)]
        found = spectrum(boots, (0.5,))
        self.assertEqual((found.max_ns, found.max_range_ns), (9, (5, 9)))

    def test_empty(self):
        """no boots, and a boot that recorded nothing, are refused"""
        for boots in ([], [Counts(np.array([5]), np.array([0]))]):
            with self.assertRaises(ValueError):
                spectrum(boots, QUANTILES)


class Bounds(unittest.TestCase):
    def test_three_boots(self):
        """bounds of three boots are their range, and it is said how little that holds"""
        rng = np.random.default_rng(3)
        boots = [boot_of(rng, 4000, shift) for shift in (0.9, 1, 1.2)]
        own = [float(spectrum([boot], (0.9,)).values_ns[0]) for boot in boots]
        found = spectrum(boots, (0.9,))
        self.assertEqual((found.low_ns[0], found.high_ns[0]), (min(own), max(own)))
        self.assertEqual([holds(boots) for boots in (2, 3, 5)], [0.5, 0.75, 0.9375])
        self.assertEqual([holds(boots) for boots in (6, 100)], [0.95, 0.95])

    def test_one_boot(self):
        """one boot has percentiles, but no bounds: its requests share its luck"""
        found = spectrum([boot_of(np.random.default_rng(4), 4000)], QUANTILES)
        self.assertTrue(np.isnan(found.low_ns).all() and np.isnan(found.high_ns).all())

    def test_same_bytes(self):
        """the same boots give the same bounds, in any order of calls"""
        boots = [boot_of(np.random.default_rng(seed), 3000, 1 + seed / 20) for seed in range(5)]
        first, _, again = (spectrum(boots, QUANTILES) for _ in range(3))
        self.assertEqual(list(first.low_ns), list(again.low_ns))
        self.assertEqual(list(first.high_ns), list(again.high_ns))

    def test_coverage(self):
        """with 20 boots, bounds hold the true median in 88 to 98 of 100 cases; were requests drawn
        instead of boots, a handful would"""
        rng, held = np.random.default_rng(5), 0
        for _ in range(200):
            boots = [boot_of(rng, 400, rng.lognormal(0, 0.1)) for _ in range(20)]
            found = spectrum(boots, (0.5,))
            held += found.low_ns[0] <= 1e5 <= found.high_ns[0] + 100  # values are floors of 100
        self.assertTrue(0.88 <= held / 200 <= 0.98, held)

    def test_against_merging(self):
        """the bounds are those of merging each resample's histograms in turn"""
        boots = [boot_of(np.random.default_rng(seed), 300, 1 + seed / 50) for seed in range(4)]
        found = spectrum(boots, (0.9,))
        rng = np.random.default_rng(6)
        slow = []
        for _ in range(2000):
            drawn = [boots[place] for place in rng.integers(0, 4, 4)]
            parts = [Histogram(3, boot.values_ns, boot.counts) for boot in drawn]
            slow.append(merge(parts).percentile_ns(0.9))
        low, high = np.quantile(slow, [0.025, 0.975])
        self.assertAlmostEqual(found.low_ns[0] / low, 1, places=2)
        self.assertAlmostEqual(found.high_ns[0] / high, 1, places=2)
