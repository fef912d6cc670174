"""report.html in a real browser: it complains of nothing, asks for nothing, fits, sorts and tells its
values. Speaks TAP through tap.py.

Screenshots go to $WEIR_SCREENSHOTS, where it is set.
"""

import os
import re
import tempfile
import unittest
import zlib
from dataclasses import replace
from pathlib import Path

from analysis.figures import catalogue, forest, latency
from analysis.inputs.load import load_result
from analysis.judgement.study import study
from analysis.pages import render, sections
from browser import Browser, program
from hostile_fixture import RAN, write_hostile
from result_fixture import write_result

STAMP = "forced: the hosts differ"
WINDOWS = [
    (width, dark, phone) for width, phone in ((1280, False), (390, True)) for dark in (False, True)
]
# A change of coordinates in a PDF that turns what follows.
ASLANT = rb"\n([1-9][\d.]*) -([1-9.][\d.]*) \2 \1 -?[\d.]+ -?[\d.]+ cm\n"
FINGER = 44  # pixels that a finger needs
TIP = "document.querySelector('.tip:not([hidden])')?.textContent ?? null"
SPOT = (
    "(box => [box.left + box.width / 2, box.top + box.height / 2])"
    "(document.querySelector('.spot:not([hidden])').getBoundingClientRect())"
)
BODY = "head.closest('table').tBodies[0]"
SMALL = f"""[...document.querySelectorAll('th button, nav a, summary, #theme')]
  .filter(one => one.checkVisibility() && one.getBoundingClientRect().height < {FINGER})
  .map(one => one.outerHTML.slice(0, 80))"""


