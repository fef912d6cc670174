"""Many results in the order of time: what is compared with what, and where a line is drawn."""

import csv
import re
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from analysis import report, trend
from analysis.figures import history as figures
from compare_fixture import said, undrawn, write_at
from result_fixture import edit_json, write_json, write_manifest


class Trend(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.out = self.root / "trend"
        if "figure" not in (self.shortDescription() or ""):
            undrawn(self, figures)

    def trend(self, *arguments):
        return said(trend.main, *arguments)

    def column(self, name, place="immediate"):
        with open(self.out / "trend.csv", newline="") as file:
            return [row[name] for row in csv.DictReader(file) if row["place"] == place]

    def test_order(self):
        """results stand in the order of their first samples, however they were given"""
        paths = [write_at(self.root / f"r{day}", day, runs=2) for day in (3, 1, 2)]
        status, text = self.trend(*paths)
        self.assertEqual(status, 0, text)
        self.assertEqual(self.column("result"), ["r1", "r2", "r3"])
        self.assertEqual(self.column("measured")[0], "2026-01-01T00:00:00Z")

    def test_words(self):
        """each is judged against the one before and against the first"""
        for day, factor in ((1, 1.0), (2, 1.5), (3, 1.5)):
            write_at(self.root / f"r{day}", day, factor)
        self.trend(*sorted(self.root.glob("r*")))
        self.assertEqual(self.column("verdict_last"), ["the first one", "better", "inconclusive"])
        self.assertEqual(self.column("verdict_first")[1:], ["better", "better"])
        self.assertAlmostEqual(float(self.column("ratio_first")[2]), 1.5, places=6)
        self.assertIn("6 ratios judged together", (self.out / "trend.md").read_text())

    def test_breaks(self):
        """over a change of kernel no ratio is taken, neither from the one before nor the first"""
        for day, kernel in ((1, "6.1.0"), (2, "6.9.9"), (3, "6.9.9")):
            write_at(self.root / f"r{day}", day, 1 + day / 2, host={"kernel": kernel})
        self.trend(*sorted(self.root.glob("r*")))
        self.assertEqual(self.column("verdict_last")[1], "not comparable: kernel")
        self.assertEqual(self.column("verdict_last")[2], "better")
        self.assertEqual(self.column("verdict_first")[2], "not comparable: kernel")
        self.assertEqual(self.column("ratio_last")[1], "")
        for name in ("trend.md", "trend.html"):
            self.assertIn("before result 2: kernel changed", (self.out / name).read_text())

    def test_other_client(self):
        """a client of another revision is marked on page and figure, and judged across"""
        for day, sha in ((1, "c"), (2, "d"), (3, "d")):
            build = {"client": {"program_sha256": sha * 64}}
            write_at(self.root / f"r{day}", day, 1.5 if day > 1 else 1.0, build=build)
        status, text = self.trend(*sorted(self.root.glob("r*")))
        self.assertEqual(status, 0, text)
        self.assertEqual(self.column("verdict_last")[1], "better")
        self.assertEqual(self.column("client_changed_last"), ["false", "true", "false"])
        self.assertEqual(self.column("client_changed_first"), ["false", "true", "true"])
        page = (self.out / "trend.md").read_text()
        self.assertIn("client revision changed", page)
        self.assertIn("better (client changed)", page)
        self.assertNotIn("not comparable across", page.lower())

    def test_client_and_kernel(self):
        """where more than the client changed no ratio is taken"""
        for day, sha, kernel in ((1, "c", "6.1.0"), (2, "d", "6.9.9")):
            build = {"client": {"program_sha256": sha * 64}}
            write_at(self.root / f"r{day}", day, host={"kernel": kernel}, build=build)
        self.trend(*sorted(self.root.glob("r*")))
        self.assertEqual(self.column("verdict_last")[1], "not comparable: kernel")
        self.assertEqual(self.column("client_changed_last"), ["false", "true"])

    def test_bad(self):
        """every bad directory is named and refused; --skip-bad lists it on the page and goes on"""
        good = [write_at(self.root / f"r{day}", day, runs=1) for day in (1, 2)]
        edited = write_at(self.root / "edited", 3, runs=1)
        edit_json(edited / "host.json", kernel="6.1.1")
        missing = self.root / "missing"
        status, text = self.trend(*good, edited, missing)
        self.assertEqual(status, 4)
        self.assertIn("sha256 differs", text)
        self.assertIn("missing: is not a directory", text)
        self.assertFalse(self.out.exists())
        status, text = self.trend(*good, edited, missing, "--skip-bad")
        self.assertEqual(status, 0, text)
        self.assertIn("missing: is not a directory", (self.out / "trend.html").read_text())

    def test_all_bad(self):
        """--skip-bad with nothing left is refused"""
        self.assertEqual(self.trend(self.root / "no", "--skip-bad")[0], 4)

    def test_one(self):
        """one result has no change, and says so; twice the same directory counts once"""
        path = write_at(self.root / "r1", 1, runs=1)
        status, text = self.trend(path, path)
        self.assertEqual(status, 0, text)
        self.assertEqual(self.column("verdict_last"), ["the first one"])

    def test_stretches(self):
        """the line of medians ends where results do not compare, and goes on behind"""
        points = [SimpleNamespace(result=at) for at in (0, 1, 3, 4, 5)]
        found = figures._stretches(
            SimpleNamespace(breaks={2: "kernel", 5: "host"}), SimpleNamespace(points=points)
        )
        self.assertEqual([[one.result for one in part] for part in found], [[0, 1], [3, 4], [5]])

    def test_copies(self):
        """a copy counts once, and is named; so are pages of a comparison, which lie beside"""
        for name in ("r1", "r2"):
            write_at(self.root / name, 1, runs=1)
        pages = self.root / "r1-vs-r2.compare"
        pages.mkdir()
        write_json(pages / "manifest.json", {"schema": "weir.compare/1", "files": []})
        status, text = self.trend(*sorted(self.root.glob("r*")))
        self.assertEqual(status, 0, text)
        self.assertEqual(self.column("result"), ["r1"])
        self.assertIn("r2: is the run of", text)
        self.assertIn("is a comparison, not a result", text)
        self.assertIn("is a comparison, not a result", self.trend(pages)[1])
        status, text = said(report.main, pages)
        self.assertEqual(status, 4)
        self.assertIn("is a comparison, not a result", text)

    def test_zones(self):
        """times are sorted as times, whatever their zone"""
        late, early = (write_at(self.root / f"r{day}", day, runs=1) for day in (1, 2))
        early_text = "2026-01-01T05:00:00+09:00"
        for file in (early / "results.jsonl", *early.glob("samples/*/result.json")):
            file.write_text(re.sub(r"2026-01-02T00:00:\d\dZ", early_text, file.read_text()))
        write_manifest(early)
        self.assertEqual(self.trend(late, early)[0], 0)
        self.assertEqual(self.column("result"), ["r2", "r1"])

    def test_figures(self):
        """each place has a figure that says n"""
        for day in (1, 2):
            write_at(self.root / f"r{day}", day, runs=2)
        self.trend(*sorted(self.root.glob("r*")))
        figures = sorted((self.out / "figures").glob("*.svg"))
        self.assertEqual([path.name for path in figures], ["trend-01.svg", "trend-02.svg"])
        self.assertIn("n = 2 samples of 2 results", figures[0].read_text())
