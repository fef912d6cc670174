"""Variants side by side: a comparison whose numbers are known gives the table, the gate and the
facts that were worked out by hand."""

import csv
import io
import json
import re
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

from analysis.cells import pairing
from analysis.figures import catalogue
from analysis.figures import style
from analysis.judgement import caveats
from analysis.judgement.study import Study
from analysis.pages import cells_csv
from analysis.pages import comparison
from analysis.pages import comparison_csv
from analysis.pages import course
from analysis.pages import method
from analysis.pages import terminal
from analysis.cells.aggregate import aggregate
from analysis.pages.headline import headline
from analysis.inputs.load import load_result
from analysis.report import main, outputs
from result_fixture import COMMITS, SCENARIOS, edit_json, write_json, write_result, write_variants

ROOT = Path(__file__).resolve().parents[3]

# Worked out from the fixture's MEDIANS: 98/100, 51/50, 78/80, 400/400; 10.2/10, 19/20, 1, 2.6/2.5.
TABLE = [
    ["respond-64", "100,000", "98,000", "0.980", "10.000", "10.200", "1.020", "5/5 + 5/5", "pass"],
    ["respond-10k", "50,000", "51,000", "1.020", "20.000", "19.000", "0.950", "5/5 + 5/5", "pass"],
    [
        *("echo-256", "80,000", "78,000", "0.975", "12.500", "12.500", "1.000", "5/5 + 5/5"),
        "fail (requests/s)",
    ],
    [
        *("coalesced-8", "400,000", "400,000", "1.000", "2.500", "2.600", "1.040", "5/5 + 5/5"),
        "fail (CPU)",
    ],
]


def loaded(change=None, **options):
    """(Result, Aggregate) of a comparison of variants."""
    with tempfile.TemporaryDirectory() as folder:
        result = load_result(write_variants(Path(folder) / "run", change, **options))
    return result, aggregate(result)


def only(scenario, variant, **values):
    """A change that sets these numbers in the samples of one cell."""

    def change(result, client):
        cell = result["cell"]
        if (cell["scenario"], cell["variant"]) == (scenario, variant):
            for name, value in values.items():
                table = result if name in result else result["server"]
                table[name] = value

    return change


def invalidate(scenario, variant, runs=range(5), failed=None):
    """A change that makes samples of one cell invalid."""

    def change(result, client):
        cell = result["cell"]
        if (cell["scenario"], cell["variant"]) == (scenario, variant) and result["run"] in runs:
            reason = f"wrong-answer ({failed})" if failed else "server died: signal 9"
            result.update(valid=False, invalid_reasons=[reason], failed=failed)

    return change


def block(blocks, title):
    """The one part of this title."""
    (found,) = [one for one in blocks if one.title == title]
    return found


