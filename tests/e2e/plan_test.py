"""`weir plan` from the outside: other machines' plans, this host's, and what is refused. Speaks TAP through tap.py.

The program is in $WEIR. plans/NAME.txt is what `weir plan experiments/profiles --profile all --topology NAME.xml` says
but for its samples' lines; `WEIR=build/apps/weir python3 tests/e2e/plan_test.py NAME` prints it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WEIR = os.environ.get("WEIR", "weir")
MACHINES = ROOT / "tests" / "topologies"
DEADLINE_S = 60
WHOLE = {
    "schema": "weir.experiment/1",
    "name": "tiny",
    "fixed": {"stack": "epoll@loopback", "connections": 4},
    "factors": {"depth": [1, 8]},
}


def weir(*arguments, **options):
    command = options.pop("before", []) + [options.pop("program", WEIR), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False, **options)


def profiles_of(machine, *more):
    """All profiles' plan for a machine of tests/topologies."""
    path = MACHINES / f"{machine}.xml"
    return weir("plan", ROOT / "experiments" / "profiles", "--profile", "all", "--topology", path, *more)


def without_samples(text):
    """What is said of the plan as a whole."""
    return "".join(line for line in text.splitlines(keepends=True)
                   if not re.match(r"s\d{4} run |  server:|  client:", line))


