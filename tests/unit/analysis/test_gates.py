"""What a gate says of variants whose numbers are known, and what it is worth beside the noise."""

import unittest
from dataclasses import replace

from analysis.inputs.documents import Refusal
from analysis.judgement.gate import CATEGORY, INTERVAL, KINDS, NONE, POINT, Gate, asked, read
from analysis.judgement.gates import TimeChange, category
from analysis.judgement.study import study
from gates_fixture import around, result_of
from variants_fixture import only, studied

CALM = (0, 0.001, -0.001, 0.002, -0.002)


def one(new, base=100.0, gate=None, runs=CALM, **options):
    """The Study of a scenario in which base and new have these numbers, each with its own noise."""
    shifted = runs[1:] + runs[:1]
    rates = {"respond": (around(base, *runs), around(new, *shifted))}
    return study(result_of(rates, gate=gate, **options))


class Point(unittest.TestCase):
    """The usual gate: two medians, their bounds, and what is not known."""

    def row(self, change, scenario="respond-64"):
        """The gate at a scenario of a comparison with this change."""
        rows = studied(change).gate.rows
        return next(row for row in rows if row.pair.place == scenario)

    def test_requests_at_the_bound(self):
        """0.98 of the base's requests/s passes, and one request a second less does not"""
        for rate, passed in ((98_000.0, True), (97_999.0, False)):
            row = self.row(only("respond-64", "new", effective_rps=rate))
            self.assertEqual((row.rps.passed, row.passed), (passed, passed), rate)

    def test_cpu_at_the_bound(self):
        """1.02 of the base's CPU passes, though no binary number is it, and a little more fails"""
        for base in (10.0, 0.3, 7.7):
            for factor, passed in ((1.02, True), (1.02001, False)):

                def change(result, client):
                    if result["cell"]["scenario"] == "respond-64":
                        new = result["cell"]["variant"] == "new"
                        result["server"]["os_cpu_us_per_request"] = base * (factor if new else 1)

                row = self.row(change)
                self.assertEqual((row.cpu.passed, row.passed), (passed, passed), (base, factor))

    def test_both_fail(self):
        """where both halves fail both are named"""
        row = self.row(only("respond-64", "new", effective_rps=1.0, os_cpu_us_per_request=99.0))
        self.assertEqual(row.text, "fail (requests/s and CPU)")

    def test_failing_half_decides(self):
        """a half that fails decides, though the other is not known"""
        nothing = {f"{kind}_us_per_request": None for kind in ("os_cpu", "busy", "core")}
        row = self.row(only("echo-256", "new", **nothing), "echo-256")
        self.assertEqual((row.cpu.passed, row.passed), (None, False))
        row = self.row(only("respond-10k", "new", **nothing), "respond-10k")
        self.assertIsNone(row.passed)
        self.assertIn("respond-10k.new: not recorded", row.text)

    def test_not_stated(self):
        """where nobody asked for a gate the usual one is shown, and the exit status is 0"""
        outcome = one(new=90.0).gate
        self.assertEqual((outcome.word, outcome.exit_status), ("fail", 0))
        self.assertIn("nothing hangs on them", " ".join(outcome.lines))

    def test_status(self):
        """a stated gate that passes gives 0, one that fails 1"""
        for new, word, status in ((99.0, "pass", 0), (90.0, "fail", 1)):
            outcome = one(new, gate={"kind": "point"}).gate
            self.assertEqual((outcome.word, outcome.exit_status), (word, status))

    def test_own_bounds(self):
        """bounds that an experiment states are the ones judged by"""
        outcome = one(90.0, gate={"kind": "point", "rps": 0.85}).gate
        self.assertEqual((outcome.word, outcome.rows[0].rps.bound), ("pass", 0.85))

    def test_none(self):
        """a gate of kind none judges nothing, whatever the numbers"""
        outcome = one(50.0, gate={"kind": "none"}).gate
        self.assertEqual((outcome.word, outcome.rows, outcome.exit_status), ("none", [], 0))
        self.assertEqual(outcome.why, "No gate: nothing is judged.")

    def test_nothing_valid(self):
        """without a valid sample the exit status is 3, whatever the gate"""
        whole = result_of({"respond": ([1.0], [1.0])}, gate={"kind": "point"})
        bad = [replace(sample, valid=False, service=None) for sample in whole.samples]
        self.assertEqual(study(replace(whole, samples=bad)).gate.exit_status, 3)

    def test_nothing_to_judge(self):
        """a gate of a run without two variants is undecided, which is 2, and says why"""
        whole = result_of({"respond": ([1.0, 2.0], [])}, gate={"kind": "point"})
        outcome = study(whole).gate
        self.assertEqual((outcome.word, outcome.exit_status), ("undecided", 2))
        self.assertEqual(outcome.why, "No two variants ran, so there is nothing to judge.")


