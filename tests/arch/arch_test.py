"""arch: the source tree keeps the rules of its architecture, and each rule notices a planted violation.

    python3 tests/arch/arch_test.py [WORD...]      only the tests whose names contain a word
"""

import sys
import tempfile
from pathlib import Path

import rules

ROOT = Path(__file__).resolve().parents[2]

# A tree that keeps every rule.
CLEAN = {
    ".clang-format": (ROOT / ".clang-format").read_text(),
    "dataplane/core/span.h": "#ifndef SPAN_H\n#define SPAN_H\nstruct span {\n\tint bytes;\n};\n#endif\n",
    "dataplane/proto/frame.c": '#include "dataplane/core/span.h"\n\nint frame(void)\n{\n\treturn 0;\n}\n',
    "stacks/registry.h": "struct stack;\n//\t" + "x" * 92 + "\n",
    "stacks/utcp/utcp.h": '#include "dataplane/core/span.h"\n\nstruct utcp;\n',
    "stacks/epoll/epoll.h": "struct epoll;\n",
    "stacks/dpdk/port.c": '#include <rte_mbuf.h>\n#include "stacks/utcp/utcp.h"\n',
    "apps/run/run.c": '#include <jansson.h>\n#include "stacks/registry.h"\n',
    "tests/unit/span_test.c": '#include <CUnit/CUnit.h>\n#include "stacks/utcp/utcp.h"\n',
    "apps/meson.build": "configure_file(output: 'made.h')\n",
    "apps/run/made.c": '#include "apps/made.h"\n',
    "analysis/__init__.py": '"""Reads results."""\n',
    "analysis/report.py": "from __future__ import annotations\n\nfrom analysis.pages import page\n\nprint(page)\n",
    "analysis/pages/page.py": "import os.path\n\nfrom analysis.cells.cell import Cell as One\n\nprint(os, One)\n",
    "analysis/cells/cell.py": "from analysis.inputs import load\n\nprint(load)\n",
    ".cache/x.c": "// TO" "DO \n",
    "build/generated.c": "// TO" "DO \n",
    "out/meson-info/x.c": "// TO" "DO \n",
}

LONG_BODY = "\tcall();\n" * 67

