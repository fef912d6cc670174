"""run: runs the tests of a build folder and counts single tests.

    python3 tests/run.py FOLDER [--sanitize] [WORD...]

meson runs the programs and keeps what each printed; here that is read as TAP (one line a test), so that the verdict
counts tests and not programs. A program that crashed, ran out of time, ended before its plan or did not run
at all counts as at least one failed test. The last line printed is the verdict: `N passed, N failed[, N skipped]`.
Exit status: 0 no test failed, 1 some did, 4 no test has one of the words in its name.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

TAP_TEST = re.compile(r"^(not )?ok\b\s*\d*\s*(?:-\s*)?(.*)$")
TAP_PLAN = re.compile(r"^1\.\.(\d+)")
TAP_DIRECTIVE = re.compile(r"(?<!\\)#\s*(SKIP|TODO)\S*\s*(.*)$", re.IGNORECASE)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class Program:
    """One test program: the outcome of each of its tests, and what it printed."""

    def __init__(self, name, protocol, record, words):
        self.name = name
        self.output = ""
        self.tests = []  # (outcome, name, reason)
        if record is None:
            self.tests = [(FAILED, name, "did not run")]
            return
        self.output = record.get("stdout", "") + record.get("stderr", "")
        verdict = record["result"]
        if words and "1..0" in self.output.splitlines():
            return  # no test of this program has one of the words in its name
        if protocol == "tap":
            self.tests = [test for test in read_tap(record.get("stdout", "")) if is_asked(test, words)]
        elif verdict == "SKIP":
            self.tests = [(SKIPPED, name, "the program says so")]
        elif verdict in ("OK", "EXPECTEDFAIL"):
            self.tests = [(PASSED, name, "")]
        if verdict not in ("OK", "SKIP", "EXPECTEDFAIL") and not self.of(FAILED):
            self.tests.append((FAILED, name, f"the program ended with {verdict.lower()}, status {record['returncode']}"))

    def of(self, outcome):
        return [test for test in self.tests if test[0] == outcome]


def is_asked(test, words):
    """Whether a test counts: programs with arguments of their own run others than those with the words. No failure is hidden."""
    outcome, name, _ = test
    return not words or outcome == FAILED or any(word in name for word in words)


def read_tap(text):
    """Yields (outcome, name, reason) for each test line, and one failure if the plan promised more, nothing or there is none."""
    planned = None
    seen = 0
    for line in text.splitlines():
        plan = TAP_PLAN.match(line)
        if plan:
            planned = int(plan.group(1))
            all_skipped = TAP_DIRECTIVE.search(line)
        test = TAP_TEST.match(line)
        if not test:
            continue
        seen += 1
        directive = TAP_DIRECTIVE.search(test.group(2))
        name = TAP_DIRECTIVE.sub("", test.group(2)).strip()
        if directive:  # a TODO's failure is expected: counted with the skips, never hidden
            yield SKIPPED, name, directive.group(2) if directive.group(1).upper() == "SKIP" else line
        else:
            yield (FAILED if test.group(1) else PASSED), name, ""
    if planned is None:
        yield FAILED, "the plan", "the program ended without saying how many tests it has"
    elif planned == 0 and all_skipped:
        yield SKIPPED, "all", all_skipped.group(2)
    elif planned == 0:
        yield FAILED, "the plan", "the program has no tests"
    elif seen < planned:
        yield FAILED, "the plan", f"{planned} tests were planned, {seen} ran"


def label(program):
    """What words are looked for in: "unit/core ring"."""
    return "/".join([suite.split(":")[-1] for suite in program["suite"]] + [program["name"]])


def choose(programs, words):
    """The programs to run, and the words that they get as arguments, which only those that speak TAP understand."""
    named = [program for program in programs if any(word in label(program) for word in words)]
    if named or not words:
        return named or programs, []
    return [program for program in programs if program["protocol"] == "tap"], words


def run_meson(folder, programs, arguments, sanitize):
    """Runs the programs, showing meson's line for each as it ends."""
    beside = len(os.sched_getaffinity(0)) + 1  # while some wait, as many as there are CPUs go on
    command = ["/usr/bin/meson", "test", "-C", str(folder), "--no-rebuild", "--num-processes", str(beside)]
    if not Path(command[0]).exists():
        command[0] = "meson"
    if arguments:
        command += ["--test-args", shlex.join(arguments)]
    if sanitize:
        command += ["--timeout-multiplier", "4"]
    command += [program["name"] for program in programs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as meson:
        for number in (signal.SIGINT, signal.SIGTERM):  # on SIGTERM meson ends its programs and its log
            signal.signal(number, lambda *_: meson.terminate())
        for line in meson.stdout:
            nothing_chosen = arguments and " SKIP " in line
            if re.match(r"\s*\d+/\d+ ", line) and not nothing_chosen:
                print(line, end="", flush=True)


def read_records(folder):
    """What meson kept of each program, by its name."""
    path = folder / "meson-logs" / "testlog.json"
    if not path.exists():
        return {}
    records = [json.loads(line) for line in path.read_text(errors="replace").splitlines()]
    return {record["name"].split(" / ")[-1]: record for record in records}


def report(programs):
    """Prints the failures in full, the skips with their reasons, and the verdict. The number of failed tests."""
    for program in programs:
        failed = program.of(FAILED)
        if failed:
            print(f"\n=== {program.name} ===\n{program.output.rstrip()}")
            for _, name, reason in failed:
                print(f"=== failed: {program.name}: {name}" + (f" ({reason})" if reason else ""))
    skipped = [(program.name, test) for program in programs for test in program.of(SKIPPED)]
    if skipped:
        print()
    for name, test in skipped:
        print(f"skipped: {name}: {test[1]}: {test[2]}")
    counts = {kind: sum(len(program.of(kind)) for program in programs) for kind in (PASSED, FAILED, SKIPPED)}
    line = f"{counts[PASSED]} passed, {counts[FAILED]} failed"
    print(line + (f", {counts[SKIPPED]} skipped" if counts[SKIPPED] else ""), flush=True)
    return counts[FAILED]


def main(arguments):
    folder = Path(arguments[0])
    words = [word for word in arguments[1:] if word != "--sanitize"]
    listed = json.loads((folder / "meson-info" / "intro-tests.json").read_text())
    chosen, passed_on = choose(listed, words)
    log = folder / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    run_meson(folder, chosen, passed_on, "--sanitize" in arguments)
    records = read_records(folder)
    programs = [Program(test["name"], test["protocol"], records.get(test["name"]), passed_on) for test in chosen]
    if passed_on and not any(program.tests for program in programs):
        print(f"no test has {' or '.join(repr(word) for word in words)} in its name", file=sys.stderr)
        return 4
    return 1 if report(programs) > 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