class Known(unittest.TestCase):
    """The fixture as it is."""

    @classmethod
    def setUpClass(cls):
        cls.result, cls.found = loaded()
        cls.blocks = comparison.blocks(Study(cls.result, cls.found))
        cls.pairs = pairing.pairs(cls.found)
        cls.text = terminal.text_bytes(Study(cls.result, cls.found)).decode()

    def test_axes(self):
        """scenarios and variants are factors with their names as levels, in the file's order"""
        self.assertEqual(
            self.found.factors, {"scenario": list(SCENARIOS), "variant": ["base", "new"]}
        )
        names = [f"{scenario}.{side}" for scenario in SCENARIOS for side in ("base", "new")]
        self.assertEqual([cell.variant for cell in self.found.cells], names)

    def test_scenarios_are_not_compared(self):
        """variants are compared within each scenario, and scenarios with nothing"""
        self.assertEqual([one.factor for one in self.found.comparisons], ["variant"] * 4)
        self.assertEqual(
            [one.context for one in self.found.comparisons],
            [{"scenario": name} for name in SCENARIOS],
        )
        self.assertIn(
            "serves less than variant base in 2 of 4 comparisons, down to 0.97 x (in scenario",
            headline(Study(self.result, self.found))[0],
        )

    def test_table(self):
        """the table has the medians, ratios and verdicts that were worked out by hand"""
        table = block(self.blocks, "new against base").table
        self.assertEqual(table.rows, TABLE)
        self.assertEqual(
            table.titles,
            [
                *("scenario", "base req/s", "new req/s", "new / base"),
                *("cpu_us base", "cpu_us new", "cpu new / base", "n", "gate"),
            ],
        )

    def test_verdict(self):
        """verdict and headline count where the gate holds and name where it fails"""
        text = (
            "new against base: the gate holds in 2 of 4 scenarios; it fails in 2 (echo-256: fail"
            " (requests/s), coalesced-8: fail (CPU))."
        )
        self.assertEqual(
            block(self.blocks, "Verdict").lines,
            [text, "Against the run, and so against this, speaks: degraded host."],
        )
        self.assertEqual(headline(Study(self.result, self.found))[1], text[0].upper() + text[1:])

    def test_spread(self):
        """the spread is least, greatest and coefficient of variation of either side"""
        self.assertEqual(
            block(self.blocks, "Spread of the runs, requests/s").lines[0],
            "respond-64: base 99,000 to 101,000 (CV 0.8 %); new 97,020 to 98,980 (CV 0.8 %).",
        )

    def test_outside_the_spread(self):
        """a difference is outside the spread only where the runs' ranges do not meet"""
        lines = block(self.blocks, "What stands out").lines
        self.assertIn(
            "Outside the spread of the runs: requests/s of echo-256, new below base in every run"
            " (77,220 to 78,780 against 79,200 to 80,800).",
            lines,
        )
        self.assertIn(
            "Outside the spread of the runs: peak resident memory of echo-256, new above base in"
            " every run (44.00 to 44.25 against 43.00 to 43.25 MiB).",
            lines,
        )
        self.assertIn(  # 5 of 10 are chosen in 252 ways, of which 2 part the ranges
            "The ranges of 5 + 5 runs that are alike fail to meet by chance once in 126"
            " comparisons; 16 were made here.",
            lines,
        )
        inside = next(line for line in lines if line.startswith("Inside it"))
        self.assertIn("requests/s of respond-10k", inside)
        self.assertIn("CPU per request of echo-256", inside)
        self.assertNotIn("requests/s of echo-256", inside)

    def test_memory(self):
        """peak memory is told in MiB by median and ends, with what the peak is since"""
        lines = block(self.blocks, "Peak resident memory of the server").lines
        self.assertEqual(
            lines[0],
            "respond-64, since measurement start: base median 43.1 MiB (43.0 to 43.2); new median"
            " 44.1 MiB (44.0 to 44.2).",
        )
        self.assertIn("set back when the measured window begins", lines[-1])

    def test_every_fact(self):
        """aggregate.txt has every fact that a comparison of two commits needs, in reading order"""
        facts = [
            "! degraded host: no core is left",
            "\nMachine:\n  bench; synthetic; kernel 6.1.0; governor n/a (no cpufreq)",
            "Pins: server on CPU 0 and client on CPU 1",
            f"base (the base): asked for: commit v0.1; built from commit {COMMITS['base']}, clean;"
            f" program SHA-256 {'a' * 64}; gcc 12.2.0; build type release; C flags -O3.",
            f"new: built from commit {COMMITS['new']}, clean; program SHA-256 {'b' * 64}",
            "Load generator, the same for every variant: the runner's own program; built from"
            f" commit {'0' * 40}, clean; program SHA-256 {'c' * 64}",
            "connections: 64; workers: 1",
            "Scenario respond-10k: handler respond, delivery immediate, depth 1, request_bytes 64,"
            " response_bytes 10240.",
            "Order: rotate, every cell 5 times. Every sample starts its own server",
            "Warm-up 0.5s, measured window 2s; numbers are medians",
            "Run again: ./weir run",
            "\nComparable:\n  With each other only",
            "Answers other than OK: none.",
            "Samples that are not valid: none of 40.",
            "Runs excluded: none",
            "Requests per second at least 0.98 of the base's and the server's CPU per request at"
            " most 1.02",
            "CPU per request is os_cpu_us everywhere: both sides are one kernel stack",
            "new / base",
            "cpu_us base",
            "respond-64: base 99,000 to 101,000 (CV 0.8 %)",
            "p50 µs base",
            "p99 µs new",
            "\nPeak resident memory of the server:\n  respond-64, since measurement start: base"
            " median 43.1 MiB (43.0 to 43.2); new",
            "Every sample has a server of its own",
            "Outside the spread of the runs:",
            "Causes were not looked for.",
            "\nVerdict:\n  new against base: the gate holds in 2 of 4 scenarios",
            "aggregate.csv and variants.csv",
            "Program of base: in the cache of builds, key aaaaaaaa.",
        ]
        at = 0
        for fact in facts:
            place = self.text.find(fact, at)
            self.assertGreaterEqual(place, 0, f"{fact!r} is missing, or stands too early")
            at = place

    def test_table_in_text(self):
        """each row of the table stands on one line of aggregate.txt"""
        lines = [re.sub(r" {2,}", "|", line) for line in self.text.splitlines()]
        for row in TABLE:
            self.assertIn("|".join(row), lines)

    def test_csv(self):
        """variants.csv parses back to the same numbers, and says how they were measured"""
        text = comparison_csv.csv_bytes(self.result, self.found).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["scenario"] for row in rows], list(SCENARIOS))
        for row, pair in zip(rows, self.pairs):
            self.assertNotIn(None, row)
            self.assertAlmostEqual(float(row["rps_ratio"]), pair.rps.ratio.number, places=8)
            self.assertAlmostEqual(float(row["cpu_ratio"]), pair.cpu.ratio.number, places=8)
            self.assertEqual((row["base"], row["new"]), ("base", "new"))
            self.assertEqual((row["rps_bound"], row["cpu_bound"]), ("0.98", "1.02"))
            self.assertEqual((row["n_valid_new"], row["n_new"]), ("5", "5"))
            self.assertEqual((row["order"], row["seed"], row["runs"]), ("rotate", "1", "5"))
            self.assertEqual((row["warmup"], row["duration"]), ("0.5s", "2s"))
            self.assertEqual((row["runs_excluded"], row["requests_failed_new"]), ("0", "0"))
            self.assertEqual(row["git_commit_base"], COMMITS["base"])
            self.assertEqual(row["program_sha256_client"], "c" * 64)
            self.assertEqual(row["rss_peak_since_base"], "measurement start")
            self.assertEqual(row["disqualifiers"], "degraded host")
        halves = [(row["rps_pass"], row["cpu_pass"], row["gate_pass"]) for row in rows]
        self.assertEqual(
            halves,
            [
                ("true", "true", "true"),
                ("true", "true", "true"),
                ("false", "true", "false"),
                ("true", "false", "false"),
            ],
        )
        self.assertEqual([row["rps_apart"] for row in rows], ["-1", "0", "-1", "0"])
        self.assertEqual(float(rows[2]["rps_min_new"]), 78_000 * 0.99)
        self.assertEqual(float(rows[3]["cpu_us_new"]), 2.6)

    def test_cells_csv(self):
        """aggregate.csv has a row a cell with every fact of it; the cell's name keeps its column"""
        text = cells_csv.csv_bytes(self.found).decode()
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
        own = sorted(
            sample.service.percentile_ns(0.99) / 1000 for sample in self.found.cells[1].samples
        )
        told = [float(row[f"sample_p99_us_{of}"]) for of in ("min", "median", "max")]
        self.assertEqual(told, [own[0], own[2], own[4]])

    def test_figures(self):
        """there is a latency figure a scenario, with the variants in colours of their own"""
        drawings = {drawing.name: drawing for drawing in catalogue.draw_all(Study(self.result, self.found), ["single"])}
        wanted = {f"latency-scenario-{name}" for name in SCENARIOS}
        self.assertEqual(set(drawings), wanted | {"ratios-variant", "execution-order"})
        svg = drawings["latency-scenario-echo-256"].svg.decode()
        self.assertTrue(set(style.PALETTE[:2]) <= set(re.findall("#[0-9a-f]{6}", svg)))

    def test_again(self):
        """a variant that was named on the command line is named so again"""
        result = replace(self.result, path=ROOT / "results" / "run")
        self.assertEqual(method.command(result), "./weir run results/run")
        asked = result.experiment | {"variants": {"base": {"commit": "v0.0"}, "new": {}}}
        self.assertEqual(
            method.command(replace(result, experiment=asked)),
            "./weir run results/run --variant base=v0.1",
        )
        planned = result.plan | {"run_id": "0badcafe"}
        again = method.command(replace(result, experiment=asked, plan=planned))
        self.assertEqual(again, "./weir run results/run")  # which repeats the plan itself

    def peaks(self, change):
        """The lines on memory of a comparison with this change."""
        result, found = loaded(change)
        return block(comparison.blocks(Study(result, found)), "Peak resident memory of the server").lines

    def test_earlier_commit(self):
        """beside a server that knows only its peak since the start, that one is compared"""

        def forget(result, client):
            if result["cell"]["variant"] == "base":
                result["server"].update(rss_peak_kib=None, rss_peak_kib_reason="since start alone")

        lines = self.peaks(forget)
        self.assertTrue(
            lines[0].startswith("respond-64, since server start: base median 44.0 MiB (44.0 to"),
            lines[0],
        )
        self.assertEqual(len(lines), 5)
        self.assertIn("connecting and warm-up in it", lines[-1])

    def test_earlier_result(self):
        """a result that has one peak alone has that since the server's start"""
        lines = self.peaks(lambda result, _: result["server"].pop("rss_peak_since_start_kib"))
        self.assertTrue(
            lines[0].startswith("respond-64, since server start: base median 43.1 MiB"), lines[0]
        )

    def test_no_common_peak(self):
        """peaks since different times are not compared"""

        def forget(result, client):
            if result["cell"]["variant"] == "base":
                del result["server"]["rss_peak_since_start_kib"]

        lines = self.peaks(forget)
        self.assertEqual(lines[0], "respond-64: n/a (no peak since the same time on both sides).")
        result, found = loaded(forget)
        lines = block(comparison.blocks(Study(result, found)), "What stands out").lines
        (unknown,) = [line for line in lines if line.startswith("Not known")]
        self.assertIn("peak resident memory of respond-64", unknown)


