"""The log-linear model against hand-worked cases, scipy, planted effects and grids with holes."""

import itertools
import math
import unittest

import numpy as np
from scipy import stats

from analysis.statistics.model import ERROR, HIGHER, RUN, fit

GRID = {"stack": 2, "delivery": 2, "depth": 3}


def planted(rng, runs, noise, sizes=None, third=0.0):
    """(values, levels, runs) of a grid: stack 3 x, delivery 1, 4 and 16 x at its three depths, runs
    that are slow as a whole, log-normal noise."""
    values, levels, blocks = [], [], []
    for run in range(runs):
        slow = rng.normal(0, 0.2)
        for stack, delivery, depth in itertools.product(*map(range, (sizes or GRID).values())):
            log = 10 + math.log(3) * stack + delivery * depth * math.log(4) + slow
            log += third * stack * delivery * depth + rng.normal(0, noise)
            values.append(math.exp(log))
            levels.append((stack, delivery, depth))
            blocks.append(run)
    return values, levels, blocks


def holds(effect, truth):
    """Whether an interval holds the truth."""
    return effect.low <= truth <= effect.high


class ByHand(unittest.TestCase):
    def test_two_by_two(self):
        """logs 15, 45, 25 and 75 give Jain's 76, 19 and 5 % of the variation (1991, ch. 17)"""
        levels = [(0, 0), (1, 0), (0, 1), (1, 1)]
        found = fit([math.exp(log) for log in (15, 45, 25, 75)], levels, {"a": 2, "b": 2}, [0] * 4)
        shares = [found.term(*names).share for names in (("a",), ("b",), ("a", "b"))]
        for share, squares in zip(shares, (1600, 400, 100)):
            self.assertAlmostEqual(share, squares / 2100)
        self.assertAlmostEqual(found.ratio({"a": 1}, {"a": 0}).ratio, math.exp(40))
        self.assertAlmostEqual(found.interaction(("a", 1, 0), ("b", 1, 0)).ratio, math.exp(20))

    def test_without_repetition(self):
        """a grid that its terms fill leaves no error, so that effects have no interval"""
        levels = [(0, 0), (1, 0), (0, 1), (1, 1)]
        found = fit([1, 2, 3, 5], levels, {"a": 2, "b": 2}, [0] * 4)
        effect = found.ratio({"a": 1}, {"a": 0})
        self.assertIsNone(effect.low)
        self.assertIn("nothing is left", effect.reason)
        self.assertIsNone(found.error)

    def test_interval(self):
        """two runs of two levels: the interval is that of a paired t test"""
        new, base = (math.exp(1.0), math.exp(1.4)), (1.0, math.exp(0.2))
        found = fit([*new, *base], [(1,), (1,), (0,), (0,)], {"a": 2}, [0, 1, 0, 1])
        effect = found.ratio({"a": 1}, {"a": 0})
        half = stats.t.ppf(0.975, 1) * math.sqrt(0.02 / 2)  # differences 1.0 and 1.2
        self.assertAlmostEqual(math.log(effect.ratio), 1.1)
        self.assertAlmostEqual(math.log(effect.high), 1.1 + half)
        self.assertEqual(found.freedom, 1)


class AgainstScipy(unittest.TestCase):
    def test_one_factor(self):
        """of one factor without runs, p is that of scipy's f_oneway, for unequal n too"""
        rng = np.random.default_rng(1)
        groups = [rng.lognormal(mean, 0.5, n) for mean, n in ((0, 4), (0.3, 9), (0.5, 6))]
        levels = [(place,) for place, group in enumerate(groups) for _ in group]
        found = fit(np.concatenate(groups), levels, {"a": 3}, [0] * len(levels))
        expected = stats.f_oneway(*map(np.log, groups)).pvalue
        self.assertAlmostEqual(found.term("a").p, expected, places=12)

    def test_runs(self):
        """of two levels in shared runs, p is that of scipy's paired t test of the logs"""
        rng = np.random.default_rng(2)
        new, base = rng.lognormal(0.3, 0.4, 7), rng.lognormal(0, 0.4, 7)
        levels = [(1,)] * 7 + [(0,)] * 7
        found = fit([*new, *base], levels, {"a": 2}, [*range(7), *range(7)])
        expected = stats.ttest_rel(np.log(new), np.log(base)).pvalue
        self.assertAlmostEqual(found.term("a").p, expected, places=12)


