"""Whatever is in a result directory: a report, or a refusal in one line, never a stack trace."""

import json
import os
import random
import shutil
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

from analysis import report
from analysis.figures import catalogue
from analysis.inputs import metrics
from analysis.inputs.documents import Refusal
from analysis.inputs.load import load_result
from analysis.judgement import calibration_file
from compare_fixture import said, undrawn
from result_fixture import cell_of, write_json, write_manifest, write_result, write_small_result

FOLDER = "samples/s0000-epoll@loopback.immediate.d1"
FILES = (
    "experiment.json",
    "plan.json",
    "host.json",
    "build.json",
    f"{FOLDER}/result.json",
    f"{FOLDER}/client.json",
)
# What each value is replaced with.
VALUES = (None, True, -1, 1e308, "", [], {}, 2**63, "$\\x$", "<&\u0000>")
# How many of some 2,000 such changes one run of the test tries; another seed tries others.
TRIED, SEED = 60, 11


def places(value, at=()):
    """Every place in a JSON value, of lists the first two members."""
    yield at
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*at, name))
    if isinstance(value, list):
        for place in range(min(2, len(value))):
            yield from places(value[place], (*at, place))


def changed(value, at, new):
    """A JSON value with another at a place."""
    if not at:
        return new
    whole = json.loads(json.dumps(value))
    inner = whole
    for step in at[:-1]:
        inner = inner[step]
    inner[at[-1]] = new
    return whole


