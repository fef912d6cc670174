"""The command, end to end on synthetic directories: files, exit status, bytes, and the page
itself."""

import csv
import hashlib
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from analysis.figures import catalogue, latency, order, rates
from analysis.pages import publish
from analysis.report import main
from result_fixture import (
    DELIVERIES,
    STACKS,
    all_cells,
    write_json,
    write_manifest,
    write_result,
    write_small_result,
)

ROOT = Path(__file__).resolve().parents[3]
VOID = {"meta", "link", "br", "img", "hr", "input"}
FIGURES = {
    "rps-by-depth",
    "ratios-stack",
    "ratios-delivery",
    "ratios-depth",
    "latency-depth-1",
    "latency-depth-8",
    "latency-depth-32",
    "latency-shares",
    "latency-response",
    "responses-per-write",
    "execution-order",
    "cpu-per-request",
    "load",
    "residuals",
}
OUTPUTS = {
    "aggregate.csv",
    "aggregate.txt",
    "report.md",
    "report.html",
    "tables/cells.tex",
    "tables/verdicts.tex",
    *(f"figures/{name}.{kind}" for name in FIGURES for kind in ("svg", "pdf", "png")),
}


def report(path, cwd="/", limit=None, **environment):
    """Runs the command from elsewhere; the completed process."""

    def bound():
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-B", "-m", "analysis.report", str(path)],
        cwd=cwd,
        capture_output=True,
        text=True,
        preexec_fn=bound,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def report_here(path, *options, figures=(order.draw,)):
    """The same within this process, and with one figure alone, which is faster."""
    out, err = io.StringIO(), io.StringIO()
    drawn = mock.patch.object(catalogue, "FIGURES", list(figures))
    with redirect_stdout(out), redirect_stderr(err), drawn:
        status = main([str(path), *options])
    return subprocess.CompletedProcess([], status, out.getvalue(), err.getvalue())


def contents(path):
    """Every file beneath, by name."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


class Page(HTMLParser):
    """Checks that elements close in order; collects ids, links within the page, and what would be
    loaded."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.targets, self.loaded, self.tags = [], [], [], [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name == "href" and value.startswith("#"):
                self.targets.append(value[1:])
            elif name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
                self.loaded.append(value)
            self.targets += re.findall(r"url\(#([^)]*)\)", value or "")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        found = self.open.pop()
        assert found == tag, f"</{tag}> closes <{found}> at {self.getpos()}"


