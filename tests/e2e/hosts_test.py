#!/usr/bin/python3
"""`weir run` with server and clients on other hosts: two network namespaces, each with an sshd. Speaks TAP.

usage: hosts_test.py WEIR [SUBSTRING...]
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from hosts import (
    CLIENT_IP, DEADLINE_S, EXPERIMENT, NOBODY_IP, SERVER_IP, Bench, folders_in, kill, path_of, read_json, results_in,
    run, takes, within)
from processes import WEIR, Skip, run_tests, test


@test("server and two clients on other hosts come to one valid result, and leave nothing there")
def two_clients():
    with Bench() as bench:
        stale = os.path.join(bench.parents["server"], "weir-agent-dead-01234567")
        os.mkdir(stale, 0o700)
        with open(f"{stale}/lock", "w", encoding="utf-8"):
            pass
        outcome = bench.run(bench.hosts())
        assert outcome.returncode == 0, (outcome.stdout, outcome.stderr)
        path = path_of(outcome)
        (result,), (folder,) = results_in(path), folders_in(path)
        assert result["valid"] and result["failed"] == 0, result
        assert result["server"]["requests"] > 0 and result["server"]["window_s"] > 0.5, result["server"]
        clients = [read_json(folder, "clients", str(n), "client.json") for n in (1, 2)]
        merged = read_json(folder, "client.json")
        assert [one["config"]["connections"] for one in clients] == [2, 2]
        for which in ("service", "intended"):
            parts = [one["latency_us"][which] for one in clients]
            whole = merged["latency_us"][which]
            assert whole["n"] == sum(one["n"] for one in parts) == sum(n for _, n in merged["histogram"][which])
            assert whole["min"] == min(one["min"] for one in parts)
            assert whole["max"] == max(one["max"] for one in parts)
            assert min(one["p50"] for one in parts) <= whole["p50"] <= max(one["p50"] for one in parts)
        assert result["completed"] == sum(one["completed"] for one in clients)
        assert result["latency_us"]["service"] == merged["latency_us"]["service"]
        assert 0.9 <= result["windows"]["common_share"] <= 1, result["windows"]
        assert result["elapsed_s"] == result["windows"]["union_s"]
        assert [one["completed"] for one in result["clients"]] == [one["completed"] for one in clients]
        assert result["other_busy_cpus"] is None and "another host" in result["other_busy_cpus_reason"]
        for name in ("user_us", "voluntary_switches"):
            assert merged["process"][name] == sum(one["process"][name] for one in clients), merged["process"]
            assert result["client"][name] == merged["process"][name], result["client"]
        for name in ("rss_end_kib", "softirq_us", "host"):
            assert result["client"][name] is None and result["client"][f"{name}_reason"], result["client"]
            assert all(one["client"][name] is not None for one in result["clients"]), result["clients"]
        assert merged["binding"] is None and set(result["binding"]) >= {"kept", "server", "client 1", "client 2"}
        assert [one["binding"]["workers"][0]["affinity"] for one in result["clients"]] == [[1], [1]], result["clients"]
        plan = read_json(path, "plan.json")
        assert plan["degraded_reason"] == "clients share CPUs of one machine, as the experiment names them", plan
        assert list(plan["hosts_busy_at_start"]) == [f"server (root@{SERVER_IP})"], plan["hosts_busy_at_start"]
        for name in ("warmup.log", "latency.hgrm", "server.log", "clients/2/metrics.jsonl", "clients/1/latency.hgrm"):
            assert os.path.getsize(os.path.join(folder, name)) > 0, name
        bench.await_nothing_left()


@test("a keeper refuses, and leaves alone, every folder that was not made for its program")
def strangers_folders():
    with tempfile.TemporaryDirectory(prefix="weir-hosts-folders-") as home:
        made = os.path.join(home, "weir-agent-x-01234567")
        others = {name: os.path.join(home, name) for name in ("mine", "weir-agent-y-01234567", "weir-agent-open")}
        for path in (made, *others.values()):
            os.mkdir(path, 0o700)
            with open(f"{path}/kept", "w", encoding="utf-8"):
                pass
            shutil.copy(WEIR, f"{path}/weir")
        os.chmod(others["weir-agent-open"], 0o755)
        os.symlink(made, os.path.join(home, "weir-agent-link"))

        def keep(weir, path):
            return subprocess.run([weir, "agent", "keep", path], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=DEADLINE_S, check=False)

        refused = [(WEIR, made), (f"{others['mine']}/weir", others["mine"]), (f"{made}/weir", f"{home}/weir-agent-link"),
                   (f"{made}/weir", others["weir-agent-y-01234567"]), (f"{made}/weir", f"{home}/weir-agent-none"),
                   (f"{others['weir-agent-open']}/weir", others["weir-agent-open"])]
        for weir, path in refused:
            outcome = keep(weir, path)
            assert outcome.returncode == 4 and f"{path} is not held" in outcome.stderr, (path, outcome)
        assert all(os.path.exists(f"{path}/kept") for path in (made, *others.values())), os.listdir(home)
        with open(f"{made}/lock", "w", encoding="utf-8"):
            pass
        outcome = keep(f"{made}/weir", made)
        assert outcome.returncode == 4 and f"cannot hold {made}: File exists" in outcome.stderr, outcome
        os.unlink(f"{made}/lock")
        outcome = keep(f"{made}/weir", made)
        assert outcome.returncode == 0 and not os.path.exists(made), outcome


@test("hosts.json says what each host is, that kernels agree, and how far clocks are apart")
def stated_hosts():
    with Bench() as bench:
        outcome = bench.run({"server": bench.server(), "clients": [bench.client()]}, duration="300ms")
        assert outcome.returncode == 0, (outcome.stdout, outcome.stderr)
        path = path_of(outcome)
        hosts, build = read_json(path, "hosts.json"), read_json(path, "host.json")
        assert hosts["schema"] == "weir.hosts/1" and re.fullmatch("[0-9a-f]{64}", hosts["sha256"])
        assert hosts["kernels_equal"] is True and hosts["differences"] == [], hosts
        for one in (hosts["server"], *hosts["clients"]):
            assert one["facts"]["kernel"] == build["kernel"] and one["program"] == "copied", one
            assert abs(one["clock"]["offset_ms"]) <= one["clock"]["uncertainty_ms"], one["clock"]
        assert results_in(path)[0]["hosts"]["server"] == f"server (root@{SERVER_IP})"
        bench.await_nothing_left()


@test("a server on another host is measured by a client on this one")
def near_client():
    with Bench() as bench:
        outcome = bench.run({"server": bench.server()}, duration="300ms")
        assert outcome.returncode == 0, (outcome.stdout, outcome.stderr)
        (result,) = results_in(path_of(outcome))
        assert result["valid"] and "clients" not in result
        assert result["latency_us"]["service"]["n"] == result["completed"] > 0
        bench.await_nothing_left()


@test("a host lost in the measured window invalidates its sample alone, by name")
def lost_client():
    with Bench() as bench:
        process = bench.start(bench.hosts(), runs=2, duration="2s")
        bench.await_measuring("s0001", "clients/2/client.log")
        sessions = bench.sessions(bench.world.client_net, bench.parents["client"])
        assert len(sessions) == 2, sessions
        with bench.world.lock_there() as lock:
            lock.seek(0)
            assert re.match(r"pid \d+, a part of run [0-9a-f]+ on another host\n", lock.read())
            assert not takes(lock), "the server's machine is not locked while a run measures there"
        kill(sessions[0])
        first, second = bench.invalid(process)
        assert not first["valid"] and second["valid"], (first, second)
        assert any(re.match(rf"host client [12] \(root@{CLIENT_IP}\) lost in its phase `measure`", reason)
                   for reason in first["invalid_reasons"]), first["invalid_reasons"]
        assert first["completed"] is None and first["windows"] is None, first
        bench.await_nothing_left()


@test("a server's host lost in the window invalidates the sample, and is prepared anew for the next")
def lost_server():
    with Bench() as bench:
        process = bench.start(bench.hosts(clients=1), runs=2, duration="2s")
        bench.await_measuring("s0001")
        bench.world.stop(bench.world.server_net)
        bench.world.serve(bench.world.server_net)
        first, second = bench.invalid(process)
        assert second["valid"], second["invalid_reasons"]
        assert f"host server (root@{SERVER_IP}) lost in the client's phase" in first["invalid_reasons"][0], first
        bench.await_nothing_left()


@test("a host that stays lost ends the run with the reason")
def gone_server():
    with Bench() as bench:
        process = bench.start(bench.hosts(clients=1), runs=9, duration="2s")
        bench.await_measuring("s0001")
        bench.world.stop(bench.world.server_net)
        try:
            stdout, stderr = process.communicate(timeout=DEADLINE_S)
        finally:
            bench.world.serve(bench.world.server_net)
        assert process.returncode == 4, (stdout, stderr)
        assert f"host server (root@{SERVER_IP}) was lost in 3 samples in a row" in stderr, stderr
        assert "after 3 of 9 samples" in stderr, stderr
        assert all(name.endswith(".partial") for name in os.listdir(bench.output))
        bench.await_nothing_left()


@test("a server that is killed on another host is told from a lost host")
def killed_server():
    with Bench() as bench:
        process = bench.start(bench.hosts(clients=1), duration="2s")
        bench.await_measuring("s0001")
        kill(json.loads(re.search(r"^ready (.*)$", bench.sample_file("s0001", "server.log"), re.M)[1])["pid"])
        (result,) = bench.invalid(process)
        assert result["invalid_reasons"][0].startswith("the server was killed by signal 9"), result["invalid_reasons"]
        bench.await_nothing_left()


@test("a killed runner leaves neither process nor folder on any host")
def killed_runner():
    with Bench() as bench:
        process = bench.start(bench.hosts(), duration="30s")
        bench.await_measuring("s0001", "clients/1/client.log")
        assert len(bench.left()) == 3, bench.left()
        process.kill()
        process.communicate(timeout=DEADLINE_S)
        bench.await_nothing_left()


@test("an interrupt ends what runs on other hosts and keeps what there is as partial")
def interrupted():
    with Bench() as bench:
        process = bench.start(bench.hosts(), duration="30s")
        bench.await_measuring("s0001", "clients/1/client.log")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 130 and "interrupted by SIGINT" in stderr, (process.returncode, stderr)
        assert [name.endswith(".partial") for name in os.listdir(bench.output)] == [True]
        bench.await_nothing_left()


@test("a program that is there is used if its digest is the runner's, else refused with both")
def program_there():
    with Bench() as bench:
        same, other = os.path.join(bench.folder, "same"), os.path.join(bench.folder, "other")
        for path in (same, other):
            shutil.copy(WEIR, path)
        with open(other, "ab") as file:
            file.write(b"\0")
        outcome = bench.run({"server": bench.server(weir=same)}, duration="300ms")
        assert outcome.returncode == 0, (outcome.stdout, outcome.stderr)
        hosts = read_json(path_of(outcome), "hosts.json")
        assert hosts["server"]["program"] == "was there", hosts["server"]
        outcome = bench.run({"server": bench.server(weir=other)}, duration="300ms")
        assert outcome.returncode == 4 and hosts["sha256"][:16] in outcome.stderr, outcome.stderr
        assert f"server (root@{SERVER_IP}): {other} there has the digest" in outcome.stderr, outcome.stderr
        bench.await_nothing_left()


@test("a program that cannot run there is refused with the libraries that it lacks")
def lacking_libraries():
    with Bench() as bench:
        needed, renamed = b"libjansson.so.4", b"libjanssoN.so.4"
        found = re.search(rf"{needed.decode()} => (\S+)", run("ldd", WEIR).stdout)
        if not found:
            raise Skip("this weir needs no libjansson.so.4")
        weir = os.path.join(bench.folder, "weir")
        for source, target in ((WEIR, weir), (found[1], os.path.join(bench.folder, renamed.decode()))):
            with open(source, "rb") as ours, open(target, "wb") as copy:
                copy.write(ours.read().replace(needed, renamed))
            os.chmod(target, 0o755)
        command = [weir if word == WEIR else word for word in bench.command(bench.hosts())]
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
                                 env={**os.environ, "LD_LIBRARY_PATH": bench.folder})
        assert outcome.returncode == 4, (outcome.stdout, outcome.stderr)
        assert f"these libraries are missing: {renamed.decode()}; install there" in outcome.stderr, outcome.stderr
        bench.await_nothing_left()


@test("a host that cannot be reached is refused in bounded time, and nothing was run")
def unreachable():
    with Bench() as bench:
        begin = time.monotonic()
        outcome = bench.run({"server": bench.server(ip=NOBODY_IP)})
        assert outcome.returncode == 4 and time.monotonic() - begin < 30, (outcome.stdout, outcome.stderr)
        assert f"server (root@{NOBODY_IP}) cannot be reached: " in outcome.stderr, outcome.stderr
        assert f"`ssh -o BatchMode=yes root@{NOBODY_IP} true`" in outcome.stderr, outcome.stderr
        assert not os.path.exists(bench.output)


@test("an address that is not the server's host's own is refused before anything runs")
def foreign_address():
    with Bench() as bench:
        outcome = bench.run({"server": bench.server(address=NOBODY_IP)})
        assert outcome.returncode == 4, (outcome.stdout, outcome.stderr)
        assert f"a server cannot listen on {NOBODY_IP}:" in outcome.stderr, outcome.stderr
        bench.await_nothing_left()


@test("a port that is held is refused with the holder's name, on another host and on this one")
def held_address():
    with Bench() as bench:
        port, hold = 20202, ("import socket, sys; held = socket.create_server((sys.argv[1], int(sys.argv[2]))); "
                             "print(flush=True); sys.stdin.read()")
        for net, ip, server in ((bench.world.server_net, SERVER_IP, bench.server()),
                                (bench.world.client_net, CLIENT_IP, {"address": CLIENT_IP})):
            with subprocess.Popen(within(net, sys.executable, "-c", hold, ip, str(port)),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
                holder.stdout.readline()
                outcome = bench.run({"server": server}, "--port", str(port))
                holder.stdin.close()
            assert outcome.returncode == 4, (outcome.stdout, outcome.stderr)
            assert f"a server cannot listen on {ip}:{port}: " in outcome.stderr, outcome
            assert f"{ip}:{port} is held by python" in outcome.stderr, outcome
            assert f"(pid {holder.pid})" in outcome.stderr, outcome.stderr
        bench.await_nothing_left()


@test("a machine on which another run measures is refused with that run's name")
def locked_machine():
    with Bench() as bench, bench.world.lock_there() as lock:
        assert takes(lock)
        lock.truncate(0)
        lock.write("pid 1, somebody's experiment\n")
        lock.flush()
        outcome = bench.run({"server": bench.server()})
        assert outcome.returncode == 4, (outcome.stdout, outcome.stderr)
        assert f"server (root@{SERVER_IP}): another measurement is running on this host: pid 1, somebody's" in \
            outcome.stderr, outcome.stderr
        assert not os.path.exists(bench.output)


@test("server and client that are one machine get CPUs of their own, or are refused")
def one_machine():
    with Bench() as bench:
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            raise Skip("two CPUs are needed")
        outcome = bench.run({"server": {"address": CLIENT_IP}}, duration="300ms")
        assert outcome.returncode == 0, (outcome.stdout, outcome.stderr)
        (result,) = results_in(path_of(outcome))
        pins = result["pins"]
        assert result["valid"] and not set(pins["server_cpus"]) & set(pins["client_cpus"]), pins
        assert pins["server_nodes"] and pins["client_nodes"], pins
        outcome = bench.run({"server": {"address": CLIENT_IP, "cpus": str(cpus[0])},
                             "clients": [bench.client(cpus=str(cpus[0]))]})
        assert outcome.returncode == 4 and f"both are to use its CPU {cpus[0]}" in outcome.stderr, outcome.stderr
        fixed = {**EXPERIMENT["fixed"], "workers": len(cpus), "client_workers": 1, "connections": len(cpus)}
        outcome = bench.run({"server": {"address": CLIENT_IP}}, fixed=fixed)
        assert outcome.returncode == 4 and f"which has {len(cpus)} CPUs for" in outcome.stderr, outcome.stderr


@test("a resumed run keeps hosts.json, and is refused if another host is not what it was")
def resumed():
    with Bench() as bench:
        hosts = {"server": bench.server()}
        process = bench.start(hosts, runs=2, duration="1s")
        bench.await_measuring("s0002")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE_S)
        (partial,) = (os.path.join(bench.output, name) for name in os.listdir(bench.output))
        path = os.path.join(partial, "hosts.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        kernel = json.loads(text)["server"]["facts"]["kernel"]
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(f'"{kernel}"', '"6.0.0-other"'))
        resume = within(bench.world.client_net, WEIR, "run", partial, "--resume", "--no-report",
                  "--lock", os.path.join(bench.folder, "lock"))
        outcome = subprocess.run(resume, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        assert outcome.returncode == 4, (outcome.stdout, outcome.stderr)
        assert f'kernel of server (root@{SERVER_IP}): was "6.0.0-other", is now "{kernel}"' in outcome.stderr, outcome
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        outcome = subprocess.run(resume, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        assert outcome.returncode == 0, (outcome.stdout, outcome.stderr)
        whole = path_of(outcome)
        for name in ("hosts.json", "hosts-resumed.json"):
            assert read_json(whole, name)["server"]["facts"]["kernel"] == kernel, name
        bench.await_nothing_left()


@test("a plan makes up no CPUs of hosts that were not asked, and placement and profiles are refused with hosts")
def planned():
    with tempfile.TemporaryDirectory(prefix="weir-hosts-plan-") as folder:
        hosts = {"server": {"ssh": "root@nobody.invalid", "address": SERVER_IP}}

        def plan(*flags, **changes):
            with open(f"{folder}/experiment.json", "w", encoding="utf-8") as file:
                json.dump({**EXPERIMENT, **changes, "hosts": hosts}, file)
            return subprocess.run([WEIR, "plan", folder, *flags], capture_output=True, text=True, timeout=DEADLINE_S,
                                  check=False)

        outcome = plan()
        assert outcome.returncode == 0, outcome
        assert "server on CPUs chosen there" in outcome.stdout and "on CPU " not in outcome.stdout, outcome.stdout
        json_plan = json.loads(plan("--json").stdout)
        assert json_plan["degraded"] is None and json_plan["degraded_reason"], json_plan
        (sample,) = json_plan["samples"]
        for name in ("server_cpus", "server_nodes", "client_cpus", "reserved_cpus"):
            assert sample[name] is None and sample[f"{name}_reason"], sample
        assert sample["server_argv"][sample["server_argv"].index("--cpus") + 1] == "chosen-there", sample
        outcome = plan(fixed={**EXPERIMENT["fixed"], "placement": "across-nodes"})
        assert outcome.returncode == 4 and '"placement" is between server and client on one machine' in \
            outcome.stderr, outcome
        outcome = plan("--profile", "min-rtt")
        assert outcome.returncode == 4 and "profiles are for one host" in outcome.stderr, outcome


@test("hosts without the network, and the network without hosts, are refused with the reason")
def wrong_links():
    with Bench() as bench:
        fixed = {**EXPERIMENT["fixed"], "stack": "epoll@loopback"}
        outcome = bench.run({"server": {"address": SERVER_IP}})
        assert outcome.returncode == 4 and "must be one of that host's own" in outcome.stderr, outcome.stderr
        outcome = bench.run({"server": {"address": CLIENT_IP}}, fixed=fixed)
        assert outcome.returncode == 4 and "does not reach other hosts" in outcome.stderr, outcome.stderr
        command = bench.command({"server": {"address": SERVER_IP}})
        path = os.path.join(bench.folder, "experiment.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(EXPERIMENT, file)
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        assert outcome.returncode == 4 and 'the experiment has no "hosts"' in outcome.stderr, outcome.stderr


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a test cut short takes its namespaces down
sys.exit(run_tests())
