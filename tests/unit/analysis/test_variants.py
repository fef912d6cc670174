"""The whole report of a comparison of variants: its files, and the directory that they go into."""

import csv
import io
import json
import re
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

from analysis.figures import catalogue
from analysis.figures import style
from analysis.judgement.study import Study
from analysis.pages import cells_csv
from analysis.pages import method
from analysis.cells.aggregate import aggregate
from analysis.inputs.load import load_result
from analysis.report import main, outputs
from result_fixture import SCENARIOS, write_variants
from variants_fixture import studied

ROOT = Path(__file__).resolve().parents[3]


class Known(unittest.TestCase):
    """The fixture as it is."""

    @classmethod
    def setUpClass(cls):
        cls.study = studied()

    def test_cells_csv(self):
        """aggregate.csv has a row a cell with every fact of it; the cell's name keeps its column"""
        text = cells_csv.csv_bytes(self.study.found).decode()
        header = text.splitlines()[0].split(",")
        self.assertEqual(len(header), len(set(header)))
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), 8)
        row = rows[1]
        expected = {
            "variant": "respond-64.new",
            "scenario": "respond-64",
            "variant_level": "new",
            "rps_median": "98000",
            "rps_min": "97020",
            "rps_max": "98980",
            "rps_spread": "0.02",
            "os_cpu_us_per_request": "10.2",
            "os_cpu_us_per_request_min": "10.098",
            "os_cpu_us_per_request_max": "10.302",
            "busy_us_per_request": "9.18",
            "rss_peak_kib": "45184",
            "rss_peak_kib_min": "45056",
            "rss_peak_kib_max": "45312",
            "rss_peak_since_start_kib": "45056",
            "rss_peak_since": "measurement start",
            "runner_cpu_share_max": "0.005",
            "client_saturated": "0",
            "requests_failed": "0",
            "answers_not_ok": "0",
            "attempts_failed": "0",
        }
        self.assertEqual({name: row[name] for name in expected}, expected)
        samples = self.study.found.cells[1].samples
        own = sorted(sample.service.percentile_ns(0.99) / 1000 for sample in samples)
        told = [float(row[f"sample_p99_us_{of}"]) for of in ("min", "median", "max")]
        self.assertEqual(told, [own[0], own[2], own[4]])

    def test_figures(self):
        """there is a latency figure a scenario, with the variants in colours of their own"""
        drawn = catalogue.draw_all(self.study, ["single"])
        drawings = {drawing.name: drawing for drawing in drawn}
        wanted = {f"latency-scenario-{name}" for name in SCENARIOS}
        self.assertEqual(set(drawings), wanted | {"latency-shares", "latency-response", "ratios-variant", "execution-order"})
        svg = drawings["latency-scenario-echo-256"].svg.decode()
        self.assertTrue(set(style.PALETTE[:2]) <= set(re.findall("#[0-9a-f]{6}", svg)))

    def test_again(self):
        """a variant that was named on the command line is named so again"""
        result = replace(self.study.result, path=ROOT / "results" / "run")
        self.assertEqual(method.command(result), "./weir run results/run")
        asked = result.experiment | {"variants": {"base": {"commit": "v0.0"}, "new": {}}}
        self.assertEqual(
            method.command(replace(result, experiment=asked)),
            "./weir run results/run --variant base=v0.1",
        )
        planned = result.plan | {"run_id": "0badcafe"}
        again = method.command(replace(result, experiment=asked, plan=planned))
        self.assertEqual(again, "./weir run results/run")  # which repeats the plan itself


class Directory(unittest.TestCase):
    """The report of a comparison, written into its directory."""

    def test_written(self):
        """all is written, the manifest lists it, and manifest.sha256 names the new manifest"""
        with tempfile.TemporaryDirectory() as folder:
            path = write_variants(Path(folder) / "run")
            before = (path / "manifest.sha256").read_text()
            for _ in range(2):  # what it wrote itself is no reason to refuse
                with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
                    self.assertEqual((main([str(path)]), err.getvalue()), (0, ""))
            manifest = json.loads((path / "manifest.json").read_text())
            listed = {entry["path"] for entry in manifest["files"]}
            after = (path / "manifest.sha256").read_text()
            result = load_result(path)
            html = (path / "report.html").read_text()
            self.assertEqual((path / "report.md").read_text().count("\n## Variants\n"), 1)
        self.assertIn("in 1 of 4 comparisons", out.getvalue())
        self.assertNotRegex(out.getvalue(), "bounds|gate")
        self.assertTrue(set(outputs(Study(result, aggregate(result)))) <= listed)
        self.assertIn("variants.csv", listed)
        self.assertNotIn("manifest.sha256", listed)
        self.assertNotEqual(before, after)
        self.assertTrue(result.sealed)
        places = [
            html.index(mark)
            for mark in ('role="alert"', 'id="says"', 'id="variants"', 'id="cells"', 'id="course"')
        ]
        self.assertEqual(places, sorted(places))
