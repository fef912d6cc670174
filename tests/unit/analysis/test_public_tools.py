"""Ours beside tools that others trust: Google Benchmark's compare.py, HdrHistogram, scipy.

A tool that is not installed skips its tests and names its package.
"""

import itertools
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from scipy import stats

from analysis.inputs import histogram
from analysis.statistics import ranks
from analysis.statistics.effect import ratio_of_blocks, ratio_of_means
from analysis.statistics.holm import holm

COMPARE = Path("/usr/share/benchmark/compare.py")
HDR_JAR = Path("/usr/share/java/hdrhistogram.jar")
QUANTILES = (0.3333, 0.5, 0.9, 0.99, 0.999, 1.0)

# Records what it is told, then prints its percentiles and its buckets.
HDR_PROGRAM = """
import java.util.Scanner;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

public class Recorded {
    public static void main(String[] percentiles) {
        Histogram recorded = new Histogram(1, 3_600_000_000_000L, 3);
        Scanner values = new Scanner(System.in);
        while (values.hasNextLong()) recorded.recordValue(values.nextLong());
        for (String one : percentiles)
            System.out.println("p " + recorded.getValueAtPercentile(Double.parseDouble(one)));
        for (HistogramIterationValue one : recorded.recordedValues())
            System.out.println("b " + one.getValueIteratedTo() + " "
                + one.getCountAtValueIteratedTo());
    }
}
"""


def lognormal(seed, n, cv, center=1.0):
    """Values of n boots."""
    rng = random.Random(seed)
    return [rng.lognormvariate(math.log(center), cv) for _ in range(n)]


def whole(seed, n):
    """Whole numbers of which many tie."""
    rng = random.Random(seed)
    return [rng.randrange(500, 540) for _ in range(n)]


def benchmark_json(families):
    """What Google Benchmark writes of benchmarks with repetitions, as far as others read it."""
    return {
        "context": {},
        "benchmarks": [
            {
                "name": name,
                "run_name": name,
                "run_type": "iteration",
                "family_index": family,
                "per_family_instance_index": 0,
                "repetitions": len(times),
                "repetition_index": place,
                "threads": 1,
                "iterations": 1000,
                "real_time": time,
                "cpu_time": 0.9 * time,
                "time_unit": "ns",
            }
            for family, (name, times) in enumerate(families.items())
            for place, time in enumerate(times)
        ],
    }


@unittest.skipUnless(COMPARE.is_file(), "libbenchmark-tools is not installed")
class CompareDotPy(unittest.TestCase):
    BASE = {
        "BM_same": lognormal(1, 12, 0.02, 500),
        "BM_little": lognormal(3, 12, 0.02, 500),
        "BM_much": lognormal(5, 12, 0.02, 500),
        "BM_ties": whole(7, 30),
        "BM_enough": lognormal(9, ranks.REPETITIONS_MIN, 0.02, 500),
        "BM_few": lognormal(11, ranks.REPETITIONS_MIN - 1, 0.02, 500),
    }
    NEW = {
        "BM_same": lognormal(2, 12, 0.02, 500),
        "BM_little": lognormal(4, 12, 0.02, 490),
        "BM_much": lognormal(6, 12, 0.02, 470),
        "BM_ties": whole(8, 30),
        "BM_enough": lognormal(10, ranks.REPETITIONS_MIN, 0.02, 480),
        "BM_few": lognormal(12, ranks.REPETITIONS_MIN - 1, 0.02, 480),
    }

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("base.json", "new.json", "found.json")]
            for path, families in zip(files, (cls.BASE, cls.NEW)):
                path.write_text(json.dumps(benchmark_json(families)))
            subprocess.run(
                [sys.executable, "-B", COMPARE, "-d", files[2], "benchmarks", *files[:2]],
                check=True,
                capture_output=True,
                timeout=120,
            )
            cls.found = {one["name"]: one for one in json.loads(files[2].read_text())}

    def test_ratio(self):
        """compare.py's change of the geometric mean is our ratio, of pairs and of sides"""
        base, new = (sum(families.values(), []) for families in (self.BASE, self.NEW))
        theirs = self.found["OVERALL_GEOMEAN"]["measurements"][0]["time"]
        self.assertAlmostEqual(ratio_of_blocks(new, base).ratio - 1, theirs, places=12)
        self.assertAlmostEqual(ratio_of_means(new, base).ratio - 1, theirs, places=12)

    def test_u_test(self):
        """with ties compare.py's U test has our p value; without, ours is exact and theirs near"""
        for name in ("BM_same", "BM_little", "BM_much", "BM_ties"):
            ours = ranks.mann_whitney(self.NEW[name], self.BASE[name])
            theirs = self.found[name]["utest"]["time_pvalue"]
            self.assertEqual(ours.exact, name != "BM_ties")
            self.assertAlmostEqual(ours.p, theirs, delta=0.01 if ours.exact else 1e-12)
            self.assertEqual(ours.p < 0.05, theirs < 0.05)

    def test_enough(self):
        """compare.py calls as many repetitions enough as we ask for"""
        for name, enough in (("BM_enough", True), ("BM_few", False)):
            theirs = self.found[name]["utest"]["have_optimal_repetitions"]
            ours = ranks.mann_whitney(self.NEW[name], self.BASE[name]).p is not None
            self.assertEqual((ours, theirs), (enough, enough))


