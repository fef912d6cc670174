"""rules: the shape that docs/architecture.md promises, as checks over a source tree.

Each rule takes the tree's root and returns its violations, one line each: "path:line: what is wrong". It reads files
and, to see that a header stands alone, runs the compiler. Exceptions stand in EXCEPTIONS, each with its reason.
"""

import ast
import functools
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

CLANG_FORMAT = "14"  # Debian 12's; other versions lay out some lines in other ways
FUNCTION_LINES = 70
SOURCE_LINES = 600
HEADER_LINES = 300
COLUMNS = 100
TAB_COLUMNS = 8

# (rule, path): why the path may break the rule.
EXCEPTIONS = {
    ("no_unfinished_marks", "tests/run.py"): "reads the TAP directive of that name",
    ("clean_line_ends", "experiments/http-scenarios/www/static/small.txt"): "its bytes are checked, and all alike",
}

# Where a folder's own includes may point: the first prefix that a file's path has decides.
MAY_INCLUDE = [
    ("dataplane/core/", ["dataplane/core/"]),
    ("dataplane/transport/", ["dataplane/transport/", "dataplane/core/"]),
    ("dataplane/proto/", ["dataplane/proto/", "dataplane/core/"]),
    ("dataplane/tls/", ["dataplane/tls/", "dataplane/transport/", "dataplane/core/"]),
    ("dataplane/pipeline/", ["dataplane/pipeline/", "dataplane/transport/", "dataplane/proto/", "dataplane/core/"]),
    ("dataplane/handlers/", ["dataplane/handlers/", "dataplane/pipeline/", "dataplane/transport/", "dataplane/proto/",
                             "dataplane/core/"]),
    ("dataplane/", ["dataplane/"]),
    ("stacks/registry", ["dataplane/", "stacks/"]),
    ("stacks/bare", ["dataplane/", "stacks/bare.h"]),
    ("stacks/utcp/", ["stacks/utcp/", "dataplane/core/"]),
    ("stacks/dpdk/", ["stacks/dpdk/", "stacks/utcp/utcp.h", "dataplane/"]),
    ("stacks/epoll/", ["stacks/epoll/", "stacks/socket/", "stacks/bare.h", "dataplane/"]),
    ("stacks/uring/", ["stacks/uring/", "stacks/socket/", "stacks/bare.h", "dataplane/"]),
    ("stacks/socket/", ["stacks/socket/", "dataplane/"]),
    ("stacks/memory/", ["stacks/memory/", "dataplane/"]),
    ("stacks/", ["dataplane/"]),
    ("apps/sim/", ["apps/", "stacks/utcp/", "dataplane/"]),
    ("apps/", ["apps/", "stacks/registry.h", "dataplane/"]),
    ("tests/", [""]),
]

# The homes of each third-party header.
HOMES = [
    (r"rte_.*", ["stacks/dpdk/"]),
    (r"liburing.*", ["stacks/uring/", "tests/faults/"]),
    # digests are no business of the data plane's; the tests' foreign peer, which does what no honest one would, and
    # their bad certificates; the bare cipher
    (r"openssl/.*", ["dataplane/tls/", "apps/provenance/sha256.c", "tests/unit/tls/", "tests/bench/tls_bench.c"]),
    (r"jansson\.h", ["apps/", "tests/"]),
    (r"hwloc.*", ["apps/"]),
    (r"CUnit/.*", ["tests/"]),
    (r"benchmark/.*|http_parser\.h", ["tests/bench/"]),
]

