"""A level has one word wherever a page names it: that of its cell's name."""

import tempfile
import unittest
from pathlib import Path

from analysis.cells.labels import short
from analysis.cells.words import capital, describe, level_of
from analysis.figures.series import capital as caption
from analysis.inputs.load import load_result
from analysis.judgement.study import study
from analysis.pages import render, sections, terminal
from result_fixture import EXPERIMENT, cell_of, edit_json, write_manifest, write_result

# Sections that quote files as they are.
QUOTED = ("facts", "files", "again")


def write_tls(path):
    """A result that varies TLS, its cells named as a run names them."""
    cells = [cell_of("epoll@loopback", "coalesce", 8) | {"tls": tls} for tls in (False, True)]

    def name(result, _):
        result["variant"] = f"tls-{'on' if result['cell']['tls'] else 'off'}"

    write_result(path, name, cells=cells)
    edit_json(path / "plan.json", effective=EXPERIMENT | {"factors": {"tls": [False, True]}})
    write_manifest(path)
    return path


class Words(unittest.TestCase):
    def test_levels(self):
        """true and false are on and off, as in names of cells, and TLS keeps its letters"""
        self.assertEqual(level_of("tls", False), "off")
        self.assertEqual(capital(describe("tls", True)), "TLS on")
        self.assertEqual(describe("hugepages", False), "hugepages off")
        self.assertEqual(short("tls", True, [False, True]), "tls-on")
        self.assertEqual(caption("tls"), "TLS")
        self.assertEqual(caption("response_bytes"), "Response bytes")

    def test_pages(self):
        """neither page nor terminal say "tls true" or "Tls" of what varies, but "TLS on" """
        with tempfile.TemporaryDirectory() as folder:
            of = study(load_result(write_tls(Path(folder) / "run")))
        page = sections.page(of, [])
        own = [one for one in page.sections if one.id not in QUOTED]
        text = render.markdown(type(page)(page.title, own, page.banner, page.answer)).decode()
        for said in (text, terminal.text_bytes(of).decode()):
            self.assertIn("TLS on against TLS off", said)
            self.assertNotIn("Tls", said)
            self.assertNotRegex(said.lower(), r"tls:? (true|false|yes|no)\b")
        self.assertIn("| on | 3/3", text)


if __name__ == "__main__":
    unittest.main()
