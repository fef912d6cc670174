"""Figures of latency and of residuals: what they show of known results, and how many there are."""

import json
import tempfile
import unittest
from pathlib import Path

import matplotlib

from analysis.figures import heat, latency, residuals, timelines
from analysis.figures.style import STYLE
from analysis.inputs.documents import Refusal
from analysis.inputs.load import load_result
from analysis.judgement.study import study
from analysis.pages import spectrum
from tests.support.result_fixture import all_cells, cell_of, write_manifest, write_result

COURSE = [
    {
        "t_s": 0.5 * at,
        "phase": "warmup" if at == 1 else "measure",
        "completed": 100,
        "rps": 200.0,
        "p50_us": 5.0,
        "p99_us": 9.0,
        "service_ns": [[5119, 98], [9215, 2]],
    }
    for at in range(1, 5)
]


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "result"

    def drawn(self, module, width="single"):
        """The module's figures of the result."""
        with matplotlib.rc_context():
            matplotlib.rcParams.update(STYLE)
            return list(module.draw(study(load_result(self.path)), width))

    def with_course(self, *lines):
        """Writes a course into each sample of the result."""
        for folder in (self.path / "samples").iterdir():
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / "metrics.jsonl").write_text(text)
        write_manifest(self.path)

    def test_latency(self):
        """one cell has a spectrum, its shares, and response beside service time"""
        write_result(self.path, cells=all_cells()[:1])
        found = self.drawn(latency)
        names = [drawing.name for drawing in found]
        self.assertEqual(names, ["latency", "latency-shares", "latency-response"])
        self.assertIn("p99", " ".join(tip for _, _, tip in found[0].points))

    def test_many_levels(self):
        """of many depths four have a figure each, the first and the last among them; the caption
        says what was left out"""
        depths = (1, 2, 4, 8, 16, 32, 64)
        cells = [cell_of("epoll@loopback", "immediate", 1) | {"depth": depth} for depth in depths]
        self.fixed_rates(cells)
        found = self.drawn(latency)
        spectra = [one for one in found if one.name.startswith("latency-depth")]
        self.assertEqual(
            [one.name for one in spectra],
            [f"latency-depth-{depth}" for depth in (1, 4, 16, 64)],
        )
        self.assertIn("3 more levels are in the tables only", spectra[0].caption)

    def fixed_rates(self, cells):
        """A result of cells with depths that the fixture knows no rates for."""

        def renamed(result, client):
            result["cell"]["depth"] = result["cell"].pop("wanted")
            result["variant"] = f"d{result['cell']['depth']}"

        known = [cell | {"wanted": cell["depth"], "depth": 8} for cell in cells]
        write_result(self.path, renamed, runs=1, cells=known)

    def test_heat(self):
        """boots with distributions have a map; the dots are the p99 of each measured interval"""
        write_result(self.path, runs=2, cells=all_cells()[:1])
        self.with_course(*COURSE)
        (drawing,) = self.drawn(heat)
        self.assertEqual(len(drawing.points), 2 * 3)
        self.assertIn("p99 9.0 µs of 100 requests", drawing.points[0][2])

    def test_heat_begins(self):
        """columns are as long as the client's intervals, the first from the end of warm-up on"""
        write_result(self.path, runs=1, cells=all_cells()[:1])
        ends = (0.2, 0.5, 1.0)
        self.with_course(*({**line, "t_s": t_s} for line, t_s in zip(COURSE, ends)))
        (drawing,) = self.drawn(heat)
        self.assertIn("measured window, 0.3 to 0.5 s long", drawing.caption)
        self.assertIn("0.0 to 0.3 s", drawing.points[0][2])
        (lines,) = self.drawn(timelines)
        self.assertIn("at 0.15 s", lines.points[0][2])

    def test_one_interval(self):
        """a window that is one interval has no course in time, and the page says so"""
        write_result(self.path, runs=1, cells=all_cells()[:1])
        self.with_course(*COURSE[:2])
        self.assertEqual((self.drawn(heat), self.drawn(timelines)), ([], []))
        said = str(spectrum.blocks(study(load_result(self.path))))
        self.assertIn("over time: n/a (a window is one interval", said)

    def test_heat_chooses(self):
        """of twelve cells those with the longest tails have a panel, and the caption says so"""
        write_result(self.path, runs=1)
        self.with_course(*COURSE)
        (drawing,) = self.drawn(heat)
        self.assertIn("Shown are 3 of 12 cells", drawing.caption)

    def test_heat_of_old(self):
        """results without distributions have no map; a malformed course is refused"""
        write_result(self.path, runs=1, cells=all_cells()[:1])
        self.assertEqual(self.drawn(heat), [])
        self.with_course({**COURSE[1], "service_ns": None})
        self.assertEqual(self.drawn(heat), [])
        self.with_course({**COURSE[1], "service_ns": [[5, -1]]})
        with self.assertRaises(Refusal):
            self.drawn(heat)

    def test_residuals(self):
        """every valid sample is a dot in each of the three panels"""
        write_result(self.path, runs=2)
        (drawing,) = self.drawn(residuals)
        self.assertEqual(len(drawing.points), 3 * 24)

    def test_no_residuals(self):
        """where nothing varies, or nothing is left, there are none"""
        write_result(self.path, cells=all_cells()[:1])
        self.assertEqual(self.drawn(residuals), [])


if __name__ == "__main__":
    unittest.main()
