"""`weir run` with HTTP: a configuration of the servers, an upstream behind them, TLS; and what is left of it.

usage of a test file: see processes.py.
"""

import json
import os
import re
import shutil
import signal
import sys

from bench import (case, check_hashes, interrupt, is_alive, read, read_bytes, read_json, read_results, ready_of, results_path,
                   wait_for, write)
from processes import Skip, run_tests

BODY = "Z" * 100
ROUTES = {"routes": [
    {"path": "/files", "match": "prefix", "handler": "static:www"},
    {"path": "/proxy", "handler": "proxy"},
    {"path": "/cached", "handler": "cache:;ttl=60s"},
]}
HTTP = {
    "fixed": {"stack": "epoll@loopback", "connections": 4, "request_bytes": 0, "response_bytes": 100,
              "protocol": "http1"},
    "factors": {},
    "scenarios": {"file": {"path": "/files/a.txt"}, "proxy": {"path": "/proxy"}, "cached": {"path": "/cached"}},
    "server_config": "server.json",
    "upstream": {"response_bytes": 100},
}
# Of them, one whose answers are the upstream's.
PROXY = {**HTTP, "scenarios": {"proxy": {"path": "/proxy"}}}


def experiment(bench, **changes):
    """The folder of an experiment whose servers are given a configuration and a file."""
    folder = bench.experiment(**{**HTTP, **changes})
    os.makedirs(os.path.join(folder, "www", "files"), exist_ok=True)
    write(os.path.join(folder, "server.json"), json.dumps(ROUTES))
    write(os.path.join(folder, "www", "files", "a.txt"), BODY)
    return folder


@case("files, an upstream's answers and cached ones are measured, and the upstream accounted for")
def scenarios_are_measured(bench):
    path = bench.result(experiment(bench))
    plan = read_json(path, "plan.json")
    samples = {result["variant"]: result for result in read_results(path)}
    assert list(samples) == ["file", "proxy", "cached"], list(samples)
    assert [file["path"] for file in plan["files"]] == ["server.json", "www/files/a.txt"], plan["files"]
    counters = {"file": "files_cached", "proxy": "upstream_requests", "cached": "cache_hits"}
    for name, result in samples.items():
        server = result["server"]
        counted = server["handlers"][counters[name]]
        assert abs(counted - server["requests"]) <= 2 * HTTP["fixed"]["connections"], (name, counted, server["requests"])
        upstream, log = result["upstream"], read(os.path.join(path, folder_of(plan, name), "upstream.log"))
        assert result["cell"]["path"] == HTTP["scenarios"][name]["path"], result["cell"]
        assert ready_of(log)["pid"] > 0
        assert result["pins"]["upstream_cpus"], result["pins"]
        assert upstream["user_us"] + upstream["system_us"] >= 0, upstream
        assert (upstream["requests"] > 0) == (name == "proxy"), (name, upstream["requests"])
    assert samples["proxy"]["upstream"]["requests"] >= 0.5 * samples["proxy"]["completed"], samples["proxy"]
    check_hashes(path)
    assert bench.weir("verify", path).returncode == 0


@case("a path that no route answers is refused in the plan")
def path_without_route(bench):
    outcome = bench.run(experiment(bench, scenarios={"none": {"path": "/nope"}, "file": {"path": "/files/a.txt?b"}}))
    assert outcome.returncode == 4 and outcome.stderr.count("no route of") == 1, outcome.stderr
    assert 'no route of "server_config" answers GET /nope' in outcome.stderr, outcome.stderr


@case("a route that says other bytes than the cell expects is refused in the plan, with file, key and both numbers")
def route_of_other_bytes(bench):
    routes = {"routes": [{"path": "/own", "handler": "respond:100"}, {"path": "/told", "handler": "respond"},
                         {"path": "/back", "handler": "echo"}]}
    scenarios = {name: {"path": f"/{name}"} for name in ("own", "told", "back")}
    folder = experiment(bench, fixed={**HTTP["fixed"], "response_bytes": 64}, scenarios=scenarios, upstream={})
    write(os.path.join(folder, "server.json"), json.dumps(routes))
    for outcome in (bench.weir("plan", folder), bench.run(folder)):
        assert outcome.returncode == 4 and outcome.stderr.count("its route for") == 2, outcome.stderr
        for said in ("own: server.json: its route for /own is `respond:100`, which answers 100 bytes, and "
                     '"response_bytes" is 64; set that to 100',
                     "back: server.json: its route for /back is `echo`, which answers 0 bytes"):
            assert said in outcome.stderr, outcome.stderr
    assert bench.made() == []
    scenarios = {"own": {"path": "/own", "response_bytes": 100}, "told": {"path": "/told", "response_bytes": 64},
                 "back": {"path": "/back", "response_bytes": 0}}
    fixed = {name: value for name, value in HTTP["fixed"].items() if name != "response_bytes"}
    experiment(bench, fixed=fixed, scenarios=scenarios, upstream={})
    write(os.path.join(folder, "server.json"), json.dumps(routes))
    bench.result(folder)


