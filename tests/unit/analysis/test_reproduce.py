"""A repetition of a run says of its claims what the run said, or not, or cannot say."""

import io
import json
import re
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from analysis.reproduce import main
from claims_fixture import write_claimed
from result_fixture import edit_json, write_manifest

IMMEDIATE, COALESCE = ("epoll@loopback", "immediate", 8), ("epoll@loopback", "coalesce", 8)
CLAIM = {
    "name": "worth-it",
    "says": "Coalescing is worth it.",
    "kind": "ratio",
    "of": {"delivery": "coalesce"},
    "against": {"delivery": "immediate"},
    "at_least": 3,
}


def numbers(worth, spread=0.01):
    """Three runs in which coalescing is worth so much, give or take."""
    base = [100e3, 101e3, 99e3]
    return {
        IMMEDIATE: base,
        COALESCE: [worth * rate * (1 + spread * way) for rate, way in zip(base, (-1, 0, 1))],
    }


class Reproduce(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, worth, claims=None, **rest):
        """A result directory in which coalescing is worth so much."""
        spread = rest.pop("spread", 0.01)
        return write_claimed(self.folder / name, numbers(worth, spread), claims, **rest)

    def run_on(self, *paths):
        """(exit status, output, errors)."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                status = main([str(path) for path in paths])
            except SystemExit as stop:
                status = stop.code
        return status, out.getvalue(), err.getvalue()

    def row(self, output, name):
        """A claim's cells in the table."""
        (line,) = [line for line in output.splitlines() if re.match(rf"{name}\b.*  ", line)]
        return re.split(r"  +", line)

    def test_reproduced(self):
        """A claim that both support is reproduced, with both intervals beside each other"""
        status, out, _ = self.run_on(self.write("old", 5, [CLAIM]), self.write("new", 5.02))
        self.assertEqual(status, 0)
        row = self.row(out, "worth-it")
        self.assertEqual((row[1], row[3], row[5]), ("supported", "supported", "reproduced"))
        self.assertEqual(row[2], "5.00 x (4.88 to 5.13); n = 3")
        self.assertIn("the earlier experiment's own", out)

    def test_another_size(self):
        """It is said where both support a claim, but by sizes that have nothing in common"""
        status, out, _ = self.run_on(self.write("old", 5, [CLAIM]), self.write("new", 9))
        self.assertEqual(status, 0)
        self.assertIn("the intervals do not meet", self.row(out, "worth-it")[6])

    def test_not_reproduced(self):
        """A claim that the later result contradicts is not reproduced: status 1"""
        status, out, _ = self.run_on(self.write("old", 5, [CLAIM]), self.write("new", 2))
        self.assertEqual((status, self.row(out, "worth-it")[5]), (1, "not reproduced"))

    def test_refuted_twice(self):
        """What both contradict is reproduced too: the claim's failure"""
        status, out, _ = self.run_on(self.write("old", 2, [CLAIM]), self.write("new", 2.01))
        self.assertEqual(status, 0)
        self.assertIn("contradicted both times", out)

    def test_undecided(self):
        """What either leaves undecided is undecided: status 2"""
        old, noisy = self.write("old", 5, [CLAIM]), self.write("noisy", 5, spread=0.6)
        status, out, _ = self.run_on(old, noisy)
        self.assertEqual((status, self.row(out, "worth-it")[5]), (2, "undecided"))
        self.assertIn("now undecided", out)
        vague = self.write("vague", 5, [CLAIM], spread=0.6)
        status, out, _ = self.run_on(vague, self.write("new", 5.01))
        self.assertEqual(status, 2)
        self.assertIn("the earlier result did not decide it", out)

    def test_failure_outweighs_doubt(self):
        """One claim that is not reproduced decides the status, whatever is undecided"""
        unknown = CLAIM | {"name": "more", "of": {"delivery": "batch"}}
        old = self.write("old", 5, [unknown, CLAIM])
        status, out, _ = self.run_on(old, self.write("new", 2))
        self.assertEqual((status, self.row(out, "more")[5]), (1, "undecided"))

    def test_claims_are_those_of_the_earlier_one(self):
        """What the later experiment claims instead is not asked"""
        other = CLAIM | {"name": "other"}
        old, new = self.write("old", 5, [CLAIM]), self.write("new", 5.01, [other])
        self.assertNotIn("other", self.run_on(old, new)[1].replace("another", ""))

    def test_verdicts_for_claims(self):
        """Where nothing is claimed the verdicts stand for claims, and it is said"""
        old = self.write("old", 5)
        status, out, _ = self.run_on(old, self.write("same", 5.01))
        self.assertEqual(status, 0)
        row = self.row(out, "coalesce against immediate")
        self.assertEqual((row[1], row[3], row[5]), ("better", "better", "reproduced"))
        self.assertIn("states no claims", out)
        status, out, _ = self.run_on(old, self.write("worse", 0.5))
        row = self.row(out, "coalesce against immediate")
        self.assertEqual((status, row[3], row[5]), (1, "worse", "not reproduced"))

    def test_nothing_to_reproduce(self):
        """Verdicts that were inconclusive claim nothing: status 2"""
        status, out, _ = self.run_on(self.write("old", 1, spread=0.2), self.write("new", 5.01))
        self.assertEqual(status, 2)
        self.assertIn("nothing to reproduce", out)

    def test_elsewhere(self):
        """Another host is not refused but said: there a reproduction says the more"""
        old, new = self.write("old", 5, [CLAIM]), self.write("new", 5.01)
        edit_json(new / "host.json", kernel="6.12.3")
        write_manifest(new)
        status, out, _ = self.run_on(old, new)
        self.assertEqual(status, 0)
        self.assertIn("kernel: 6.1.0 then, 6.12.3 now", out)

    def test_not_a_repetition(self):
        """Another experiment, or the run itself, is no repetition: refused"""
        old = self.write("old", 5, [CLAIM])
        status, _, err = self.run_on(old, self.write("other", 5.01, connections=1))
        self.assertEqual(status, 4)
        self.assertIn("`fixed` is connections 1, there connections 64", err)
        edit_json(old / "plan.json", run_id="7d461a98")
        write_manifest(old)
        status, _, err = self.run_on(old, old)
        self.assertEqual(status, 4)
        self.assertIn("itself", err)

    def test_copy(self):
        """a copy under another name is no repetition, though no run has an id"""
        old, new = self.write("old", 5, [CLAIM]), self.write("new", 5)
        status, _, err = self.run_on(old, new)
        self.assertEqual(status, 4)
        self.assertIn("or a copy", err)

    def test_other_scenarios(self):
        """scenarios that one side alone has are another experiment"""
        old, new = self.write("old", 5, [CLAIM]), self.write("new", 5.01)
        for path, names in ((old, ("one", "two")), (new, ("one",))):
            plan = json.loads((path / "plan.json").read_text())
            plan["effective"]["scenarios"] = {name: {} for name in names}
            (path / "plan.json").write_text(json.dumps(plan))
            write_manifest(path)
        status, _, err = self.run_on(old, new)
        self.assertEqual(status, 4)
        self.assertIn("`scenarios` is one, there one, two", err)

    def test_refusals(self):
        """A missing directory, a malformed claim and wrong usage are refused: status 4"""
        old = self.write("old", 5, [CLAIM | {"kind": "maybe"}])
        new = self.write("new", 5.01)
        for paths, words in (
            ((self.folder / "none", new), "is not a directory"),
            ((old, new), "experiment.json: claim 1 (`worth-it`): `kind`"),
            ((new,), "required: NEW"),
        ):
            with self.subTest(words=words):
                status, _, err = self.run_on(*paths)
                self.assertEqual(status, 4)
                self.assertIn(words, err)

    def test_no_valid_sample(self):
        """A result without a valid sample gives status 3"""

        def invalidate(line):
            return line.replace('"valid": true', '"valid": false')

        old, new = self.write("old", 5, [CLAIM]), self.write("new", 5.01)
        for file in [new / "results.jsonl", *new.glob("samples/*/result.json")]:
            file.write_text(invalidate(file.read_text()))
        write_manifest(new)
        status, out, err = self.run_on(old, new)
        self.assertEqual(status, 3)
        self.assertIn("none of 6 samples is valid", err)

    def test_writes_nothing(self):
        """Both directories stay as they were"""
        old, new = self.write("old", 5, [CLAIM]), self.write("new", 5.01)
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        self.run_on(old, new)
        after = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()