class Gate(unittest.TestCase):
    """Bounds, meanings, and what is not known."""

    def pair(self, change, scenario="respond-64"):
        """The pair of a scenario in a comparison with this change."""
        return next(
            pair for pair in pairing.pairs(loaded(change)[1]) if pair.place == scenario
        )

    def test_requests_at_the_bound(self):
        """0.98 of the base's requests/s passes, and one request a second less does not"""
        for rate, passed in ((98_000.0, True), (97_999.0, False)):
            pair = self.pair(only("respond-64", "new", effective_rps=rate))
            self.assertEqual((pair.rps.passed, pair.passed), (passed, passed), rate)

    def test_cpu_at_the_bound(self):
        """1.02 of the base's CPU passes, though no binary number is it, and a little more fails"""
        for base in (10.0, 0.3, 7.7):
            for factor, passed in ((1.02, True), (1.02001, False)):

                def change(result, client):
                    if result["cell"]["scenario"] == "respond-64":
                        new = result["cell"]["variant"] == "new"
                        result["server"]["os_cpu_us_per_request"] = base * (factor if new else 1)

                pair = self.pair(change)
                self.assertEqual((pair.cpu.passed, pair.passed), (passed, passed), (base, factor))

    def test_both_fail(self):
        """where both halves fail both are named"""
        pair = self.pair(only("respond-64", "new", effective_rps=1.0, os_cpu_us_per_request=99.0))
        self.assertEqual(pair.gate, "fail (requests/s and CPU)")

    def test_one_kernel_stack(self):
        """the system's CPU is gated only on one kernel stack that waits in one way"""

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
            self.assertAlmostEqual(pair.cpu.ratio.number, 1.02)

    def test_cores(self):
        """where busy time is not known either, the cores held are gated"""

        def change(result, client):
            result["cell"]["wait"] = "spin" if result["cell"]["variant"] == "new" else "block"
            result["server"].update(busy_us_per_request=None, busy_us_per_request_reason="sqpoll")

        pair = self.pair(change)
        self.assertEqual(pair.cpu_column, "core_us_per_request")
        self.assertIn("busy_us_per_request is not known", pair.cpu_why)

    def test_no_valid_sample(self):
        """without a valid sample there is no verdict, and the reason stands in its place"""
        result, found = loaded(invalidate("echo-256", "new"))
        pair = next(pair for pair in pairing.pairs(found) if pair.place == "echo-256")
        self.assertIsNone(pair.passed)
        self.assertEqual(pair.gate, "n/a (echo-256.new: no valid sample)")
        (text,) = comparison.verdict(pairing.pairs(found), "scenario")
        self.assertIn("it is undecided in 1 (echo-256: n/a (echo-256.new: no valid sample))", text)
        row = block(comparison.blocks(Study(result, found)), "new against base").table.rows[2]
        self.assertEqual(row[2:7], ["n/a", "n/a", "12.500", "n/a", "n/a"])
        rows = list(csv.DictReader(io.StringIO(comparison_csv.csv_bytes(result, found).decode())))
        self.assertEqual((rows[2]["gate_pass"], rows[2]["rps_ratio"]), ("", ""))
        self.assertNotRegex(terminal.text_bytes(Study(result, found)).decode(), r"\b(nan|inf|None)\b")

    def test_failing_half_decides(self):
        """a half that fails decides, though the other is not known"""
        nothing = {
            f"{kind}_us_per_request": None for kind in ("os_cpu", "busy", "core")
        }
        pair = self.pair(only("echo-256", "new", **nothing), "echo-256")
        self.assertEqual((pair.cpu.passed, pair.passed), (None, False))
        pair = self.pair(only("respond-10k", "new", **nothing), "respond-10k")
        self.assertIsNone(pair.passed)
        self.assertIn("respond-10k.new: not recorded", pair.gate)

    def test_three_variants(self):
        """each further variant is judged against the first, in a table of its own"""
        three = {"base": {}, "new": {}, "spin": {"set": {"wait": "spin"}}}
        result, found = loaded(variants=three)
        found_pairs = pairing.pairs(found)
        self.assertEqual([pair.name for pair in found_pairs], ["new"] * 4 + ["spin"] * 4)
        self.assertEqual({pair.base_name for pair in found_pairs}, {"base"})
        blocks = comparison.blocks(Study(result, found))
        self.assertEqual(len(block(blocks, "spin against base").table.rows), 4)
        self.assertEqual(len(block(blocks, "Verdict").lines), 3)
        lines = block(blocks, "Variants").lines
        self.assertIn("spin: asked for: set wait spin; the runner's own program;", lines[2])
        self.assertNotIn("wait (how the server", block(blocks, "Configuration").lines[0])

    def test_one_variant(self):
        """one variant alone is compared with nothing, and gets no table"""
        result, found = loaded(variants={"base": {}})
        self.assertEqual(comparison.blocks(Study(result, found)), [])
        self.assertIsNone(comparison_csv.csv_bytes(result, found))

    def test_without_variants(self):
        """a run without variants has none of it"""
        with tempfile.TemporaryDirectory() as folder:
            result = load_result(write_result(Path(folder) / "run", runs=1))
        found = aggregate(result)
        self.assertEqual(comparison.blocks(Study(result, found)) + course.blocks(Study(result, found)), [])
        self.assertNotIn("Verdict", terminal.text_bytes(Study(result, found)).decode())


