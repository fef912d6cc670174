"""How a run went: what it may leave besides its samples is told, and speaks against it where it
matters."""

import json
import unittest
from dataclasses import replace

from analysis.judgement import caveats
from analysis.judgement.study import Study
from analysis.pages import comparison, course, method
from result_fixture import SCENARIOS, edit_json, write_json
from variants_fixture import block, loaded


class Course(unittest.TestCase):
    """What a run may leave besides its samples."""

    def run_with(self, finish, change=None):
        result, found = loaded(change, finish=finish)
        lines = course.blocks(Study(result, found))[0].lines
        return lines, {one.what: one.detail for one in caveats.disqualifiers(result, found.cells)}

    def test_plan(self):
        """what the plan left out, what it repeats, and who was busy are all told"""

        def plan(path):
            edit_json(
                path / "plan.json",
                omitted=[{"what": "capacity-36cpu-0kb", "why": "36 workers are too many"}],
                repeats={
                    "result": "first",
                    "manifest_sha256": "abc",
                    "differences": [{"what": "kernel", "was": "6.1", "now": "6.2"}],
                },
                resumed=[
                    {
                        "at": "2026-01-01T00:00:00Z",
                        "from_sample": "s0003",
                        "busy_at_start": {"cpus": 0.02, "disturbed": False, "who": []},
                    }
                ],
                busy_at_start={
                    "cpus": 1.02,
                    "disturbed": True,
                    "who": [{"pid": 71, "name": "python3", "cpus": 1.0}],
                },
            )

        lines, caveats = self.run_with(plan)
        self.assertIn("Left out: capacity-36cpu-0kb (36 workers are too many).", lines)
        self.assertIn("It repeats the plan of first, manifest SHA-256 abc.", lines)
        self.assertIn("Otherwise than then: kernel was 6.1, now 6.2.", lines)
        self.assertIn(
            "It was gone on with at 2026-01-01T00:00:00Z from sample s0003; others used 0.02 CPUs"
            " then.",
            lines,
        )
        self.assertIn("As it began, others used 1.02 CPUs (python3 1.00).", lines)
        self.assertEqual(caveats["busy at the start"], "others used 1.02 CPUs (python3 1.00)")

    def test_drift(self):
        """what changed on the host is told, and what matters of it is a disqualifier"""

        def drift(path):
            changes = [
                {"fact": "governor", "before": "performance", "after": None, "matters": True},
                {"fact": "loadavg", "before": [0, 1, 2], "after": [1, 1, 2], "matters": False},
            ]
            write_json(path / "drift.json", {"drift": changes, "steal_share": 0.0123})

        lines, caveats = self.run_with(drift)
        self.assertIn("Changed on the host: governor from performance to n/a.", lines)
        self.assertIn("Changed on the host: loadavg from 0, 1, 2 to 1, 1, 2.", lines)
        self.assertIn("Stolen of all CPU time meanwhile: 1.23 %.", lines)
        self.assertTrue(caveats["drifting host"].startswith("governor changed"))

    def test_machines(self):
        """a run on several machines tells each, and in what they are not alike"""

        def hosts(path):
            facts = {"hostname": "h1", "kernel": "6.2", "virtualization": {"hypervisor": True}}
            remote = {"name": "lab1", "facts": facts}
            differences = [{"fact": "kernel", "values": {"lab1": "6.2", "lab2": "6.3"}}]
            write_json(
                path / "hosts.json",
                {"server": remote, "clients": [remote], "differences": differences},
            )

        lines, caveats = self.run_with(hosts)
        self.assertIn("The machines differ in kernel: lab1: 6.2; lab2: 6.3.", lines)
        self.assertIn("unlike machines", caveats)
        result, found = loaded(finish=hosts)
        lines = block(comparison.blocks(Study(result, found)), "Machine").lines
        self.assertTrue(lines[0].startswith("runner: bench"))
        told = "lab1: h1; kernel 6.2; virtual machine yes"
        self.assertEqual(lines[1:3], [f"server {told}", f"client {told}"])
        self.assertIn("virtual machine", caveats)
        comparable = comparison.blocks(Study(result, found))[4].lines[0]
        self.assertIn("the machines of hosts.json", comparable)

    def test_binding_and_runner(self):
        """how many samples kept their binding, and the most that the runner took, are told"""

        def change(result, client):
            if result["run"] == 0:
                result["binding"] = None
            if result["run"] == 1:
                result["binding"] = {"kept": False}

        lines, _ = self.run_with(None, change)
        self.assertIn("Binding kept in 24 of 40 samples, not kept in 8; 8 cannot say.", lines)
        self.assertIn(
            "The runner itself used at most 0.50 % of one CPU in a measured window.", lines
        )

    def test_parity(self):
        """what servers answered is told, and unlike answers speak against the run"""

        def parity(path):
            servers = [{"variant": "respond-64.base", "digest": "aa"}, {"digest": "aa"}]
            group = {"request": {"handler": "respond"}, "equal": True, "servers": servers}
            before = {"when": "before", "equal": True, "mismatch": None, "groups": [group]}
            after = {"when": "after", "equal": False, "mismatch": "base said aa, new bb"}
            write_json(path / "parity.json", {"before": before, "after": after})

        lines, caveats = self.run_with(parity)
        at = lines.index("Same answers to the same requests, before the first sample: yes.")
        self.assertEqual(lines[at + 1], "  handler: respond: SHA-256 aa from 2 servers")
        self.assertEqual(
            lines[at + 2],
            "Same answers to the same requests, after the last: no, base said aa, new bb.",
        )
        self.assertIn("after the run", caveats["unlike answers"])
        self.assertNotIn("before", caveats["unlike answers"])

    def test_parity_kept(self):
        """answers that stayed the same are told once"""

        def parity(path):
            servers = [{"variant": "respond-64.base", "digest": "aa"}, {"digest": "aa"}]
            group = {"request": {"handler": "respond"}, "equal": True, "servers": servers}
            asked = {"equal": True, "mismatch": None, "groups": [group]}
            write_json(path / "parity.json", {"before": asked, "after": asked})

        lines, _ = self.run_with(parity)
        told = "Same answers to the same requests, after the last: yes, and the same as before."
        self.assertIn(told, lines)
        self.assertEqual(sum("SHA-256 aa" in line for line in lines), 1)

    def test_parity_unknown(self):
        """where a server could not be asked it is not said that the answers were alike"""

        def parity(path):
            before = {"equal": None, "equal_reason": "a server could not be asked", "groups": []}
            write_json(path / "parity.json", {"before": before})

        lines, caveats = self.run_with(parity)
        self.assertIn("n/a (a server could not be asked).", " ".join(lines))
        self.assertNotIn("unlike answers", caveats)

    def test_profile(self):
        """scenarios that a profile made are named by the cells, with what they differ in"""

        def profile(path):
            experiment = json.loads((path / "experiment.json").read_text())
            del experiment["scenarios"]
            cells = [f"{name}.{side}" for name in reversed(SCENARIOS) for side in ("base", "new")]
            effective = experiment | {"profiles": ["pooled"]}
            edit_json(path / "plan.json", effective=effective, variants=cells)

        result, found = loaded(finish=profile)
        self.assertEqual(found.factors["scenario"], list(reversed(SCENARIOS)))
        self.assertEqual(
            method.scenarios(result)[-1],
            "Scenario respond-64: handler respond, delivery immediate, depth 1, request_bytes 64,"
            " response_bytes 64.",
        )
        self.assertNotIn("depth:", method.fixed(result))

    def test_busy_runner(self):
        """a runner that takes more than a hundredth of a CPU speaks against the run"""

        def change(result, client):
            result["runner_cpu_share"] = 0.01 if result["order_index"] else 0.012

        _, caveats = self.run_with(None, change)
        self.assertEqual(
            caveats["busy runner"],
            "in 1 of 40 valid samples the runner itself took more than 1% of a CPU, 1.2% at most",
        )

    def test_notes_and_counters(self):
        """notes on samples are listed, and what the device counted is told by median"""

        def change(result, client):
            result["notes"] = ["the wall clock was set"] if result["order_index"] == 3 else []
            if result["cell"]["variant"] == "new" and result["run"]:
                result["server"]["details"] = {"xstat_rx_errors": result["run"], "copies": 7}

        result, found = loaded(change)
        blocks = {one.title: one for one in course.blocks(Study(result, found))}
        notes = blocks["What speaks against single samples without making them invalid"].lines
        self.assertEqual(len(notes), 1)
        self.assertRegex(notes[0], r"^s0003 \S+: the wall clock was set$")
        rows = blocks["Counters of the device, lower median over samples"].table.rows
        self.assertEqual(rows, [[f"{name}.new", "rx_errors", "2"] for name in SCENARIOS])

    def test_wrong_types(self):
        """what should be a list and is none is told as one thing, whatever it is"""

        def change(result, client):
            result["notes"] = 1

        result, found = loaded(change)
        result.plan.update(omitted=1, repeats={"differences": [1]})
        parity = {"before": {"equal": True, "groups": True}, "after": {"groups": [{"servers": [1]}]}}
        blocks_of = course.blocks(Study(replace(result, parity=parity), found))
        lines = [line for part in blocks_of for line in part.lines]
        self.assertIn("Left out: 1.", lines)
        self.assertIn("40 of 40 valid samples: 1", lines)
        self.assertIn("  n/a: SHA-256 n/a from 1 server", lines)

    def test_notes_alike(self):
        """notes of many samples that differ in numbers alone are one line, with their ends"""

        def change(result, client):
            share = 0.11 + result["order_index"] / 100
            result["notes"] = [f"other processes took {share:.2f} of a CPU on 2 CPUs"]

        result, found = loaded(change)
        blocks = {one.title: one for one in course.blocks(Study(result, found))}
        self.assertEqual(
            blocks["What speaks against single samples without making them invalid"].lines,
            ["40 of 40 valid samples: other processes took 0.11 to 0.50 of a CPU on 2 CPUs"],
        )

    def test_dirty_variant(self):
        """a variant's build that is not fit speaks against the run, by the variant's name"""

        def dirty(path):
            build = json.loads((path / "build.json").read_text())
            build["variants"]["new"].update(
                git_dirty=True, git_diff_sha256="d" * 64, sanitizers="address"
            )
            write_json(path / "build.json", build)

        result, found = loaded(finish=dirty)
        line = block(comparison.blocks(Study(result, found)), "Variants").lines[1]
        self.assertIn(f"with uncommitted changes; diff SHA-256 {'d' * 64}", line)
        _, caveats = self.run_with(dirty)
        self.assertIn("variant new: address", caveats["sanitizer build"])
        self.assertIn("variant new:", caveats["uncommitted changes"])

    def test_virtual_machine(self):
        """a virtual machine speaks against the run"""
        _, caveats = self.run_with(
            lambda path: edit_json(path / "host.json", virtualization={"hypervisor": True})
        )
        self.assertIn("virtual machine", caveats)
