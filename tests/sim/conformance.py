"""conformance: writes docs/conformance.md from a run of the tests, or says that it is stale.

    python3 tests/sim/conformance.py FOLDER            is the page what this build's tests say? (TAP)
    python3 tests/sim/conformance.py FOLDER --write    write it

FOLDER is a build folder. requirements.txt says what the standards ask and which tests show it; here these tests are
run, and a requirement holds if each of them passed. A test that failed, one that requirements.txt names and nobody
has, and one with a source of its own that no requirement names are mistakes, and so is a page that differs.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "conformance.md"
TEST = re.compile(r"^(not )?ok \d+ - (.*?)(?: # SKIP .*)?$")
SOURCE = re.compile(r"\(((?:RFC|CVE)[^()]*)\)$")
FEW_SEEDS = ["--seeds", "20"]  # the full run is a test of its own

HEAD = """# Conformance of utcp

Written by `python3 tests/sim/conformance.py build --write` from a run of the tests; `./weir test conformance` fails when it is
stale. *holds*: each test named passed. *differs*: we do something else, on purpose, for the reason given; tests
that are named show what we do. *not done*: nothing of it, or nothing shows it. Tests are named by program and sentence; `grid`, `script`
and `shapes` are of `tests/sim` and run with seven pairs of initial numbers, the others are of `tests/unit/utcp`
([how they work](utcp.md#how-it-is-tested)). What Linux does with the same scripts: [kernel-differences.md](kernel-differences.md).

"""


class Mistake(Exception):
    """What keeps the page from being written, in words."""


def run_program(entry, arguments):
    """Yields (passed, name) of each test of one program."""
    done = subprocess.run([*entry["cmd"], *arguments], stdout=subprocess.PIPE, text=True, timeout=300, check=False,
                          env=os.environ | entry["env"])
    for line in done.stdout.splitlines():
        test = TEST.match(line)
        if test:
            yield not test.group(1), test.group(2)


def program_of(entry):
    """What a program is called here: "grid" for "utcp grid over IPv6"; None for those that are not asked."""
    if not entry["name"].startswith("utcp ") or not {"weir:unit", "weir:sim"} & set(entry["suite"]):
        return None
    if entry["name"].startswith("utcp kernel"):  # not every host lets it run
        return None
    return "sim" if "simulated wire" in entry["name"] else entry["name"][5:].removesuffix(" over IPv6")


def run_tests(folder):
    """{program: [name, ...]} of all that passed, over both families where a program runs so; a failure is a mistake."""
    tests = {}
    for entry in json.loads((folder / "meson-info" / "intro-tests.json").read_text()):
        program = program_of(entry)
        if program is None:
            continue
        known = tests.setdefault(program, [])
        for passed, name in run_program(entry, FEW_SEEDS if program == "sim" else []):
            if not passed:
                raise Mistake(f"{entry['name']}: {name}: failed")
            if name not in known:
                known.append(name)
    return tests


class Row:
    """One requirement, and what becomes of it."""

    def __init__(self, rfc, line):
        self.section, self.text, shown = line.split(" | ")
        self.source = self.section if self.section.startswith("CVE") else f"{rfc} {self.section}"
        self.reason = ""
        self.verdict = "holds"
        for verdict in ("differs", "not done"):
            before, mark, behind = shown.partition(f"{verdict}: ")
            if mark:
                self.verdict, self.reason, shown = verdict, behind.strip(), before
        self.wanted = [word.strip() for word in shown.split(";") if word.strip()]
        self.found = []  # (program, name)

    def names(self, want, program, name):
        """Whether a test is what `want` asks for."""
        if want == "@":
            source = SOURCE.search(name)
            return source is not None and self.source in source.group(1).split(", CVE")[0:1]
        words = want.split(": ", 1)
        return words[0] == program and words[1] in name

    def look(self, tests):
        for want in self.wanted:
            found = [(program, name) for program, names in tests.items() for name in names
                     if self.names(want.lstrip("?"), program, name)]
            if not found and not want.startswith("?"):
                raise Mistake(f"{self.source}: no test is '{want}'")
            self.found += [test for test in found if test not in self.found]
        if not self.found and self.verdict == "holds":
            self.verdict, self.reason = "not done", "nothing shows it yet"

    def line(self):
        shown = " · ".join(f"{program}: {SOURCE.sub('', name).strip()}" for program, name in self.found)
        cell = " ".join(part for part in (self.reason and self.reason + ("." if shown else ""), shown) if part)
        return f"| {self.section} | {self.text} | {self.verdict} | {cell} |\n".replace("\\|", "|")


def read_requirements():
    """[(title of a standard, [row, ...]), ...]"""
    standards = []
    for line in (HERE / "requirements.txt").read_text().splitlines():
        if line.startswith("== "):
            rfc, title = line[3:].split(" | ")
            standards.append((f"{rfc}: {title}", rfc, []))
        elif line and not line.startswith("#"):
            standards[-1][2].append(Row(standards[-1][1], line))
    return [(title, rows) for title, _, rows in standards]


def write_page(folder):
    """The page's text."""
    tests = run_tests(folder)
    standards = read_requirements()
    rows = [row for _, rows in standards for row in rows]
    for row in rows:
        row.look(tests)
    named = {test for row in rows for test in row.found}
    for program, names in tests.items():
        for name in names:
            if SOURCE.search(name) and (program, name) not in named:
                raise Mistake(f"{program}: {name}: no requirement of requirements.txt names it")
    text = HEAD
    for verdict in ("holds", "differs", "not done"):
        text += f"{sum(row.verdict == verdict for row in rows)} {verdict}{'.' if verdict == 'not done' else ', '}"
    for title, rows in standards:
        text += f"\n\n## {title}\n\n| section | requirement | | shown by, or why |\n|---|---|---|---|\n"
        text += "".join(row.line() for row in rows).rstrip("\n")
    return text + "\n"


def main(arguments):
    folder = Path(arguments[0]).resolve()
    try:
        text = write_page(folder)
    except Mistake as mistake:
        print(f"not ok 1 - docs/conformance.md is what the tests say\n# {mistake}\n1..1")
        return 1
    if "--write" in arguments:
        PAGE.write_text(text)
        return 0
    fresh = PAGE.exists() and PAGE.read_text() == text
    print(f"{'ok' if fresh else 'not ok'} 1 - docs/conformance.md is what the tests say")
    if not fresh:
        print("# it is stale: python3 tests/sim/conformance.py build --write")
    print("1..1")
    return 0 if fresh else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