class Failures(unittest.TestCase):
    def test_listed(self):
        """wrong answers are counted, and samples that are not valid are listed with reasons"""
        result, found = loaded(invalidate("respond-64", "new", runs=[1], failed=3))
        lines = block(comparison.blocks(Study(result, found)), "Failures").lines
        bad = next(sample for sample in result.samples if not sample.valid)
        self.assertEqual(lines[0], f"Answers other than OK: 3 ({bad.sample_id}: 3).")
        self.assertEqual(lines[1], "Samples that are not valid: 1 of 40.")
        self.assertEqual(lines[2], f"  {bad.sample_id} respond-64.new: wrong-answer (3)")
        self.assertEqual(found.cells[1].values["requests_failed"].number, 3)
        self.assertEqual(found.cells[1].n, "4/5")

    def test_cannot_say(self):
        """a sample that cannot say how many failed is told apart from one in which none did"""
        result, found = loaded(invalidate("respond-64", "new", runs=[1]))
        lines = block(comparison.blocks(Study(result, found)), "Failures").lines
        self.assertEqual(lines[0], "Answers other than OK: none; 1 attempt cannot say.")
        value = found.cells[1].values["requests_failed"]
        self.assertEqual((value.number, value.reason), (None, "not recorded in 1 of 5 samples"))

    def test_attempts(self):
        """earlier attempts are counted and listed, and enter no number"""

        def keep(path):
            old = json.loads((path / "samples/s0001-respond-64.new/result.json").read_text())
            old.update(valid=False, invalid_reasons=["client died"], failed=2, effective_rps=9e9)
            write_json(path / "attempts/s0001-respond-64.new.1/result.json", old)
            write_json(path / "attempts/s0001-respond-64.new.2/cut-short.json", {})
            write_json(path / "attempts/resume.1/summary.json", {"samples": 40})

        result, found = loaded(finish=keep)
        clean = loaded()[1]
        self.assertEqual(
            [one.folder for one in result.attempts],
            ["s0001-respond-64.new.1", "s0001-respond-64.new.2"],
        )
        self.assertEqual(found.cells[1].values["attempts_failed"].number, 1)
        for cell, other in zip(found.cells, clean.cells):
            for name, value in cell.values.items():
                if name != "attempts_failed":
                    self.assertEqual(value, other.values[name], name)
        lines = block(comparison.blocks(Study(result, found)), "Failures").lines
        self.assertEqual(lines[0], "Answers other than OK: 2 (s0001-respond-64.new.1: 2).")
        self.assertIn("  s0001-respond-64.new.1: client died", lines)
        self.assertIn("  s0001-respond-64.new.2: it was given up before it had a result", lines)
        whats = [caveat.what for caveat in caveats.disqualifiers(result, found.cells)]
        self.assertEqual(whats, ["degraded host", "measured anew"])


