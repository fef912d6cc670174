"""The judgement on boots whose truth is known, and the document that tells of it.

Bounds on simulated rates allow four standard errors of the simulation itself.
"""

import io
import itertools
import math
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

from analysis import simulation
from analysis.judgement.study import study
from analysis.judgement.verdicts import judge
from analysis.simulation import BLOCKS, CVS, EFFECTS, FAMILIES
from analysis.statistics import planted, power, student
from analysis.statistics.effect import compare, spread_of_logs
from gates_fixture import result_of

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "measurement.md"
MANY = 4000


def slack(share, repetitions):
    """Four standard errors of a share."""
    return 4 * math.sqrt(share * (1 - share) / repetitions)


def run(*arguments):
    """(exit status, standard output, standard error) of the command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = simulation.main(list(arguments))
        except SystemExit as stop:
            status = stop.code
    return status, out.getvalue(), err.getvalue()


class Planted(unittest.TestCase):
    def test_noise(self):
        """boots have the coefficient of variation and the effect that were asked for"""
        rng = np.random.default_rng(1)
        boots = planted.quiet(rng, (200_000,), 0.05, 0.03)
        for side in (boots.new, boots.base):
            values = np.exp(side)
            self.assertAlmostEqual(np.std(values) / np.mean(values), 0.05, places=3)
        self.assertAlmostEqual(np.exp(np.mean(boots.new) - np.mean(boots.base)), 1.03, places=3)

    def test_phases(self):
        """slow phases take their share of time and last as long as they are said to"""
        slow = planted._phases(np.random.default_rng(1), 2000, 200)
        self.assertAlmostEqual(np.mean(slow), planted.SLOW_SHARE, delta=0.01)
        begins = np.sum(slow[:, 1:] & ~slow[:, :-1])
        self.assertAlmostEqual(np.sum(slow) / begins, planted.SLOW_SAMPLES, delta=0.3)

    def test_interleaved(self):
        """interleaved sides share most phases, consecutive ones few, and no side is favoured"""
        apart = {}
        for order in ("interleaved", "consecutive"):
            rng = np.random.default_rng(2)
            boots = planted.slow_phases(rng, (MANY, 6), 0.001, 0.0, order)
            differences = boots.new - boots.base
            apart[order] = np.mean(np.abs(differences) > 0.2)
            self.assertAlmostEqual(np.mean(differences), 0, delta=0.01)
        self.assertLess(apart["interleaved"], 0.1)
        self.assertGreater(apart["consecutive"], 0.2)


class Intervals(unittest.TestCase):
    def test_coverage(self):
        """the paired t interval holds the truth 93 to 97 times in 100 in every combination"""
        for n, cv, effect in itertools.product(BLOCKS, CVS, EFFECTS):
            held = simulation.coverage(
                simulation.quiet(MANY, n, cv, effect), simulation.paired_t
            )
            self.assertTrue(0.93 <= held <= 0.97, (n, cv, effect, held))

    def test_welch(self):
        """Welch's interval holds it as often, of three boots a side a little more often"""
        for n, cv in itertools.product(BLOCKS, CVS):
            held = simulation.coverage(simulation.quiet(MANY, n, cv, 0.02), simulation.welch_t)
            self.assertTrue(0.93 <= held <= 0.98, (n, cv, held))

    def test_bootstrap(self):
        """the bootstrap interval is too narrow for few blocks, and less so for more"""
        held = [
            simulation.coverage(simulation.quiet(1000, n, 0.025, 0.0), simulation.paired_bootstrap)
            for n in (3, 5, 9, 15)
        ]
        self.assertEqual(held, sorted(held))
        self.assertLess(held[0], 0.8)
        self.assertGreater(held[-1], 0.88)

    def test_as_a_report(self):
        """the simulation judges as a report does: the same ends, p values and words"""
        boots = planted.quiet(np.random.default_rng(3), (200, 5), 0.025, 0.05)
        estimate = student.of_blocks(boots.new, boots.base)
        low, high = simulation.paired_t(boots.new, boots.base)
        less, more = simulation.paired_bootstrap(boots.new, boots.base)
        words = []
        for at in range(200):
            sides = (dict(enumerate(np.exp(side[at]))) for side in (boots.new, boots.base))
            found = compare(*sides)
            ends = (found.low, found.high, found.boot.low, found.boot.high)
            np.testing.assert_allclose(
                np.log(ends), (low[at], high[at], less[at], more[at]), atol=1e-12
            )
            self.assertAlmostEqual(found.p, estimate.p()[at], places=12)
            words.append(judge([found], True)[0].word)
        told = words.count("better") + words.count("worse")
        self.assertEqual(told / 200, simulation.told(boots, simulation.paired_t))


