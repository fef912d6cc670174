"""tap: unittest tests that speak TAP, as tests/support/suite.h does for C.

    /usr/bin/python3 tests/support/tap.py FILE.py ... [SUBSTRING ...]

Runs the unittest cases of the files; with substrings those whose sentences contain one of them.
A test's sentence is the first line of its docstring. Inside the files the project's root and
tests/support are importable. A package of OPTIONAL that is not installed skips all of them with
that reason; any other import error fails them. Exit: 0 if none failed, else 1; a file without tests
fails, one in which no sentence was chosen does not.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import traceback
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LINE_MAX = 400  # an assertion may quote a whole page
OPTIONAL = ("numpy", "scipy", "pandas", "matplotlib", "jinja2")


def main(argv: list[str]) -> int:
    """Runs the tests of the files; the exit status."""
    files = list(itertools.takewhile(lambda word: word.endswith(".py"), argv))
    words = argv[len(files) :]
    if not files:
        print(__doc__, file=sys.stderr)
        return 4
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]
    sys.dont_write_bytecode = True
    try:
        modules = [_import(Path(file).resolve()) for file in files]
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        print(f"1..0 # SKIP {error.name} is not installed for {sys.executable}")
        return 0
    tests = [_flat(unittest.defaultTestLoader.loadTestsFromModule(module)) for module in modules]
    chosen = [
        test
        for test in itertools.chain.from_iterable(tests)
        if not words or any(word in sentence_of(test) for word in words)
    ]
    result = TapResult()
    unittest.TestSuite(chosen).run(result)
    print(f"1..{result.number}", flush=True)
    return 0 if all(tests) and not result.failed else 1


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
