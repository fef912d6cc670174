"""differ: the same scripts against Linux's TCP, and whether each difference is explained (TAP).

    python3 tests/sim/differ.py PROGRAM                 judge, and is docs/kernel-differences.md what it would be?
    python3 tests/sim/differ.py PROGRAM --write         write the page
    python3 tests/sim/differ.py PROGRAM --unexplained   print what kernel.txt lacks, in its words

PROGRAM is build/tests/sim/differ, which plays and needs root and /dev/net/tun. kernel.txt has the differences: one that it
does not have, and one that it has and is gone, are mistakes. Time is real there, and a host may stall: rows that are not
as listed are played up to three times more. Where the kernel is of another version than the list, nothing is judged.
"""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "kernel.txt"
PAGE = HERE.parent.parent / "docs" / "kernel-differences.md"
RETRIES = 3
FIELDS = {"script": 3, "cell": 6}  # behind the kind, before the answer

HEAD = """# How Linux's TCP differs from utcp

Written by `python3 tests/sim/differ.py build/tests/sim/differ --write` from `tests/sim/kernel.txt`; `./weir test differences` plays the scripts of `tests/sim/scripts`
against the host's kernel and fails where a difference is not in this list or one of the list is gone, or when the page is stale. It needs root and
`/dev/net/tun`, and Linux {version}, of which the list is; else it is skipped.

The scripts are the same texts that utcp is tested with. The player is the peer behind a TAP in a network namespace of its own, over IPv4; the application
uses sockets, non-blocking, with TCP_NODELAY, SO_OOBINLINE, buffers of 16 KiB and TCP_QUICKACK off. Numbers are relative; the peer's wrap within its first bytes. Time is real: what is due
may be 100 ms late, and an ACK may be early. Of windows it only counts whether they are closed; utcp's counters are not asked. In the grid, what the kernel
sends by a timer of some milliseconds (its SYN again, after a wrong SYN-ACK) is not waited for. `shapes_test` (overlaps, orders of segments) is
written against utcp alone.

{total} of {all} plays are as written: {scripts} of {all_scripts} scripts and {cells} of {all_cells} cells of the grid. The others differ for {count} reasons. *utcp*, *kernel*: whose answer is the standard's;
*both*: it allows either, or is silent.

| who | the kernel | where | plays |
|---|---|---|---|
"""


class Mistake(Exception):
    """What is wrong with the list, in words."""


class Row:
    """One script or cell: what it is, and what the kernel did; no answer: as written."""

    def __init__(self, kind, fields, answer):
        self.kind, self.fields, self.answer = kind, fields, plain(answer)

    @property
    def key(self):
        """What kernel.txt names it by."""
        return (self.kind, *self.fields[: 2 if self.kind == "script" else 4])

    @property
    def want(self):
        """What we do, of a cell."""
        return self.fields[5].split("~")[-1]

    def line(self):
        """As the program prints it, without the answer; the word to have it played alone."""
        return "\t".join((self.kind, *self.fields))


def plain(answer):
    """An answer without what is of the day: the line of the script, and windows, unless they are closed."""
    answer = re.sub(r"^\S+\.txt:\d+: ", "", answer)
    return re.sub(r"(sent was|expected) > (.*?) win (\d+)",
                  lambda m: f"{m[1]} > {m[2]}" + (" win 0" if m[3] == "0" else ""), answer)


def read_rows(lines):
    """The rows of what the program says."""
    rows = []
    for line in lines:
        kind, *fields = line.split("\t")
        if kind in FIELDS:
            rows.append(Row(kind, fields[:-1], fields[-1]))
    return rows


def merged(rows):
    """The rows in the words of kernel.txt, as few lines as may be."""
    lines = [f"script {row.fields[0]}: {row.fields[1]} | {row.answer}" for row in rows if row.kind == "script"]
    cells = {}
    for row in (row for row in rows if row.kind == "cell"):
        grid, kind, column, state = row.fields[:4]
        cells.setdefault((grid, kind, column, row.answer), []).append(state)
    columns, kinds = {}, {}
    for (grid, kind, column, answer), states in cells.items():
        columns.setdefault((grid, kind, tuple(states), answer), []).append(column)
    for (grid, kind, states, answer), names in columns.items():
        kinds.setdefault((grid, tuple(names), states, answer), []).append(kind)
    for (grid, names, states, answer), of in kinds.items():
        lines.append(f"cell {grid} | {', '.join(of)} | {', '.join(names)} | {' '.join(states)} | {answer}")
    return lines


class Reason:
    """One explanation, and {key: answer} of the rows that it explains."""

    def __init__(self, line):
        self.who, self.title, self.source = line.split(" | ")
        if self.who not in ("utcp", "kernel", "both"):
            raise Mistake(f"'{self.who}' is none of utcp, kernel, both")
        self.text, self.answers = [], {}

    def add(self, line):
        if line.startswith("script "):
            name, answer = line.removeprefix("script ").split(" | ", 1)
            self.put(("script", *name.split(": ", 1)), answer)
        elif line.startswith("cell "):
            grid, kinds, columns, states, answer = line.removeprefix("cell ").split(" | ")
            for kind, column, state in itertools.product(kinds.split(", "), columns.split(", "), states.split()):
                self.put(("cell", grid, kind, column, state), answer)
        else:
            self.text.append(line)

    def put(self, key, answer):
        if key in self.answers:
            raise Mistake(f"{key} is listed twice")
        self.answers[key] = answer


def read_list():
    """(version, [Reason, ...]) of kernel.txt."""
    version, reasons = None, []
    for line in LIST.read_text().splitlines():
        if line.startswith("== "):
            reasons.append(Reason(line[3:]))
        elif line.startswith("linux "):
            version = line.split()[1]
        elif line and not line.startswith("#"):
            reasons[-1].add(line)
    return version, reasons


