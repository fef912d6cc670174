"""variants.csv: a row a pair, for programs."""

import csv
import io
import unittest

from analysis.judgement.gate import NONE, Gate
from analysis.judgement.study import study
from analysis.pages import comparison_csv
from gates_fixture import around, result_of
from result_fixture import COMMITS, SCENARIOS
from variants_fixture import invalidate, studied


class Known(unittest.TestCase):
    """The fixture as it is."""

    @classmethod
    def setUpClass(cls):
        cls.study = studied()

    def test_csv(self):
        """variants.csv parses back to the same numbers, and says how they were measured"""
        text = comparison_csv.csv_bytes(self.study).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["scenario"] for row in rows], list(SCENARIOS))
        for row, pair in zip(rows, self.study.pairs):
            self.assertNotIn(None, row)
            self.assertAlmostEqual(float(row["rps_ratio"]), pair.rps.medians.number, places=8)
            self.assertAlmostEqual(float(row["cpu_ratio"]), pair.cpu.medians.number, places=8)
            self.assertEqual((row["base"], row["new"]), ("base", "new"))
            self.assertEqual((row["rps_bound"], row["cpu_bound"]), ("0.98", "1.02"))
            self.assertEqual((row["n_valid_new"], row["n_new"]), ("5", "5"))
            self.assertEqual((row["order"], row["seed"], row["runs"]), ("rotate", "1", "5"))
            self.assertEqual((row["warmup"], row["duration"]), ("0.5s", "2s"))
            self.assertEqual((row["runs_excluded"], row["requests_failed_new"]), ("0", "0"))
            self.assertEqual(row["git_commit_base"], COMMITS["base"])
            self.assertEqual(row["program_sha256_client"], "c" * 64)
            self.assertEqual(row["rss_peak_since_base"], "measurement start")
            self.assertEqual(row["disqualifiers"], "degraded host")
        halves = [(row["rps_pass"], row["cpu_pass"], row["gate_pass"]) for row in rows]
        self.assertEqual(
            halves,
            [
                ("true", "true", "true"),
                ("true", "true", "true"),
                ("false", "true", "false"),
                ("true", "false", "false"),
            ],
        )
        self.assertEqual([row["rps_apart"] for row in rows], ["-1", "0", "-1", "0"])
        self.assertEqual(float(rows[2]["rps_min_new"]), 78_000 * 0.99)
        self.assertEqual(float(rows[3]["cpu_us_new"]), 2.6)

    def test_verdicts(self):
        """the ratios over blocks, their intervals and words stand beside the gate's kind"""
        shifts = (0, 0.001, -0.001, 0.002, -0.002)
        rates = {"respond": (around(100, *shifts), around(110, *shifts[1:], 0))}
        for gate, kind in ((None, "point"), ({"kind": "interval"}, "interval")):
            of = study(result_of(rates, gate=gate))
            (row,) = csv.DictReader(io.StringIO(comparison_csv.csv_bytes(of).decode()))
            rps, cpu = of.judged
            words = (row["gate_kind"], row["gate"], row["verdict"])
            self.assertEqual(words, (kind, "pass", "better"))
            for name, number in (
                ("ratio", rps.ratio.ratio),
                ("ratio_low", rps.ratio.low),
                ("ratio_high", rps.ratio.high),
                ("p_adjusted", rps.verdict.p_adjusted),
                ("cpu_blocks_ratio_low", cpu.ratio.low),
            ):
                self.assertAlmostEqual(float(row[name]), number, places=8)
            self.assertEqual(row["cpu_blocks_verdict"], "equivalent")

    def test_no_gate(self):
        """without a gate its columns are empty, and its kind says why"""
        (row, *_) = csv.DictReader(
            io.StringIO(comparison_csv.csv_bytes(studied(asked=Gate(NONE))).decode())
        )
        empty = ("rps_bound", "rps_pass", "cpu_bound", "cpu_pass", "gate_pass", "gate")
        self.assertEqual([row[name] for name in empty], [""] * 6)
        self.assertEqual((row["gate_kind"], row["rps_ratio"]), ("none", "0.98"))

    def test_not_known(self):
        """a side without a valid sample leaves its fields empty, and the gate says why"""
        of = studied(invalidate("echo-256", "new"))
        rows = list(csv.DictReader(io.StringIO(comparison_csv.csv_bytes(of).decode())))
        self.assertEqual((rows[2]["gate_pass"], rows[2]["rps_ratio"]), ("", ""))
        self.assertEqual(rows[2]["gate"], "n/a (echo-256.new: no valid sample)")
        self.assertEqual((rows[2]["ratio_low"], rows[2]["verdict"]), ("", "inconclusive"))