class NotJudged(unittest.TestCase):
    """Places without a pair, over which no gate passes."""

    CALM = {"echo": ([100.0, 101.0], [100.0, 101.0]), "lost": ([100.0, 101.0], [50.0, 51.0])}

    def judged(self, keep):
        """The outcome of a run of which only these samples are kept, or altered."""
        whole = result_of(self.CALM, gate={"kind": "category"})
        kept = [one for sample in whole.samples for one in [keep(sample)] if one]
        return study(replace(whole, samples=kept)).gate

    def test_missing_cell(self):
        """a place that only one side has is undecided, which is 2, and says which side lacks it"""
        outcome = self.judged(lambda one: one if one.variant != "lost.new" else None)
        self.assertEqual((outcome.word, outcome.exit_status), ("undecided", 2))
        self.assertEqual(outcome.why, "lost: not judged (new has no sample)")
        self.assertIn("Not judged: 1 place (lost: new has no sample)", " ".join(outcome.lines))

    def test_mixed_settings(self):
        """so is one whose runs had different effective settings"""

        def mixed(one):
            waits = one.variant == "lost.new" and one.raw["run"] == 1
            return replace(one, cell=one.cell | {"wait": "spin"}) if waits else one

        outcome = self.judged(mixed)
        self.assertEqual((outcome.word, outcome.exit_status), ("undecided", 2))
        self.assertIn("new ran with 2 sets of effective settings", outcome.why)

    def test_missing_scenario(self):
        """so is a scenario of the experiment that no side has"""
        outcome = self.judged(lambda one: None if one.variant.startswith("lost") else one)
        self.assertEqual((outcome.word, outcome.exit_status), ("undecided", 2))
        self.assertIn("scenario lost: not judged", outcome.why)

    def test_planned(self):
        """so is a cell that the plan names and no sample is of"""
        names = [f"{scenario}.{side}" for scenario in self.CALM for side in ("base", "new")]
        whole = result_of({"echo": self.CALM["echo"]}, gate={"kind": "category"})
        outcome = study(replace(whole, plan={"variants": names})).gate
        self.assertEqual((outcome.word, outcome.exit_status), ("undecided", 2))
        self.assertIn("lost.base: not judged", outcome.why)

    def test_failing(self):
        """a place that fails decides, whatever was not judged"""
        outcome = self.judged(lambda one: None if one.variant == "echo.new" else one)
        self.assertEqual((outcome.word, outcome.exit_status), ("fail", 1))


class Interval(unittest.TestCase):
    """The whole interval on one side of the bound."""

    def judged(self, new, runs=CALM, **options):
        return one(new, gate={"kind": "interval"}, runs=runs, **options).gate

    def test_sides(self):
        """wholly good passes, wholly bad fails, an interval that holds the bound is undecided"""
        for new, word, status in ((99.5, "pass", 0), (96.0, "fail", 1), (98.0, "undecided", 2)):
            outcome = self.judged(new)
            self.assertEqual((outcome.word, outcome.exit_status), (word, status), new)
        self.assertEqual(outcome.rows[0].rps.why, "the interval holds the bound")

    def test_cpu(self):
        """of CPU per request the good side is below the bound"""
        for new, word in ((10.1, "pass"), (10.4, "fail"), (10.2, "undecided")):
            sides = (around(10.0, *CALM), around(new, *CALM[1:], CALM[0]))
            outcome = self.judged(100.0, cpu={"respond": sides})
            self.assertEqual(outcome.rows[0].cpu.word, word, new)

    def test_without_interval(self):
        """one run has no interval, so the gate is undecided"""
        outcome = self.judged(100.0, runs=(0,))
        self.assertEqual(outcome.word, "undecided")
        self.assertIn("no interval", outcome.rows[0].rps.why)

    def test_zero(self):
        """a time of 0 has no ratio: undecided, with the reason, and no exception"""
        sides = (around(10.0, *CALM), [0.0, *around(10.0, *CALM[1:])])
        outcome = self.judged(100.0, cpu={"respond": sides})
        self.assertEqual(outcome.rows[0].cpu.word, "undecided")
        self.assertIn("positive", outcome.rows[0].cpu.why)


