"""The pages on factors and latency: sentences and tables of results with planted effects."""

import json
import tempfile
import unittest
from pathlib import Path

from analysis.inputs.load import load_result
from analysis.judgement.study import study
from analysis.pages import factors, spectrum
from analysis.pages.blocks import as_text
from tests.support.result_fixture import (
    all_cells,
    cell_of,
    write_manifest,
    write_result,
    write_variants,
)


def planted(result, client):
    """Rates of a grid in which coalescing is worth nothing at depth 1 and 8 x at depth 32, and the
    stack 4 x everywhere; run and place among the samples add a little noise."""
    cell = result["cell"]
    gain = {1: 1.0, 8: 3.0, 32: 8.0}[cell["depth"]] if cell["delivery"] == "coalesce" else 1.0
    stack = 1.0 if cell["stack"].startswith("epoll") else 4.0
    noise = (result["order_index"] * 37 % 11 - 5) / 500 + 0.02 * result["run"]
    client["effective_rps"] = result["effective_rps"] = 100_000 * stack * gain * (1 + noise)


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "result"

    def text(self, page):
        """A page of the result as text."""
        return "\n".join(as_text(page.blocks(study(load_result(self.path)))))


class Factors(Pages):
    def test_dependence(self):
        """planted: coalescing pays only with depth, the stack everywhere; the page says both"""
        write_result(self.path, planted)
        text = self.text(factors).split("What explains busy")[0]
        said = "Coalesce against immediate serves more requests/s only at depth 8 and 32"
        self.assertIn(said, text)
        self.assertRegex(text, r"Stack explains 4\d % of the variation")
        self.assertIn("what delivery is worth depends on depth", text)
        self.assertNotIn("what stack is worth depends", text)

    def test_nothing(self):
        """where no factor does anything, none is told from noise"""

        def flat(result, client):
            noise = (result["order_index"] * 29 % 13 - 6) / 100
            client["effective_rps"] = result["effective_rps"] = 100_000 * (1 + noise)

        write_result(self.path, flat)
        self.assertIn("No factor can be told from noise in requests/s", self.text(factors))

    def test_holes(self):
        """cells that were not measured are named, and no effect is invented for them"""
        cells = [
            cell for cell in all_cells() if cell["depth"] > 1 or cell["delivery"] == "immediate"
        ]
        write_result(self.path, planted, cells=cells)
        text = self.text(factors)
        self.assertRegex(text, r"delivery x depth .* 1 of its 2 parts; cells are missing")
        self.assertIn("n/a (the cells that would tell were not measured)", text)
        self.assertIn("The grid is not balanced", text)

    def test_one_run(self):
        """without repetition the part of three factors is the error, and that is said"""
        write_result(self.path, planted, runs=1)
        self.assertIn("all that pairs leave, for no cell was repeated", self.text(factors))

    def test_variants(self):
        """a comparison of variants in scenarios has no model: its pairs have verdicts"""
        write_variants(self.path)
        self.assertEqual(self.text(factors), "")

    def test_one_cell(self):
        """where nothing varies there is nothing to explain"""
        write_result(self.path, cells=all_cells()[:1])
        self.assertEqual(self.text(factors), "")

    def test_none_valid(self):
        """without a valid sample neither page says anything"""

        def broken(result, client):
            result.update(valid=False, invalid_reasons=["made so"])

        write_result(self.path, broken)
        self.assertEqual(self.text(factors) + self.text(spectrum), "")


class Latency(Pages):
    def test_few_boots(self):
        """three boots: each percentile has bounds, and how little they hold is said"""
        write_result(self.path, runs=3, cells=[cell_of("epoll@loopback", "immediate", 1)])
        text = self.text(spectrum)
        self.assertIn("about 75 % of runs at most, not in 95 %", text)
        bounded = r"[\d,]+ \([\d,]+ to [\d,]+\)"
        self.assertRegex(text, rf"epoll@loopback.immediate.d1 +3 +[\d,]+ +{bounded}")
        self.assertIn("Latency over time: n/a (the clients left no course)", text)

    def test_one_boot(self):
        """one boot has no bounds"""
        write_result(self.path, runs=1, cells=[cell_of("epoll@loopback", "immediate", 1)])
        text = self.text(spectrum)
        self.assertIn("A cell with one boot has no bounds", text)
        self.assertNotIn(" to ", text.split("Service time in")[1])

    def test_old_course(self):
        """a course without distributions is no map, and the page says why"""
        write_result(self.path, cells=[cell_of("epoll@loopback", "immediate", 1)])
        line = {"t_s": 0.5, "phase": "measure", "completed": 9, "rps": 18, "p50_us": 1, "p99_us": 2}
        for folder in (self.path / "samples").iterdir():
            (folder / "metrics.jsonl").write_text(json.dumps(line) + "\n")
        write_manifest(self.path)
        self.assertIn("did not write the distribution of each half second", self.text(spectrum))


if __name__ == "__main__":
    unittest.main()
