"""Statements of claims are read as they are meant, and what cannot be read is refused by name."""

import unittest
from pathlib import Path

from analysis.inputs.documents import Refusal
from analysis.judgement.statements import read
from claims_fixture import ratio, rising


class Reading(unittest.TestCase):
    def refusal(self, claims):
        with self.assertRaises(Refusal) as caught:
            read({"claims": claims}, Path("run"))
        self.assertEqual(caught.exception.file, "run/experiment.json")
        return caught.exception.reason

    def test_refusals(self):
        """A malformed claim is refused with its number, its name and what is wrong"""
        good = ratio(at_least=2)
        for claims, words in (
            ({}, "not a list"),
            (["x"], "claim 1: is not an object"),
            ([good, ratio(at_least=0)], "claim 2 (`worth`): `at_least` is not a number above 0"),
            ([good, good], "claim 2 (`worth`): its name stands twice"),
            ([ratio()], "neither `at_least` nor `at_most`"),
            ([ratio(at_least=3, at_most=2)], "above its `at_most`"),
            ([ratio(at_least=True)], "`at_least` is not a number"),
            ([ratio(at_least=10**400)], "`at_least` is not a number"),
            ([ratio(kind="maybe", at_least=1)], "`kind` is not one of"),
            ([ratio(kind=["ratio"])], "`kind` is not one of"),
            ([ratio(metric="luck", at_least=1)], "`metric` is not one of rps"),
            ([ratio(at_least=1, margin=1)], "has `margin`"),
            ([ratio(at_least=1, of={})], "`of` is empty"),
            ([ratio(at_least=1, of={"depth": [1]})], "`of` is not an object"),
            ([ratio(at_least=1, of=3)], "`of` is not an object"),
            ([ratio(at_least=1, name="Big Claim")], "`name` is not 1 to 64"),
            ([ratio(at_least=1, says=7)], "`says` is not a text"),
            ([{"kind": "ratio", "name": "x", "of": {"depth": 1}}], "has no `against`"),
            ([rising(direction="up")], "`direction` is not one of rising, falling"),
            ([rising(along=3)], "`along` is not the name"),
            ([ratio(kind="equivalence", margin=2)], "`margin` is a share"),
            ([ratio(kind="equivalence", margin=-1)], "`margin` is not a number above 0"),
        ):
            with self.subTest(words=words):
                self.assertIn(words, self.refusal(claims))

    def test_defaults(self):
        """The metric is requests/s and the margin 2 % where nothing is said"""
        (claim,) = read({"claims": [ratio(kind="equivalence")]}, Path("run"))
        self.assertEqual(claim.metric.name, "rps")
        self.assertAlmostEqual(claim.at_most, 1.02)
        self.assertEqual(read({}, Path("run")), [])

    def test_what_is_judged(self):
        """What is judged is said as a sentence"""
        (claim,) = read({"claims": [ratio(at_least=3)]}, Path("run"))
        text = "requests/s (rps) of coalesce is at least 3 times that of immediate, all else equal."
        self.assertEqual(claim.asks, text)
        (claim,) = read({"claims": [rising(direction="falling")]}, Path("run"))
        text = "requests/s (rps) of every cell falls with every step along depth."
        self.assertEqual(claim.asks, text)


if __name__ == "__main__":
    unittest.main()