class Whole(unittest.TestCase):
    """A run of 36 valid samples."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = write_result(Path(cls.folder.name) / "a run with spaces")
        cls.before = contents(cls.path)
        cls.done = report(cls.path)
        cls.after = contents(cls.path)
        cls.html = cls.after.get("report.html", b"").decode()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_outputs(self):
        """all files are written, the inputs are untouched, nothing else appears"""
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""))
        self.assertEqual(set(self.after) - set(self.before), OUTPUTS)
        for name, content in self.before.items():
            if name != "manifest.json":
                self.assertEqual(self.after[name], content, name)

    def test_manifest(self):
        """the manifest lists every file but itself, with its size and hash"""
        manifest = json.loads(self.after["manifest.json"])
        listed = {entry["path"]: (entry["sha256"], entry["bytes"]) for entry in manifest["files"]}
        actual = {
            name: (hashlib.sha256(content).hexdigest(), len(content))
            for name, content in self.after.items()
            if name != "manifest.json"
        }
        self.assertEqual(listed, actual)
        self.assertEqual(manifest["schema"], "weir.manifest/1")

    def test_same_bytes(self):
        """again, under another locale, time zone, home and hash seed, gives the same bytes"""
        again = report(
            self.path,
            cwd=self.folder.name,
            LC_ALL="de_DE.UTF-8",
            TZ="Pacific/Auckland",
            HOME="/nonexistent",
            MPLCONFIGDIR=self.folder.name,
            PYTHONHASHSEED="7",
        )
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(contents(self.path), self.after)

    def test_well_formed(self):
        """the page's elements close in order, its ids are unique, its own links lead somewhere"""
        page = Page(self.html)
        self.assertEqual(page.open, [])
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertEqual(set(page.targets) - set(page.ids), set())

    def test_self_contained(self):
        """the page loads nothing and names no address"""
        page = Page(self.html)
        self.assertEqual(page.loaded, [])
        self.assertEqual(page.tags & {"img", "link", "iframe", "object", "embed"}, set())
        self.assertNotRegex(self.html, r"https?:|//[a-z]|@import|url\((?!#)")

    def test_page_is_readable(self):
        """the page fits a phone and follows the theme; the figures' colours are all variables"""
        for wanted in (
            'name="viewport"',
            "prefers-color-scheme: dark",
            "overflow-x: auto",
            "aria-sort",
        ):
            self.assertIn(wanted, self.html)
        self.assertEqual(self.html.count('role="img"'), len(FIGURES))
        figures = "".join(re.findall(r"<figure>.*?</figure>", self.html, re.S))
        self.assertEqual(re.findall(r"#[0-9a-f]{6}\b", figures), [])
        self.assertGreater(figures.count("<title>"), 36)

    def test_no_nan(self):
        """no output holds a number that is none"""
        for name, content in self.after.items():
            if not name.endswith((".png", ".pdf")):
                self.assertIsNone(re.search(rb"\b(nan|inf)\b", content, re.I), name)
        self.assertNotIn(
            "None", self.after["report.md"].decode() + self.after["aggregate.txt"].decode()
        )

    def test_figures(self):
        """every SVG parses and says n; every PNG is one"""
        for name in FIGURES:
            ElementTree.fromstring(self.after[f"figures/{name}.svg"])
            svg = self.after[f"figures/{name}.svg"]
            self.assertRegex(svg, b"n = (3 samples a cell; 36 of 36 valid|36 samples, )")
            self.assertTrue(self.after[f"figures/{name}.png"].startswith(b"\x89PNG"))

    def test_captions(self):
        """a ratio figure's caption names its factor and base, a latency figure's its depth"""
        for wanted in (
            "Stack against epoll@loopback. Large:",
            "Delivery against immediate. Large:",
            "Depth against depth 1. Large:",
            *(f"Depth {depth}. From the merged histograms" for depth in (1, 8, 32)),
        ):
            self.assertEqual(self.html.count(f"<figcaption>{wanted}"), 1, wanted)

    def test_every_sample_is_a_dot(self):
        """requests/s against depth has a dot for each sample"""
        for name in ("rps-by-depth", "execution-order"):
            svg = self.after[f"figures/{name}.svg"].decode()
            dots = re.findall(r'<g id="dots\d+">.*?</g>\s*</g>', svg, re.S)
            self.assertEqual(sum(one.count("<use ") for one in dots), 36)

    def test_csv(self):
        """aggregate.csv has a row a cell, numbers that parse, and unknown values with reasons"""
        rows = list(csv.DictReader(self.after["aggregate.csv"].decode().splitlines()))
        self.assertEqual(len(rows), 12)
        for row in rows:
            self.assertEqual((row["n_valid"], row["n"]), ("3", "3"))
            self.assertLessEqual(float(row["rps_min"]), float(row["rps_median"]))
            self.assertLessEqual(float(row["service_p50_us"]), float(row["service_p99_us"]))
            self.assertEqual(row["other_busy_cpus_max"], "0.01")
        self.assertEqual(rows[0]["copied_bytes_per_request"], "")
        self.assertIn(
            "copied_bytes_per_request: n/a (copies happen in the kernel)", rows[0]["missing"]
        )

    def test_order_of_the_page(self):
        """disqualifiers come first, then findings, cells, figures, method, limits, origin, command"""
        places = [
            self.html.index(mark)
            for mark in (
                'role="alert"',
                'id="says"',
                "The ratios are of geometric means",
                'id="cells"',
                'id="figures"',
                'id="method"',
                'id="limits"',
                'id="facts"',
                'id="files"',
                'id="again"',
            )
        ]
        self.assertEqual(places, sorted(places))
        self.assertIn("degraded host", self.html)
        self.assertIn(f"./weir run &#39;{self.path.resolve()}&#39;</pre>", self.html)


