"""Commands end in a status that says no more than they know, and in one line of why."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from analysis import report
from analysis.command import TRACEBACK, carry_out
from analysis.inputs.documents import Refusal
from compare_fixture import said

ROOT = Path(__file__).resolve().parents[3]


def raising(error):
    """Work that ends with it."""

    def work():
        raise error

    return work


class Command(unittest.TestCase):
    def setUp(self):
        self.addCleanup(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        clean = {name: value for name, value in os.environ.items() if name != TRACEBACK}
        patch = mock.patch.dict(os.environ, clean, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def ended(self, error):
        """(exit status, what is said) of work that raises it."""
        return said(lambda _: carry_out("weir x", raising(error)))

    def test_fault(self):
        """an exception that nobody foresaw is 4, never a verdict, in one line without a traceback"""
        for error, words in (
            (OverflowError("math range\nerror"), "OverflowError: math range error"),
            (MemoryError(), "MemoryError: "),
            (RecursionError("deep"), "RecursionError: deep"),
            (AssertionError(), "AssertionError: "),
        ):
            with self.subTest(error=error):
                text = f"weir x: a fault of the analysis: {words}; please report it\n"
                self.assertEqual(self.ended(error), (4, text))

    def test_traceback(self):
        """its traceback follows where WEIR_TRACEBACK is set"""
        with mock.patch.dict(os.environ, {TRACEBACK: "1"}):
            status, text = self.ended(KeyError("x"))
        self.assertEqual(status, 4)
        self.assertRegex(text, r"please report it\nTraceback .*\n(.*\n)+KeyError: 'x'\n$")

    def test_foreseen(self):
        """a refusal and a file that cannot be written are 4, Ctrl-C is 130, each as it is said"""
        self.assertEqual(self.ended(Refusal("a", "is bad")), (4, "weir x: a: is bad\n"))
        error = OSError(28, "No space left on device", "a")
        text = "weir x: a: cannot be written: No space left on device\n"
        self.assertEqual(self.ended(error), (4, text))
        self.assertEqual(self.ended(KeyboardInterrupt()), (130, ""))

    def test_imports(self):
        """Ctrl-C while a command's imports last ends it without a word"""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "numpy.py").write_text("import os\nos.kill(os.getpid(), 2)\n")
            found = subprocess.run(
                [sys.executable, "-B", "-m", "analysis.report", "nowhere"],
                env=os.environ | {"PYTHONPATH": os.pathsep.join((folder, str(ROOT)))},
                capture_output=True,
                check=False,
            )
        self.assertEqual((found.returncode, found.stderr), (-signal.SIGINT, b""))

    def test_report(self):
        """a report that meets a fault while it reads exits with 4"""
        with mock.patch.object(report, "load_result", side_effect=TypeError("unhashable")):
            status, text = said(report.main, "nowhere")
        self.assertEqual(status, 4)
        self.assertIn("weir report: a fault of the analysis: TypeError: unhashable", text)


if __name__ == "__main__":
    unittest.main()
