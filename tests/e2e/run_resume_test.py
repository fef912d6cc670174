#!/usr/bin/python3
"""`weir run` over an earlier result: going on with one that is not whole, and repeating a whole one. Speaks TAP.

usage: run_resume_test.py WEIR [SUBSTRING...]
"""

import json
import os
import shutil
import signal
import sys

from bench import (DEADLINE_S, ONE_CELL, case, check_hashes, children_of, files_below, interrupt, is_alive,
                   read, read_bytes, read_json, read_results, results_path, wait_for, write, write_manifest)
from processes import run_tests

RUNS = {"runs": 2, "order": "random", "seed": 7}


def interrupted(bench, sample_id, **changes):
    """A partial result that was interrupted while this sample was measured; the experiment's folder and its path."""
    folder = bench.experiment(**{**RUNS, **changes})
    with bench.start(folder) as runner:
        bench.await_measuring(sample_id)
        interrupt(runner)
    return folder, bench.only_partial()


def with_result(partial):
    """The ids of the samples that have one."""
    return [name.split("/")[1].split("-")[0] for name in files_below(partial)
            if name.startswith("samples/") and name.endswith("/result.json")]


def edit_json(path, change):
    """Rewrites a file as `change` leaves its object."""
    value = json.loads(read(path))
    change(value)
    write(path, json.dumps(value))


def sample_folder(path, number):
    return os.path.join(path, read_json(path, "plan.json")["samples"][number]["folder"])


@case("a run interrupted between samples is gone on with, and only what lacks is measured, in the order of before")
def resume_interrupted(bench):
    folder, partial = interrupted(bench, "s0003")
    assert with_result(partial) == ["s0001", "s0002"]
    kept = {name: read_bytes(os.path.join(partial, name)) for name in files_below(partial)
            if name.startswith(("samples/s0001", "samples/s0002"))}
    before = read_json(partial, "plan.json")
    path = bench.result(folder, "--resume")
    assert bench.made() == [os.path.basename(path)] == [os.path.basename(partial).removesuffix(".partial")]
    assert {name: read_bytes(os.path.join(path, name)) for name in kept} == kept
    plan = read_json(path, "plan.json")
    resumed = plan.pop("resumed")
    assert plan == before and plan["seed"] == 7
    assert len(resumed) == 1 and resumed[0]["from_sample"] == "s0003" and resumed[0]["at"].endswith("Z"), resumed
    results = read_results(path)
    assert [one["sample_id"] for one in results] == [sample["sample_id"] for sample in plan["samples"]]
    assert [one["variant"] for one in results] == [sample["variant"] for sample in plan["samples"]]
    attempts = os.path.join(path, "attempts")
    assert sorted(name.split("-")[0] for name in os.listdir(attempts)) == ["resume.1", "s0003"], os.listdir(attempts)
    assert "INCOMPLETE.txt" in os.listdir(os.path.join(attempts, "resume.1"))
    assert read_json(attempts, "resume.1", "plan.json") == before
    assert read_json(path, "summary.json")["attempts_failed"] == 0  # what was cut short has no result
    check_hashes(path)
    assert bench.weir("verify", path).returncode == 0


@case("a run whose runner was killed with -9 is gone on with by the name of its directory", alone=True)
def resume_killed(bench):
    folder = bench.experiment(**RUNS)
    with bench.start(folder) as runner:
        bench.await_measuring("s0002")
        children = children_of(runner.pid)
        runner.kill()
    wait_for(lambda: not any(is_alive(pid) for pid in children))
    partial = bench.only_partial()
    run_id = read_json(partial, "plan.json")["run_id"]
    outcome = bench.run(partial, "--resume")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert f"removed what run {run_id} left when it was killed" in outcome.stderr, outcome.stderr
    assert "1 of 4 samples are valid and kept" in outcome.stdout, outcome.stdout
    assert read_json(results_path(outcome), "plan.json")["run_id"] == run_id
    assert bench.weir("verify", results_path(outcome)).returncode == 0


