"""Two results, and two files of Google Benchmark, beside each other: what is matched, what is
refused, which word and which exit status follow."""

import csv
import io
import json
import math
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from scipy import stats

from analysis import compare
from analysis.figures import across as figures
from compare_fixture import CELLS, said, undrawn, write_at, write_benchmarks
from result_fixture import all_cells, edit_json, write_json, write_manifest


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def compare(self, *arguments):
        return said(compare.main, *arguments)

    def rows(self, folder):
        with open(folder / "compare.csv", newline="") as file:
            return list(csv.DictReader(file))


class Results(Folder):
    def setUp(self):
        super().setUp()
        if "figures" not in (self.shortDescription() or ""):
            undrawn(self, figures)
        self.base = write_at(self.root / "base", 1)
        self.out = self.root / "base-vs-new.compare"

    def test_better(self):
        """rates that all rose by a half are better, as is CPU, and Welch's interval is scipy's"""
        new = write_at(self.root / "new", 2, 1.5)
        status, text = self.compare(self.base, new)
        self.assertEqual(status, 0, text)
        rows = self.rows(self.out)
        self.assertEqual([row["verdict"] for row in rows], ["better"] * 4)
        self.assertEqual({row["judged"] for row in rows}, {"4"})
        self.assertAlmostEqual(float(rows[0]["ratio"]), 1.5, places=9)
        self.assertLess(float(rows[0]["low"]), 1.5)
        self.assertIn("requests/s in 2 cells: 2 better.", text)

    def test_not_paired(self):
        """runs of two results are no pairs, though they have the same numbers"""
        new = write_at(self.root / "new", 2, 1.5)
        self.compare(self.base, new)
        row = self.rows(self.out)[0]
        rates = [json.loads(line) for line in (self.base / "results.jsonl").read_text().splitlines()]
        logs = [
            math.log(one["effective_rps"])
            for one in rates
            if one["cell"]["delivery"] == "immediate"
        ]
        p = stats.ttest_ind([one + math.log(1.5) for one in logs], logs, equal_var=False).pvalue
        self.assertAlmostEqual(float(row["p"]) / p, 1, places=6)

    def test_gate(self):
        """the exit status is the gate's: a fifth less fails, by medians and by intervals"""
        new = write_at(self.root / "new", 2, 0.8)
        for kind in ("point", "interval", "category"):
            with self.subTest(kind=kind):
                status, text = self.compare(self.base, new, "--gate", kind)
                self.assertEqual((status, f"Gate ({kind}): fail" in text), (1, True), text)
        self.assertEqual(self.compare(self.base, new)[0], 0)

    def test_refused(self):
        """another kernel is refused with both names, and forced it stamps every page and all figures"""
        new = write_at(self.root / "new", 2, host={"kernel": "6.9.9"})
        status, text = self.compare(self.base, new)
        self.assertEqual(status, 4)
        self.assertIn("6.1.0 against 6.9.9", text)
        self.assertFalse(self.out.exists())
        status, text = self.compare(self.base, new, "--force")
        self.assertEqual(status, 0, text)
        for name in ("compare.md", "compare.html", "compare.txt", "figures/ratios-rps.svg"):
            self.assertIn("not comparable", (self.out / name).read_text().replace("\n", " "), name)
        self.assertTrue(all("not comparable" in row["forced"] for row in self.rows(self.out)))

    def test_itself(self):
        """a result beside itself or its copy is refused: evidence counts once"""
        for new in (self.base, write_at(self.root / "copy", 1)):
            status, text = self.compare(self.base, new, "--gate", "interval", "--force")
            self.assertEqual(status, 4)
            self.assertIn("or a copy", text)

    def test_one_program(self):
        """that both sides are one program is the first line said, then that the times differ"""
        status, text = self.compare(self.base, write_at(self.root / "new", 2))
        first, second = text.splitlines()[:2]
        self.assertEqual(
            first, "Both sides are one program: what differs is the host and the time."
        )
        self.assertIn("Measured at different times", second)
        build = {"program_sha256": "d" * 64, "client": {"program_sha256": "c" * 64}}
        edit_json(self.base / "build.json", client=build["client"])
        write_manifest(self.base)
        new = write_at(self.root / "other", 3)
        edit_json(new / "build.json", **build)
        write_manifest(new)
        status, text = self.compare(self.base, new)
        self.assertEqual(status, 0, text)
        self.assertNotIn("one program", text)

    def test_window(self):
        """another warm-up or window is told on the page and in the answer"""
        new = write_at(self.root / "new", 2)
        plan = json.loads((new / "plan.json").read_text())
        plan["effective"]["duration"] = "10ms"
        write_json(new / "plan.json", plan)
        write_manifest(new)
        self.assertIn("Another duration: base 2s, new 10ms.", self.compare(self.base, new)[1])
        self.assertIn("another duration", (self.out / "compare.html").read_text().lower())

    def test_why(self):
        """a gate that does not pass says on stderr which place is why"""
        new = write_at(self.root / "new", 2, 0.8)
        err = io.StringIO()
        with redirect_stderr(err), redirect_stdout(io.StringIO()):
            compare.main([str(self.base), str(new), "--gate", "point"])
        self.assertIn("gate fail: ", err.getvalue())
        self.assertIn("fail (requests/s and CPU)", err.getvalue())

    def test_not_forced(self):
        """--force stamps nothing where nothing was refused"""
        new = write_at(self.root / "new", 2)
        self.assertEqual(self.compare(self.base, new, "--force")[0], 0)
        self.assertNotIn("Forced", (self.out / "compare.html").read_text())

    def test_caveat(self):
        """each page says that the two were measured at different times, and when"""
        self.compare(self.base, write_at(self.root / "new", 2))
        for name in ("compare.md", "compare.html", "compare.txt"):
            text = (self.out / name).read_text()
            self.assertIn("a slow phase of the host is in the ratio and not in the interval", text)
            self.assertIn("first sample 2026-01-01T00:00:00Z", text)
            self.assertIn("first sample 2026-01-02T00:00:00Z", text)

    def test_unmatched(self):
        """a cell of one side alone is named with its side"""
        cells = [CELLS[0], all_cells()[3] | {"depth": 32}]
        self.compare(self.base, write_at(self.root / "new", 2, cells=cells))
        text = (self.out / "compare.txt").read_text()
        self.assertIn("base: epoll@loopback.coalesce.d8: the other has no", text)
        self.assertIn("new: epoll@loopback.coalesce.d32: the other has no", text)
        self.assertEqual(len(self.rows(self.out)), 2)

    def test_gate_passes_over_nothing(self):
        """a place that one side alone has leaves the gate undecided, whichever side it is"""
        less = write_at(self.root / "less", 2, cells=CELLS[:1])
        for base, new in ((self.base, less), (less, self.base)):
            status, text = self.compare(base, new, "--gate", "category")
            self.assertEqual((status, "Gate (category): undecided" in text), (2, True), text)

    def test_nothing_matches(self):
        """two results without one cell in common are refused"""
        cells = [cell | {"connections": 1} for cell in CELLS]
        status, text = self.compare(self.base, write_at(self.root / "new", 2, cells=cells))
        self.assertEqual(status, 4)
        self.assertIn("no cell", text)

    def test_older(self):
        """a result without the files and settings of later versions compares, and what it does not
        state is named"""
        cells = [cell | {"memory_order": "any"} for cell in CELLS]
        new = write_at(self.root / "new", 2, cells=cells)
        (self.base / "manifest.json").unlink()
        status, text = self.compare(self.base, new)
        self.assertEqual(status, 0, text)
        self.assertIn("not compared: memory_order", (self.out / "compare.txt").read_text())

    def test_one_side_states(self):
        """a path or a client that only one side states is refused, whichever side it is"""
        for setting, value, words in (
            ("tls", True, "TLS: n/a (not recorded) against on"),
            ("client_wait", "block", "Client wait: n/a (not recorded) against block"),
        ):
            bare = [{key: one[key] for key in one if key != setting} for one in CELLS]
            sides = [
                write_at(self.root / f"{setting}-{place}", place + 1, cells=cells)
                for place, cells in enumerate((bare, [one | {setting: value} for one in bare]))
            ]
            status, text = self.compare(*sides)
            self.assertEqual(status, 4, text)
            self.assertIn(words, text)
            self.assertEqual(self.compare(*reversed(sides))[0], 4)
            self.assertEqual(self.compare(*sides, "--force")[0], 0)

    def test_one_invalid(self):
        """a result without a valid sample gives pages and 3"""
        new = write_at(self.root / "new", 2, runs=1)
        lines = []
        for line in (new / "results.jsonl").read_text().splitlines():
            table = json.loads(line) | {"valid": False, "invalid_reasons": ["short"]}
            lines.append(json.dumps(table) + "\n")
            (folder,) = (new / "samples").glob(table["sample_id"] + "-*")
            write_json(folder / "result.json", table)
        (new / "results.jsonl").write_text("".join(lines))
        write_manifest(new)
        status, text = self.compare(self.base, new)
        self.assertEqual(status, 3, text)
        self.assertTrue((self.out / "compare.html").exists())

    def test_same_bytes(self):
        """the same two results give the same bytes, over what is there"""
        new = write_at(self.root / "new", 2)
        contents = []
        for _ in range(2):
            self.assertEqual(self.compare(self.base, new)[0], 0)
            files = sorted(path for path in self.out.rglob("*") if path.is_file())
            contents.append({path: path.read_bytes() for path in files})
        self.assertEqual(*contents)

    def test_folder_of_another(self):
        """a folder with other files is refused and left as it is"""
        new = write_at(self.root / "new", 2)
        for name in ("mine.txt", "manifest.json"):
            out = self.root / f"of-{name}"
            out.mkdir()
            (out / name).write_text("{}")
            status, text = self.compare(self.base, new, "--output", out)
            self.assertEqual(status, 4, text)
            self.assertEqual([path.name for path in out.iterdir()], [name])
        self.assertEqual(self.compare(self.base, new, "--output", new)[0], 4)
        self.assertFalse((new / "compare.md").exists())

    def test_bad_input(self):
        """a file beside a directory, a missing one and an unknown gate are refused"""
        new = write_at(self.root / "new", 2)
        edit_json(new / "host.json", kernel="6.1.1")
        for arguments, words in (
            ((self.base, new / "host.json"), "two files"),
            ((self.base, self.root / "no"), "is not a directory"),
            ((self.base, new), "sha256 differs"),
            ((self.base, new, "--gate", "luck"), "invalid choice"),
        ):
            status, text = self.compare(*arguments)
            self.assertEqual(status, 4, text)
            self.assertIn(words, text)