class Planted(unittest.TestCase):
    def test_effects(self):
        """planted effects come back within their intervals, and runs do not widen these"""
        found = fit(*_with_sizes(planted(np.random.default_rng(3), 3, 0.02)))
        stack = found.ratio({"stack": 1}, {"stack": 0})
        self.assertTrue(holds(stack, 3), stack)
        self.assertLess(stack.high / stack.low, 1.04)
        for depth, truth in enumerate((1, 4, 16)):
            at = found.ratio({"delivery": 1, "depth": depth}, {"delivery": 0, "depth": depth})
            self.assertTrue(holds(at, truth), at)
        pair = found.interaction(("delivery", 1, 0), ("depth", 2, 0))
        self.assertTrue(holds(pair, 16), pair)
        self.assertGreater(found.term("stack", "depth").p, 0.01)
        self.assertLess(found.term("delivery", "depth").p, 1e-9)

    def test_shares(self):
        """the shares of all terms add up to the whole, and residuals to nothing"""
        found = fit(*_with_sizes(planted(np.random.default_rng(4), 3, 0.1)))
        self.assertAlmostEqual(sum(term.share for term in found.terms), 1)
        self.assertAlmostEqual(float(found.residuals.sum()), 0)
        self.assertTrue(found.balanced)
        self.assertGreater(found.term(*RUN).share, 0)
        self.assertEqual(found.term(*ERROR).freedom, 36 - 12 - 2)

    def test_three_factors(self):
        """what hangs on three factors at once is told apart from the noise, and named"""
        flat = fit(*_with_sizes(planted(np.random.default_rng(5), 3, 0.02)))
        bent = fit(*_with_sizes(planted(np.random.default_rng(5), 3, 0.02, third=0.5)))
        self.assertGreater(flat.term(*HIGHER).p, 0.01)
        self.assertLess(bent.term(*HIGHER).p, 1e-9)
        self.assertAlmostEqual(bent.error, flat.error)

    def test_coverage(self):
        """of 400 intervals of one effect about 95 % hold what was planted, in a grid with holes"""
        rng, held = np.random.default_rng(6), 0
        for _ in range(400):
            values, levels, runs = planted(rng, 2, 0.05)
            kept = [at for at in range(len(values)) if at not in (3, 8, 17)]
            sides = [[side[at] for at in kept] for side in (values, levels, runs)]
            found = fit(sides[0], sides[1], GRID, sides[2])
            held += holds(found.ratio({"stack": 1}, {"stack": 0}), 3)
        self.assertTrue(0.92 <= held / 400 <= 0.98, held)


class Holes(unittest.TestCase):
    def test_excluded(self):
        """a pair without the cells that would tell is named, and its effects are not known"""
        values, levels, runs = planted(np.random.default_rng(7), 3, 0.02)
        kept = [at for at, (_, late, depth) in enumerate(levels) if not late or depth > 0]
        sides = [[side[at] for at in kept] for side in (values, levels, runs)]
        found = fit(sides[0], sides[1], GRID, sides[2])
        self.assertFalse(found.balanced)
        self.assertFalse(found.term("delivery", "depth").estimable)
        self.assertTrue(found.term("stack", "depth").estimable)
        hidden = found.ratio({"delivery": 1, "depth": 0}, {"delivery": 0, "depth": 0})
        self.assertIsNone(hidden.ratio)
        self.assertIn("not measured", hidden.reason)
        seen = found.ratio({"delivery": 1, "depth": 2}, {"delivery": 0, "depth": 2})
        self.assertTrue(holds(seen, 16), seen)

    def test_confounded(self):
        """factors that always change together are not told apart: the later one is named"""
        found = fit([1, 2, 1.1, 2.1], [(0, 0), (1, 1)] * 2, {"a": 2, "b": 2}, [0, 0, 1, 1])
        self.assertTrue(found.term("a").estimable)
        self.assertFalse(found.term("b").estimable)
        self.assertIsNone(found.ratio({"a": 1}, {"a": 0}).ratio)

    def test_refused(self):
        """numbers that have no logarithm and levels that are not there are refused"""
        for values, levels in (([1, 0], [(0,), (1,)]), ([1, 2], [(0,), (2,)]), ([], [])):
            with self.assertRaises(ValueError):
                fit(values, levels, {"a": 2}, [0] * len(values))

    def test_beyond_measure(self):
        """levels that lie beyond measure apart have no ratio, and noise beyond it no interval"""
        levels, runs = [(0,), (1,)] * 3, [0, 0, 1, 1, 2, 2]
        apart = fit([1e-308, 1e308, 1.1e-308, 1e308, 1e-308, 1e308], levels, {"a": 2}, runs)
        for new, base in ((1, 0), (0, 1)):
            effect = apart.ratio({"a": new}, {"a": base})
            self.assertEqual((effect.ratio, effect.low), (None, None))
            self.assertEqual(effect.reason, "the numbers differ beyond measure")
        wild = fit([1e300, 1e-300, 1e-300, 1e300, 1.0, 2.0], levels, {"a": 2}, runs)
        effect = wild.ratio({"a": 1}, {"a": 0})
        self.assertAlmostEqual(effect.ratio, 2 ** (1 / 3))
        self.assertEqual((effect.low, effect.reason), (None, "the samples vary beyond measure"))

    def test_constant(self):
        """values that do not vary have no shares to give and no noise to judge by"""
        found = fit([2, 2, 2, 2], [(0,), (1,)] * 2, {"a": 2}, [0, 0, 1, 1])
        self.assertEqual([term.share for term in found.terms if term.names == ("a",)], [0])
        self.assertIsNone(found.ratio({"a": 1}, {"a": 0}).low)


def _with_sizes(sides):
    values, levels, runs = sides
    return values, levels, GRID, runs


if __name__ == "__main__":
    unittest.main()