@case("a result that is half written is never read as valid, and measured anew")
def resume_half_written(bench):
    folder, partial = interrupted(bench, "s0004")
    first, second, third = (os.path.join(sample_folder(partial, i), "result.json") for i in range(3))
    write(first, read(first)[:-20])
    edit_json(second, lambda result: result.update(schema="weir.sample/0"))
    write(third + ".tmp-1", read(third))
    os.unlink(third)
    outcome = bench.run(folder, "--resume")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "0 of 4 samples are valid and kept" in outcome.stdout, outcome.stdout
    assert bench.weir("verify", results_path(outcome)).returncode == 0


@case("a result that only says that it is valid is measured anew")
def resume_claimed(bench):
    folder, partial = interrupted(bench, "s0004")
    first, second, third = (os.path.join(sample_folder(partial, i), "result.json") for i in range(3))
    kept = ("schema", "sample_id", "order_index", "run", "variant", "valid", "invalid_reasons", "effective_rps")
    whole = read_json(first)
    write(first, json.dumps({key: whole[key] for key in kept}))
    edit_json(second, lambda result: result.update(invalid_reasons=["forged"]))
    edit_json(third, lambda result: result.update(completed=-5))
    outcome = bench.run(folder, "--resume")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "0 of 4 samples are valid and kept" in outcome.stdout, outcome.stdout


@case("nothing is written through a link in the directory that is gone on with")
def resume_through_link(bench):
    _, partial = interrupted(bench, "s0002")
    elsewhere = os.path.join(bench.folder, "elsewhere")
    os.rename(os.path.join(partial, "samples"), elsewhere)
    os.symlink(elsewhere, os.path.join(partial, "samples"))
    before = files_below(elsewhere)
    outcome = bench.run(partial, "--resume")
    assert outcome.returncode == 4 and "samples is a link" in outcome.stderr, outcome.stderr
    assert files_below(elsewhere) == before


@case("a whole result with an invalid sample is gone on with: the sample is measured anew, its attempt kept and counted")
def resume_invalid(bench):
    folder = bench.experiment(**RUNS, duration="400ms")
    with bench.start(folder) as runner:
        os.kill(bench.await_measuring("s0002"), signal.SIGKILL)
        runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3
    path = os.path.join(bench.output, bench.made()[0])
    folder_of_failed = sample_folder(path, 1)
    failed = read_bytes(os.path.join(folder_of_failed, "result.json"))
    old_summary = read_bytes(os.path.join(path, "summary.json"))
    assert bench.result(path, "--resume") == path
    assert [one["valid"] for one in read_results(path)] == [True] * 4
    summary = read_json(path, "summary.json")
    assert summary["valid"] == 4 and summary["attempts_failed"] == 1, summary
    attempt = os.path.join(path, "attempts", os.path.basename(folder_of_failed) + ".1")
    assert read_bytes(os.path.join(attempt, "result.json")) == failed
    assert read_bytes(os.path.join(path, "attempts", "resume.1", "summary.json")) == old_summary
    assert bench.weir("verify", path).returncode == 0
    before = {name: read_bytes(os.path.join(path, name)) for name in files_below(path)}
    again = bench.run(path, "--resume")
    assert again.returncode == 0 and "nothing to go on with" in again.stdout, again.stdout + again.stderr
    assert {name: read_bytes(os.path.join(path, name)) for name in files_below(path)} == before


@case("a run is gone on with more than once, and each time is recorded")
def resume_twice(bench):
    folder, partial = interrupted(bench, "s0002")
    with bench.start(folder, "--resume") as runner:
        bench.await_measuring("s0003")
        interrupt(runner)
    assert bench.only_partial() == partial
    path = bench.result(folder, "--resume")
    resumed = read_json(path, "plan.json")["resumed"]
    assert [one["from_sample"] for one in resumed] == ["s0002", "s0003"], resumed
    assert {"resume.1", "resume.2"} <= set(os.listdir(os.path.join(path, "attempts")))


def answer_differently(path):
    """Lets parity.json say that two servers of the result differed after the last sample."""
    text = "the answers of a (SHA-256 0) and b (SHA-256 1) differ"
    edit_json(os.path.join(path, "parity.json"),
              lambda parity: parity.update(after={**parity["before"], "when": "after", "equal": False, "mismatch": text}))
    return text