@unittest.skipUnless(HDR_JAR.is_file(), "libhdrhistogram-java is not installed")
@unittest.skipUnless(shutil.which("javac"), "default-jdk-headless is not installed")
class HdrHistogram(unittest.TestCase):
    def recorded(self, values):
        """(percentiles at QUANTILES, [[value, count], ...]) as HdrHistogram says."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "Recorded.java"
            program.write_text(HDR_PROGRAM)
            percentiles = [f"{100 * quantile:.10g}" for quantile in QUANTILES]
            lines = subprocess.run(
                ["java", "-XX:+UseSerialGC", "-cp", HDR_JAR, program, *percentiles],
                input="\n".join(map(str, values)),
                check=True,
                capture_output=True,
                text=True,
                timeout=120,
            ).stdout.splitlines()
        rows = [line.split() for line in lines]
        found = [float(row[1]) for row in rows if row[0] == "p"]
        return found, [[int(row[1]), int(row[2])] for row in rows if row[0] == "b"]

    def test_percentiles(self):
        """of the same buckets HdrHistogram and we have the same percentiles"""
        rng = random.Random(5)
        values = [int(rng.lognormvariate(11, 1.2)) + 1 for _ in range(20_010)]
        theirs, buckets = self.recorded(values)
        ours = histogram.parse(buckets, 3)
        self.assertEqual(ours.n, len(values))
        self.assertEqual([ours.percentile_ns(quantile) for quantile in QUANTILES], theirs)


class Scipy(unittest.TestCase):
    def test_paired(self):
        """scipy's paired t test has our p value and interval"""
        for n in (3, 5, 15):
            new, base = lognormal(1, n, 0.02, 1.02), lognormal(2, n, 0.02)
            ours = ratio_of_blocks(new, base)
            theirs = stats.ttest_rel(np.log(new), np.log(base))
            low, high = theirs.confidence_interval(0.95)
            self.assertAlmostEqual(ours.p, theirs.pvalue, places=12)
            self.assertAlmostEqual(math.log(ours.low), low, places=12)
            self.assertAlmostEqual(math.log(ours.high), high, places=12)

    def test_welch(self):
        """scipy's Welch test has our p value, for unequal sides too"""
        for n_new, n_base in ((2, 2), (3, 5), (9, 4)):
            new, base = lognormal(1, n_new, 0.05, 1.02), lognormal(2, n_base, 0.01)
            ours = ratio_of_means(new, base)
            theirs = stats.ttest_ind(np.log(new), np.log(base), equal_var=False)
            self.assertAlmostEqual(ours.p, theirs.pvalue, places=12)

    def test_mann_whitney(self):
        """scipy's permutation test of the rank sum over all 48,620 orders has our exact p value"""
        new, base = lognormal(1, 9, 0.02, 1.015), lognormal(2, 9, 0.02)
        ranked = stats.rankdata([*new, *base])
        theirs = self.permuted((ranked[:9], ranked[9:]), "independent")
        self.assertAlmostEqual(ranks.mann_whitney(new, base).p, theirs, places=12)

    def test_signed_rank(self):
        """scipy's permutation test over all 512 signs has our exact p value"""
        new, base = lognormal(1, 9, 0.02, 1.015), lognormal(2, 9, 0.02)
        differences = np.log(new) - np.log(base)
        signed = np.sign(differences) * stats.rankdata(np.abs(differences))
        theirs = self.permuted((signed,), "samples")
        self.assertAlmostEqual(ranks.signed_rank(new, base).p, theirs, places=12)

    def permuted(self, data, kind):
        """The two-sided p of the first side's sum over all permutations."""
        return stats.permutation_test(
            data,
            lambda side, *_, axis: np.sum(side, axis=axis),
            permutation_type=kind,
            vectorized=True,
            n_resamples=math.inf,
        ).pvalue

    def test_holm(self):
        """Holm's values are those of Bonferroni tests of every set of hypotheses, closed"""
        rng = random.Random(6)
        for k in (1, 2, 5, 8):
            p = [rng.random() ** 3 for _ in range(k)]
            sets = [
                chosen
                for size in range(1, k + 1)
                for chosen in itertools.combinations(range(k), size)
            ]
            of_set = {chosen: len(chosen) * min(p[one] for one in chosen) for chosen in sets}
            closed = [
                min(1.0, max(of_set[chosen] for chosen in sets if one in chosen))
                for one in range(k)
            ]
            np.testing.assert_allclose(holm(p), closed)
