"""What speaks against a run is found, counted, and named by its first few."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from analysis.cells.aggregate import aggregate
from analysis.inputs.load import load_result
from analysis.judgement import caveats
from analysis.pages import sentences
from result_fixture import write_result


def loaded(change=None, **options):
    """(Result, Aggregate) of a synthetic run."""
    with tempfile.TemporaryDirectory() as folder:
        result = load_result(write_result(Path(folder) / "run", change, **options))
    return result, aggregate(result)


class Caveats(unittest.TestCase):
    def test_drift(self):
        """a run that slows down is said to drift"""

        def slow(result, client):
            result["effective_rps"] *= 1 - 0.01 * result["order_index"]

        result, found = loaded(slow)
        self.assertIn(
            "Drift: samples became slower", " ".join(sentences.summary(result, found.cells))
        )

    def drift_of(self, tau, p):
        """The sentence on a drift of this size."""
        result, found = loaded(runs=2)
        with mock.patch.object(sentences, "drift", lambda *_: (tau, p)):
            return sentences.summary(result, found.cells)[-1]

    def test_drift_levels(self):
        """what is said of drift names its level, and what lies between is not called none"""
        shown = "(Kendall's tau {}, p = {}, n = 24)"
        self.assertEqual(
            self.drift_of(0.1, 0.3),
            f"No drift with execution order at the 1 % level {shown.format('+0.10', '0.3')}.",
        )
        self.assertIn(
            f"The run may drift: samples look slower as it went on {shown.format('-0.30', '0.02')}",
            self.drift_of(-0.3, 0.02),
        )
        self.assertIn("Drift: samples became faster", self.drift_of(0.5, 0.001))

    def test_saturated(self):
        """a client without time to spare is named with its cells, five at most"""

        def saturate(result, client):
            result["client"]["saturated"] = result["cell"]["depth"] == 32

        result, found = loaded(saturate)
        caveat = next(
            c for c in caveats.disqualifiers(result, found.cells) if c.what == "saturated client"
        )
        self.assertIn("12 of 36 valid samples", caveat.detail)
        self.assertIn("(dpdk@memif.coalesce.d32, dpdk@memif.immediate.d32, ", caveat.detail)
        self.assertIn(", epoll@loopback.coalesce.d32, ", caveat.detail)
        result, found = loaded(lambda result, client: result["client"].update(saturated=True))
        (caveat,) = [
            c for c in caveats.disqualifiers(result, found.cells) if c.what == "saturated client"
        ]
        self.assertTrue(caveat.detail.endswith(", and 7 more)"), caveat.detail)

    def test_other_processes(self):
        """samples in which others took CPU are named, worst first, five at most"""

        def disturb(result, client):
            result["other_busy_cpus"] = 0.1 + (result["order_index"] % 8) / 10
            if result["order_index"] >= 8:
                result["other_busy_cpus"] = 0.1

        result, found = loaded(disturb)
        caveat = next(
            c for c in caveats.disqualifiers(result, found.cells) if c.what == "busy host"
        )
        self.assertIn("in 7 of 36 valid samples", caveat.detail)
        self.assertIn("more than 0.1 CPUs' worth", caveat.detail)
        self.assertRegex(
            caveat.detail, r"\(s0007 \S+: 0\.80, s0006 .*, s0003 \S+: 0\.40, and 2 more\)$"
        )

    def test_others_not_recorded(self):
        """where a sample does not know what others took, its cell does not; no banner is made"""

        def forget(result, client):
            if result["order_index"] == 0:
                result.update(other_busy_cpus=None, other_busy_cpus_reason="no /proc")

        result, found = loaded(forget)
        value = found.cells[0].values["other_busy_cpus_max"]
        self.assertEqual((value.number, value.reason), (None, "no /proc in 1 of 3 samples"))
        whats = [caveat.what for caveat in caveats.disqualifiers(result, found.cells)]
        self.assertEqual(whats, ["degraded host"])

    def test_short_window(self):
        """a window under a second has a banner; one that is a second but for 4 ms has none"""
        for seconds, wanted in ((0.5, ["short window"]), (0.996, []), (1.0, [])):

            def shorten(result, client):
                result["elapsed_s"] = seconds if result["order_index"] == 5 else 2.0

            result, found = loaded(shorten)
            named = caveats.disqualifiers(result, found.cells)
            self.assertEqual([c.what for c in named], ["degraded host", *wanted], seconds)
        result, found = loaded(lambda result, client: result.update(elapsed_s=0.5))
        self.assertIn("is 0.50 s, under 1 s", caveats.disqualifiers(result, found.cells)[1].detail)

    def test_few_samples(self):
        """cells with fewer than three valid samples are named, five at most"""
        result, found = loaded(runs=2)
        caveat = caveats.disqualifiers(result, found.cells)[-1]
        self.assertEqual(caveat.what, "few samples")
        self.assertTrue(caveat.detail.startswith("12 of 12 cells with fewer than 3 valid samples"))
        self.assertIn("(epoll@loopback.immediate.d1: 2/2, ", caveat.detail)
        self.assertTrue(caveat.detail.endswith(", and 7 more)"))


if __name__ == "__main__":
    unittest.main()
