"""tap: unittest tests that speak TAP, as tests/support/suite.h does for C.

    /usr/bin/python3 tests/support/tap.py FILE [SUBSTRING ...]

Runs the unittest cases of FILE; with substrings only those whose sentences contain one of them.
A test's sentence is the first line of its docstring. Inside FILE the project's root and
tests/support are importable. A package of OPTIONAL that is not installed skips the whole file with
that reason; any other import error fails it. Exit: 0 if none failed, else 1; a FILE without tests
fails, one in which no sentence was chosen does not.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LINE_MAX = 400  # an assertion may quote a whole page
OPTIONAL = ("numpy", "scipy", "matplotlib", "jinja2")


def main(argv: list[str]) -> int:
    """Runs one file of tests; the exit status."""
    if not argv:
        print(__doc__, file=sys.stderr)
        return 4
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]
    sys.dont_write_bytecode = True
    try:
        module = _import(Path(argv[0]).resolve())
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        print(f"1..0 # SKIP {error.name} is not installed for {sys.executable}")
        return 0
    tests = _flat(unittest.defaultTestLoader.loadTestsFromModule(module))
    chosen = [
        test
        for test in tests
        if len(argv) < 2 or any(wanted in sentence_of(test) for wanted in argv[1:])
    ]
    result = TapResult()
    unittest.TestSuite(chosen).run(result)
    print(f"1..{result.number}", flush=True)
    return 0 if tests and not result.failed else 1


def sentence_of(test: unittest.TestCase) -> str:
    """The first line of its docstring, else its name; '#' would begin a TAP directive."""
    return (test.shortDescription() or test.id()).rstrip(".").replace("#", "")


def _import(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader, path
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _flat(suite: Any) -> list[unittest.TestCase]:
    if isinstance(suite, unittest.TestCase):
        return [suite]
    return [test for inner in suite for test in _flat(inner)]


class TapResult(unittest.TestResult):
    """Prints one TAP line a test, with its failures as comments before it."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self.failed = 0
        self._bad = False

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._bad = False

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        if self._bad:
            self._line(test, "not ok")

    def addSuccess(self, test: unittest.TestCase) -> None:
        if not self._bad:
            self._line(test, "ok")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._line(test, "ok", f" # SKIP {reason}")

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        self._explain(err)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        self._explain(err)
        if not hasattr(test, "_testMethodName"):  # setUpClass failed: no test will be started
            self._line(test, "not ok")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        if err is not None:
            print(f"# in {subtest.id().partition(' ')[2]}")
            self._explain(err)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self._line(test, "not ok")

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        self._line(test, "ok")

    def _explain(self, err: Any) -> None:
        self._bad = True
        for line in "".join(traceback.format_exception(*err)).splitlines():
            print(f"# {line[:LINE_MAX]}")

    def _line(self, test: unittest.TestCase, verdict: str, rest: str = "") -> None:
        self.number += 1
        self.failed += verdict != "ok"
        name = sentence_of(test) if hasattr(test, "_testMethodName") else str(test)
        print(f"{verdict} {self.number} - {name}{rest}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