# The folders of analysis/ whose modules each may import, besides its own; the commands stand above them all.
MAY_IMPORT = {
    "inputs": [],
    "statistics": [],
    "cells": ["inputs", "statistics"],
    "judgement": ["inputs", "statistics", "cells"],
    "figures": ["inputs", "statistics", "cells", "judgement"],
    "pages": ["inputs", "statistics", "cells", "judgement", "figures"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)')
NOT_OURS = {"results", "__pycache__", "LICENSE"}
TEXT = {".c", ".h", ".py", ".sh", ".md", ".json", ".build", ".txt", ".html", ".css", ".js", ""}


class Skip(Exception):
    """Raised by a rule that cannot be judged on this host; says why."""


def files(root, suffixes):
    """Our files of these kinds, as paths relative to the root, in order. Build folders and results are not ours."""
    found = []
    for folder, below, names in os.walk(root):
        below[:] = [name for name in sorted(below) if is_ours(Path(folder, name))]
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix in suffixes and name not in NOT_OURS and not path.is_symlink():
                found.append(path.relative_to(root).as_posix())
    return found


def is_ours(folder):
    """Whether a folder holds sources: no tool's hidden cache, no results, no build folder of any name."""
    name = folder.name
    hidden = name.startswith(".") and name != ".ci"
    made = name in NOT_OURS or name.endswith(".partial") or name.startswith("build")
    return not hidden and not made and not (folder / "meson-info").exists()


def lines(root, path):
    return (Path(root) / path).read_text(errors="replace").splitlines()


def includes(root):
    """Yields (path, line number, whether it is quoted, target) of every include in our C."""
    for path in files(root, {".c", ".h"}):
        for number, line in enumerate(lines(root, path), 1):
            match = INCLUDE.match(line)
            if match:
                yield path, number, match.group(1) == '"', match.group(2)


def include_directions(root):
    """Includes point only where the planes allow: apps to dataplane, handlers to pipeline, stacks to the contract."""
    found = []
    for path, number, quoted, target in includes(root):
        allowed = next((ways for prefix, ways in MAY_INCLUDE if path.startswith(prefix)), [])
        if not quoted:
            continue
        if not is_known(Path(root) / target):
            found.append(f"{path}:{number}: \"{target}\" is not a path from the root")
        elif not any(target.startswith(way) for way in allowed):
            found.append(f"{path}:{number}: may not include {target}, only {', '.join(allowed)}")
    return found


def is_known(target):
    """Whether a file exists, or is made by the build of its folder."""
    recipe = target.parent / "meson.build"
    return target.exists() or (recipe.exists() and f"'{target.name}'" in recipe.read_text())


def third_party_homes(root):
    """Each third-party header is included in its one home only."""
    found = []
    for path, number, _, target in includes(root):
        for pattern, homes in HOMES:
            if re.fullmatch(pattern, target) and not any(path.startswith(home) for home in homes):
                found.append(f"{path}:{number}: {target} belongs in {' and '.join(homes)}")
    return found


def trees(root, below=""):
    """Yields (path, syntax tree) of our Python, of a folder if one is given."""
    for path in files(root, {".py"}):
        if path.startswith(below):
            yield path, ast.parse((Path(root) / path).read_text(), path)


def imports(tree):
    """Yields (line number, module or name within it, the name that it has here) of all imports of a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, one.name, one.asname or one.name.split(".")[0]) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{one.name}", one.asname or one.name) for one in node.names)


def import_directions(root):
    """Folders of analysis/ import only those before them: inputs, statistics, cells, judgement, figures, pages."""
    found = []
    for path, tree in trees(root, "analysis/"):
        folder = path.split("/")[1]
        if folder.endswith(".py"):
            continue
        if folder not in MAY_IMPORT:
            found.append(f"{path}:1: no known folder of analysis, which has {', '.join(MAY_IMPORT)}")
            continue
        allowed = [folder, *MAY_IMPORT[folder]]
        found += [f"{path}:{number}: may not import {name}, only from {', '.join(allowed)}"
                  for number, name, _ in imports(tree)
                  if name.split(".")[0] in ("analysis", "None") and name.split(".")[1] not in allowed]
    return found


def no_unused_imports(root):
    """Python imports nothing that it does not use."""
    found = []
    for path, tree in trees(root):
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        found += [f"{path}:{number}: imports {name} and does not use it" for number, name, here in imports(tree)
                  if here not in used and not name.startswith("__future__.")]
    return found


def headers_stand_alone(root):
    """Each header compiles by itself, and a second time after itself."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-fsyntax-only", "-I", str(root), "-x", "c", "-"]
    dpdk = subprocess.run(["pkg-config", "--cflags", "libdpdk"], capture_output=True, text=True)
    found = []
    for path in files(root, {".h"}):
        needs_dpdk = any(target.startswith("rte_") for target in reached_from(root, path))
        if needs_dpdk and dpdk.returncode != 0:
            continue  # the stack is not built either
        extra = shlex.split(dpdk.stdout) if needs_dpdk else []
        twice = f'#include "{path}"\n' * 2
        result = subprocess.run(compiler + extra + flags, cwd=root, input=twice, capture_output=True, text=True)
        if result.returncode != 0:
            found.append(f"{path}:1: does not compile alone: {first_error(result.stderr)}")
    return found


