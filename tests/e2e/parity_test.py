#!/usr/bin/python3
"""Two commits whose servers answer the same request differently, through `weir run`. Speaks TAP.

usage: parity_test.py WEIR [SUBSTRING...]

The commits are of a repository of a few lines, built as weir's are. Its program hands over to the built weir, and counts
how often it did: to a server it tells another size of answers from some start on.
"""

import contextlib
import os
import shutil
import subprocess
import sys

from bench import Bench, case, read_json, read_results, results_path, write
from processes import WEIR, Skip, run_tests

OPTIONS = "".join(f"option('{name}', type: 'feature', value: 'auto')\n" for name in ("dpdk", "uring", "tls"))
PROGRAM = """
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ALTERED_FROM %(altered_from)s

int main(int argc, char **argv)
{
	int starts = open("%(starts)s", O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (starts < 0 || write(starts, ".", 1) != 1)
		return 1;
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--response-bytes") == 0 && lseek(starts, 0, SEEK_END) >= ALTERED_FROM)
			argv[i + 1] = "65";
	execv("%(weir)s", argv);
	return 127;
}
"""
NEVER = 1000


class Repository(Bench):
    """A bench with a repository of two commits."""

    def git(self, *words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        subprocess.run(["git", "-C", self.root, "-c", "user.name=test", "-c", "user.email=test@example.org", *words],
                       env={**environment, "GIT_CONFIG_GLOBAL": "/dev/null"}, capture_output=True, check=True)

    def commit(self, altered_from):
        values = {"altered_from": altered_from, "starts": os.path.join(self.folder, f"starts-{altered_from}"), "weir": WEIR}
        write(os.path.join(self.root, "apps", "weir.c"), PROGRAM % values)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "another program")

    def compare(self, altered_from):
        """What `weir run` makes of a server that answers well and one that answers otherwise from that start on."""
        if not all(map(shutil.which, ("git", "meson", "ninja"))):
            raise Skip("git, meson or ninja is not installed")
        self.root = os.path.join(self.folder, "root")
        os.makedirs(os.path.join(self.root, "apps"))
        write(os.path.join(self.root, "meson_options.txt"), OPTIONS)
        write(os.path.join(self.root, "meson.build"), "project('weir', 'c', version: '1.2')\nsubdir('apps')\n")
        write(os.path.join(self.root, "apps", "meson.build"), "executable('weir', 'weir.c')\n")
        self.git("init", "--quiet")
        self.commit(NEVER)
        self.commit(altered_from)
        folder = self.experiment(factors={}, variants={"base": {"commit": "HEAD~1"}, "new": {"commit": "HEAD"}})
        return self.run(folder, "--builds", os.path.join(self.folder, "programs"), env={**os.environ, "WEIR_ROOT": self.root})


def digests(checked):
    """What each variant's server answered with, by name."""
    (group,) = checked["groups"]
    return {server["variant"]: server["digest"] for server in group["servers"]}


@case("servers that answer differently are not compared: the run is refused before its first sample", Repository)
def refused(bench):
    outcome = bench.compare(1)
    assert outcome.returncode == 4, (outcome.returncode, outcome.stdout, outcome.stderr)
    path = bench.only_partial()
    checked = read_json(path, "parity.json")["before"]
    assert checked["equal"] is False
    said = digests(checked)
    assert sorted(said) == ["base", "new"] and said["base"] != said["new"], said
    for name, digest in said.items():
        assert f"{name} (SHA-256 {digest})" in outcome.stderr, outcome.stderr
    with contextlib.suppress(FileNotFoundError):
        assert os.listdir(os.path.join(path, "samples")) == []


@case("servers that came to answer differently while they were measured are told of, and the exit status is 3", Repository)
def told(bench):
    outcome = bench.compare(3)
    assert outcome.returncode == 3, (outcome.returncode, outcome.stdout, outcome.stderr)
    path = results_path(outcome)
    checked = read_json(path, "parity.json")
    assert checked["before"]["equal"] is True and checked["after"]["equal"] is False, checked
    said = digests(checked["after"])
    assert f"new (SHA-256 {said['new']})" in outcome.stderr and said["new"] != said["base"], outcome.stderr
    assert "after the last sample the servers answer the same request differently" in outcome.stderr
    assert [result["valid"] for result in read_results(path)] == [True, True]
    verified = bench.weir("verify", path)
    assert verified.returncode == 3 and "answer" in verified.stdout + verified.stderr, verified


@case("servers of two commits that answer alike are compared", Repository)
def compared(bench):
    outcome = bench.compare(NEVER + 1)
    assert outcome.returncode == 0, (outcome.returncode, outcome.stdout, outcome.stderr)
    checked = read_json(results_path(outcome), "parity.json")
    assert checked["before"]["equal"] is True and checked["after"]["equal"] is True, checked


if __name__ == "__main__":
    sys.exit(run_tests())
