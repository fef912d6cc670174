"""Names that are markup, patterns or paths stay words, in figures and on pages."""

import re
import tempfile
import unittest
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from analysis.figures import catalogue, forest, latency
from analysis.figures.canvas import NAME_MAX, safe_name
from analysis.figures.inline import inline_svg
from analysis.inputs.load import load_result
from analysis.judgement.study import study
from analysis.pages import render, sections
from hostile_fixture import NAMES, write_hostile

SAFE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Tags(HTMLParser):
    """What a browser would take for elements."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.texts = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.of = study(load_result(write_hostile(Path(folder) / "run")))
            cls.drawings = catalogue.draw_all(cls.of, ["single"], [latency.draw, forest.draw])

    def test_names(self):
        """a drawing's name is of small letters, digits and hyphens, and none stands twice"""
        names = [drawing.name for drawing in self.drawings]
        self.assertEqual(len(set(names)), len(names))
        for name in names:
            self.assertRegex(name, f"^{SAFE.pattern}$")
        self.assertGreater(sum("latency-scenario" in name for name in names), 3)

    def test_safe_name(self):
        """whatever a level is called, it is no path and no markup, and not too long for a file"""
        for name in (*NAMES.values(), "é/../x", "A B", "x" * 300):
            with self.subTest(name=name):
                self.assertRegex(safe_name(f"latency-{name}"), f"^{SAFE.pattern}$")
                self.assertLessEqual(len(safe_name(name)), NAME_MAX)

    def test_apart(self):
        """names that only differ in what is dropped are numbered, past those that are taken"""
        one = self.drawings[0]
        named = [replace(one, name=name) for name in ("a", "a", "a-2", "b", "a")]
        found = [drawing.name for drawing in catalogue._apart(named)]
        self.assertEqual(found, ["a", "a-3", "a-2", "b", "a-4"])

    def test_inline(self):
        """a figure on a page has no element and no attribute of a name's making"""
        shown = []
        for drawing in self.drawings:
            tags = Tags(inline_svg(drawing))
            self.assertEqual(tags.names & {"img", "script", "b"}, set())
            self.assertFalse([name for name, _ in tags.attributes if name.startswith("on")])
            for value in [value for name, value in tags.attributes if name == "id"]:
                self.assertRegex(value, r"^[\w.-]+$")
            shown += tags.texts
        self.assertIn("<img src=x", " ".join(shown))

    def test_page(self):
        """nor has the whole report"""
        tags = Tags(render.html(sections.page(self.of, self.drawings)).decode())
        self.assertNotIn("img", tags.names)
        self.assertFalse([name for name, _ in tags.attributes if name.startswith("on")])


if __name__ == "__main__":
    unittest.main()