class Benchmarks(Folder):
    BASE = {"BM_Other": [100.0, 101, 102] * 3, "BM_FrameCodec": [10.0, 10.1, 10.2] * 3}

    def files(self, new, **context):
        base = write_benchmarks(self.root / "base.json", self.BASE)
        return base, write_benchmarks(self.root / "new.json", new, **context)

    def test_by_name(self):
        """benchmarks are matched by name, whatever their order, and each that has none is named"""
        new = {"BM_FrameCodec": self.BASE["BM_FrameCodec"], "BM_New": [1.0]}
        status, text = self.compare(*self.files(new))
        self.assertEqual(status, 2, text)
        out = self.root / "base-vs-new.compare"
        rows = self.rows(out)
        self.assertEqual({(row["benchmark"], row["change"]) for row in rows}, {("BM_FrameCodec", "0")})
        self.assertIn("base: BM_Other: the other file has none", (out / "compare.txt").read_text())

    def test_category(self):
        """12 % is too much for a frame codec and not for others; the exit status says so"""
        slow = {name: [value * 1.12 for value in times] for name, times in self.BASE.items()}
        status, text = self.compare(*self.files(slow))
        self.assertEqual(status, 1, text)
        rows = self.rows(self.root / "base-vs-new.compare")
        words = {(row["benchmark"], row["time"]): row["gate"] for row in rows}
        self.assertEqual(words[("BM_Other", "real")], "pass")
        self.assertEqual(words[("BM_FrameCodec", "real")], "fail")

    def test_unknown(self):
        """a benchmark of the base with a repetition that took no time is not judged, which is 2"""
        new = self.BASE | {"BM_Other": [0.0, *self.BASE["BM_Other"][1:]]}
        self.assertEqual(self.compare(*self.files(new))[0], 2)
        more = self.BASE | {"BM_More": [1.0]}
        self.assertEqual(self.compare(*self.files(more))[0], 0)

    def test_absolute_floor(self):
        """a change of less than half a nanosecond fails nothing, however large its share"""
        base = write_benchmarks(self.root / "base.json", {"BM_A": [1.0]})
        new = write_benchmarks(self.root / "new.json", {"BM_A": [1.4]})
        self.assertEqual(self.compare(base, new)[0], 0)

    def test_ranks(self):
        """nine repetitions have a Mann-Whitney p, eight have none and say why"""
        slow = {name: [value * 1.01 for value in times] for name, times in self.BASE.items()}
        slow["BM_Other"] = slow["BM_Other"][:8]
        self.compare(*self.files(slow))
        rows = {row["benchmark"]: row for row in self.rows(self.root / "base-vs-new.compare")}
        p = stats.mannwhitneyu(
            slow["BM_FrameCodec"], self.BASE["BM_FrameCodec"], method="asymptotic"
        ).pvalue
        self.assertAlmostEqual(float(rows["BM_FrameCodec"]["p"]), p)
        self.assertEqual(rows["BM_Other"]["p"], "")

    def test_aggregates_only(self):
        """a file that kept aggregates only is compared by its medians, in its unit, without a p"""
        base, new = self.files(self.BASE)
        for path, median in ((base, 2.0), (new, 3.0)):
            rows = [
                {
                    "name": f"BM_A_{name}",
                    "run_name": "BM_A",
                    "run_type": "aggregate",
                    "aggregate_name": name,
                    "repetitions": 9,
                    "real_time": value,
                    "cpu_time": value,
                    "time_unit": "us",
                }
                for name, value in (("mean", 50.0), ("median", median), ("stddev", 0.1))
            ]
            edit_json(path, benchmarks=rows)
        self.assertEqual(self.compare(base, new)[0], 1)
        row = self.rows(self.root / "base-vs-new.compare")[0]
        self.assertEqual((row["base_ns"], row["new_ns"], row["p"]), ("2000", "3000", ""))

    def test_failed(self):
        """a benchmark that the new side could not run fails the gate, by name"""
        base, new = self.files(self.BASE)
        table = json.loads(new.read_text())
        for row in table["benchmarks"]:
            if row["name"] == "BM_Other":
                row.update(error_occurred=True, error_message="no device")
        new.write_text(json.dumps(table))
        status, text = self.compare(base, new)
        self.assertEqual(status, 1, text)
        self.assertIn("no device", (self.root / "base-vs-new.compare/compare.txt").read_text())

    def test_refused(self):
        """another host or build type is refused, unless forced, which stamps the page"""
        base, new = self.files(self.BASE, host_name="other", library_build_type="debug")
        status, text = self.compare(base, new)
        self.assertEqual(status, 4)
        self.assertIn("bench against other", text)
        self.assertEqual(self.compare(base, new, "--force")[0], 0)
        self.assertIn("Forced", (self.root / "base-vs-new.compare/compare.html").read_text())

    def test_foreign(self):
        """what is not Google Benchmark's JSON, of another version or with a bad row is refused"""
        base, new = self.files(self.BASE)
        row = {"name": "A", "real_time": 1, "cpu_time": 1}
        for table, words in (
            ({}, "is not Google Benchmark's"),
            ([], "is not a JSON object"),
            ({"context": {"json_schema_version": 9}, "benchmarks": [row]}, "json_schema_version"),
            ({"context": {}, "benchmarks": []}, "no benchmark"),
            ({"context": {}, "benchmarks": [1]}, "has no name"),
            ({"context": {}, "benchmarks": [row | {"time_unit": "y"}]}, "time_unit"),
            ({"context": {}, "benchmarks": [row | {"time_unit": []}]}, "time_unit"),
            ({"context": {}, "benchmarks": [row | {"cpu_time": "1"}]}, "cpu_time"),
            ({"context": {}, "benchmarks": [row | {"real_time": -1}]}, "real_time"),
            ({"context": {}, "benchmarks": [row | {"real_time": 1e308}]}, "beyond measure"),
            ({"context": {}, "benchmarks": [row | {"cpu_time": 5e-324}]}, "beyond measure"),
            ({"context": {}, "benchmarks": [row | {"cpu_time": 1e308, "time_unit": "s"}]}, "beyond"),
            (
                {"context": {}, "benchmarks": [row | {"family_index": at} for at in (0, 1)]},
                "names 2 benchmarks",
            ),
        ):
            write_json(new, table)
            with self.subTest(words=words):
                status, text = self.compare(base, new)
                self.assertEqual(status, 4, text)
                self.assertIn(words, text)

    def test_odd_aggregate(self):
        """an aggregate whose name is no text stands for nothing"""
        base, new = self.files(self.BASE)
        table = json.loads(new.read_text())
        for name in ({}, [], 7):
            odd = {"name": "BM_Odd", "run_type": "aggregate", "aggregate_name": name}
            write_json(new, table | {"benchmarks": [*table["benchmarks"], odd]})
            with self.subTest(name=name):
                status, text = self.compare(base, new)
                self.assertEqual(status, 0, text)

    def test_usage(self):
        """gates over boots and a calibration are refused for benchmarks"""
        base, new = self.files(self.BASE)
        self.assertEqual(self.compare(base, new, "--gate", "interval")[0], 4)
        self.assertEqual(self.compare(base, new, "--calibration", new)[0], 4)
