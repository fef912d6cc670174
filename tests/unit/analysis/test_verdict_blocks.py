"""The page of verdicts: a word for each comparison, the gate, and words that do not contradict each
other."""

import unittest
from dataclasses import replace

from analysis.judgement.study import study
from analysis.pages import gate as gate_page
from analysis.pages import verdicts
from analysis.pages.blocks import aligned
from gates_fixture import around, result_of
from variants_fixture import block

CALM = (0, 0.001, -0.001, 0.002, -0.002)
WILD = (0, 0.1, -0.1, 0.2, -0.2)


def shown(new=100.0, runs=CALM, gate=None, programs=("a", "b")):
    """The blocks of one scenario in which new has this middle."""
    rates = {"respond": (around(100.0, *runs), around(new, *runs[1:], runs[0]))}
    return verdicts.blocks(study(result_of(rates, gate=gate, programs=programs)))


class Verdicts(unittest.TestCase):
    def test_table(self):
        """each number has its ratio, intervals, p value, blocks and word, and the sum is stated"""
        part = block(shown(new=110.0), "Verdicts")
        rps, cpu = part.table.rows
        self.assertEqual(rps[:4], ["respond", "requests/s", "better", "1.100"])
        self.assertEqual(rps[6], "5 runs")
        self.assertEqual(cpu[1:3], ["CPU per request", "equivalent"])
        self.assertRegex(rps[4], r"^1\.0\d\d to 1\.1\d\d$")
        self.assertTrue(part.lines[0].startswith("Judged together: 2 ratios"))
        self.assertIn("Here: 1 better, 1 equivalent.", part.lines)

    def test_cpu(self):
        """more CPU per request is worse"""
        cpu = {"respond": (around(10.0, *CALM), around(11.0, *CALM[1:], 0))}
        rates = {"respond": (around(100.0, *CALM), around(100.0, *CALM[1:], 0))}
        part = block(verdicts.blocks(study(result_of(rates, cpu))), "Verdicts")
        self.assertEqual(part.table.rows[1][2:4], ["worse", "1.100"])

    def test_ranks(self):
        """from nine runs on p by rank stands beside the interval: exact, two-sided, uncorrected"""
        nine = tuple(step / 1000 for step in range(9))
        rates = {"respond": (around(100.0, *nine), around(110.0, *nine[2:], *nine[:2]))}
        part = block(verdicts.blocks(study(result_of(rates))), "Verdicts")
        self.assertEqual(part.table.titles[8:], ["Wilcoxon p", "Mann-Whitney p"])
        self.assertEqual(part.table.rows[0][8:], ["0.0039", "<0.0001"])  # 2 / 2^9
        self.assertIn("They decide nothing.", part.lines[-1])
        few = block(shown(), "Verdicts")
        self.assertNotIn("Wilcoxon p", few.table.titles)
        self.assertNotIn("They decide nothing.", " ".join(few.lines))

    def test_words_stand_left(self):
        """verdicts stand to the left like words, in text and in HTML, numbers to the right"""
        table = block(shown(), "Verdicts").table
        self.assertEqual(table.wordy, [True] * 3 + [False] * 5)
        text = aligned(table)
        self.assertEqual({line.index("equivalent") for line in text[2:]}, {text[0].index("verdict")})

    def test_false_alarm(self):
        """an A/A run that finds a difference says so, and what chance does"""
        quiet, loud = (
            " ".join(block(shown(new, programs=("a", "a")), "Verdicts").lines)
            for new in (100.0, 120.0)
        )
        self.assertIn("no verdict tells them apart, as it should be", quiet)
        self.assertIn("yet a verdict tells them apart (requests/s of respond: better)", loud)

    def test_floor(self):
        """an A/A run shows its noise floor, another run none"""
        titles = [part.title for part in shown(programs=("a", "a"))]
        self.assertEqual(titles, ["Verdicts", "Usual bounds", "Noise floor"])
        self.assertEqual([part.title for part in shown()], ["Verdicts", "Usual bounds"])


class Gate(unittest.TestCase):
    def test_point_against_interval(self):
        """where medians fail and the interval does not tell, it is said what each means"""
        lines = " ".join(block(shown(90.0, WILD, {"kind": "point"}), "Gate").lines)
        self.assertIn("The gate (kind point) fails.", lines)
        self.assertIn("but the interval over blocks does not, in 1: requests/s of respond", lines)
        self.assertIn("noise alone may have done it", lines)
        told = " ".join(block(shown(90.0, CALM, {"kind": "point"}), "Gate").lines)
        self.assertNotIn("noise alone may", told)

    def test_table(self):
        """the gate's table has what is judged, bound, room, floor and word"""
        rows = block(shown(98.0, gate={"kind": "interval"}), "Gate").table.rows
        self.assertEqual(rows[0][4:6], ["at least 0.98", "2.0%"])
        self.assertRegex(" ".join(rows[0][2:4]), r"^0\.98\d 0\.9\d\d to 0\.9\d\d$")
        self.assertRegex(rows[0][6], r"^0\.\d% \(own spread\)$")
        self.assertEqual(rows[0][7], "undecided (the interval holds the bound)")

    def test_asked_or_not(self):
        """a gate that was asked for passes or fails; the usual bounds are words of no judgement"""
        rates = {"respond": (around(100.0, *CALM), around(90.0, *CALM))}
        asked, usual = (
            study(result_of(rates, gate=stated)) for stated in ({"kind": "point"}, None)
        )
        begin = "new against base: "
        self.assertEqual(
            gate_page.sentence(asked),
            f"{begin}the gate holds in 0 of 1 scenario; it fails in 1 (respond: fail (requests/s))",
        )
        for of, words in ((asked, ["fail", "pass"]), (usual, ["beyond", "within"])):
            self.assertEqual([row[-1] for row in gate_page.of_study(of).table.rows], words)

    def test_refused(self):
        """a gate below the floor shows `refused` wherever its word stands, and never pass or fail"""
        asked = study(result_of({"respond": (around(100.0, *CALM), around(90.0, *CALM))},
                                gate={"kind": "interval"}))
        asked.__dict__["gate"] = replace(asked.gate, word="refused")
        part = gate_page.of_study(asked)
        self.assertEqual([row[-1] for row in part.table.rows], ["refused"] * 2)
        self.assertIn("refused", gate_page.sentence(asked))
        self.assertNotRegex(" ".join(part.lines), "gate (passes|fails)")
        self.assertEqual({gate_page.word_of(row, asked.gate) for row in asked.gate.rows}, {"refused"})

    def test_none(self):
        """a gate of kind none says that nothing is judged, without a table"""
        part = block(shown(gate={"kind": "none"}), "Gate")
        self.assertEqual((part.lines, part.table), (["No gate: nothing is judged."], None))