class Alarms(unittest.TestCase):
    def test_corrected(self):
        """of unchanged cells at least one is called changed at most 5 times in 100 after Holm"""
        for cells, n in itertools.product(FAMILIES, BLOCKS):
            without, corrected = simulation.family_alarms(MANY, cells, n, 0.05)
            self.assertLessEqual(corrected, 0.05 + slack(0.05, MANY), (cells, n))
            self.assertGreater(without, 0.1, (cells, n))

    def test_family_is_judged(self):
        """the families' rate is that of judge() on the same families"""
        rng = simulation.generator(5, 0.05, 4)
        boots = planted.quiet(rng, (150, 4, 5), 0.05, 0.0)
        alarms = 0
        for new, base in zip(np.exp(boots.new), np.exp(boots.base)):
            pairs = zip(new, base)
            cells = [compare(dict(enumerate(one)), dict(enumerate(other))) for one, other in pairs]
            alarms += bool({"better", "worse"} & {found.word for found in judge(cells, True)})
        self.assertAlmostEqual(simulation.family_alarms(150, 4, 5, 0.05)[1], alarms / 150)

    def test_margin_is_kept(self):
        """a change as great as the margin is called equivalent at most 2.5 times in 100"""
        for n, cv, margin in itertools.product(BLOCKS, CVS, simulation.MARGINS):
            rate = simulation.equivalent(simulation.quiet(MANY, n, cv, margin), margin)
            self.assertLessEqual(rate, 0.025 + slack(0.025, MANY), (n, cv, margin))

    def test_point_gate(self):
        """the seed's gate fails and misses as often as was worked out for it"""
        known = {
            (0.01, 5): (0.004, 0.016, 0.09),
            (0.02, 5): (0.09, 0.32, 0.25),
            (0.025, 3): (0.20, 0.59, 0.34),
        }
        for (cv, n), expected in known.items():
            for rate, wanted in zip(simulation.gate_rates(20_000, cv, n), expected):
                # The known rates are rounded to one or two digits.
                self.assertAlmostEqual(rate, wanted, delta=max(0.012, 0.05 * wanted))
        one, *_ = simulation.gate_rates(20_000, 0.01, 5)
        self.assertAlmostEqual(one, 0.004, delta=slack(0.004, 20_000) + 0.0005)


    def test_gate_is_judged(self):
        """the simulated gate fails where the gate of a report does"""
        boots = planted.quiet(np.random.default_rng(6), (60, 3), 0.03, -0.02)
        sides = zip(np.exp(boots.base).tolist(), np.exp(boots.new).tolist())
        result = result_of({f"s{at}": side for at, side in enumerate(sides)})
        failed = [row.rps.word == "fail" for row in study(result).gate.rows]
        self.assertEqual(simulation.gate_fails(boots).tolist(), failed)
        self.assertTrue(10 < sum(failed) < 50)