# Each rule with files that break it, and the part of the complaint that proves it was this file.
PLANTED = [
    (rules.include_directions, {"dataplane/proto/frame.c": '#include "stacks/registry.h"\n'}, "frame.c:1"),
    (rules.include_directions, {"dataplane/pipeline/x.c": '#include "dataplane/handlers/x.h"\n',
                                "dataplane/handlers/x.h": "struct x;\n"}, "x.c:1: may not include"),
    (rules.include_directions, {"dataplane/bad.h": '#include "apps/run/run.c"\n'}, "dataplane/bad.h:1"),
    (rules.include_directions, {"stacks/utcp/tcp.c": '\n#include "dataplane/proto/frame.c"\n'}, "tcp.c:2"),
    (rules.include_directions, {"stacks/epoll/epoll.c": '#include "stacks/utcp/utcp.h"\n'}, "epoll.c:1"),
    (rules.include_directions, {"apps/run/run.c": '#  include "stacks/epoll/epoll.h"\n'}, "run.c:1"),
    (rules.include_directions, {"stacks/epoll/epoll.c": '#include "epoll.h"\n'}, "not a path from the root"),
    (rules.third_party_homes, {"stacks/utcp/tcp.c": "#include <rte_ether.h>\n"}, "rte_ether.h"),
    (rules.third_party_homes, {"dataplane/core/json.c": "#include <jansson.h>\n"}, "jansson.h"),
    (rules.third_party_homes, {"apps/run/run.c": '#include "CUnit/Basic.h"\n'}, "CUnit/Basic.h"),
    (rules.third_party_homes, {"apps/provenance/host.c": "#include <openssl/evp.h>\n"}, "openssl/evp.h"),
    (rules.import_directions, {"analysis/inputs/load.py": "\nfrom analysis.cells import cell\n"}, "load.py:2"),
    (rules.import_directions, {"analysis/figures/line.py": "import analysis.pages.page\n"}, "line.py:1"),
    (rules.import_directions, {"analysis/pages/page.py": "from analysis import report\n"}, "page.py:1"),
    (rules.import_directions, {"analysis/cells/cell.py": "def f():\n    from . import x\n"}, "cell.py:2"),
    (rules.import_directions, {"analysis/more/x.py": "import os\n"}, "no known folder"),
    (rules.no_unused_imports, {"analysis/cells/cell.py": "import os.path, sys\n\nprint(sys)\n"}, "os.path"),
    (rules.no_unused_imports, {"tests/run.py": "from re import match as found\n\nmatch = 1\n"}, "re.match"),
    (rules.headers_stand_alone, {"dataplane/core/ring.h": "struct ring { struct span one; };\n"}, "ring.h"),
    (rules.headers_stand_alone, {"dataplane/core/ring.h": "struct ring { int one; };\n"}, "redefinition"),
    (rules.small_files, {"apps/run/run.c": "int x;\n" * 601}, "601 lines"),
    (rules.small_files, {"stacks/registry.h": "int x;\n" * 301}, "301 lines"),
    (rules.small_functions, {"apps/run/run.c": f"static int\nlong_one(void)\n{{\n{LONG_BODY}}}\n"}, "run.c:1"),
    (rules.short_lines, {"apps/run/run.c": "/*" + "x" * 97 + "*/\n"}, "run.c:1: 101 columns"),
    (rules.short_lines, {"stacks/registry.h": "\n\t\t/*" + "x" * 81 + "*/\n"}, "registry.h:2: 101 columns"),
    (rules.no_unfinished_marks, {"docs/plan.md": "soon\nTO" "DO: all\n"}, "plan.md:2"),
    (rules.no_unfinished_marks, {"weir": "#!/bin/sh\n# FIX" "ME\n"}, "weir:2"),
    (rules.clean_line_ends, {"README.md": "a word \n"}, "README.md:1"),
    (rules.clean_line_ends, {"apps/run/run.c": "int x;\r\n"}, "run.c:1"),
    (rules.clean_line_ends, {"README.md": "a word"}, "no newline"),
    (rules.no_typedefs_of_ours, {"stacks/registry.h": "typedef struct stack stack_t;\n"}, "registry.h:1"),
    (rules.formatted, {"apps/run/run.c": "int x;\n\nint  y;\n"}, "run.c:3"),
]


def violations_in(rule, changed):
    """What the rule says of the clean tree with these files changed."""
    with tempfile.TemporaryDirectory(prefix="weir-arch-") as folder:
        for path, text in {**CLEAN, **changed}.items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
        return rule(folder)


def keeps(rule):
    return lambda: rules.judge(rule, ROOT)


def accepts_clean(rule):
    return lambda: violations_in(rule, {})


def notices(rule, changed, expected):
    def run():
        found = violations_in(rule, changed)
        if any(expected in violation for violation in found):
            return []
        return [f"planted {list(changed)}, wanted '{expected}', the rule said {found}"]
    return run


def all_tests():
    """Yields (name, function that returns what is wrong)."""
    for rule in rules.RULES:
        yield f"{rule.__name__}: {rule.__doc__.rstrip('.')}", keeps(rule)
    yield "no exception from a rule is left over", lambda: rules.stale_exceptions(ROOT)
    for rule in rules.RULES:
        yield f"{rule.__name__} finds nothing in a clean tree", accepts_clean(rule)
    for rule, changed, expected in PLANTED:
        yield f"{rule.__name__} notices {next(iter(changed))} ({expected})", notices(rule, changed, expected)
    unproved = [rule.__name__ for rule in rules.RULES if rule not in [planted[0] for planted in PLANTED]]
    yield "each rule has a planted violation", lambda: [f"{name} has none" for name in unproved]


def main(words):
    number = failures = 0
    for name, run in all_tests():
        if words and not any(word in name for word in words):
            continue
        number += 1
        try:
            wrong, skip = run(), ""
        except rules.Skip as reason:
            wrong, skip = [], f" # SKIP {reason}"
        failures += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}{skip}")
        for line in wrong:
            print(f"# {line}")
    print(f"1..{number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
