"""Numbers that have no ratio, a rate or a CPU time of 0: each page says `n/a` with the reason."""

import unittest
from dataclasses import replace

from analysis.cells.aggregate import Comparison, aggregate
from analysis.cells.words import sentence
from analysis.figures import forest
from analysis.judgement.study import study
from analysis.pages import claims, comparison_csv, latex, verdicts
from analysis.pages import headline as page
from analysis.pages.headline import headline
from analysis.statistics.effect import Ratio
from claims_fixture import bound, claimed, ratio
from gates_fixture import around, result_of
from variants_fixture import block

REASON = "new: a value is 0, and a ratio needs positive numbers"
NONE = Ratio(None, None, None, 3, 3, REASON)
CALM = (0, 0.001, -0.001, 0.002, -0.002)
IMMEDIATE, COALESCE = ("epoll@loopback", "immediate", 8), ("epoll@loopback", "coalesce", 8)


def standing_still():
    """A run in which one of two deliveries served nothing in one of its boots."""
    numbers = {IMMEDIATE: around(100e3, *CALM[:3]), COALESCE: around(500e3, *CALM[:3])}
    of = claimed(numbers)
    for one in of.samples:
        if one.cell["delivery"] == "coalesce" and one.raw["run"] == 1:
            one.raw["effective_rps"] = 0.0
    return of


class Words(unittest.TestCase):
    def test_sentence(self):
        """a comparison without a ratio says so, and why"""
        one = Comparison("delivery", "coalesce", "immediate", {"depth": 8}, NONE)
        wanted = f"Coalesce against immediate at depth 8: n/a ({REASON})."
        self.assertEqual(sentence(one), wanted)

    def test_headline(self):
        """the headline says that it cannot be said"""
        text = headline(study(standing_still()))[0]
        self.assertIn("whether coalesce serves more than immediate cannot be said", text.lower())
        self.assertIn(REASON, text)

    def test_share(self):
        """a share of the bare echo that is not known is left out of the mean, and counted"""
        known = Ratio(0.9, 0.8, 0.95, 3, 3)
        rows = [Comparison("bare", False, True, {"depth": at}, one) for at, one in
                enumerate((known, NONE))]
        text = page._share(rows)
        self.assertTrue(text.endswith("(1 more without a ratio)"), text)
        self.assertIn("90.0 %", text)
        self.assertIn(f"is n/a ({REASON})", page._share(rows[1:]))


class Parts(unittest.TestCase):
    def test_verdicts(self):
        """a CPU of 0 is inconclusive in the table of verdicts, in LaTeX and in variants.csv"""
        rates = {"respond": (around(100.0, *CALM), around(110.0, *CALM))}
        cpu = {"respond": (around(10.0, *CALM), [0.0, *around(10.0, *CALM[1:])])}
        of = study(result_of(rates, cpu))
        row = block(verdicts.blocks(of), "Verdicts").table.rows[1]
        self.assertEqual(row[3:5], [f"n/a ({REASON})"] * 2)
        self.assertEqual(row[2], "inconclusive")
        self.assertIn(REASON, latex.files(of)["tables/verdicts.tex"].decode())
        self.assertIn(b"inconclusive", comparison_csv.csv_bytes(of))

    def test_forest(self):
        """a forest leaves out what has no ratio; where nothing has one there is none"""
        self.assertEqual(list(forest.draw(study(standing_still()), "single")), [])

    def test_claims(self):
        """a claim about it is undecided, and says why"""
        of = standing_still()
        stated = [ratio(at_least=2), bound(at_most=9e9, where={"delivery": "coalesce"})]
        of = replace(of, plan=of.plan | {"effective": of.effective | {"claims": stated}})
        (part,) = claims.blocks(study(of))
        for row in part.table.rows:
            self.assertEqual(row[1:3], ["undecided", "n/a (see why)"])
            self.assertIn(f"nothing to judge: {REASON}", row[5])

    def test_aggregate(self):
        """a rate of 0 is counted among the cell's samples and enters no ratio"""
        (one,) = aggregate(standing_still()).comparisons
        self.assertEqual((one.ratio.ratio, one.ratio.reason), (None, REASON))


if __name__ == "__main__":
    unittest.main()