class Power(unittest.TestCase):
    def test_agrees(self):
        """simulated shares are those of the noncentral t distribution"""
        for n, cv, effect in itertools.product(BLOCKS, CVS, EFFECTS):
            spread = math.sqrt(2) * spread_of_logs(cv)
            wanted = power.power(spread, n, effect)
            rate = simulation.seen(MANY, n, cv, effect).share
            room = slack(max(wanted, 0.01) if wanted < 0.5 else min(wanted, 0.99), MANY)
            self.assertAlmostEqual(rate, wanted, delta=room, msg=str((n, cv, effect)))

    def test_monotone(self):
        """more blocks and a greater effect are seen more often, more noise less often"""
        for cv in CVS:
            rates = np.array(
                [[simulation.seen(MANY, n, cv, effect).share for effect in EFFECTS] for n in BLOCKS]
            )
            room = slack(0.5, MANY)
            self.assertTrue((np.diff(rates, axis=1) > -room).all(), rates)
            self.assertTrue((np.diff(rates[:, 1:], axis=0) > -room).all(), rates)
            self.assertGreater(rates[-1, -1], rates[0, -1] + room)
            self.assertGreater(rates[-1, -1], rates[-1, 1] + room)
        rates = [simulation.seen(MANY, 7, cv, 0.03).share for cv in CVS]
        self.assertEqual(rates, sorted(rates, reverse=True))

    def test_among_others(self):
        """a change is told as often as power says where it stands alone, and less among others"""
        cv, effect = simulation.AMONG_CV, simulation.AMONG_EFFECT
        spread = math.sqrt(2) * spread_of_logs(cv)
        for n in (3, 5, 9):
            rates = [simulation.told_among(MANY, cells, n) for cells in (1, *FAMILIES)]
            wanted = power.power(spread, n, effect)
            self.assertAlmostEqual(rates[0], wanted, delta=slack(wanted, MANY))
            self.assertEqual(rates, sorted(rates, reverse=True))
            self.assertLess(rates[-1], 0.5 * rates[0])

    def test_among_is_judged(self):
        """the rate of a change among others is that of judge() on the same cells"""
        shape = (150, 4, 5)
        boots = planted.quiet(simulation.generator(5, 4), shape, simulation.AMONG_CV, 0.0)
        boots.new[:, 0] += math.log1p(simulation.AMONG_EFFECT)
        told = 0
        for new, base in zip(np.exp(boots.new), np.exp(boots.base)):
            pairs = zip(new, base)
            cells = [compare(dict(enumerate(one)), dict(enumerate(other))) for one, other in pairs]
            told += judge(cells, True)[0].word in ("better", "worse")
        self.assertAlmostEqual(simulation.told_among(150, 4, 5), told / 150)
        self.assertGreater(told, 20)

    def test_equivalent(self):
        """more blocks and a wider margin are called equivalent more often where nothing changed"""
        rates = np.array(
            [
                [
                    simulation.equivalent(simulation.quiet(MANY, n, 0.01, 0.0), margin)
                    for n in BLOCKS
                ]
                for margin in simulation.MARGINS
            ]
        )
        room = slack(0.5, MANY)
        self.assertTrue((np.diff(rates, axis=0) >= 0).all(), rates)
        self.assertTrue((np.diff(rates[1:], axis=1) > -room).all(), rates)


class SlowHost(unittest.TestCase):
    def test_what_pairing_is_worth(self):
        """on a host with slow phases pairs keep their level and see most; blocks in a row do not"""

        def boots(effect, order):
            shape = (MANY, 9)
            rng = simulation.generator(9, effect)
            return planted.slow_phases(rng, shape, 0.01, effect, order)

        turns, rows = boots(0.0, "interleaved"), boots(0.0, "consecutive")
        changed = boots(0.05, "interleaved")
        paired, welch = simulation.paired_t, simulation.welch_t
        self.assertLessEqual(simulation.told(turns, paired), 0.05)
        self.assertGreater(simulation.told(rows, welch), 0.2)
        self.assertGreater(np.mean(simulation.gate_fails(rows)), 0.1)
        self.assertGreater(
            simulation.told(changed, paired), simulation.told(changed, welch) + 0.15
        )


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.status, cls.output, _ = run()

    def test_document(self):
        """docs/measurement.md has every table as the command prints it"""
        self.assertEqual(self.status, 0)
        text = DOCUMENT.read_text(encoding="utf-8")
        tables = [part for part in self.output.split("\n\n") if part.startswith("|")]
        self.assertEqual(len(tables), len(simulation.TABLES))
        for table in tables:
            self.assertIn(table.strip(), text)

    def test_figure(self):
        """the figure is drawn to the same bytes each time, as the one in docs/images was"""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "power.svg"
            self.assertEqual(run("--repetitions", "20", "--figure", str(path))[0], 0)
            self.assertEqual(path.read_bytes(), simulation.power_figure(20))
        kept = (DOCUMENT.parent / "images" / "power.svg").read_text(encoding="utf-8")
        for text in (f"{simulation.REPETITIONS:,} simulated", *(f"{n} blocks" for n in BLOCKS)):
            self.assertIn(text, kept)

    def test_refused(self):
        """repetitions that are no number above 0, or a figure not to be written, exit with 4"""
        for wrong in ("0", "-3", "x"):
            status, _, err = run("--repetitions", wrong)
            self.assertEqual((status, "above 0" in err), (4, True))
        status, _, err = run("--repetitions", "3", "--figure", "/nowhere/power.svg")
        self.assertEqual((status, "No such file" in err), (4, True))
