"""Variants beside the first, scenario by scenario, and which CPU per request compares."""

import unittest

from analysis.cells import pairing
from analysis.pages.headline import headline
from result_fixture import SCENARIOS
from variants_fixture import loaded, studied


class Known(unittest.TestCase):
    """The fixture as it is."""

    @classmethod
    def setUpClass(cls):
        cls.study = studied()

    def test_axes(self):
        """scenarios and variants are factors with their names as levels, in the file's order"""
        self.assertEqual(
            self.study.found.factors, {"scenario": list(SCENARIOS), "variant": ["base", "new"]}
        )
        names = [f"{scenario}.{side}" for scenario in SCENARIOS for side in ("base", "new")]
        self.assertEqual([cell.variant for cell in self.study.found.cells], names)

    def test_scenarios_are_not_compared(self):
        """variants are compared within each scenario, and scenarios with nothing"""
        self.assertEqual([one.factor for one in self.study.found.comparisons], ["variant"] * 4)
        self.assertEqual(
            [one.context for one in self.study.found.comparisons],
            [{"scenario": name} for name in SCENARIOS],
        )
        self.assertIn(
            "lies within 2% of variant base in 1 of 4 comparisons, the most extreme 1.000 x (in scenario",
            headline(self.study)[0],
        )


class Medians(unittest.TestCase):
    def test_beyond_measure(self):
        """medians that lie beyond measure apart have no ratio, and the gate cannot be held to it"""

        def change(result, client):
            new = result["cell"]["variant"] == "new"
            result["effective_rps"] = 1e308 if new else 1e-3

        row = studied(change).gate.rows[0]
        self.assertEqual(row.rps.word, "undecided")
        self.assertEqual(row.rps.ratio.reason, "the numbers differ beyond measure")


class Cpu(unittest.TestCase):
    """Which time is compared."""

    def pair(self, change, scenario="respond-64"):
        """The pair of a scenario in a comparison with this change."""
        return next(
            pair for pair in pairing.pairs(loaded(change)[1]) if pair.place == scenario
        )

    def test_one_kernel_stack(self):
        """the system's CPU is compared only on one kernel stack that waits in one way"""

        def stack(of_base, of_new, **settings):
            def change(result, client):
                new = result["cell"]["variant"] == "new"
                result["cell"]["stack"] = of_new if new else of_base
                result["cell"].update(settings if new else {})

            return change

        busy = "busy_us_per_request"
        for change, column, why in (
            (stack("uring@veth", "uring@veth"), "os_cpu_us_per_request", "one kernel stack"),
            (stack("epoll@loopback", "uring@loopback"), busy, "the stacks differ"),
            (stack("dpdk@memif", "dpdk@memif"), busy, "not the kernel's"),
            (stack("epoll@loopback", "epoll@loopback", wait="spin"), busy, "ways of waiting"),
        ):
            pair = self.pair(change)
            self.assertEqual(pair.cpu_column, column)
            self.assertIn(why, pair.cpu_why)
            self.assertAlmostEqual(pair.cpu.medians.number, 1.02)

    def test_cores(self):
        """where busy time is not known either, the cores held are compared"""

        def change(result, client):
            result["cell"]["wait"] = "spin" if result["cell"]["variant"] == "new" else "block"
            result["server"].update(busy_us_per_request=None, busy_us_per_request_reason="sqpoll")

        pair = self.pair(change)
        self.assertEqual(pair.cpu_column, "core_us_per_request")
        self.assertIn("busy_us_per_request is not known", pair.cpu_why)