class Poor(unittest.TestCase):
    """Runs with something wrong."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "run"

    def text(self):
        return (self.path / "report.md").read_text()

    def test_none_valid(self):
        """a run without a valid sample gets a report that says so, and exit 3"""

        def spoil(result, client):
            result.update(
                valid=False, invalid_reasons=["server died: signal 9"], effective_rps=None
            )
            client.clear()

        write_result(self.path, spoil)
        done = report_here(self.path)
        self.assertEqual(done.returncode, 3)
        self.assertIn("none of 36 samples is valid", done.stderr)
        for name in ("report.md", "report.html", "aggregate.txt"):
            text = (self.path / name).read_text()
            self.assertIn("no valid sample", text, name)
            self.assertIsNone(re.search(r"\bnan\b", text, re.I))
        self.assertEqual(Page((self.path / "report.html").read_text()).open, [])

    def test_some_invalid(self):
        """invalid samples are listed with their reasons; markup in a reason stays text"""

        def spoil(result, client):
            if result["order_index"] in (4, 9):
                result.update(valid=False, invalid_reasons=["<script>alert(1)</script> | x"])

        write_result(self.path, spoil, cells=[cell for cell in all_cells() if cell["depth"] == 8])
        self.assertEqual(report_here(self.path).returncode, 0)
        html = (self.path / "report.html").read_text()
        self.assertIn("2 of 12 samples invalid", html)
        self.assertIn("&lt;script&gt;alert(1)", html)
        self.assertNotIn("<script>alert", html)
        self.assertIn("| 4 | s0004 |", self.text())
        for name in ("report.md", "aggregate.txt"):
            text = (self.path / name).read_text()
            self.assertRegex(text, r"s0009.*<script>alert\(1\).?</script>".replace("<", r"\\?<"), name)
            self.assertNotIn("\n## How the run went\n\n### How", text)
        self.assertIn("2/3", (self.path / "aggregate.txt").read_text())

    def test_hasty(self):
        """one short sample beside a busy process has a banner for each, in page, text and table"""

        def hasten(result, client):
            result.update(other_busy_cpus=0.25, elapsed_s=0.5)

        write_result(self.path, hasten, runs=1, cells=all_cells()[:1])
        self.assertEqual(report_here(self.path).returncode, 0)
        for name in ("report.md", "report.html", "aggregate.txt"):
            text = (self.path / name).read_text()
            for words in ("busy host", "short window", "few samples", "other CPUs"):
                self.assertIn(words, text, name)
        self.assertIn("s0000 epoll@loopback.immediate.d1: 0.25", self.text())

    def test_missing_host(self):
        """without host.json and build.json there is a report with a banner for each"""
        write_small_result(self.path)
        (self.path / "host.json").unlink()
        (self.path / "build.json").unlink()
        write_manifest(self.path)
        self.assertEqual(report_here(self.path).returncode, 0)
        self.assertIn("**host unknown**", self.text())
        self.assertIn("**build unknown**", self.text())

    def test_disqualified_build(self):
        """debug, sanitizer and uncommitted builds are disqualified in the banner"""
        write_small_result(self.path)
        (self.path / "build.json").write_text(
            json.dumps(
                {"build_type": "debug", "sanitizers": "address,undefined", "git_dirty": True}
            )
        )
        write_manifest(self.path)
        report_here(self.path)
        for words in (
            "**debug build**",
            "**sanitizer build**: address,undefined",
            "**uncommitted changes**",
        ):
            self.assertIn(words, self.text())

    def test_no_manifest(self):
        """without a manifest the banner says so, and none is made"""
        write_small_result(self.path)
        (self.path / "manifest.json").unlink()
        self.assertEqual(report_here(self.path).returncode, 0)
        self.assertIn("**no manifest**", self.text())
        self.assertFalse((self.path / "manifest.json").exists())

    def test_wide(self):
        """figures as wide as a page are removed, and listed no more, by a report without them"""
        write_small_result(self.path)
        before = contents(self.path)
        self.assertEqual(report_here(self.path, "--wide").returncode, 0)
        self.assertTrue((self.path / "figures/wide/execution-order.pdf").exists())
        self.assertEqual(report_here(self.path).returncode, 0)
        self.assertFalse((self.path / "figures/wide").exists())
        manifest = json.loads((self.path / "manifest.json").read_text())
        listed = {entry["path"] for entry in manifest["files"]}
        self.assertEqual(listed, set(contents(self.path)) - {"manifest.json"})
        self.assertLess(set(before), set(contents(self.path)))

    def test_refusal(self):
        """a refusal is one line with file and reason, exit 4, and no output"""
        write_small_result(self.path)
        (self.path / "plan.json").write_text("{")
        before = contents(self.path)
        done = report_here(self.path)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"^weir report: \S*/plan\.json: .*\n$")
        self.assertEqual(contents(self.path), before)

    def test_usage(self):
        """no argument is a usage error, exit 4"""
        done = subprocess.run(
            [sys.executable, "-m", "analysis.report"], cwd=ROOT, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 4)
        self.assertIn("usage: weir report", done.stderr)

    def test_full_disk(self):
        """where one file cannot be written whole none is, and exit is 4"""
        write_small_result(self.path)
        before = contents(self.path)
        done = report(self.path, limit=9000)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cannot be written", done.stderr)
        self.assertEqual(contents(self.path), before)
        self.assertFalse((self.path / publish.STAGE).exists())
        self.assertEqual(report_here(self.path).returncode, 0)

    def test_stopped(self):
        """what a stopped report left is brought to its end first, before anything is read"""
        write_small_result(self.path)
        self.assertEqual(report_here(self.path).returncode, 0)
        whole = contents(self.path)
        (self.path / publish.STAGE).mkdir()
        (self.path / publish.STAGE / "aggregate.csv").write_text("half")
        ready = self.path / publish.NEXT / "figures"
        ready.mkdir(parents=True)
        for name in ("manifest.json", "report.html", "figures/execution-order.svg"):
            (self.path / name).rename(self.path / publish.NEXT / name)
        self.assertEqual(report_here(self.path).returncode, 0)
        self.assertEqual(contents(self.path), whole)

    def test_locked(self):
        """a directory that another process writes into is refused, and left as it is"""
        write_small_result(self.path)
        before = contents(self.path)
        with publish.sole_writer(self.path):
            done = report_here(self.path)
        self.assertEqual(done.returncode, 4)
        self.assertIn("another process writes into it", done.stderr)
        self.assertEqual(contents(self.path), before)

    def vary(self, factors):
        """Rewrites what the experiment varies, in its file and in the plan."""
        experiment = json.loads((self.path / "experiment.json").read_text()) | {"factors": factors}
        plan = json.loads((self.path / "plan.json").read_text()) | {"effective": experiment}
        write_json(self.path / "experiment.json", experiment)
        write_json(self.path / "plan.json", plan)
        write_manifest(self.path)

    def test_foreign_factors(self):
        """a run that varies something else than depth still gets its tables and figures"""

        def widen(result, client):
            result["cell"]["response_bytes"] = {1: 64, 8: 1024, 32: 16384}[
                result["cell"].pop("depth")
            ]

        write_result(self.path, widen)
        self.vary(
            {
                "stack": list(STACKS),
                "delivery": list(DELIVERIES),
                "response_bytes": [64, 1024, 16384],
            }
        )
        done = report_here(self.path, figures=[rates.draw, latency.draw])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.path / "figures" / "rps-by-response-bytes.svg").exists())
        self.assertIn("response bytes 1024 against response bytes 64", self.text())
        self.assertIn("\nResponse bytes 1024. From the merged", self.text())

    def test_no_factors(self):
        """a run of one cell gets its table and its execution order"""

        def same(result, client):
            result["cell"] = {"stack": "epoll@loopback", "depth": 8}
            result["variant"] = "epoll@loopback"

        write_result(self.path, same, runs=1)
        self.vary({})
        done = report_here(self.path, figures=catalogue.FIGURES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            {file.stem for file in (self.path / "figures").glob("*.svg")},
            {"latency", "latency-shares", "latency-response", "execution-order"},
        )
