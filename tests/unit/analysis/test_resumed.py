"""A run that was gone on with: what its earlier part left is told and speaks against it."""

import tempfile
import unittest
from pathlib import Path

from analysis.inputs.documents import Refusal
from analysis.inputs.load import load_result
from analysis.judgement.study import study
from analysis.pages import course
from result_fixture import all_cells, write_json, write_manifest, write_result

DIFFER = "the answers of a (SHA-256 0) and b (SHA-256 1) differ"
EQUAL = {"when": "before", "equal": True, "groups": []}


class Resumed(unittest.TestCase):
    def told(self, **files):
        """(lines of the course, caveats by name) of a run with these files of JSON."""
        with tempfile.TemporaryDirectory() as folder:
            path = write_result(Path(folder) / "run", runs=1, cells=all_cells()[:1])
            for name, table in files.items():
                write_json(path / f"{name}.json", table)
            write_manifest(path)
            of = study(load_result(path))
        return course.blocks(of)[0].lines, {one.what: one.detail for one in of.caveats}

    def test_parts(self):
        """the summary alone says when the run was gone on with, where the plan does not"""
        parts = [{"at": "2026-01-01T00:00:00Z", "busy_at_start": {"cpus": 0.02, "who": []}}]
        lines, _ = self.told(summary={"schema": "weir.summary/1", "resumed": parts})
        wanted = "It was gone on with at 2026-01-01T00:00:00Z; others used 0.02 CPUs then."
        self.assertEqual(lines, [wanted])

    def test_servers_differed(self):
        """answers that differed in an earlier part speak against the whole, once"""
        summary = {"schema": "weir.summary/1", "servers_differ": DIFFER}
        parity = {"schema": "weir.parity/1", "before": EQUAL, "after": EQUAL}
        lines, found = self.told(summary=summary, parity=parity)
        told = f"In an earlier part of the run the servers answered differently: {DIFFER}."
        self.assertIn(told, lines)
        self.assertIn("in an earlier part of the run", found["unlike answers"])
        parity["after"] = EQUAL | {"equal": False, "mismatch": DIFFER}
        lines, found = self.told(summary=summary, parity=parity)
        self.assertEqual(sum(DIFFER in line for line in lines), 1, lines)
        self.assertIn("after the run", found["unlike answers"])

    def test_drifted(self):
        """what had changed on the host until then is told apart, and counts"""
        change = {"fact": "governor", "before": "performance", "after": "powersave", "matters": True}
        earlier = {"drift": [change], "steal_share": 0.0}
        lines, found = self.told(drift={"schema": "weir.drift/1", "drift": [], "earlier": earlier})
        self.assertIn(
            "Changed on the host until the run was gone on with: governor from performance to"
            " powersave.",
            lines,
        )
        self.assertIn("Nothing that was looked at changed on the host since then.", lines)
        self.assertTrue(found["drifting host"].startswith("governor changed"))

    def test_malformed(self):
        """a drift whose earlier part is no list of facts is refused"""
        with self.assertRaisesRegex(Refusal, "drift.json"):
            self.told(drift={"drift": [], "earlier": {"drift": ["governor"]}})


if __name__ == "__main__":
    unittest.main()