class Category(unittest.TestCase):
    """A bound for each kind of work, and floors for times of nanoseconds."""

    def test_thresholds(self):
        """15 % worse passes by default, 10 % where critical, 20 % for an allocator, and no more"""
        for name, threshold in (("default", 0.15), ("critical", 0.10), ("allocator", 0.20)):
            gate = {"kind": "category", "categories": {"respond": name}}
            for loss, word in ((threshold - 0.001, "pass"), (threshold + 0.001, "fail")):
                outcome = one(100 * (1 - loss), gate=gate).gate
                self.assertEqual(outcome.word, word, (name, loss))

    def test_benchmarks(self):
        """a benchmark fails when it takes longer by more than its category's threshold"""
        rows = category(
            [
                TimeChange("codec", 100, 110.5, "critical"),
                TimeChange("codec", 100, 109.5, "critical"),
                TimeChange("pool", 100, 119, "allocator"),
                TimeChange("other", 100, 116),
                TimeChange("faster", 100, 50),
            ]
        )
        self.assertEqual([row.word for row in rows], ["fail", "pass", "pass", "fail", "pass"])
        self.assertEqual(rows[0].why, "+10.5% is worse than the 10% of critical")

    def test_floors(self):
        """a change under the absolute or the relative floor is no change, however it compares"""
        small, large = category([TimeChange("pool", 2.0, 2.49), TimeChange("pool", 2.0, 2.51)])
        self.assertEqual((small.word, large.word), ("pass", "fail"))
        self.assertEqual(small.why, "no change: +0.49 ns is under the floor of 0.5 ns")
        (tiny,) = category([TimeChange("big", 1e6, 1.019e6)], {"default": 0.01})
        self.assertEqual(tiny.why, "no change: +1.9% is under the floor of 2.0%")


class Floor(unittest.TestCase):
    """A gate beside what noise alone does."""

    def a_a(self, *runs):
        """The Calibration of an A/A run with this noise."""
        rates = {"respond": (around(100, *runs), around(100, *runs[1:], runs[0]))}
        return study(result_of(rates, programs=("a", "a"))).calibration

    def judged(self, kind, noise, runs=CALM):
        found = one(99.9, gate={"kind": kind}, runs=runs)
        return replace(found, adopted=self.a_a(*noise)).gate

    def test_refused(self):
        """a gate tighter than the floor is refused with 4, and says how many runs it would need"""
        noise = (0, 0.05, -0.05, 0.03, -0.04, 0.01, -0.02)
        outcome = self.judged("interval", noise)
        self.assertEqual((outcome.word, outcome.exit_status), ("refused", 4))
        floor = outcome.rows[0].rps.floor
        self.assertEqual((floor.blocks, floor.of), (5, "respond"))  # this run's, not the A/A run's
        self.assertRegex(
            outcome.why,
            r"^The gate is tighter than the noise floor in 1 of 2 of what it judges: requests/s of"
            r" respond has 2\.0% of room \(its bound is that far from 1, as a ratio\), and noise alone makes the interval of 5 runs"
            r" reach \d+\.\d% to either side \(calibration of respond\)\. To find so small a change in 80 of 100"
            r" cases, \d+ runs of each cell are needed on this host\.$",
        )
        runs = floor.runs_needed(outcome.rows[0].rps.room)
        self.assertIn(f"cases, {runs} runs", outcome.why)
        self.assertLessEqual(floor.noise.half_width(runs), 0.0205)

    def test_factor(self):
        """a reach of more than a fifth is told as a factor, for no ratio falls by 400 %"""
        outcome = self.judged("interval", (0, 0.9, -0.6, 0.5, -0.7, 0.2, -0.5))
        self.assertRegex(outcome.why, r"5 runs reach a factor of \d\.\d+ either way \(")

    def test_calm(self):
        """on a calm host the same gate is judged"""
        self.assertEqual(self.judged("interval", CALM).word, "pass")
        self.assertEqual(self.judged("point", CALM).word, "pass")

    def test_slow_phases(self):
        """phases that slow whole runs cancel in blocks, so they refuse a gate on medians alone"""
        phases = (0, 0.3, -0.2, 0.1, -0.3)
        rates = {"respond": (around(100, *phases), around(100.1, *(one + 1e-4 for one in phases)))}
        adopted = study(result_of(rates, programs=("a", "a"))).calibration
        for kind, word in (("interval", "pass"), ("point", "refused")):
            judged = replace(one(99.9, gate={"kind": kind}), adopted=adopted).gate
            self.assertEqual(judged.word, word)

    def test_no_calibration(self):
        """without a calibration the run's own spread is told, and refuses nothing"""
        outcome = one(99.9, gate={"kind": "point"}, runs=(0, 0.1, -0.1, 0.2, -0.2)).gate
        floor = outcome.rows[0].rps.floor
        self.assertFalse(floor.calibrated)
        self.assertGreater(floor.half_width, 0.02)
        self.assertNotEqual(outcome.word, "refused")

    def test_other_places(self):
        """a place that the calibration has not seen is judged by all places together"""
        adopted = self.a_a(0, 0.05, -0.05, 0.03, -0.04)
        rates = {"other": (around(100, *CALM), around(100, *CALM[1:], 0))}
        judged = replace(study(result_of(rates, gate={"kind": "interval"})), adopted=adopted).gate
        self.assertEqual(judged.rows[0].rps.floor.of, "all places")
        self.assertEqual(judged.word, "refused")

    def test_other_window(self):
        """the floor of an A/A run with other windows is told, and refuses nothing"""
        adopted = self.a_a(0, 0.05, -0.05, 0.03, -0.04)
        found = one(99.9, gate={"kind": "interval"})
        for duration, word in (("1s", "refused"), ("30s", "pass")):
            other = replace(adopted, settings=adopted.settings | {"duration": duration})
            outcome = replace(found, adopted=other).gate
            self.assertEqual(outcome.word, word)
        self.assertEqual(outcome.rows[0].rps.floor.of, "respond, with other windows")
        self.assertIn("another window (warmup 0.5s, duration 30s)", " ".join(outcome.lines))

    def test_meaning_of_cpu(self):
        """noise of another meaning of CPU is no floor"""
        adopted = self.a_a(0, 0.05, -0.05, 0.03, -0.04)
        cells = [replace(cell, cpu_is="busy_us_per_request") for cell in adopted.cells]
        found = replace(one(99.9), adopted=replace(adopted, cells=cells)).gate.rows[0]
        self.assertEqual((found.rps.floor.calibrated, found.cpu.floor.calibrated), (True, False))

    def test_no_room(self):
        """a gate without any room cannot be met by runs, which is said"""
        found = one(100.0, gate={"kind": "interval", "rps": 1})
        outcome = replace(found, adopted=self.a_a(*CALM)).gate
        self.assertEqual(outcome.word, "refused")
        self.assertIn("No number of runs", outcome.why)


