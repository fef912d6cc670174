"""What an A/A run tells of its host, how that is kept, found again, and printed."""

import io
import json
import math
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from analysis import calibrate, report
from analysis.inputs.documents import Refusal
from analysis.judgement import calibration_file
from analysis.judgement.across import Across
from analysis.judgement.gate import Gate
from analysis.judgement.study import study
from analysis.statistics import power
from gates_fixture import HOST, around, result_of

NOISE = (0, 0.02, -0.02, 0.01, -0.01)
SAME = ("a" * 64, "a" * 64)


def a_a(new=100.0, runs=NOISE, **options):
    """An A/A result with this noise, in memory; `new` is where its second side lies."""
    rates = {"respond": (around(100.0, *runs), around(new, *runs[1:], runs[0]))}
    return result_of(rates, **({"programs": SAME} | options))


class Detection(unittest.TestCase):
    """What is an A/A run, by its programs and settings."""

    def test_same_program(self):
        """one program under two names with the same settings is an A/A run, two programs are not"""
        self.assertIsNone(study(a_a()).no_a_a)
        other = study(a_a(programs=("a", "b")))
        self.assertIn("different programs (program_sha256)", other.no_a_a)
        self.assertIsNone(other.calibration)

    def test_unknown_program(self):
        """a program that nobody recorded is not taken for the same"""
        self.assertIn("not known of every sample", study(a_a(programs=("a", None))).no_a_a)

    def test_no_digest(self):
        """a program_sha256 that is no text is one that nobody recorded"""
        for digest in ({"a": 1}, ["a"], 7):
            self.assertIn("not known", study(a_a(programs=(digest, digest))).no_a_a)

    def test_built(self):
        """where samples do not name their program build.json does, by variant"""
        for digests, same in ((("d", "d"), True), (("d", "e"), False)):
            variants = dict(zip(("base", "new"), ({"program_sha256": one} for one in digests)))
            of = study(a_a(programs=(None, None), build={"variants": variants}))
            self.assertEqual(of.no_a_a is None, same)

    def test_settings(self):
        """one program with different settings is no A/A run, and the setting is named"""
        result = a_a()
        for sample in result.samples:
            sample.cell["wait"] = "spin" if sample.cell["variant"] == "new" else "block"
        self.assertIn("differ in settings: wait", study(result).no_a_a)

    def test_without_variants(self):
        """a run without variants is none"""
        self.assertIn("no two variants", study(result_of({"x": ([1.0, 2.0], [])})).no_a_a)


class Numbers(unittest.TestCase):
    """Spread, and what follows from it."""

    def test_spread(self):
        """spread, blocks and half width are those of the log ratios of the runs"""
        noise = study(a_a()).calibration.cells[0].noise["rps"]
        logs = [math.log((1 + b) / (1 + a)) for a, b in zip(NOISE, NOISE[1:] + NOISE[:1])]
        mean = sum(logs) / 5
        spread = math.sqrt(sum((one - mean) ** 2 for one in logs) / 4)
        self.assertAlmostEqual(noise.spread, spread)
        self.assertEqual(noise.blocks, 5)
        half = 2.7764451 * spread / math.sqrt(5)  # t of 4 degrees of freedom
        self.assertAlmostEqual(noise.half_width(5), math.expm1(half), places=6)
        self.assertEqual(noise.half_width(1), math.inf)
        self.assertAlmostEqual(noise.cv, 0.0158113883)  # of both sides, which are the same numbers

    def test_runs(self):
        """the runs needed find the change in 80 of 100 cases, and one fewer does not"""
        noise = study(a_a()).calibration.overall("rps")
        runs = noise.runs_needed(0.02)
        self.assertGreaterEqual(power.power(noise.spread, runs, 0.02), 0.8)
        self.assertLess(power.power(noise.spread, runs - 1, 0.02), 0.8)
        self.assertIsNone(noise.runs_needed(0))

    def test_medians(self):
        """95 of 100 ratios of medians of many calm runs lie within the half width of medians"""
        noise = study(a_a()).calibration.overall("rps")
        sd = math.sqrt(math.pi / 2) * math.sqrt(math.log1p(noise.cv**2)) * math.sqrt(2 / 9)
        self.assertAlmostEqual(noise.half_width_of_medians(9), math.expm1(1.959964 * sd))

    def test_not_paired(self):
        """what slows whole runs cancels in blocks, so two results have the floor of their spread"""
        phases = (0, 0.1, -0.1, 0.08, -0.09, 0.05, -0.02, 0.03, -0.06)
        calm = [one + 0.001 * (place % 3) for place, one in enumerate(phases)]
        rates = {"respond": (around(100.0, *phases), around(100.0, *calm))}
        adopted = study(result_of(rates, programs=SAME)).calibration
        sides = [study(result_of({"respond": (side, side)})) for side in rates["respond"]]
        of = Across(*sides, Gate("interval"), adopted)
        floor = of.gate.rows[0].rps.floor
        self.assertEqual((of.gate.word, floor.paired, floor.blocks), ("refused", False, 9))
        ratio = of.pairs[0].rps.ratio
        self.assertAlmostEqual(floor.half_width / (ratio.high / ratio.ratio - 1), 1, places=1)
        runs = floor.runs_needed(0.02)
        self.assertLess(replace(floor, blocks=runs).half_width, 0.02)

    def test_kept(self):
        """the runs needed are worked out once for the same noise and room"""
        noise = study(a_a()).calibration.overall("rps")
        noise.runs_needed(0.0123)
        with patch.object(power, "runs_needed", side_effect=AssertionError):
            noise.runs_needed(0.0123)

    def test_overall(self):
        """over all places spreads are joined as roots of mean squares"""
        wide = tuple(2 * one for one in NOISE)
        rates = {
            name: (around(100.0, *runs), around(100.0, *runs[1:], runs[0]))
            for name, runs in (("calm", NOISE), ("wild", wide))
        }
        found = study(result_of(rates, programs=SAME)).calibration
        calm, wild = (cell.noise["rps"].spread for cell in found.cells)
        self.assertAlmostEqual(found.overall("rps").spread, math.hypot(calm, wild) / math.sqrt(2))

    def test_too_few(self):
        """of two runs nothing is known, and the reason stands in its place"""
        found = study(a_a(runs=(0, 0.01))).calibration
        self.assertIsNone(found.overall("rps"))
        self.assertIn("too few blocks", found.cells[0].reasons["rps"])
        self.assertIsNone(json.loads(calibration_file.as_bytes(found))["overall"]["rps"])


