"""The pages on factors and latency: sentences and tables of results with planted effects."""

import json
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np

from analysis.inputs.load import load_result
from analysis.judgement.study import Study, study
from analysis.pages import factors, spectrum
from analysis.pages.blocks import as_text
from analysis.statistics.model import ERROR, HIGHER, RUN
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


class Told(Pages):
    """What is told from noise, in sentences and tables alike."""

    def modelled(self, change=planted, **how):
        """The model of requests/s of such a result."""
        write_result(self.path, change, **how)
        return study(load_result(self.path)).rates

    def with_p(self, found, p):
        """The page of a grid, were this the p value of each term."""
        terms = [term if term.p is None else replace(term, p=p) for term in found.model.terms]
        changed = replace(found, model=replace(found.model, terms=terms))
        with mock.patch.object(Study, "rates", changed):
            return self.text(factors).split("What explains busy")[0]

    def test_corrected(self):
        """p values that are 0.05 at most before the correction only are told nowhere on the page"""
        found = self.modelled()
        text = self.with_p(found, 0.02)  # seven terms: 0.14 after Holm's correction
        self.assertIn("No factor can be told from noise in requests/s.", text)
        self.assertEqual(text.count("not told from the error"), 7)
        self.assertEqual(text.count("0.14"), 7)
        self.assertNotIn("that depend on another factor", text)
        self.assertNotIn("Three and more factors", text)
        text = self.with_p(found, 0.006)
        self.assertNotIn("not told from the error", text)
        self.assertIn("that depend on another factor", text)
        self.assertIn("Three and more factors", text)

    def test_family(self):
        """factors, pairs and the rest are judged together; runs and the error are none of them"""
        found = self.modelled()
        self.assertEqual(len(found.p_adjusted), 7)
        self.assertIn(HIGHER, found.p_adjusted)
        for names in (RUN, ERROR):
            self.assertNotIn(names, found.p_adjusted)
            self.assertFalse(found.is_told(found.model.term(*names)))

    def test_no_error(self):
        """where nothing is left to judge noise by, nothing is told from it, whatever its share"""
        cells = [cell for cell in all_cells() if cell["stack"].startswith("epoll")]
        found = self.modelled(runs=1, cells=cells)
        self.assertEqual((found.model.error, found.p_adjusted), (None, {}))
        text = self.text(factors).split("What explains busy")[0]
        self.assertRegex(
            text,
            r"No factor can be told from noise in requests/s, for nothing is left over to judge the"
            r" noise by: \S.* has the greatest share of the variation of log requests/s, \d+ %\.",
        )
        self.assertIn("there are no intervals, as the model leaves nothing over.", text)
        self.assertNotIn("told from the error", text)
        self.assertNotIn("that depend on another factor", text)

    def test_noise(self):
        """noise that differs is told; where nobody can know its p value is not known"""
        found = self.modelled()
        delivery = [cell.settings["delivery"] for _, cell in found.samples]
        wild = np.random.default_rng(1).normal(0, 0.1, len(delivery))

        def p_of(residuals, error=0.1):
            model = replace(found.model, residuals=residuals, error=error)
            return replace(found, model=model).noises("delivery")[0]

        self.assertGreater(p_of(wild), 0.05)
        self.assertLess(p_of(np.where(np.array(delivery) == "coalesce", wild, 0.0)), 0.001)
        self.assertIsNone(p_of(np.zeros(len(delivery))))
        self.assertIsNone(p_of(wild, error=None))
        kept = [at for at, one in enumerate(delivery) if one == "immediate"]
        kept.append(delivery.index("coalesce"))
        few = replace(found, samples=[found.samples[at] for at in kept])
        few = replace(few, model=replace(found.model, residuals=wild[kept]))
        self.assertIsNone(few.noises("delivery")[0])


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
