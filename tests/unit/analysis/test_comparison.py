"""The page on variants side by side: a comparison whose numbers are known gives the table and the
facts that were worked out by hand."""

import json
import re
import tempfile
import unittest
from pathlib import Path

from analysis.judgement import caveats
from analysis.judgement.gate import NONE, Gate
from analysis.judgement.study import Study, study
from analysis.pages import comparison, comparison_csv, course, gate, terminal
from analysis.pages.headline import headline
from analysis.inputs.load import load_result
from result_fixture import COMMITS, write_json, write_result
from variants_fixture import block, invalidate, loaded, studied

# Worked out from the fixture's MEDIANS: 98/100, 51/50, 78/80, 400/400; 10.2/10, 19/20, 1, 2.6/2.5.
TABLE = [
    ["respond-64", "100,000", "98,000", "0.980", "10.000", "10.200", "1.020", "5/5 + 5/5", "within"],
    ["respond-10k", "50,000", "51,000", "1.020", "20.000", "19.000", "0.950", "5/5 + 5/5", "within"],
    [
        *("echo-256", "80,000", "78,000", "0.975", "12.500", "12.500", "1.000", "5/5 + 5/5"),
        "beyond (requests/s)",
    ],
    [
        *("coalesced-8", "400,000", "400,000", "1.000", "2.500", "2.600", "1.040", "5/5 + 5/5"),
        "beyond (CPU)",
    ],
]


class Known(unittest.TestCase):
    """The fixture as it is."""

    @classmethod
    def setUpClass(cls):
        cls.study = studied()
        cls.blocks = comparison.blocks(cls.study)
        cls.text = terminal.text_bytes(cls.study).decode()

    def test_table(self):
        """the table has the medians, ratios and verdicts that were worked out by hand"""
        table = block(self.blocks, "new against base").table
        self.assertEqual(table.rows, TABLE)
        self.assertEqual(
            table.titles,
            [
                *("scenario", "base req/s", "new req/s", "new / base"),
                *("cpu_us base", "cpu_us new", "cpu new / base", "n", "usual bounds"),
            ],
        )

    def test_headline(self):
        """where no gate was asked for the headline says nothing of one"""
        first, second = headline(self.study)
        self.assertEqual(second, "It rests on 40 valid samples of 40.")
        self.assertNotRegex(first, "gate|bounds")
        self.assertNotRegex(self.text, r"gate (holds|passes|fails)")

    def test_once(self):
        """what the parts of verdicts and gate say, those of the comparison do not say again"""
        titles = [part.title for part in self.blocks]
        self.assertEqual(len(titles), len(set(titles)))
        self.assertFalse({"Gate", "Verdict", "Verdicts", "Usual bounds"} & set(titles))
        self.assertEqual(self.text.count("Requests per second at least 0.98"), 1)

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
            "Requests per second at least 0.98 of the base's and the server's CPU per request at"
            " most 1.02",
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


class Memory(unittest.TestCase):
    """Peaks that both sides have, or not."""

    def peaks(self, change):
        """The lines on memory of a comparison with this change."""
        return block(comparison.blocks(studied(change)), "Peak resident memory of the server").lines

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


class Variants(unittest.TestCase):
    """How many there are."""

    def test_no_valid_sample(self):
        """without a valid sample there is no verdict, and the reason stands in its place"""
        of = studied(invalidate("echo-256", "new"))
        text = gate.sentence(of)
        self.assertIn("undecided in 1 (echo-256: n/a (echo-256.new: no valid sample))", text)
        row = block(comparison.blocks(of), "new against base").table.rows[2]
        self.assertEqual(row[2:7], ["n/a", "n/a", "12.500", "n/a", "n/a"])
        self.assertEqual(row[8], "n/a (echo-256.new: no valid sample)")
        self.assertNotRegex(terminal.text_bytes(of).decode(), r"\b(nan|inf|None)\b")

    def test_three_variants(self):
        """each further variant is judged against the first, in a table of its own"""
        of = studied(variants={"base": {}, "new": {}, "spin": {"set": {"wait": "spin"}}})
        self.assertEqual([pair.name for pair in of.pairs], ["new"] * 4 + ["spin"] * 4)
        self.assertEqual({pair.base_name for pair in of.pairs}, {"base"})
        blocks = comparison.blocks(of)
        self.assertEqual(len(block(blocks, "spin against base").table.rows), 4)
        self.assertEqual(gate.sentence(of).count(" against base: "), 2)
        lines = block(blocks, "Variants").lines
        self.assertIn("spin: asked for: set wait spin; the runner's own program;", lines[2])
        self.assertNotIn("wait (how the server", block(blocks, "Configuration").lines[0])

    def test_one_variant(self):
        """one variant alone is compared with nothing, and gets no table"""
        of = studied(variants={"base": {}})
        self.assertEqual(comparison.blocks(of), [])
        self.assertIsNone(comparison_csv.csv_bytes(of))

    def test_without_variants(self):
        """a run without variants has none of it"""
        with tempfile.TemporaryDirectory() as folder:
            of = study(load_result(write_result(Path(folder) / "run", runs=1)))
        self.assertEqual(comparison.blocks(of) + course.blocks(of), [])
        self.assertNotIn("new against", terminal.text_bytes(of).decode())

    def test_no_gate(self):
        """where the experiment wants no gate none stands in the table, and the verdict says so"""
        of = studied(asked=Gate(NONE))
        table = block(comparison.blocks(of), "new against base").table
        self.assertEqual({row[-1] for row in table.rows}, {"none"})
        self.assertEqual(gate.sentence(of), "new against base: no gate is judged")


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