def listed(reasons):
    """{key: answer} of all reasons."""
    answers = {}
    for reason in reasons:
        for key, answer in reason.answers.items():
            if key in answers:
                raise Mistake(f"{key} is listed twice")
            answers[key] = answer
    return answers


def run(program, words):
    """The lines that the program says, or the reason why it does not play, with "skip" before it."""
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, text=True, timeout=240, check=False)
    lines = done.stdout.splitlines()
    if done.returncode != 0:
        raise Mistake("; ".join(line for line in lines if line.startswith("#")) or f"it left with {done.returncode}")
    return lines


def judge(program, answers):
    """The rows that are not as listed, however often they are played. None and why, if nothing can be played."""
    lines = run(program, [])
    if lines and lines[0].startswith("skip\t"):
        return None, lines[0].split("\t")[1]
    wrong = [row for row in read_rows(lines) if row.answer != answers.get(row.key, "")]
    for _ in range(RETRIES):
        if wrong:
            again = read_rows(run(program, [row.line() for row in wrong]))
            wrong = [row for row in again if row.answer != answers.get(row.key, "")]
    return wrong, None


def page(version, reasons, lines):
    """The page's text."""
    rows = {row.key: row for row in read_rows(lines)}
    count = {kind: sum(row.kind == kind for row in rows.values()) for kind in FIELDS}
    other = {kind: sum(key[0] == kind for key in listed(reasons)) for kind in FIELDS}
    text = HEAD.format(version=version, count=len(reasons), all=sum(count.values()),
                       total=sum(count.values()) - sum(other.values()),
                       scripts=count["script"] - other["script"], all_scripts=count["script"],
                       cells=count["cell"] - other["cell"], all_cells=count["cell"])
    for reason in reasons:
        text += f"| {reason.who} | {reason.title} | {reason.source} | {len(reason.answers)} |\n"
    text += "\n## Settings of the namespace\n\n| `net.ipv4` | |\n|---|---|\n"
    text += "".join(f"| `{line[1]}` | {line[2]} |\n" for line in (line.split("\t") for line in lines)
                    if line[0] == "setting")
    for reason in reasons:
        text += f"\n## {reason.title}\n\n*{reason.who}*, {reason.source}. " + "\n".join(reason.text) + "\n\n"
        text += "".join(lines_of(reason, rows))
    return text


def lines_of(reason, rows):
    """The table of one reason."""
    scripts = [(key, answer) for key, answer in reason.answers.items() if key[0] == "script"]
    cells = {}
    for key, answer in reason.answers.items():
        if key[0] == "cell":
            _, grid, kind, column, state = key
            cells.setdefault((grid, kind, rows[key].want, answer), {}).setdefault(column, []).append(state)
    if scripts:
        yield "| script | the kernel |\n|---|---|\n"
    for (_, name, title), answer in scripts:
        yield f"| {name.removesuffix('.txt')}: {title} | {answer.replace('|', '/')} |\n"
    if cells:
        yield "| segment | in | where | utcp | kernel |\n|---|---|---|---|---|\n"
    for (grid, kind, want, answer), columns in cells.items():
        by_states = {}
        for column, states in columns.items():
            by_states.setdefault(" ".join(states), []).append(column)
        what = {"by_seq": "seq", "by_ack": "ack", "by_syn_ack": "ack of the SYN"}[grid]
        for states, names in by_states.items():
            yield f"| {kind} | {states} | {what}: {', '.join(names)} | `{want.replace('|', ' or ')}` | `{answer}` |\n"


def is_same_version(version):
    """Whether this host's kernel is of the list's version."""
    return os.uname().release.startswith(version + ".")


def report(number, name, complaints, skipped=None):
    """One line of TAP with its comments. How many failed."""
    print("".join(f"# {line}\n" for line in complaints), end="")
    print(f"{'not ok' if complaints else 'ok'} {number} - {name}{f' # SKIP {skipped}' if skipped else ''}", flush=True)
    return len(complaints) > 0


def main(arguments):
    program = str(Path(arguments[0]).resolve())
    try:
        version, reasons = read_list()
        answers = listed(reasons)
        known = run(program, ["--list"])
        unknown = [" | ".join(key) for key in answers if key not in {row.key for row in read_rows(known)}]
        if unknown:
            raise Mistake(f"kernel.txt has what no script has: {'; '.join(unknown)}")
        text = page(version, reasons, known)
        if "--write" in arguments:
            PAGE.write_text(text)
            return 0
        why = None if is_same_version(version) else f"the list is of Linux {version}, not of {os.uname().release}"
        wrong = []
        if not why or "--unexplained" in arguments:
            wrong, why = judge(program, answers)
    except Mistake as mistake:
        report(1, "kernel.txt can be judged", [str(mistake)])
        print("1..1")
        return 1
    if "--unexplained" in arguments:
        print("\n".join(merged([row for row in wrong if row.answer])) if not why else f"# {why}")
        return 0
    wrong = wrong or []
    stale = [] if PAGE.exists() and PAGE.read_text() == text else [
        "it is stale: python3 tests/sim/differ.py build/tests/sim/differ --write"]
    failed = report(1, "docs/kernel-differences.md is what kernel.txt says", stale)
    failed += report(2, "every difference from the kernel is explained",
                     [f"{' | '.join(row.key)}: {row.answer}" for row in wrong if row.answer], why)
    failed += report(3, "no explanation has lost its difference",
                     [f"{' | '.join(row.key)}: was {answers[row.key]}" for row in wrong if not row.answer], why)
    print("1..3")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