def reached_from(root, path):
    """All that a file includes, directly or through others of ours."""
    reached, ahead = set(), [path]
    while ahead:
        for target in (match.group(2) for match in map(INCLUDE.match, lines(root, ahead.pop())) if match):
            if target not in reached and (Path(root) / target).exists():
                ahead.append(target)
            reached.add(target)
    return reached


def first_error(text):
    return next((line for line in text.splitlines() if "error" in line), text.strip()[:200])


def small_files(root):
    """Sources keep within 600 lines, headers within 300."""
    found = []
    for path in files(root, {".c", ".h"}):
        limit = HEADER_LINES if path.endswith(".h") else SOURCE_LINES
        count = len(lines(root, path))
        if count > limit:
            found.append(f"{path}:{count}: {count} lines, {limit} are allowed")
    return found


def small_functions(root):
    """No function is longer than 70 lines, from its name to its closing brace."""
    found = []
    for path in files(root, {".c", ".h"}):
        start, opened = 0, False
        for number, line in enumerate(lines(root, path), 1):
            if line == "{":
                opened = True
            elif line == "}" and opened:
                if number - start > FUNCTION_LINES:
                    found.append(f"{path}:{start + 1}: a function of {number - start} lines, {FUNCTION_LINES} are allowed")
                opened = False
            if not opened and (not line or line.startswith(("}", "#", "/*", " *")) or line.endswith(";")):
                start = number
    return found


def short_lines(root):
    """No line of our C is wider than 100 columns, a tab reaching to the next multiple of 8."""
    widths = ((path, number, len(line.expandtabs(TAB_COLUMNS))) for path in files(root, {".c", ".h"})
              for number, line in enumerate(lines(root, path), 1))
    return [f"{path}:{number}: {width} columns, {COLUMNS} are allowed" for path, number, width in widths
            if width > COLUMNS]


def no_unfinished_marks(root):
    """Nothing is left marked as to be done."""
    mark = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    return [f"{path}:{number}: {mark.search(line).group(1)}" for path in files(root, TEXT)
            for number, line in enumerate(lines(root, path), 1) if mark.search(line)]


def clean_line_ends(root):
    """No line ends in white space, and each file ends with a newline."""
    found = []
    for path in files(root, TEXT):
        data = (Path(root) / path).read_bytes()
        if b"\0" in data:
            continue
        found += [f"{path}:{number}: white space at the end of the line"
                  for number, line in enumerate(data.split(b"\n"), 1) if line != line.rstrip()]
        if data and not data.endswith(b"\n"):
            found.append(f"{path}:{data.count(bytes([10])) + 1}: no newline at the end of the file")
    return found


def no_typedefs_of_ours(root):
    """Structs go by their tag: no typedef ends in _t."""
    return [f"{path}:{number}: {line.strip()}" for path in files(root, {".c", ".h"})
            for number, line in enumerate(lines(root, path), 1) if re.match(r"\s*typedef\b.*_t;", line)]


def formatted(root):
    """Our C is as clang-format lays it out."""
    if not shutil.which("clang-format"):
        raise Skip("clang-format is not installed")
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    if f"version {CLANG_FORMAT}." not in version:
        raise Skip(f"needs clang-format {CLANG_FORMAT}, here is: {version.strip()}")
    command = ["clang-format", "--dry-run", *files(root, {".c", ".h"})]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True).stderr
    places = re.findall(r"^(\S+:\d+):\d+: warning: code should be clang-formatted", said, re.MULTILINE)
    first_places = {place.split(":")[0]: place for place in reversed(places)}
    return [f"{place}: do `clang-format -i {path}`" for path, place in first_places.items()]


RULES = [include_directions, third_party_homes, import_directions, no_unused_imports, headers_stand_alone, small_files,
         small_functions, short_lines, no_unfinished_marks, clean_line_ends, no_typedefs_of_ours, formatted]


@functools.cache
def violations(rule, root):
    return rule(root)


def is_excepted(rule, violation):
    return (rule.__name__, violation.split(":")[0]) in EXCEPTIONS


def judge(rule, root):
    """The rule's violations, without the excepted ones."""
    return [violation for violation in violations(rule, root) if not is_excepted(rule, violation)]


def stale_exceptions(root):
    """Exceptions that nothing needs any more."""
    rules = {rule.__name__: rule for rule in RULES}
    return [f"{path}:1: the exception from {name} is not needed" for name, path in EXCEPTIONS
            if not any(violation.startswith(f"{path}:") for violation in violations(rules[name], root))]