class Bad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.whole = write_small_result(Path(cls.folder.name) / "whole")

    def copy(self):
        path = Path(self.folder.name) / "copy"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.whole, path)
        return path

    def put(self, path, name, value):
        """Writes a JSON file, the list of samples along with a sample's own."""
        write_json(path / name, value)
        if name.endswith("/result.json"):
            (path / "results.jsonl").write_text(json.dumps(value) + "\n")

    def cases(self):
        """(file, place, value) of every change there is, in an order of its own."""
        found = []
        for name in FILES:
            table = json.loads((self.whole / name).read_text())
            found += [(name, at, value) for at in places(table) for value in VALUES]
        random.Random(SEED).shuffle(found)
        return found

    def test_types(self):
        """a value of another type anywhere, with a manifest that fits, is refused or reported"""
        undrawn(self, catalogue)
        statuses = set()
        for name, at, value in self.cases()[:TRIED]:
            path = self.copy()
            table = json.loads((path / name).read_text())
            self.put(path, name, changed(table, at, value))
            write_manifest(path)
            with self.subTest(file=name, at=at, value=value):
                status, text = said(report.main, path)
                self.assertIn(status, range(5))
                if status == 4:
                    self.assertRegex(text, r"^weir report: .+: .+\n$")
                statuses.add(status)
        self.assertEqual(statuses & {0, 4}, {0, 4})

    def test_both_ends(self):
        """cells at both ends of the range of numbers are beyond measure apart; nothing overflows"""
        undrawn(self, catalogue)
        cells = [cell_of("epoll@loopback", way, 1) for way in ("immediate", "coalesce")]
        for runs in (1, 3):
            for of_first, of_second in ((1e308, 1e-3), (1e-308, 1e308)):

                def change(result, client):
                    first = result["cell"]["delivery"] == "immediate"
                    result["effective_rps"] = of_first if first else of_second

                path = Path(self.folder.name) / f"ends-{runs}-{of_first}"
                write_result(path, change, runs=runs, cells=cells)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    status, text = said(report.main, path)
                self.assertEqual(status, 0, text)
                page = (path / "report.md").read_text()
                self.assertIn("the numbers differ beyond measure", page)

    def test_figures(self):
        """texts that a figure's or a page's language has a use for are shown as they are"""
        path = self.copy()
        name = f"{FOLDER}/result.json"
        table = json.loads((path / name).read_text())
        table["cell"]["delivery"] = "$\\frac{<script>$|`"
        self.put(path, name, table)
        write_manifest(path)
        status, text = said(report.main, path)
        self.assertEqual(status, 0, text)
        self.assertNotIn("{<script>", (path / "report.html").read_text())

    def refused(self, words, path=None):
        with self.subTest(words=words), self.assertRaises(Refusal) as caught:
            load_result(path or self.copied)
        self.assertIn(words, str(caught.exception))

    def with_text(self, name, content):
        """A copy with other bytes in a file, listed."""
        self.copied = self.copy()
        (self.copied / name).write_bytes(content)
        write_manifest(self.copied)

    def test_bytes(self):
        """bytes that are no text, no JSON or too deep are refused with the reason"""
        schema = b'{"schema": "weir.host/1", "x": '
        for content, words in (
            (b"", "not JSON"),
            (b"\0\0\0", "not JSON"),
            (b'{"a": "\xff"}', "not UTF-8"),
            (b"\xef\xbb\xbf{}", "JSON"),
            (b"[" * 100_000, "not acceptable JSON"),
            (schema + b"[" * 200 + b"]" * 200 + b"}", "deeper than"),
            (schema + b"1" + b"0" * 5000 + b"}", "not acceptable JSON"),
            (schema + b"1" + b"0" * 30 + b"}", "out of range"),
            (schema + b"-Infinity}", "not a number"),
            (schema + b'"\\ud800"}', "surrogate"),
            (schema + b'1, "x": 1}', "stands twice"),
            (b'{"schema": "weir.host/9"}', "weir.host/9"),
        ):
            self.with_text("host.json", content)
            self.refused(words)

    def test_counts(self):
        """counts below 0, not whole, or that add up beyond measure are refused"""
        name = f"{FOLDER}/client.json"
        table = json.loads((self.whole / name).read_text())
        for pairs in ([[1, -1]], [[1, True]], [[1, 1.5]], [[1, 2**62], [2, 2**62]], [[1]], [[], [1]]):
            self.copied = self.copy()
            table["histogram"]["service"] = pairs
            write_json(self.copied / name, table)
            write_manifest(self.copied)
            self.refused("pairs of whole numbers")

    def test_no_files(self):
        """a folder, a pipe, a loop of links or a link to nowhere in place of a file is refused"""
        for make, words in (
            (lambda path: path.mkdir(), "not a regular file"),
            (os.mkfifo, "not a regular file"),
            (lambda path: path.symlink_to(path.name), "cannot be read"),
            (lambda path: path.symlink_to("nowhere"), "missing"),
        ):
            for name in ("host.json", "plan.json"):
                self.copied = self.copy()
                (self.copied / name).unlink()
                make(self.copied / name)
                self.refused(words)

    def test_unlisted(self):
        """the same where no manifest lists the file"""
        for make in (os.mkfifo, lambda path: path.symlink_to(path.name)):
            self.copied = self.copy()
            (self.copied / "manifest.json").unlink()
            (self.copied / "build.json").unlink()
            make(self.copied / "build.json")
            self.refused("build.json")

    def test_no_metrics(self):
        """a timeline or a calibration, its own or a given one, that is no regular file is refused"""
        for make in (os.mkfifo, lambda path: path.symlink_to("/dev/null")):
            path = self.copy()
            other = path / "pipe"
            make(other)
            with self.assertRaisesRegex(Refusal, "is not a regular file"):
                calibration_file.adopt(load_result(path), other)
            make(path / "calibration.json")
            with self.assertRaisesRegex(Refusal, "calibration.json: is not a regular file"):
                calibration_file.adopt(load_result(path))
            make(path / FOLDER / metrics.FILE)
            (path / "manifest.json").unlink()
            result = load_result(path)
            with self.assertRaisesRegex(Refusal, "metrics.jsonl: is not a regular file"):
                metrics.read(path, result.samples[0])

    def test_neighbour(self):
        """a pipe in place of a neighbour's calibration is passed over"""
        path = self.copy()
        beside = path.parent / "neighbour"
        beside.mkdir()
        self.addCleanup(shutil.rmtree, beside)
        os.mkfifo(beside / "calibration.json")
        self.assertIsNone(calibration_file.adopt(load_result(path)))

    def test_negative(self):
        """a valid sample's server has no number below 0, but for what the host's counters tell"""
        name = f"{FOLDER}/result.json"
        whole = json.loads((self.whole / name).read_text())
        for key, refused in (("os_cpu_us_per_request", True), ("steal_us", False)):
            self.copied = self.copy()
            self.put(self.copied, name, whole | {"server": whole["server"] | {key: -5}})
            write_manifest(self.copied)
            if refused:
                self.refused(f"`server.{key}` is below 0: -5")
            else:
                load_result(self.copied)

    def test_unreadable(self):
        """a file that may not be read is refused with the system's reason"""
        def denied(path, *_, **__):
            raise PermissionError(13, "Permission denied", str(path))

        with mock.patch.object(Path, "read_bytes", denied):
            self.refused("Permission denied", self.copy())

    def test_samples_folder(self):
        """samples that are a file, missing, or there twice are refused"""
        for make, words in (
            (lambda path: path.write_text(""), "cannot be listed"),
            (lambda path: None, "cannot be listed"),
            (lambda path: [(path / f"s0000-{one}").mkdir(parents=True) for one in "ab"], "2 folders"),
        ):
            self.copied = self.copy()
            shutil.rmtree(self.copied / "samples")
            make(self.copied / "samples")
            (self.copied / "manifest.json").unlink()
            self.refused(words)

    def test_twice(self):
        """a sample that stands twice in the list is refused by its name"""
        self.copied = self.copy()
        lines = self.copied / "results.jsonl"
        lines.write_text(lines.read_text() * 2)
        (self.copied / "plan.json").write_text('{"schema": "weir.plan/1"}')
        write_manifest(self.copied)
        self.refused("'s0000' stands twice")

    def test_edited(self):
        """an edited value is refused by its hash; with a manifest that fits, by the other file"""
        path = self.copy()
        name = f"{FOLDER}/result.json"
        text = (path / name).read_text().replace('"failed": 0', '"failed": 1')
        (path / name).write_text(text)
        self.refused("sha256 differs", path)
        write_manifest(path)
        self.refused("one of them was edited", path)