@unittest.skipUnless(program(), "chromium is not installed")
class InBrowser(unittest.TestCase):
    """The report of a synthetic run."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="weir-browser-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        path = write_result(Path(cls.folder.name) / "run")
        of = study(load_result(path))
        page = sections.page(of, catalogue.draw_all(of, ["single"]))
        cls.page, cls.stamped = path / "report.html", path / "stamped.html"
        cls.page.write_bytes(render.html(page))
        cls.stamped.write_bytes(render.html(replace(page, stamp=STAMP)))
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def test_quiet(self):
        """in light and dark, wide and narrow, there is no error and no request but for the file"""
        for width, dark, phone in WINDOWS:
            self.browser.open(self.page, width, dark, phone)
            self.assertEqual(self.browser.errors(), [])
            self.assertEqual(self.browser.requests(), [self.page.as_uri()])
            self.keep(f"report-{width}-{'dark' if dark else 'light'}.png")

    def test_hostile(self):
        """no script and no picture of a scenario's name runs or is asked for"""
        path = write_hostile(Path(self.folder.name) / "hostile")
        of = study(load_result(path))
        drawings = catalogue.draw_all(of, ["single"], [latency.draw, forest.draw])
        (path / "report.html").write_bytes(render.html(sections.page(of, drawings)))
        self.browser.open(path / "report.html", 1280)
        self.assertNotEqual(self.browser.value("document.title"), RAN)
        self.assertEqual(self.browser.value("document.querySelectorAll('img, svg b').length"), 0)
        self.assertIn("onerror", self.browser.value("document.body.textContent"))
        self.assertEqual(self.browser.requests(), [(path / "report.html").as_uri()])
        self.assertEqual(self.browser.errors(), [])

    def keep(self, name, whole=True):
        """A screenshot for people: of the page, or of what the window shows."""
        folder = os.environ.get("WEIR_SCREENSHOTS")
        if folder:
            self.browser.picture(Path(folder) / name, whole)

    def test_width(self):
        """the document is not wider than the window, also of the narrowest phone"""
        for width, phone in ((1280, False), (390, True), (320, True)):
            self.browser.open(self.page, width, phone=phone)
            wide = self.browser.value("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width)
            boxes = "[...document.querySelectorAll('.box')].some(one => one.scrollWidth > one.clientWidth)"
            self.assertEqual(self.browser.value(boxes), True, "no table is wide enough to test with")

    def test_fingers(self):
        """what one taps on is high enough for a finger"""
        self.browser.open(self.page, 390, phone=True)
        self.assertEqual(self.browser.value(SMALL), [])

    def test_order(self):
        """the banner comes before verdicts and findings, the command last"""
        self.browser.open(self.page, 1280)
        places = self.browser.value(
            "['.alarm', '.answer', '#says', '#cells', '#figures', '#method', '#facts', '#files',"
            " '#again'].map(one => document.querySelector(one).getBoundingClientRect().top)"
        )
        self.assertEqual(places, sorted(places))
        verdicts = self.browser.value("document.querySelector('#verdicts')?.getBoundingClientRect().top")
        self.assertTrue(verdicts is None or places[0] < verdicts < places[2])

    def test_sorts(self):
        """a heading sorts its table by number, by mouse and by key, either way"""
        self.browser.open(self.page, 1280)
        self.browser.value("head = [...document.querySelectorAll('#cells th')]"
                           ".find(one => one.textContent === 'requests/s'); head.ariaSort")
        self.browser.value("head.firstChild.click()")
        self.assertEqual(self.column(), sorted(self.column()))
        self.assertEqual(self.browser.value("head.getAttribute('aria-sort')"), "ascending")
        self.browser.value("head.firstChild.focus()")
        self.browser.key("Enter")
        self.assertEqual(self.column(), sorted(self.column(), reverse=True))
        self.assertEqual(self.browser.value("head.getAttribute('aria-sort')"), "descending")
        self.assertEqual(self.browser.value("document.querySelectorAll('#cells [aria-sort]').length"), 1)

    def test_sorts_bounds(self):
        """what is below a bound comes before it, above after it, and what is not known stays last"""
        self.browser.open(self.page, 1280)
        self.browser.value("head = [...document.querySelectorAll('#verdicts th')]"
                           ".find(one => one.textContent === 'p (Holm)'); head.ariaSort")
        self.assertIn("<0.0001", self.texts())
        more = ["n/a (no interval)", "0.0001", "> 1,000", "1,000", "0.2"]
        self.browser.value(f"{more}.forEach((text, at) => {BODY}.rows[2 * at].cells[head.cellIndex]"
                           ".textContent = text)")
        texts = [text for text in self.texts() if not text.startswith(("n/a", "<", ">"))]
        known = sorted(texts, key=lambda text: float(text.replace(",", "")))
        bounded = ["<0.0001"] * self.texts().count("<0.0001") + known + ["> 1,000"]
        self.assertGreater(len(bounded), len(known) + 1)
        for expected in (bounded, bounded[::-1]):
            self.browser.value("head.firstChild.click()")
            self.assertEqual(self.texts(), [*expected, "n/a (no interval)"])

    def column(self):
        """The numbers below `head`, from above."""
        return [float(text.replace(",", "")) for text in self.texts()]

    def texts(self):
        """What stands below `head`, from above."""
        return self.browser.value(f"[...{BODY}.rows].map(row => row.cells[head.cellIndex].textContent)")

    def spot(self):
        """Goes to a point of the first figure by key: (its text, x, y in the window)."""
        self.browser.value("picture = document.querySelector('.picture');"
                           "picture.scrollIntoView({block: 'center'}); picture.focus()")
        for _ in range(3):
            self.browser.key("ArrowRight")
        return self.browser.value(TIP), *self.browser.value(SPOT)

    def test_hover(self):
        """a figure tells a point's value by key, by mouse and by finger, and is silent elsewhere"""
        self.browser.open(self.page, 1280)
        text, x, y = self.spot()
        self.assertRegex(text, r"\d")
        self.browser.key("Escape")
        self.assertIsNone(self.browser.value(TIP))
        self.browser.hover(x + 1, y)
        self.assertRegex(self.browser.value(TIP), r"\d")
        self.keep("hover.png", whole=False)
        self.browser.hover(2, 2)
        self.assertIsNone(self.browser.value(TIP))
        self.browser.open(self.page, 390, phone=True)
        _, x, y = self.spot()
        self.browser.value("document.activeElement.blur()")
        self.assertIsNone(self.browser.value(TIP))
        self.browser.tap(x, y)
        self.assertRegex(self.browser.value(TIP), r"\d")

    def test_without_script(self):
        """without the script the values stand in tables and in the figures' own titles"""
        bare = self.page.with_name("bare.html")
        bare.write_text(re.sub(r"<script>.*?</script>", "", self.page.read_text(), flags=re.S))
        self.browser.open(bare, 1280)
        self.assertGreater(self.browser.value("document.querySelectorAll('circle > title').length"), 36)
        self.assertEqual(self.browser.value("document.querySelectorAll('#figures tbody tr').length"), 36)

    def test_theme(self):
        """the switch turns the light off and on, and is forgotten with the page"""
        paper = "getComputedStyle(document.body).backgroundColor"
        self.browser.open(self.page, 1280, dark=True)
        dark = self.browser.value(paper)
        self.browser.open(self.page, 1280)
        light = self.browser.value(paper)
        self.assertNotEqual(light, dark)
        for wanted, name in ((dark, "Light"), (light, "Dark")):
            self.browser.value("document.getElementById('theme').click()")
            self.assertEqual(self.browser.value(paper), wanted)
            self.assertEqual(self.browser.value("document.getElementById('theme').textContent"), name)
        self.browser.value("document.getElementById('theme').click()")
        self.browser.open(self.page, 1280)
        self.assertEqual(self.browser.value(paper), light)

    def test_print(self):
        """each sheet of a forced page carries the stamp, aslant, and paper is never dark"""
        self.browser.open(self.stamped, 1280, dark=True)
        self.assertEqual(self.browser.value("document.querySelector('.stamp').textContent"), STAMP)
        pdf = self.browser.printed()
        sheets = len(re.findall(rb"/Type /Page\b", pdf))
        self.assertGreater(sheets, 2)
        self.assertEqual(sum(bool(re.search(ASLANT, one)) for one in streams_of(pdf)), sheets)


def streams_of(pdf):
    """What is drawn in a PDF, part by part."""
    parts = re.findall(rb"\n<<([^\n]*(?:\n/[^\n]*)*)>> stream\n(.*?)\nendstream", pdf, re.S)
    return [zlib.decompress(held) for about, held in parts if b"FlateDecode" in about]



if __name__ == "__main__":
    unittest.main()
