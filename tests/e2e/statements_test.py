"""Gates and claims as `weir plan` reads them and as the analysis does: the same words, keys, bounds and names. Speaks
TAP through tap.py.

Each side has tables of its own: the runner's say where in a file a fault stands, the analysis's what is judged. The
program is in $WEIR.
"""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from analysis.cells.metrics import METRICS
from analysis.inputs.documents import Refusal
from analysis.judgement import gate, statements

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
JUDGES = ROOT / "apps" / "run" / "experiment"
WEIR = os.environ.get("WEIR", "weir")
DEADLINE_S = 60
AT_ONCE = 8  # claims of one file: what is said of more faults would not fit
EXPERIMENT = {
    "schema": "weir.experiment/1",
    "name": "tiny",
    "fixed": {"stack": "epoll@loopback", "connections": 4},
    "factors": {"depth": [1, 8], "request_bytes": ["1KiB", 2048]},
    "scenarios": {"small": {"response_bytes": 64}, "big": {"response_bytes": 4096}},
    "variants": {"base": {}, "new": {"set": {"wait": "spin"}}},
}
CELLS = {"of": {"depth": 8}, "against": {"depth": 1}}
CLAIMS = {
    "ratio": {"kind": "ratio", **CELLS, "at_least": 2},
    "bound": {"kind": "bound", "at_least": 2},
    "monotone": {"kind": "monotone", "along": "depth", "direction": "rising"},
    "equivalence": {"kind": "equivalence", **CELLS},
}
# A value that is right wherever its key is known.
RIGHT = {
    **CELLS, "says": "So.", "metric": "rps", "at_least": 2, "at_most": 3, "where": {"request_bytes": 2048},
    "along": "depth", "direction": "falling", "margin": 0.5, "rps": 0.5, "cpu": 1.5, "default": 0.5, "critical": 0.5,
    "allocator": 0.5, "categories": {"small": "critical"},
}
NUMBERS = [0, -1, 5e-324, 2e-308, 0.5, 0.9999999999999999, 1, 1.0000000000000002, 2, 999999999999999.8, 1e15, 1e300,
           True, "1", None, [1]]
NAMES = ["a", "0", "x-", "-x", "-", "", "A", "a_b", "a b", "a\n", "\u00e4", "a" * 64, "a" * 65, 1, None]


def keys_in(source):
    """The keys in the table of a C source."""
    return set(re.findall(r'\{"(\w+)", ', (JUDGES / source).read_text(encoding="utf-8")))


def listed(said):
    """The words of a list that ends a line: "a, b or c"."""
    return set(re.split(", | or ", said.strip()))


def without(table, key):
    return {name: value for name, value in table.items() if name != key}