def without_place(text):
    """What the host gives anew each time: a free port, a run's id and folder."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    return re.sub(r"/tmp/weir-run-\S+?/", "/tmp/weir-run/", text)


class Plan(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weir-plan-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def experiment(self, changes=None, name="experiment"):
        folder = self.folder / name
        folder.mkdir()
        text = changes if isinstance(changes, str) else json.dumps({**WHOLE, **(changes or {})}, indent=1)
        (folder / "experiment.json").write_text(text, encoding="utf-8")
        return folder

    def plan(self, *arguments, **options):
        outcome = weir("plan", *arguments, **options)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return outcome.stdout

    def refused(self, *arguments, **options):
        """What a plan that is refused says on stderr."""
        outcome = weir("plan", *arguments, **options)
        self.assertEqual(outcome.returncode, 4, outcome.stdout)
        return outcome.stderr

    def test_machines(self):
        """every machine's plan is as it was written down"""
        for path in sorted(MACHINES.glob("*.xml")):
            with self.subTest(path.stem):
                outcome = profiles_of(path.stem)
                written = (HERE / "plans" / f"{path.stem}.txt").read_text(encoding="utf-8")
                self.assertEqual(without_samples(outcome.stdout) + outcome.stderr, written)
                self.assertEqual(outcome.returncode, 0 if outcome.stdout else 4)

    def test_sides_are_apart(self):
        """on every machine server and client are on CPUs of their own, and off those kept for the system"""
        for path in sorted(MACHINES.glob("*.xml")):
            outcome = profiles_of(path.stem, "--json")
            if outcome.returncode:
                continue
            plan = json.loads(outcome.stdout)
            for sample in plan["samples"]:
                with self.subTest(f"{path.stem} {sample['sample_id']}"):
                    server, client = set(sample["server_cpus"]), set(sample["client_cpus"])
                    self.assertFalse(server & client)
                    self.assertFalse((server | client) & set(sample["reserved_cpus"]))
                    self.assertEqual(len(server), sample["cell"]["workers"])
                    self.assertEqual(len(client), sample["cell"]["client_workers"])
                    if not plan["degraded"]:
                        self.assertTrue(sample["reserved_cpus"])
                    if sample["cell"]["placement"] == "across-nodes":
                        self.assertFalse(set(sample["server_nodes"]) & set(sample["client_nodes"]))

    def on_hybrid(self, factors, fixed=None):
        """The plan on a machine with 4 fast cores and 8 slow ones, and which kind each cell is on."""
        changes = {"fixed": {"stack": "epoll@loopback", "connections": 64, **(fixed or {})}, "factors": factors}
        name = f"hybrid-{len(os.listdir(self.folder))}"
        plan = json.loads(self.plan(self.experiment(changes, name), "--topology", MACHINES / "hybrid.xml", "--json"))
        kinds = {sample["variant"]: {cpu < 8 for cpu in sample["server_cpus"] + sample["client_cpus"]}
                 for sample in plan["samples"]}
        return plan, kinds

    def test_one_kind_of_cores(self):
        """all cells are on one kind of cores, the fastest with room for each; where none has, the plan says so"""
        plan, kinds = self.on_hybrid({"workers": [1, 2, 4]})
        self.assertEqual(kinds, {"w1": {False}, "w2": {False}, "w4": {False}})
        self.assertFalse(plan["degraded"])
        plan, kinds = self.on_hybrid({"workers": [1, 2]}, {"client_workers": 1})
        self.assertEqual(kinds, {"w1": {True}, "w2": {True}})
        plan, kinds = self.on_hybrid({"workers": [1, 2]}, {"client_workers": "all"})
        self.assertEqual(kinds, {"w1": {False}, "w2": {False}})
        self.assertEqual([sample["cell"]["client_workers"] for sample in plan["samples"]], [4, 4])
        plan, kinds = self.on_hybrid({"workers": [1, 2, 6]})
        self.assertEqual(kinds, {"w1": {True}, "w2": {False}, "w6": {True, False}})
        self.assertEqual(plan["degraded_reason"], "no core is left for the operating system; the cores are of different "
                         "kinds; cells are on different kinds of cores: w1 | w2 | w6")

    def test_windows(self):
        """a plan that is degraded has short windows, another one those of the profiles"""
        small = json.loads(profiles_of("two-cpus", "--json").stdout)
        large = json.loads(profiles_of("four-nodes", "--json").stdout)
        self.assertTrue(small["degraded"] and small["degraded_reason"])
        self.assertEqual([small["effective"][key] for key in ("form", "runs", "warmup", "duration")],
                         ["short", 3, "1s", "2s"])
        self.assertFalse(large["degraded"])
        self.assertEqual([large["effective"][key] for key in ("form", "runs", "warmup", "duration")],
                         ["full", 3, "15s", "30s"])
        self.assertIn("15s", large["samples"][0]["client_argv"])

    def test_two_cpus_here(self):
        """with two of this host's CPUs the plan is degraded, with one it is refused"""
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < 2 or not shutil.which("taskset"):
            self.skipTest("needs two CPUs and taskset")
        two = ["taskset", "-c", ",".join(map(str, allowed[:2]))]
        said = self.plan(self.experiment(), before=two)
        self.assertRegex(said, r"\ndegraded: .*no core is left for the operating system")
        one = ["taskset", "-c", str(allowed[0])]
        said = self.refused(self.folder / "experiment", before=one)
        self.assertIn("1 server and 1 client workers need 2 CPUs, but this process may use 1", said)

    def test_nothing_is_taken(self):
        """a plan takes nothing, and a dry run says the same"""
        folder = self.experiment()
        said = self.plan(folder)
        self.assertEqual(sorted(os.listdir(folder)), ["experiment.json"])
        self.assertIn("nothing was run\n", said)
        dry = weir("run", folder, "--dry-run", "--output", self.folder / "out", "--lock", self.folder / "lock")
        self.assertEqual(dry.returncode, 0, dry.stderr)
        said = re.sub(r"^warning: .*\n", "", said, flags=re.M)
        self.assertEqual(without_place(dry.stdout), without_place(said))
        self.assertEqual(os.listdir(self.folder), ["experiment"])

    def test_estimate(self):
        """the time of a plan counts the servers that are compared before and after, each server once"""
        def estimate(name, **factors):
            folder = self.experiment({"fixed": {"stack": "epoll@loopback"}, "factors": factors}, name)
            plan = json.loads(self.plan(folder, "--topology", MACHINES / "two-cpus.xml", "--json"))
            return plan["estimate_s"] / len(plan["samples"])
        alone = estimate("alone", depth=[1])
        one_server = estimate("one-server", depth=[1, 8])
        two_servers = estimate("two-servers", delivery=["immediate", "coalesce"])
        self.assertLess(alone, one_server)
        self.assertLess(one_server, two_servers)
    def test_what_is_printed(self):
        """the plan comes first and then a line for each sample; command lines are printed where they are asked for"""
        folder = self.experiment()
        lines = self.plan(folder).splitlines()
        lines = lines[lines.index("2 cells:"):]
        self.assertRegex("\n".join(lines[-3:]), r"^2 samples, about 13 s; nothing was run\ns0001 run 1 d1\ns0002 run 1 d8$")
        self.assertFalse([line for line in lines if line.startswith("  server:")])
        more = self.plan(folder, "--commands").splitlines()
        self.assertEqual([line for line in more if re.match("  server:|  client:", line)], more[-5:-3] + more[-2:])
        self.assertEqual([line for line in more if not re.match("  server:|  client:|warning: ", line)][-len(lines):], lines)
        self.assertIn("serve", more[-2])
        for duration, runs, said in (("3s", 1, "1 sample, about 5 s;"), ("60s", 1, "1 sample, about 1 min 2 s;"),
                                     ("60m", 2, "2 samples, about 2 h 0 min;")):
            text = self.plan(folder, "--set", "depth=[1]", "--set", f"duration={duration}", "--set", f"runs={runs}")
            self.assertIn(f"\n{said} nothing was run\n", text)
            self.assertIn(f"order: rotate, {runs} run{'s' if runs > 1 else ''}, ", text)

    def test_cautions(self):
        """too few runs for an interval or for the order's balance are noted, in plan, dry run and JSON"""
        folder = self.experiment()
        one = "with 1 run there is no interval: take 3 or more to tell cells apart"
        two = "with 2 runs an interval tells large differences only: take 3 or more to tell cells apart"
        unbalanced = "the order is not balanced: abba is whole after 4 runs or a multiple of it"
        for runs, order, notes in (("1", "rotate", [one]), ("2", "abba", [two, unbalanced]),
                                   ("3", "rotate", []), ("3", "abba", [unbalanced]), ("4", "abba", [])):
            changes = ["--set", f"runs={runs}", "--set", f"order={order}"]
            self.assertEqual(re.findall("^note: (.*)", self.plan(folder, *changes), re.M), notes)
            warnings = json.loads(self.plan(folder, *changes, "--json"))["warnings"]
            self.assertEqual([one for one in warnings if "runs" in one or "1 run " in one], notes)
        self.assertNotIn("note: ", self.plan(folder, "--set", "depth=[1]"))

    def test_effective(self):
        """what plan.json has under effective makes the same plan"""
        changes = ["--set", "order=random(5)", "--set", "delivery=[\"coalesce\",\"immediate\"]",
                   "--variant", "old=HEAD", "--profile", "capacity,min-rtt"]
        folder = self.experiment({"fixed": {"stack": "epoll@loopback"}, "factors": {"wait": ["block", "spin"]}})
        machine = ["--topology", MACHINES / "hybrid.xml", "--json"]
        environment = {key: value for key, value in os.environ.items() if key != "WEIR_ROOT"}
        plan = json.loads(self.plan(folder, *changes, *machine, env=environment, cwd="/"))
        again = self.experiment(json.dumps(plan["effective"]), "again")
        replayed = json.loads(self.plan(again, *machine, env=environment, cwd="/"))
        for key in ("samples", "builds", "effective", "order", "seed", "estimate_s"):
            self.assertEqual(plan[key], replayed[key], key)
        self.assertTrue(plan["omitted"])

    def test_variants(self):
        """variants of the environment and the command line are resolved, and one that git does not know is refused"""
        if not shutil.which("git"):
            self.skipTest("needs git")
        git = ["git", "-C", str(self.folder), "-c", "user.name=x", "-c", "user.email=x@example.org"]
        for arguments in (["init", "-q", "-b", "trunk"], ["commit", "-q", "--allow-empty", "-m", "one"], ["tag", "first"],
                          ["commit", "-q", "--allow-empty", "-m", "two"]):
            subprocess.run(git + arguments, check=True)
        commits = subprocess.run(git + ["rev-parse", "HEAD~1", "HEAD"], capture_output=True, text=True, check=True)
        first, second = commits.stdout.split()
        environment = {**os.environ, "WEIR_ROOT": str(self.folder), "VARIANTS": "base=HEAD new=first"}
        folder = self.experiment()
        said = self.plan(folder, "--variant", "new=trunk", "--variant", "old=first", env=environment)
        self.assertIn("  base: commit HEAD\n  new: commit trunk\n  old: commit first\n", said)
        self.assertIn(f"base would be built from {second}\n", said)
        self.assertIn(f"old would be built from {first}\n", said)
        self.assertIn(" d8.old\n", said)
        self.assertIn("no commit 'nonesuch'", self.refused(folder, "--variant", "a=nonesuch", env=environment))
        wrong = {**environment, "VARIANTS": "base"}
        self.assertIn("VARIANTS in the environment: 'base' is not accepted", self.refused(folder, env=wrong))

    def test_all_problems(self):
        """all that is wrong is said at once, each with its place"""
        lines = ['{"schema": "weir.experiment/1", "name": "x",',
                 ' "fixed": {"stack": "epoll@loopback", "depth": 1, "tls": "no"},',
                 ' "factors": {"depth": [1, 2], "wiat": ["spin"]},',
                 ' "scenarios": {"a": {"connections": -1}},',
                 ' "variants": {"b": {"comit": "v1"}},',
                 ' "runs": 0, "warmup": "10", "order": "random(x)", "galaxy": 1}']
        said = self.refused(self.experiment("\n".join(lines)))
        for line, token, words in ((2, '"no"', "'tls' is \"no\""),
                                   (3, '"depth"', "'depth' is set here and in \"fixed\" in line 2"),
                                   (3, '"wiat"', "unknown key 'wiat'; did you mean 'wait'?"),
                                   (4, "-1", "'connections' is -1, but a whole number from 1 to 65536"),
                                   (5, '"comit"', "unknown key 'comit'; did you mean 'commit'?"),
                                   (6, "0", "'runs' is 0; accepted: a whole number from 1 to 1000"),
                                   (6, '"10"', "'warmup' is \"10\"; accepted: 0ms to 60m, with its unit"),
                                   (6, '"random(x)"', "'order' is \"random(x)\"; accepted: \"rotate\""),
                                   (6, '"galaxy"', "unknown key 'galaxy'")):
            column = lines[line - 1].index(token) + 1
            self.assertIn(f"experiment.json:{line}:{column}: {words}", said)
        self.assertTrue(said.startswith("weir plan: 9 problems would refuse a run\n"), said)

    def test_what_the_host_lacks(self):
        """what this host lacks is said behind the plan, which is shown all the same"""
        stacks = json.loads(weir("stacks", "--json").stdout)["stacks"]
        if any(stack["name"] == "dpdk" and stack["absent"] for stack in stacks):
            self.skipTest("built without dpdk")
        folder = self.experiment({"fixed": {"stack": "dpdk@memif", "hugepages": "yes"}})
        outcome = weir("plan", folder, "--topology", MACHINES / "hybrid.xml")
        self.assertEqual(outcome.returncode, 4, outcome.stderr)
        self.assertIn("2 samples, about", outcome.stdout)
        self.assertIn("0 MiB of the 128 MiB that server and client need are free", outcome.stderr)

    def test_veth_without_root(self):
        """without the right to make interfaces @veth is refused before anything runs; another machine may have it"""
        folder = self.experiment({"fixed": {"stack": "epoll@veth"}})
        self.folder.chmod(0o755)
        program = shutil.copy(WEIR, self.folder)  # where others may start it
        options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        outcome = weir("plan", folder, program=program, **options)
        self.assertEqual(outcome.returncode, 4, outcome.stderr)
        self.assertIn("weir plan: 1 problem would refuse a run\nd1: a veth pair", outcome.stderr)
        self.assertIn("2 samples, about", outcome.stdout)
        machine = shutil.copy(MACHINES / "hybrid.xml", self.folder)
        elsewhere = weir("plan", folder, "--topology", machine, program=program, **options)
        self.assertEqual(elsewhere.returncode, 0, elsewhere.stderr)

    def test_paths(self):
        """blanks, signs of the shell and line ends in a path are a path's"""
        outside = self.folder / "made"
        folder = self.experiment(name=f"a b;$(touch {outside.name})'\"\n..&")
        self.assertIn("2 cells:\n", self.plan(folder, cwd=self.folder))
        self.assertIn("2 cells:\n", self.plan(f"{folder}/../{folder.name}/experiment.json"))
        self.assertFalse(outside.exists())

    def test_wrong_command_lines(self):
        """a wrong command line is refused with what was meant"""
        folder = self.experiment()
        for arguments, words in (([folder, "--profle", "all"], "did you mean '--profile'?"),
                                 ([folder, "--profile", "min-rt"], "did you mean 'min-rtt'?"),
                                 ([folder, "--variant", "base"], "a name and a commit"),
                                 ([folder, "--variant", "=x"], "a name and a commit"),
                                 ([folder, "--topology", "/nonexistent.xml"], "/nonexistent.xml"),
                                 ([folder, "--topology", folder / "experiment.json"], "experiment.json"),
                                 ([self.folder / "none"], "No such file or directory"),
                                 ([], "DIR is missing")):
            self.assertIn(words, self.refused(*arguments))

    def test_names_of_profiles(self):
        """the help and the refusal of an unknown profile list all of them"""
        names = "min-rtt, pooled, pool-saturation, pipelined-throughput, throughput, capacity or all"
        self.assertIn(f"A,B: {names}\n", self.plan("--help"))
        self.assertIn(f"unknown profile 'foo'; accepted: {names}\n", self.refused(self.experiment(), "--profile", "foo"))
        self.assertIn("or plan experiments/profiles\n", self.refused(self.folder / "experiment", "--profile", "all"))

    def test_json(self):
        """--json prints plan.json with warnings and problems beside it"""
        plan = json.loads(self.plan(self.experiment(), "--json"))
        self.assertEqual(plan["schema"], "weir.plan/1")
        self.assertEqual(plan["problems"], [])
        self.assertEqual(len(plan["samples"]), 2)
        self.assertEqual(plan["builds"], [{"variant": None, "commit": None, "options": "", "c_args": ""}])
        self.assertIsInstance(plan["warnings"], list)


if __name__ == "__main__":
    shown = profiles_of(sys.argv[1])
    sys.stdout.write(without_samples(shown.stdout) + shown.stderr)