class Course(unittest.TestCase):
    """What a run may leave besides its samples."""

    def run_with(self, finish, change=None):
        result, found = loaded(change, finish=finish)
        lines = course.blocks(Study(result, found))[0].lines
        return lines, {one.what: one.detail for one in caveats.disqualifiers(result, found.cells)}

    def test_plan(self):
        """what the plan left out, what it repeats, and who was busy are all told"""

        def plan(path):
            edit_json(
                path / "plan.json",
                omitted=[{"what": "capacity-36cpu-0kb", "why": "36 workers are too many"}],
                repeats={
                    "result": "first",
                    "manifest_sha256": "abc",
                    "differences": [{"what": "kernel", "was": "6.1", "now": "6.2"}],
                },
                resumed=[
                    {
                        "at": "2026-01-01T00:00:00Z",
                        "from_sample": "s0003",
                        "busy_at_start": {"cpus": 0.02, "disturbed": False, "who": []},
                    }
                ],
                busy_at_start={
                    "cpus": 1.02,
                    "disturbed": True,
                    "who": [{"pid": 71, "name": "python3", "cpus": 1.0}],
                },
            )

        lines, caveats = self.run_with(plan)
        self.assertIn("Left out: capacity-36cpu-0kb (36 workers are too many).", lines)
        self.assertIn("It repeats the plan of first, manifest SHA-256 abc.", lines)
        self.assertIn("Otherwise than then: kernel was 6.1, now 6.2.", lines)
        self.assertIn(
            "It was gone on with at 2026-01-01T00:00:00Z from sample s0003; others used 0.02 CPUs"
            " then.",
            lines,
        )
        self.assertIn("As it began, others used 1.02 CPUs (python3 1.00).", lines)
        self.assertEqual(caveats["busy at the start"], "others used 1.02 CPUs (python3 1.00)")

    def test_drift(self):
        """what changed on the host is told, and what matters of it is a disqualifier"""

        def drift(path):
            changes = [
                {"fact": "governor", "before": "performance", "after": None, "matters": True},
                {"fact": "loadavg", "before": [0, 1, 2], "after": [1, 1, 2], "matters": False},
            ]
            write_json(path / "drift.json", {"drift": changes, "steal_share": 0.0123})

        lines, caveats = self.run_with(drift)
        self.assertIn("Changed on the host: governor from performance to n/a.", lines)
        self.assertIn("Changed on the host: loadavg from 0, 1, 2 to 1, 1, 2.", lines)
        self.assertIn("Stolen of all CPU time meanwhile: 1.23 %.", lines)
        self.assertTrue(caveats["drifting host"].startswith("governor changed"))

    def test_machines(self):
        """a run on several machines tells each, and in what they are not alike"""

        def hosts(path):
            facts = {"hostname": "h1", "kernel": "6.2", "virtualization": {"hypervisor": True}}
            remote = {"name": "lab1", "facts": facts}
            differences = [{"fact": "kernel", "values": {"lab1": "6.2", "lab2": "6.3"}}]
            write_json(
                path / "hosts.json",
                {"server": remote, "clients": [remote], "differences": differences},
            )

        lines, caveats = self.run_with(hosts)
        self.assertIn("The machines differ in kernel: lab1: 6.2; lab2: 6.3.", lines)
        self.assertIn("unlike machines", caveats)
        result, found = loaded(finish=hosts)
        lines = block(comparison.blocks(Study(result, found)), "Machine").lines
        self.assertTrue(lines[0].startswith("runner: bench"))
        told = "lab1: h1; kernel 6.2; virtual machine yes"
        self.assertEqual(lines[1:3], [f"server {told}", f"client {told}"])
        self.assertIn("virtual machine", caveats)
        self.assertIn("the machines of hosts.json", comparison.blocks(Study(result, found))[4].lines[0])

    def test_binding_and_runner(self):
        """how many samples kept their binding, and the most that the runner took, are told"""

        def change(result, client):
            if result["run"] == 0:
                result["binding"] = None
            if result["run"] == 1:
                result["binding"] = {"kept": False}

        lines, _ = self.run_with(None, change)
        self.assertIn("Binding kept in 24 of 40 samples, not kept in 8; 8 cannot say.", lines)
        self.assertIn(
            "The runner itself used at most 0.50 % of one CPU in a measured window.", lines
        )

    def test_parity(self):
        """what servers answered is told, and unlike answers speak against the run"""

        def parity(path):
            servers = [{"variant": "respond-64.base", "digest": "aa"}, {"digest": "aa"}]
            group = {"request": {"handler": "respond"}, "equal": True, "servers": servers}
            before = {"when": "before", "equal": True, "mismatch": None, "groups": [group]}
            after = {"when": "after", "equal": False, "mismatch": "base said aa, new bb"}
            write_json(path / "parity.json", {"before": before, "after": after})

        lines, caveats = self.run_with(parity)
        at = lines.index("Same answers to the same requests, before the first sample: yes.")
        self.assertEqual(lines[at + 1], "  handler: respond: SHA-256 aa from 2 servers")
        self.assertEqual(
            lines[at + 2],
            "Same answers to the same requests, after the last: no, base said aa, new bb.",
        )
        self.assertIn("after the run", caveats["unlike answers"])
        self.assertNotIn("before", caveats["unlike answers"])

    def test_parity_kept(self):
        """answers that stayed the same are told once"""

        def parity(path):
            servers = [{"variant": "respond-64.base", "digest": "aa"}, {"digest": "aa"}]
            group = {"request": {"handler": "respond"}, "equal": True, "servers": servers}
            asked = {"equal": True, "mismatch": None, "groups": [group]}
            write_json(path / "parity.json", {"before": asked, "after": asked})

        lines, _ = self.run_with(parity)
        told = "Same answers to the same requests, after the last: yes, and the same as before."
        self.assertIn(told, lines)
        self.assertEqual(sum("SHA-256 aa" in line for line in lines), 1)

    def test_parity_unknown(self):
        """where a server could not be asked it is not said that the answers were alike"""

        def parity(path):
            before = {"equal": None, "equal_reason": "a server could not be asked", "groups": []}
            write_json(path / "parity.json", {"before": before})

        lines, caveats = self.run_with(parity)
        self.assertIn("n/a (a server could not be asked).", " ".join(lines))
        self.assertNotIn("unlike answers", caveats)

    def test_profile(self):
        """scenarios that a profile made are named by the cells, with what they differ in"""

        def profile(path):
            experiment = json.loads((path / "experiment.json").read_text())
            del experiment["scenarios"]
            cells = [f"{name}.{side}" for name in reversed(SCENARIOS) for side in ("base", "new")]
            effective = experiment | {"profiles": ["pooled"]}
            edit_json(path / "plan.json", effective=effective, variants=cells)

        result, found = loaded(finish=profile)
        self.assertEqual(found.factors["scenario"], list(reversed(SCENARIOS)))
        self.assertEqual(
            method.scenarios(result)[-1],
            "Scenario respond-64: handler respond, delivery immediate, depth 1, request_bytes 64,"
            " response_bytes 64.",
        )
        self.assertNotIn("depth:", method.fixed(result))

    def test_busy_runner(self):
        """a runner that takes more than a hundredth of a CPU speaks against the run"""

        def change(result, client):
            result["runner_cpu_share"] = 0.01 if result["order_index"] else 0.012

        _, caveats = self.run_with(None, change)
        self.assertEqual(
            caveats["busy runner"],
            "in 1 of 40 valid samples the runner itself took more than 1% of a CPU, 1.2% at most",
        )

    def test_notes_and_counters(self):
        """notes on samples are listed, and what the device counted is told by median"""

        def change(result, client):
            result["notes"] = ["the wall clock was set"] if result["order_index"] == 3 else []
            if result["cell"]["variant"] == "new" and result["run"]:
                result["server"]["details"] = {"xstat_rx_errors": result["run"], "copies": 7}

        result, found = loaded(change)
        blocks = {one.title: one for one in course.blocks(Study(result, found))}
        notes = blocks["What speaks against single samples without making them invalid"].lines
        self.assertEqual(len(notes), 1)
        self.assertRegex(notes[0], r"^s0003 \S+: the wall clock was set$")
        rows = blocks["Counters of the device, lower median over samples"].table.rows
        self.assertEqual(rows, [[f"{name}.new", "rx_errors", "2"] for name in SCENARIOS])

    def test_notes_alike(self):
        """notes of many samples that differ in numbers alone are one line, with the numbers' ends"""

        def change(result, client):
            share = 0.11 + result["order_index"] / 100
            result["notes"] = [f"other processes took {share:.2f} of a CPU on 2 CPUs"]

        result, found = loaded(change)
        blocks = {one.title: one for one in course.blocks(Study(result, found))}
        self.assertEqual(
            blocks["What speaks against single samples without making them invalid"].lines,
            ["40 of 40 valid samples: other processes took 0.11 to 0.50 of a CPU on 2 CPUs"],
        )

    def test_dirty_variant(self):
        """a variant's build that is not fit speaks against the run, by the variant's name"""

        def dirty(path):
            build = json.loads((path / "build.json").read_text())
            build["variants"]["new"].update(
                git_dirty=True, git_diff_sha256="d" * 64, sanitizers="address"
            )
            write_json(path / "build.json", build)

        result, found = loaded(finish=dirty)
        line = block(comparison.blocks(Study(result, found)), "Variants").lines[1]
        self.assertIn(f"with uncommitted changes; diff SHA-256 {'d' * 64}", line)
        _, caveats = self.run_with(dirty)
        self.assertIn("variant new: address", caveats["sanitizer build"])
        self.assertIn("variant new:", caveats["uncommitted changes"])

    def test_virtual_machine(self):
        """a virtual machine speaks against the run"""
        _, caveats = self.run_with(
            lambda path: edit_json(path / "host.json", virtualization={"hypervisor": True})
        )
        self.assertIn("virtual machine", caveats)


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
        self.assertIn("the gate holds in 2 of 4 scenarios", out.getvalue())
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
