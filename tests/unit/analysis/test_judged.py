"""One judgement: the same words, corrected for the same ratios, wherever a result is told of."""

import re
import unittest
from dataclasses import replace
from pathlib import Path

from analysis.figures import forest
from analysis.judgement import judged
from analysis.judgement.judged import CPU, RPS
from analysis.judgement.reproduction import reproductions
from analysis.judgement.study import study
from analysis.pages import latex, verdicts
from claims_fixture import claimed
from gates_fixture import around, result_of
from variants_fixture import block

CALM = (0, 0.001, -0.001, 0.002, -0.002)
EPOLL = "epoll@loopback"


def result(more=1.2):
    """Two scenarios: in one of them the new side serves more, with as much CPU."""
    rates = {
        name: (around(100.0, *CALM), around(100.0 * by, *CALM[1:], 0))
        for name, by in (("same", 1.0), ("more", more))
    }
    return result_of(rates)


def at_depths(of, *depths):
    """The same, measured at each of these depths, a factor beside the variants."""
    samples = [
        replace(
            one,
            sample_id=f"{one.sample_id}-{depth}",
            order_index=at * len(of.samples) + one.order_index,
            variant=f"{one.variant}.d{depth}",
            cell=one.cell | {"depth": depth},
        )
        for at, depth in enumerate(depths)
        for one in of.samples
    ]
    experiment = of.experiment | {"factors": {"depth": list(depths)}}
    return replace(of, samples=samples, experiment=experiment)


def words_in_latex(of):
    """(verdict, p) of each row of the table."""
    text = latex.files(of)["tables/verdicts.tex"].decode()
    rows = text.split("\\midrule\n")[1].split("\\bottomrule")[0].splitlines()
    return [(row[4], row[7]) for row in (row.split(" & ") for row in rows)]


class Variants(unittest.TestCase):
    def test_one_family(self):
        """page, LaTeX, figure and reproduction have the same words, corrected for the same four"""
        of = study(result())
        self.assertEqual([row.verdict.word for row in of.judged][2:], ["better", "equivalent"])
        self.assertEqual({row.verdict.judged for row in of.judged}, {4})
        table = block(verdicts.blocks(of), "Verdicts").table
        page = [dict(zip(table.titles, row)) for row in table.rows]
        words = [row["verdict"] for row in page]
        self.assertEqual([word for word, _ in words_in_latex(of)], words)
        for (_, p), row in zip(words_in_latex(of), page):
            self.assertEqual(p.replace(r"\textless{}", "<"), row["p (Holm)"])
        (drawn,) = forest.draw(of, "single")
        tips = " ".join(tip for _, _, tip in drawn.points)
        of_rates = [row.verdict.word for row in of.judged if row.measure == RPS]
        told = re.findall(r"\n(better|worse|equivalent|inconclusive):", tips)
        self.assertEqual(sorted(told), sorted(of_rates))
        family = "4 ratios (requests/s and CPU per request) of the variants"
        self.assertIn(family, drawn.caption)
        found, _ = reproductions(of, study(replace(result(), path=Path("again"))))
        decided = {row.name: row.verdict for row in of.judged if row.measure == RPS}
        for one in found:
            if one.name in decided:
                self.assertEqual(one.earlier, decided[one.name])
        self.assertEqual(len(found), sum(word != "inconclusive" for word in words))

    def test_ratio_of_cpu(self):
        """a verdict on CPU per request has the ratio that is shown, not the one it was judged by"""
        of = study(result())
        for row in of.judged:
            self.assertEqual(row.verdict.ratio, row.ratio)
            self.assertEqual(row.comparison.ratio, row.ratio)

    def test_factor_beside_variants(self):
        """where a factor varies beside the variants, each pair is named by its level, too"""
        of = study(at_depths(result(), 1, 8))
        places = [f"depth {depth}, {name}" for depth in (1, 8) for name in ("same", "more")]
        self.assertEqual([pair.place for pair in of.pairs], places)
        self.assertEqual(len(of.judged), 8)
        self.assertEqual(of.judged[0].measure, RPS)
        self.assertEqual(of.judged[1].measure, CPU)
        self.assertEqual(
            of.judged[0].name, "variant new against variant base at depth 1, in scenario same"
        )
        self.assertEqual([one.name for one in forest.draw(of, "single")], ["ratios-variant"])


class Factors(unittest.TestCase):
    def test_said(self):
        """without variants the ratios of all factors are judged together, and the text says so"""
        numbers = {
            (EPOLL, delivery, depth): around(1e5 * depth, *CALM)
            for delivery in ("immediate", "coalesce")
            for depth in (1, 8)
        }
        of = study(claimed(numbers))
        family = "4 ratios (requests/s) of all factors (delivery, depth)"
        self.assertEqual(judged.family(of.judged), family)
        self.assertIn(family, block(verdicts.blocks(of), "Verdicts").lines[0])
        for drawn in forest.draw(of, "single"):
            self.assertIn(family, drawn.caption)
        self.assertIn(family, latex.files(of)["tables/verdicts.tex"].decode())


if __name__ == "__main__":
    unittest.main()