@case("servers that answered differently after the last sample stay a failure when the result is looked at or gone on with")
def resume_of_unlike(bench):
    path = bench.result(bench.experiment(**RUNS))
    text = answer_differently(path)
    edit_json(os.path.join(path, "summary.json"), lambda summary: summary.update(servers_differ=text))
    write_manifest(path)
    looked, verdict = bench.run(path, "--resume"), bench.weir("verify", path)
    assert looked.returncode == 3 and text in looked.stdout, looked.stdout
    assert verdict.returncode == 3, verdict.stdout
    assert verdict.stdout == f"parity.json: the servers answered the same request differently: {text}\n", verdict.stdout


@case("what servers answered before a run was gone on with stays a failure of the whole")
def resume_after_unlike(bench):
    folder, partial = interrupted(bench, "s0003")
    text = answer_differently(partial)
    outcome = bench.run(folder, "--resume")
    assert outcome.returncode == 3, (outcome.returncode, outcome.stderr)
    path = results_path(outcome)
    assert read_json(path, "summary.json")["servers_differ"] == text
    parity = read_json(path, "parity.json")
    assert parity["schema"] == "weir.parity/1" and parity["after"]["equal"] is True, parity
    assert bench.weir("verify", path).returncode == 3


@case("of a run that was gone on with, drift is what changed since then, what had changed before stands apart")
def resume_drift(bench):
    folder, partial = interrupted(bench, "s0003")
    edit_json(os.path.join(partial, "host.json"), lambda host: host.update(environment_bytes=1, uptime_marker="first"))
    path = bench.result(folder, "--resume")
    drift = read_json(path, "drift.json")
    assert "uptime_marker" not in [one["fact"] for one in drift["drift"]], drift["drift"]
    assert "uptime_marker" in [one["fact"] for one in drift["earlier"]["drift"]], drift["earlier"]
    assert "steal_share" in drift and "steal_share" in drift["earlier"]
    summary = read_json(path, "summary.json")
    assert [one["busy_at_start"] for one in summary["resumed"]] == \
        [one["busy_at_start"] for one in read_json(path, "plan.json")["resumed"]]


@case("a run of several hosts that is gone on with keeps hosts.json and adds what the hosts are now")
def resume_hosts(bench):
    hosts = {"server": {"address": "127.0.0.1"}}
    fixed = {"stack": "epoll@network", "connections": 4, "request_bytes": 32}
    _, partial = interrupted(bench, "s0003", hosts=hosts, fixed=fixed)
    before = read_bytes(os.path.join(partial, "hosts.json"))
    path = bench.result(partial, "--resume")
    assert read_bytes(os.path.join(path, "hosts.json")) == before
    assert read_json(path, "hosts-resumed.json")["schema"] == "weir.hosts/1"