@case("a handler's options may stand in the setting, and a cache without one hit is told as that")
def cache_by_setting(bench):
    folder = bench.experiment(fixed=HTTP["fixed"], upstream={"response_bytes": 100},
                              factors={"handler": ["cache", "cache:;ttl=60s"]})
    outcome = bench.run(folder)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    proxied, cached = read_results(results_path(outcome))
    note = "the cache had no hit, and fetched "
    assert proxied["valid"] and cached["valid"]
    assert proxied["server"]["handlers"]["cache_hits"] == 0, proxied["server"]["handlers"]
    assert [text.startswith(note) for text in proxied["notes"]].count(True) == 1, proxied["notes"]
    assert cached["server"]["handlers"]["cache_hits"] > 0, cached["server"]["handlers"]
    assert not any(text.startswith(note) for text in cached["notes"]), cached["notes"]
    assert outcome.stdout.count(f"note: {note}") == 1, outcome.stdout


@case("a file of other bytes than is expected is found before the first sample, told whole, and not to be gone on with")
def other_content(bench):
    folder = experiment(bench, scenarios={"file": {"path": "/files/a.txt"}}, upstream={}, factors={"depth": [1, 2]})
    write(os.path.join(folder, "www", "files", "a.txt"), "Y" * 100)
    outcome = bench.run(folder)
    assert outcome.returncode == 4 and "given up after 0 of 2 samples" in outcome.stderr, outcome.stderr
    told = re.search("the answers of .* are wrong: .*byte 0 of a response body is 0x59, wanted 0x5a; asked for: .*"
                     'path "/files/a.txt"', outcome.stderr)
    assert told, outcome.stderr
    incomplete = read(os.path.join(bench.only_partial(), "INCOMPLETE.txt"))
    assert told.group(0) in incomplete and "run it anew" in incomplete and "--resume" not in incomplete, incomplete


def folder_of(plan, variant):
    return next(sample["folder"] for sample in plan["samples"] if sample["variant"] == variant)


@case("a result repeats without the folder that it was made of, and a changed file is noticed")
def results_stand_alone(bench):
    folder = experiment(bench, scenarios={"file": {"path": "/files/a.txt"}}, upstream={})
    first = bench.result(folder)
    shutil.rmtree(folder)
    again = bench.result(first)
    for name in ("server.json", "www/files/a.txt"):
        assert read_bytes(os.path.join(again, name)) == read_bytes(os.path.join(first, name)), name
    write(os.path.join(again, "www", "files", "a.txt"), "Y" * 100)
    outcome = bench.weir("verify", again)
    assert outcome.returncode == 3 and "www/files/a.txt" in outcome.stdout, outcome.stdout
    assert bench.run(again).returncode == 4


@case("an upstream that is killed makes its sample invalid, with the cause, and the next one goes on")
def upstream_killed(bench):
    runner = bench.start(experiment(bench, **{**PROXY, "runs": 2, "duration": "400ms"}))
    bench.await_measuring("s0001")
    pid = ready_of(bench.sample_file("s0001", "upstream.log"))["pid"]
    os.kill(pid, signal.SIGKILL)
    stdout, stderr = runner.communicate(timeout=60)
    assert runner.returncode == 3, (stdout, stderr)
    wait_for(lambda: not is_alive(pid))
    killed, after = read_results(os.path.join(bench.output, bench.made()[0]))
    assert not killed["valid"] and after["valid"], (killed["invalid_reasons"], after["invalid_reasons"])
    reason = "the upstream was killed by signal 9 (Killed) in the client's phase `measure`"
    assert killed["invalid_reasons"][0].startswith(reason), killed["invalid_reasons"]


@case("a run that was broken off goes on with the files that it began with, and with no others")
def goes_on(bench):
    folder = experiment(bench, **{**PROXY, "runs": 2, "duration": "400ms"})
    runner = bench.start(folder)
    bench.await_measuring("s0002")
    interrupt(runner)
    write(os.path.join(folder, "server.json"), json.dumps({"routes": ROUTES["routes"][1:]}))
    changed = bench.run(folder, "--resume")
    assert changed.returncode == 4 and "files: was" in changed.stderr, changed.stderr
    path = bench.result(bench.only_partial(), "--resume")
    assert [result["valid"] for result in read_results(path)] == [True, True]
    assert read_json(path, "server.json") == ROUTES
    check_hashes(path)


@case("TLS is measured with either parser, and both servers answer alike")
def tls_is_measured(bench):
    checked = bench.weir("serve", "--tls", "--check")
    if checked.returncode:
        raise Skip(checked.stderr.strip())
    path = bench.result(bench.experiment(fixed={**HTTP["fixed"], "depth": 4, "tls": True},
                                         factors={"http_parser": ["views", "owned"]}))
    cells = [(result["cell"]["tls"], result["cell"]["http_parser"]) for result in read_results(path)]
    assert cells == [(True, "views"), (True, "owned")], cells
    for result in read_results(path):
        assert result["tls"]["server"]["provider"] == result["tls"]["client"]["provider"] != "", result["tls"]
        assert result["server"]["details"]["tls_records_out"] > 0, result["server"]["details"]
        assert result["server"]["details"]["tls_handshakes"] == 0, "none is in the window"
        ours, theirs = (result["tls"][side]["negotiated"] for side in ("client", "server"))
        assert sum(ours.values()) == result["cell"]["connections"], ours
        assert all(name.startswith("TLSv1.3 TLS_") and theirs[name] >= ours[name] for name in ours), (ours, theirs)
    assert read_json(path, "parity.json")["before"]["equal"] is True


if __name__ == "__main__":
    sys.exit(run_tests())