class File(unittest.TestCase):
    """calibration.json, and where it is looked for."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def keep(self, name, found):
        """Writes a calibration into a directory beside the others; its path."""
        (self.root / name).mkdir()
        path = self.root / name / calibration_file.NAME
        path.write_bytes(calibration_file.as_bytes(found))
        return path

    def judged(self, name="judged", **options):
        """A result in a directory beside the others."""
        (self.root / name).mkdir(exist_ok=True)
        return a_a(programs=("a", "b"), path=self.root / name, **options)

    def test_round(self):
        """it reads back to what was written, and names host and source"""
        found = study(a_a()).calibration
        path = self.keep("one", found)
        self.assertEqual(calibration_file.read(path), found)
        table = json.loads(path.read_text())
        self.assertEqual((table["schema"], table["host"]), ("weir.calibration/1", HOST))
        self.assertEqual(table["source"]["result"], "synthetic")
        self.assertEqual(set(table["overall"]["rps"]["runs_needed"]), {"0.01", "0.02", "0.05"})

    def test_newest(self):
        """of those beside a result the one of this host that was measured last before its end is
        adopted, by its time and not its text; the first after it where there is none"""
        found = study(a_a()).calibration
        self.keep("z", replace(found, source={"result": "z", "started_at": "2026-01-03T00:00:00Z"}))
        self.keep("y", replace(found, source={"result": "y", "started_at": "2026-01-02T00:00:00Z"}))
        adopted = study(self.judged()).calibration
        self.assertEqual(adopted.source["result"], "y")
        self.assertEqual(calibration_file.age(self.judged(), adopted), "1.0 days after this run")
        for name, when in (("b", "2025-12-31T23:00:00-00:30"), ("c", "2025-12-31T23:10:00Z")):
            source = found.source | {"result": name, "started_at": when}
            self.keep(name, replace(found, source=source))
        late = found.source | {"result": "d", "started_at": "2026-02-01T00:00:00Z"}
        self.keep("d", replace(found, source=late, host=HOST | {"kernel": "6.2.0"}))
        self.keep("e.partial", replace(found, source=late))
        (self.root / "f").mkdir()
        (self.root / "f" / calibration_file.NAME).write_text("{")  # a neighbour's own trouble
        self.assertEqual(study(self.judged()).calibration.source["result"], "b")
        self.assertIsNone(study(self.judged(host=HOST | {"hostname": "other"})).calibration)

    def test_own_first(self):
        """one in the result's own directory goes before newer ones beside it"""
        found = study(a_a()).calibration
        self.keep("judged", replace(found, source={"result": "old"}))
        self.keep("new", found)
        self.assertEqual(study(self.judged()).calibration.source["result"], "old")

    def test_asked(self):
        """one that is asked for by file or directory goes before all, and must be of this host"""
        found = study(a_a()).calibration
        path = self.keep("asked", replace(found, source={"result": "asked"}))
        for asked in (path, path.parent):
            adopted = study(self.judged(), None, asked).calibration
            self.assertEqual(adopted.source["result"], "asked")
        with self.assertRaises(Refusal) as refused:
            study(self.judged(host=HOST | {"kernel": "6.2.0"}), None, path)
        self.assertIn("is of another host than the result (kernel differ)", str(refused.exception))
        with self.assertRaises(Refusal) as refused:
            study(a_a(), None, path)
        self.assertIn("is an A/A run, its own calibration", str(refused.exception))

    def test_bad(self):
        """a file that is no calibration is refused by what is wrong with it"""
        whole = json.loads(calibration_file.as_bytes(study(a_a()).calibration))

        def cell(**values):
            return {"cells": [whole["cells"][0] | values]}

        def rps(**values):
            return cell(rps=whole["cells"][0]["rps"] | values)

        path = self.root / calibration_file.NAME
        for change, says in (
            ({"schema": "weir.calibration/2"}, "its schema is not 'weir.calibration/1'"),
            ({"host": 1}, "`host` is missing or not an object"),
            ({"cells": [1]}, "`cells[0]` is not an object"),
            (cell(place=1), "cells[0]: `place` is missing or not a text"),
            (cell(rps=7), "`cells[0].rps` is not an object"),
            (rps(spread=0), "`cells[0].rps.spread` is not a number above 0"),
            (rps(spread=11), "`cells[0].rps.spread` is not a number above 0, at most 10"),
            (rps(blocks=1), "`cells[0].rps.blocks` is not a whole number from 2"),
            (rps(blocks=True), "`cells[0].rps.blocks` is not a whole number"),
            (rps(cv=-1), "`cells[0].rps.cv` is not a number from 0"),
        ):
            path.write_text(json.dumps(whole | change))
            with self.assertRaises(Refusal) as refused:
                calibration_file.read(path)
            self.assertIn(says, str(refused.exception))
        for text in (b"[]", b"", b"\xff", b"[" * 100_000):
            path.write_bytes(text)
            with self.assertRaises(Refusal):
                calibration_file.read(path)
        with self.assertRaises(Refusal):
            calibration_file.read(self.root / "missing.json")