@case("the environment in a plan loads and finds nothing: the present one counts, and what differs is listed")
def repeat_environment(bench):
    path = bench.result(bench.experiment(factors=ONE_CELL))
    marker = os.path.join(bench.folder, "loaded")

    def change(plan):
        for sample in plan["samples"]:
            sample["env"].update(LD_PRELOAD=marker, PATH="/nonexistent", MALLOC_ARENA_MAX="3")
    edit_json(os.path.join(path, "plan.json"), change)
    write_manifest(path)
    outcome = bench.run(path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    plan = read_json(results_path(outcome), "plan.json")
    env = plan["samples"][0]["env"]
    assert "LD_PRELOAD" not in env and env["PATH"] == os.environ["PATH"] and env["MALLOC_ARENA_MAX"] == "3", env
    differences = {one["what"]: one for one in plan["repeats"]["differences"]}
    assert sorted(differences) == ["environment.LD_PRELOAD", "environment.PATH"], differences
    assert differences["environment.PATH"]["was"] == "/nonexistent", differences
    assert f'environment.LD_PRELOAD: was "{marker}", is now ' in outcome.stderr, outcome.stderr
    assert "ld.so" not in read(os.path.join(results_path(outcome), plan["samples"][0]["folder"], "server.log"))


@case("the newest partial of the experiment is gone on with, and no other's")
def resume_newest(bench):
    other = bench.experiment(name="tiny-other", **RUNS)
    with bench.start(other) as runner:
        bench.await_measuring("s0001")
        interrupt(runner)
    outcome = bench.run(bench.experiment(**RUNS), "--resume")
    assert outcome.returncode == 4 and "no .partial of the experiment 'tiny'" in outcome.stderr, outcome.stderr
    folder = bench.experiment(**RUNS)
    for _ in range(2):
        with bench.start(folder) as runner:
            wait_for(lambda: any("-tiny-" in name and "tiny-other" not in name for name in bench.made()))
            wait_for(lambda: children_of(runner.pid))
            interrupt(runner)
    older, newest = [name for name in bench.made() if "tiny-other" not in name]
    os.makedirs(os.path.join(bench.output, "99990101T000000Z-tiny-x.partial"))  # killed before it had a plan
    path = bench.result(folder, "--resume")
    assert os.path.basename(path) + ".partial" == max(older, newest, key=lambda name: (len(name), name)), (path, older)


@case("an experiment that was changed is not gone on with, and what differs is said")
def resume_changed(bench):
    folder, partial = interrupted(bench, "s0002")
    for arguments, said in ((("--set", "duration=250ms"), 'effective.duration: was "200ms", is now "250ms"'),
                            (("--set", "depth=5"), "effective.factors: was ")):
        outcome = bench.run(folder, "--resume", *arguments)
        assert outcome.returncode == 4 and said in outcome.stderr, outcome.stderr
    bench.experiment(**{**RUNS, "seed": 5})
    outcome = bench.run(folder, "--resume")
    assert outcome.returncode == 4, outcome.stdout
    assert f"experiment.json is not the file that {partial} was begun with" in outcome.stderr, outcome.stderr
    assert "effective.seed: was 7, is now 5" in outcome.stderr, outcome.stderr
    assert bench.only_partial() == partial and with_result(partial) == ["s0001"]


@case("another host, kernel, program or other CPUs are not gone on with, and each is named")
def resume_elsewhere(bench):
    _, partial = interrupted(bench, "s0002")

    def change_plan(plan):
        plan["programs"][0]["sha256"] = "0" * 64
        for sample in plan["samples"]:
            sample["server_cpus"] = [77]
    edit_json(os.path.join(partial, "plan.json"), change_plan)
    edit_json(os.path.join(partial, "host.json"), lambda host: host.update(kernel="5.0.0", hostname="elsewhere"))
    before = {name: read_bytes(os.path.join(partial, name)) for name in files_below(partial)}
    outcome = bench.run(partial, "--resume")
    assert outcome.returncode == 4, outcome.stdout
    for said in ('kernel: was "5.0.0", is now ', 'hostname: was "elsewhere", is now ',
                 'program: was "0000', "server_cpus of s0001 and 3 more: was [77], is now ["):
        assert said in outcome.stderr, (said, outcome.stderr)
    assert {name: read_bytes(os.path.join(partial, name)) for name in files_below(partial)} == before


@case("a directory that another run writes is not gone on with, and that run is named")
def resume_of_living(bench):
    folder = bench.experiment(duration="20s")
    with bench.start(folder) as runner:
        bench.await_measuring("s0001")
        partial = bench.only_partial()
        bench.lock = os.path.join(bench.folder, "another-lock")
        outcome = bench.run(partial, "--resume")
        assert runner.poll() is None
        interrupt(runner)
    assert outcome.returncode == 4, outcome.stdout
    assert f"another run writes it: weir (pid {runner.pid})" in outcome.stderr, outcome.stderr


@case("a plan of an unknown schema, cut off, or without a run id is refused by its name")
def resume_unreadable(bench):
    _, partial = interrupted(bench, "s0002")
    file = os.path.join(partial, "plan.json")
    good = read(file)
    for text, said in ((good[:len(good) // 2], "plan.json:"),
                       (good.replace("weir.plan/1", "weir.plan/9"), "its schema is 'weir.plan/9'"),
                       (good.replace('"run_id"', '"run_no"'), "tells no run id and port"),
                       (good.replace('"seed"', '"runs": 1, "seed"'), "duplicate")):
        assert text != good, said
        write(file, text)
        outcome = bench.run(partial, "--resume")
        assert outcome.returncode == 4 and said in outcome.stderr, (said, outcome.stderr)


def plan_of(path):
    """What of a plan a repeat must have in common with it: all but what is of one run."""
    plan = read_json(path, "plan.json")
    text = json.dumps(plan["samples"]).replace(plan["run_id"], "RUN").replace(f":{plan['port']}", ":PORT")
    return {**{key: plan[key] for key in ("effective", "runs", "cells", "order", "seed", "variants", "programs")},
            "samples": json.loads(text)}


@case("a result is repeated exactly, in a directory of its own, and stays as it is")
def repeat(bench):
    path = bench.result(bench.experiment(**RUNS), "--set", "depth=2")
    before = {name: read_bytes(os.path.join(path, name)) for name in files_below(path)}
    shutil.rmtree(os.path.join(bench.folder, "experiment"))
    dry = bench.run(path, "--dry-run")
    assert dry.returncode == 0 and "4 samples, about" in dry.stdout, dry.stderr
    again = bench.result(path)
    assert again != path and plan_of(again) == plan_of(path)
    for name in ("experiment.json", "build.json"):
        assert read_bytes(os.path.join(again, name)) == before[name]
    repeats = read_json(again, "plan.json")["repeats"]
    assert repeats["result"] == os.path.basename(path) and repeats["differences"] == [], repeats
    assert repeats["manifest_sha256"] in read(os.path.join(path, "manifest.sha256"))
    assert {name: read_bytes(os.path.join(path, name)) for name in files_below(path)} == before
    assert plan_of(bench.result(again)) == plan_of(path)  # and so is a repeat


@case("a repeat on another kernel or with another program is stamped with the differences, which are said")
def repeat_elsewhere(bench):
    path = bench.result(bench.experiment(factors=ONE_CELL))
    edit_json(os.path.join(path, "plan.json"), lambda plan: plan["programs"][0].update(sha256="0" * 64))
    edit_json(os.path.join(path, "host.json"), lambda host: host.update(kernel="5.0.0"))
    write_manifest(path)
    outcome = bench.run(path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "not all is as it was" in outcome.stderr and 'kernel: was "5.0.0", is now ' in outcome.stderr, outcome.stderr
    differences = read_json(results_path(outcome), "plan.json")["repeats"]["differences"]
    assert [one["what"] for one in differences] == ["kernel", "program"], differences
    assert differences[0]["was"] == "5.0.0" and differences[0]["now"] == os.uname().release, differences


@case("a repeat whose pins, cells or order would differ is refused, and each difference named")
def repeat_otherwise(bench):
    path = bench.result(bench.experiment(runs=2))

    def change(plan):
        plan["samples"][0]["cell"]["depth"] = 9
        for sample in plan["samples"]:
            sample["client_cpus"] = [77]
        plan["samples"][2]["variant"], plan["samples"][3]["variant"] = "x", "y"
    edit_json(os.path.join(path, "plan.json"), change)
    write_manifest(path)
    for arguments in ((), ("--dry-run",)):
        outcome = bench.run(path, *arguments)
        assert outcome.returncode == 4, outcome.stdout
        for said in ("client_cpus of s0001 and 3 more: was [77], is now [", "cell of s0001: was ",
                     'variant of s0003 and 1 more: was "x", is now '):
            assert said in outcome.stderr, (said, outcome.stderr)
    assert bench.made() == [os.path.basename(path)]


@case("a result that was changed is neither repeated nor gone on with, and no plan of one is altered")
def repeat_refusals(bench):
    path = bench.result(bench.experiment(factors=ONE_CELL))
    outcome = bench.run(path, "--set", "depth=2")
    assert outcome.returncode == 4 and "its plan is carried out as it is" in outcome.stderr, outcome.stderr
    with open(os.path.join(path, "plan.json"), "ab") as file:
        file.write(b" ")
    for arguments in ((), ("--resume",), ("--dry-run",)):
        outcome = bench.run(path, *arguments)
        assert outcome.returncode == 4 and "plan.json: has " in outcome.stderr, outcome.stderr
    partial = path + ".partial"
    os.rename(path, partial)
    outcome = bench.run(partial)
    assert outcome.returncode == 4 and "is not whole" in outcome.stderr, outcome.stderr
    assert bench.made() == [os.path.basename(partial)]


if __name__ == "__main__":
    sys.exit(run_tests())