class Statements(unittest.TestCase):
    """Both sides are asked the same, and must agree."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-statements-test-")
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "experiment.json"

    def plan(self, lines):
        """What `weir plan` makes of the experiment and these lines behind it, which are its last."""
        self.file.write_text(json.dumps(EXPERIMENT)[:-1] + ",\n" + "\n".join(lines) + "}", encoding="utf-8")
        topology = ROOT / "tests" / "topologies" / "hybrid.xml"
        outcome = subprocess.run([WEIR, "plan", self.file.parent, "--topology", topology, "--json"], capture_output=True,
                                 text=True, timeout=DEADLINE_S, check=False)
        self.assertIn(outcome.returncode, (0, 4), outcome.stderr)
        if outcome.returncode:
            told, *faults = outcome.stderr.splitlines()
            self.assertEqual(told.split()[2], str(len(faults)), "not all that is wrong was said")
        return outcome

    def runner_on_claims(self, claims):
        """For each claim what the runner says of it; "" where it takes it."""
        said = []
        for at in range(0, len(claims), AT_ONCE):
            some = claims[at:at + AT_ONCE]
            lines = [json.dumps(claim) + "," for claim in some]
            outcome = self.plan(['"claims": [', *lines[:-1], lines[-1][:-1], "]"])
            faults = re.findall(r"experiment\.json:(\d+):\d+: (.*)", outcome.stderr)
            self.assertEqual(bool(faults), outcome.returncode == 4, outcome.stderr)
            said += ["\n".join(words for line, words in faults if int(line) == 3 + index) for index in range(len(some))]
        return said

    def runner_on_gate(self, table):
        return self.plan([f'"gate": {json.dumps(table)}']).stderr

    @staticmethod
    def analysis_on_claim(claim):
        try:
            statements.read({"claims": [claim]}, Path("result"))
        except Refusal as refusal:
            return str(refusal)
        return ""

    def analysis_on_gate(self, table):
        try:
            gate.read({**EXPERIMENT, "gate": table})
        except Refusal as refusal:
            return str(refusal)
        return ""

    def agree(self, statement, runner, analysis):
        with self.subTest(json.dumps(statement)):
            self.assertEqual(bool(runner), bool(analysis), f"runner: {runner}\nanalysis: {analysis}")

    def agree_on_claims(self, claims):
        """Each of them is taken by both sides or refused by both."""
        claims = [claim if "name" in claim else {"name": f"c{number}", **claim} for number, claim in enumerate(claims)]
        for claim, said in zip(claims, self.runner_on_claims(claims)):
            self.agree(claim, said, self.analysis_on_claim(claim))

    def test_words(self):
        """metrics, kinds of claims and of gates, directions and categories are the same words"""
        for kind, key in (("bound", "metric"), ("bound", "kind"), ("monotone", "direction")):
            with self.subTest(key):
                claim = {"name": "c", **CLAIMS[kind], key: "nonesuch"}
                runner = re.search("accepted: (.*)", self.runner_on_claims([claim])[0]).group(1)
                analysis = re.search("is not one of (.*)", self.analysis_on_claim(claim)).group(1)
                self.assertEqual(listed(runner), listed(analysis))
        for table in ({"kind": "nonesuch"}, {"kind": "category", "categories": {"small": "nonesuch"}}):
            with self.subTest(json.dumps(table)):
                runner = re.search("accepted: (.*)", self.runner_on_gate(table)).group(1)
                analysis = re.search("give one of (.*)", self.analysis_on_gate(table)).group(1)
                self.assertEqual(listed(runner), listed(analysis))

    def test_keys_of_claims(self):
        """the kinds of claims may have, and must have, the same keys"""
        keys = keys_in("claim_judge.c")
        self.assertLessEqual({"name", "where", "margin"}, keys)
        for kind, claim in CLAIMS.items():
            known = keys | set(RIGHT) | {"nonesuch"}
            self.agree_on_claims([{**claim, key: claim.get(key, RIGHT.get(key, 1))} for key in sorted(known - {"name"})])
            self.agree_on_claims([without(claim, key) for key in claim])
            self.agree(claim, self.runner_on_claims([claim])[0], self.analysis_on_claim(claim))  # it has no name

    def test_keys_of_gates(self):
        """the kinds of gates may have the same keys"""
        keys = keys_in("gate_judge.c")
        self.assertLessEqual({"rps", "cpu", "categories"}, keys)
        for kind in gate.KINDS:
            for key in sorted((keys | set(RIGHT) | {"nonesuch"}) - {"kind"}):
                table = {"kind": kind, key: RIGHT.get(key, 1)}
                self.agree(table, self.runner_on_gate(table), self.analysis_on_gate(table))

    def test_numbers(self):
        """bounds, margins and thresholds may be the same numbers"""
        for kind, keys in (("bound", ("at_least", "at_most")), ("ratio", ("at_most",)), ("equivalence", ("margin",))):
            for key in keys:
                self.agree_on_claims([{**without(CLAIMS[kind], "at_least"), key: number} for number in NUMBERS])
        self.agree_on_claims([{**CLAIMS["bound"], "at_most": number} for number in (1.9, 2, 2.1)])
        for kind, key in (("point", "rps"), ("interval", "cpu"), ("category", "critical")):
            for number in NUMBERS:
                table = {"kind": kind, key: number}
                self.agree(table, self.runner_on_gate(table), self.analysis_on_gate(table))

    def test_names(self):
        """claims may have the same names"""
        self.agree_on_claims([{"name": name, **CLAIMS["bound"]} for name in NAMES])

    def test_plan(self):
        """of an experiment that states all there is, the analysis reads the plan as it was meant"""
        claims = [{"name": f"c-{kind}", **claim} for kind, claim in CLAIMS.items()]
        claims += [{"name": f"of-{number}", **CLAIMS["bound"], "metric": metric} for number, metric in enumerate(METRICS)]
        claims.append({"name": "size", **CLAIMS["bound"], "where": {"request_bytes": "1KiB"}})
        table = {"kind": "category", "default": 0.3, "categories": {"small": "critical", "big": "allocator"}}
        outcome = self.plan([f'"claims": {json.dumps(claims)},', f'"gate": {json.dumps(table)}'])
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        effective = json.loads(outcome.stdout)["effective"]
        read = statements.read(effective, Path("result"))
        self.assertEqual([claim.name for claim in read], [claim["name"] for claim in claims])
        self.assertEqual([claim.metric.name for claim in read[4:-1]], list(METRICS))
        self.assertEqual(read[-1].of, {"request_bytes": 1024})
        asked = gate.read(effective)
        self.assertEqual((asked.category_of("small"), asked.bounds("small")[0]), ("critical", 1 - gate.THRESHOLDS["critical"]))
        self.assertEqual(asked.thresholds["default"], 0.3)