class Reading(unittest.TestCase):
    """The `gate` of experiment.json."""

    def test_kinds(self):
        """every kind is read with its usual bounds, and no gate is none"""
        self.assertIsNone(read({}))
        for kind in KINDS:
            self.assertEqual(read({"gate": {"kind": kind}}), Gate(kind))
        self.assertEqual(Gate(POINT).bounds("any"), (0.98, 1.02))
        self.assertEqual(Gate(CATEGORY).bounds("any"), (0.85, 1.15))

    def test_asked(self):
        """a command's kind goes before the experiment's, and keeps its bounds"""
        own = {"gate": {"kind": "point", "rps": 0.9}}
        self.assertEqual(asked(own, INTERVAL), Gate(INTERVAL, rps=0.9))
        self.assertEqual(asked({}, CATEGORY), Gate(CATEGORY))
        self.assertEqual(asked(own, NONE).kind, NONE)

    def test_refused(self):
        """a gate that is none is refused by the name of what is wrong"""
        for gate, says in (
            ([], "`gate` is not an object"),
            ({}, "`gate.kind` is None; give one of point, interval, category, none"),
            ({"kind": "median"}, "`gate.kind` is 'median'"),
            ({"kind": "point", "rps": 0}, "`gate.rps` is 0; give a share"),
            ({"kind": "point", "rps": 1.01}, "`gate.rps` is 1.01"),
            ({"kind": "point", "rps": True}, "`gate.rps` is True, not a number"),
            ({"kind": "interval", "cpu": 0.9}, "`gate.cpu` is 0.9; give a share of the base of at"),
            ({"kind": "interval", "cpu": "2"}, "`gate.cpu` is '2', not a number"),
            ({"kind": "point", "default": 0.1}, "`gate.default` is no part of a gate of kind"),
            ({"kind": "none", "rps": 0.9}, "which has nothing but `kind`"),
            ({"kind": "category", "critical": 1}, "`gate.critical` is 1; give a share above 0"),
            ({"kind": "category", "categories": 1}, "`gate.categories` is not an object"),
            ({"kind": "category", "categories": {"a": "hot"}}, "`gate.categories.a` is 'hot'"),
            ({"kind": "category", "categories": {"b": "critical"}}, "is no scenario of the exp"),
        ):
            with self.assertRaises(Refusal) as refused:
                read({"gate": gate, "scenarios": {"a": {}}})
            self.assertIn(says, str(refused.exception))
            self.assertEqual(refused.exception.file, "experiment.json")