class Commands(unittest.TestCase):
    """weir calibrate, and what a report keeps and returns."""

    def calibrate(self, result):
        """(exit status, stdout, stderr) of the command on a result in memory."""
        with (
            patch("analysis.calibrate.load_result", return_value=result),
            redirect_stdout(io.StringIO()) as out,
            redirect_stderr(io.StringIO()) as err,
        ):
            return calibrate.main(["synthetic"]), out.getvalue(), err.getvalue()

    def test_printed(self):
        """the floor is printed as a table, with a sentence on what this host can tell"""
        status, out, err = self.calibrate(a_a())
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"With 5 runs of each cell and windows of 1s, this host tells a")
        self.assertRegex(out, r"\nrespond +requests/s +5 +1\.6% +\d\.\d% +\d\.\d%")
        self.assertIn("no verdict tells them apart", out)

    def test_no_a_a(self):
        """what is no A/A result is refused with 4, and says why"""
        status, out, err = self.calibrate(a_a(programs=("a", "b")))
        self.assertEqual((status, out), (4, ""))
        self.assertIn("is no A/A result: the variants of respond are different programs", err)

    def test_false_alarm(self):
        """an A/A run that tells its sides apart is called wrong, loudly, with 1"""
        status, out, _ = self.calibrate(a_a(new=120.0))
        self.assertEqual(status, 1)
        self.assertIn("yet a verdict tells them apart", out)
        self.assertIn("requests/s of respond: better", out)

    def test_unknown(self):
        """too few runs give 2, no valid sample 3"""
        status, out, _ = self.calibrate(a_a(runs=(0, 0.01)))
        self.assertEqual(status, 2)
        self.assertIn("Of requests/s nothing is known", out)
        result = a_a()
        bad = [replace(sample, valid=False, service=None) for sample in result.samples]
        self.assertEqual(self.calibrate(replace(result, samples=bad))[0], 3)

    def test_report_status(self):
        """a report returns its gate's status and says on stderr where the gate does not hold"""
        for new, kind, status, says in (
            (100.0, "none", 0, ""),
            (90.0, None, 0, ""),
            (80.0, "point", 1, "gate fail: respond: fail (requests/s)"),
            (98.0, "interval", 2, "gate undecided: respond: undecided (requests/s)"),
        ):
            of = study(a_a(new=new, programs=("a", "b")), kind)
            with redirect_stderr(io.StringIO()) as err:
                self.assertEqual(report.status(of), status, kind)
            self.assertIn(says, err.getvalue())
        with redirect_stderr(io.StringIO()) as err:
            self.assertEqual(report.status(study(a_a(), "interval")), 4)
        self.assertIn("gate refused: The gate is tighter than the noise floor", err.getvalue())
