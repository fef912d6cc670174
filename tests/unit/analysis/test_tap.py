"""The TAP runner itself: a failing test must be seen to fail."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TAP = Path(__file__).resolve().parents[2] / "support" / "tap.py"


def run_files(sources, *wanted):
    """(exit status, lines) of files of tests."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"test_{i}.py" for i in range(len(sources))]
        for file, source in zip(files, sources):
            file.write_text("import unittest\n" + source)
        done = subprocess.run(
            [sys.executable, str(TAP), *map(str, files), *wanted], capture_output=True, text=True
        )
    return done.returncode, done.stdout.splitlines()


def run(source, *wanted):
    """The same of one file."""
    return run_files([source], *wanted)


CASES = '''
class T(unittest.TestCase):
    def test_a(self):
        """it holds"""
    def test_b(self):
        """it fails"""
        self.assertEqual(1, 2)
    def test_c(self):
        """it breaks"""
        raise RuntimeError("x")
    def test_d(self):
        """it waits"""
        self.skipTest("no device")
    def test_e(self):
        """one of three fails"""
        for k in range(3):
            with self.subTest(k=k):
                self.assertNotEqual(k, 1)
'''


class Tap(unittest.TestCase):
    def test_verdicts(self):
        """each test has a line with its sentence; failures are not ok, skips have reasons"""
        status, lines = run(CASES)
        self.assertEqual(status, 1)
        self.assertEqual(
            [line for line in lines if not line.startswith("#")],
            [
                "ok 1 - it holds",
                "not ok 2 - it fails",
                "not ok 3 - it breaks",
                "ok 4 - it waits # SKIP no device",
                "not ok 5 - one of three fails",
                "1..5",
            ],
        )
        self.assertTrue(any("AssertionError: 1 != 2" in line for line in lines))

    def test_selection(self):
        """a substring selects tests by sentence"""
        self.assertEqual(run(CASES, "holds"), (0, ["ok 1 - it holds", "1..1"]))

    def test_nothing_selected(self):
        """substrings that no sentence has run nothing, and that is no failure"""
        self.assertEqual(run(CASES, "no such test"), (0, ["1..0"]))
        self.assertEqual(run("", "no such test")[0], 1)

    def test_files(self):
        """several files are one program, which fails if one of them has no tests or is broken"""
        other = "class U(unittest.TestCase):\n    def test_a(self):\n        'it holds, too'\n"
        lines = ["ok 1 - it holds", "ok 2 - it holds, too", "1..2"]
        self.assertEqual(run_files([CASES, other], "holds"), (0, lines))
        for last in ("", "import no_such_module_of_ours"):
            self.assertEqual(run_files([other, last])[0], 1)

    def test_nothing(self):
        """a file without tests, or one that cannot be imported, fails"""
        self.assertEqual(run("")[0], 1)
        self.assertEqual(run("import no_such_module_of_ours")[0], 1)

    def test_missing_package(self):
        """a missing package of the known ones skips the file with its reason"""
        status, lines = run("raise ModuleNotFoundError('', name='scipy')")
        self.assertEqual((status, len(lines)), (0, 1))
        self.assertRegex(lines[0], r"^1\.\.0 # SKIP scipy is not installed")

    def test_setup(self):
        """a class whose set-up fails is not ok"""
        status, lines = run(
            "class T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): raise"
            " OSError\n    def test_a(self): pass\n"
        )
        self.assertEqual(status, 1)
        self.assertIn("1..1", lines)
