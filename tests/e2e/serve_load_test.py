"""serve and load as real processes over loopback: right answers, wrong ones, and peers that die.

Speaks TAP. The one argument is the built `weir`; further arguments are substrings of the names of the tests to run.
"""

import collections
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

from processes import DEADLINE_S, WEIR, Process, Server, Skip, free_port, judge_final, judge_result
from processes import limit_files, load, run, run_tests, test


class DpdkPair:
    """A dpdk server over memif, without hugepages so that it runs anywhere, and the flags of its client."""

    def __init__(self, folder):
        stacks = json.loads(run("stacks", "--json")[1])["stacks"]
        dpdk = next(stack for stack in stacks if stack["name"] == "dpdk")
        if not dpdk["built"]:
            raise Skip(dpdk["absent"])
        if len(os.sched_getaffinity(0)) < 2:
            raise Skip("two spinning workers need 2 CPUs")
        self.stack = f"dpdk@memif:{folder}/weir.sock"
        self.server_flags = ("--stack", self.stack, "--hugepages", "no", "--address", "10.55.0.1/24")
        self.client_flags = ("--stack", self.stack, "--hugepages", "no", "--address", "10.55.0.2/24")

    def serve(self, *args):
        return Server(*self.server_flags, *args, ip="10.55.0.1")


def policy_test(delivery, handler):
    name = f"{handler} under {delivery} is right at depths 1, 8 and 32, refilled each or by window"

    @test(name)
    def matrix():
        depths = (1, 8, 32)
        with Server("--delivery", delivery, "--handler", handler, "--response-bytes", 48) as server:
            assert (server.ready["delivery"], server.ready["handler"]) == (delivery, handler)
            for depth in depths:
                for refill in ("each", "window"):
                    args = ("--handler", handler, "--response-bytes", 48, "--request-bytes", 100,
                            "--depth", depth, "--refill", refill, "--duration", "50ms")
                    result, _ = load(server, *args)
                    judge_result(result, args)
                    assert result["config"]["depth"] == depth
            judge_final(server.end(), delivery, depths)


@test("a client on the CPU of a server is warned, one beside it is not")
def shared_cpu():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("needs two CPUs")
    with Server("--cpus", cpus[0]) as server:
        result, error = load(server, "--cpus", cpus[0])
        said = re.search(rf"weir load: warning: (a weir server \(pid (\d+)\) is pinned to CPU {cpus[0]} as .*)", error)
        assert said and result["warnings"] == [said.group(1)], (error, result["warnings"])
        if int(said.group(2)) != server.ready["pid"]:
            raise Skip("another server runs on that CPU too")
        result, error = load(server, "--cpus", cpus[1])
        pid = f"(pid {server.ready['pid']})"
        assert pid not in error and not any(pid in text for text in result["warnings"]), error
        server.end()


for one_delivery in ("immediate", "coalesce", "flush-at:500"):
    for one_handler in ("respond", "echo"):
        policy_test(one_delivery, one_handler)


@test("bodies larger than any buffer are verified whole")
def large_bodies():
    with Server("--response-bytes", "1MiB", "--delivery", "coalesce") as server:
        judge_result(load(server, "--response-bytes", "1MiB", "--request-bytes", 300000)[0], "respond")
        server.end()
    with Server("--handler", "echo") as server:
        judge_result(load(server, "--handler", "echo", "--request-bytes", 300000, "--depth", 2)[0], "echo")
        server.end()


@test("empty bodies are answered")
def empty_bodies():
    with Server("--response-bytes", 0) as server:
        judge_result(load(server, "--response-bytes", 0, "--request-bytes", 0, "--depth", 8)[0], "empty")
        server.end()


@test("spinning workers serve and load as blocking ones do")
def spinning():
    with Server("--wait", "spin") as server:
        assert server.ready["wait"] == "spin"
        judge_result(load(server, "--wait", "spin", "--depth", 4)[0], "spin")
        server.end()


@test("two workers a side share the connections")
def two_workers():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("needs 2 CPUs")
    with Server("--workers", 2) as server:
        assert len(server.ready["cpus"]) == 2
        result, _ = load(server, "--workers", 2, "--connections", 33, "--depth", 2)
        judge_result(result, "two workers")
        final = server.end()
        assert final["server"]["connections"] == 33
        turns = server.ready["features"]["reuseport-ebpf"]
        assert server.ready["options"]["steer"] == "turn" and final["levels"]["listeners_in_turn"] == int(turns), final


@test("the phases are announced in order")
def phases():
    with Server() as server:
        status, out, _ = run("load", "--connect", server.address, "--warmup", "20ms", "--duration", "50ms")
        assert status == 0
        assert re.findall(r"^phase (\w+)$", out, re.M) == ["connect", "warmup", "measure", "drain", "done"]
        assert out.startswith("config stack=epoll (default)\n")
        assert f"config connect={server.address} (flag)\n" in out


@test("a snapshot is taken under load and at rest")
def snapshots():
    with Server() as server:
        server.signal(signal.SIGUSR1)
        first = json.loads(server.await_line("snapshot ").split(" ", 1)[1])
        assert first["server"]["requests"] == 0
        server.lines.clear()
        with Process("load", "--connect", server.address, "--warmup", "100ms", "--duration", "1s") as client:
            client.await_line("phase measure")
            server.signal(signal.SIGUSR1)
            second = json.loads(server.await_line("snapshot ").split(" ", 1)[1])
            assert client.wait()[0] == 0
        assert second["server"]["requests"] > 0 and second["now_ns"] > first["now_ns"]
        sections = {"now_ns", "transport", "details", "levels", "server", "busy", "process", "cpu", "host"}
        assert set(second) == sections | {"binding"}, set(second)
        final = server.end()
        assert set(final) == sections, set(final)
        assert final["server"]["requests"] > second["server"]["requests"]


@test("SIGTERM drains under load, and the load says what it lost")
def drain_under_load():
    with Server() as server, Process("load", "--connect", server.address, "--duration", "20s") as client:
        client.await_line("phase measure")
        begin = time.monotonic()
        final = server.end()
        status, _, error = client.wait()
        assert time.monotonic() - begin < 8
        assert final["server"]["requests"] == final["server"]["responses"], final["server"]
        assert status == 3 and "lost" in error, (status, error)


@test("a peer that never closes does not hold the drain up")
def drain_is_bounded():
    with Server() as server, socket.create_connection(("127.0.0.1", server.port)) as peer:
        peer.sendall(b"half a head")
        begin = time.monotonic()
        server.signal(signal.SIGTERM)
        status, out, error = server.wait()
        assert time.monotonic() - begin < 10
        assert status == 0 and "final {" in out, (status, error)


@test("a killed server is lost within seconds, and named in the result")
def killed_server():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        with Server() as server, \
                Process("load", "--connect", server.address, "--duration", "20s", "--depth", 4, "--json", path) as client:
            client.await_line("phase measure")
            begin = time.monotonic()
            server.signal(signal.SIGKILL)
            status, _, error = client.wait()
            assert time.monotonic() - begin < 5
            assert status == 3 and re.search(r"lost|short", error), (status, error)
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        assert result["failed"] > 0
        assert {failure["kind"] for failure in result["failures"]} <= {"lost", "short"}


@test("a server that stops moving is a stall")
def stalled_server():
    with Server() as server, \
            Process("load", "--connect", server.address, "--duration", "20s", "--stall-timeout", "400ms") as client:
        client.await_line("phase measure")
        server.signal(signal.SIGSTOP)
        try:
            status, _, error = client.wait()
        finally:
            server.signal(signal.SIGCONT)
        assert status == 3 and "stalled (64)" in error, (status, error)


@test("an address where nobody listens refuses")
def refused():
    address = f"127.0.0.1:{free_port()}"
    status, out, error = run("load", "--connect", address, "--connections", 3)
    assert status == 3 and "refused (3)" in error, error
    assert f"not connected to {address}: refused; is a server running there?" in error, error
    assert "n/a (nothing was measured)" in out


@test("a listener that never answers is a stall, not a hang")
def silent_listener():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        status, _, error = run("load", "--connect", "127.0.0.1:%d" % listener.getsockname()[1],
                               "--connections", 3, "--stall-timeout", "300ms")
        assert status == 3 and "stalled (3)" in error, error


@test("connections that never come about are a connect timeout")
def connect_timeout():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        status, _, error = run("load", "--connect", "127.0.0.1:%d" % listener.getsockname()[1],
                               "--connections", 64, "--connect-timeout", "500ms")
        assert status == 3 and "connect_timeout" in error, (status, error)


@test("answers of another length, or of other bytes, fail the run")
def wrong_answers():
    with Server("--response-bytes", 64) as server:
        result, error = load(server, "--response-bytes", 65, expect=3)
        assert "wrong_length" in error and result["failures"][0]["kind"] == "wrong_length"
        assert "the same --protocol, --request-bytes, --response-bytes and --handler?" in error, error
        result, error = load(server, "--handler", "echo", "--request-bytes", 64, expect=3)
        assert "wrong_bytes" in error and result["failures"][0]["kind"] == "wrong_bytes"
        final = server.end()
        assert final["server"]["connections"] == final["server"]["connections_closed"]


@test("more connections than descriptors are usually allowed are served")
def many_connections():
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 4096 and os.geteuid() != 0:
        raise Skip("needs 4096 descriptors")
    with Server("--conn-max", 2000) as server:
        judge_result(load(server, "--connections", 1500, "--duration", "500ms")[0], "many")
        assert server.end()["server"]["connections"] == 1500


@test("more connections than the server has room for fail the run")
def too_many_connections():
    with Server("--conn-max", 4) as server:
        _, error = load(server, "--connections", 8, expect=3)
        assert "; does the server's --conn-max allow so many?" in error, error
        judge_result(load(server, "--connections", 4)[0], "within bounds")
        final = server.end()
        assert final["transport"]["accepts_refused"] > 0, final["transport"]


@test("clients that upstreams leave no room for are refused, and the summary says why")
def room_of_upstreams():
    handler = "proxy:127.0.0.1:1;connections=10"
    with Server("--protocol", "http1", "--handler", handler, "--conn-max", 100) as server:
        assert server.ready["clients_max"] == 90, server.ready
        load(server, "--protocol", "http1", "--connections", 95, expect=3)
        server.signal(signal.SIGTERM)
        _, out, _ = server.wait()
        assert "--conn-max is 100 for each of 1 workers, of which 10 are kept for upstreams\n" in out, out
    with Server("--conn-max", 100) as server:
        assert server.ready["clients_max"] == 100, server.ready


@test("an occupied address is refused and its holder named")
def occupied():
    with Server() as server:
        status, _, error = run("serve", "--listen", server.address)
        assert status == 4 and str(server.process.pid) in error, (status, error)
        judge_result(load(server)[0], "the first server is unharmed")
        server.end()


@test("wrong flags are refused with what would be right")
def wrong_flags():
    for args, says in (
            (("srve",), "did you mean 'serve'"),
            (("serve", "--lisen", "127.0.0.1:1"), "did you mean '--listen'"),
            (("load", "--conect", "127.0.0.1:1"), "did you mean '--connect'"),
            (("load", "--duration", "3"), "a time with its unit"),
            (("serve", "--listen", "255.255.255.255:7878"), "no multicast, no broadcast"),
            (("serve", "--listen", "224.0.0.1:7878"), "no multicast, no broadcast"),
            (("serve", "--delivery", "flush-at:0"), "immediate, coalesce or flush-at:N"),
            (("serve", "--stack", "epol"), "did you mean 'epoll'"),
            (("serve", "--cpus", "1023"), "CPU 1023 is not available"),
            (("serve", "--workers", "64"), "64 workers need 64 CPUs"),
            (("load", "--workers", "1", "--connections", "70000"), "more than 65536"),
            (("load", "--depth", "1024", "--request-bytes", "1MiB"), "larger than any connection's send memory"),
            (("stacks", "--jsno"), "did you mean '--json'"),
    ):
        status, _, error = run(*args)
        assert status == 4 and says in error, (args, status, error)


@test("help goes to stdout and is a success")
def helps():
    for verb in ((), ("serve",), ("load",), ("stacks",)):
        status, out, error = run(*verb, "--help")
        assert status == 0 and "usage: weir" in out and error == ""
        if verb:
            assert run("help", *verb) == (status, out, error), verb
    assert "./weir test" in run("--help")[1]
    assert "immediate|coalesce|flush-at:N" in run("serve", "--help")[1]
    status, _, error = run("help", "srve")
    assert status == 4 and "did you mean 'serve'" in error, (status, error)


@test("the version is printed")
def version():
    status, out, error = run("--version")
    assert status == 0 and re.fullmatch(r"weir \d+\.\d+\.\d+\n", out) and error == "", (status, out, error)


@test("the host is printed, or the topology of another one")
def host_printed():
    status, out, error = run("host")
    facts = json.loads(out)
    assert status == 0 and not error and facts["schema"] == "weir.host/1", (status, error)
    assert facts["cores_allowed"] == len(facts["topology"]["cores"]), facts["topology"]
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "topologies")
    status, out, error = run("host", "--topology", os.path.join(folder, "container.xml"))
    assert status == 0 and json.loads(out)["cpus"] == "1-5,9-11", (status, out, error)
    status, out, error = run("host", "--topology", "/nonexistent.xml")
    assert status == 4 and not out and "/nonexistent.xml" in error and "lstopo" in error, (status, out, error)


@test("a result that cannot be written is refused before the run")
def no_folder():
    with Server() as server:
        begin = time.monotonic()
        status, out, error = run("load", "--connect", server.address, "--json", "/nowhere/at/all/x.json",
                                 "--duration", "20s")
        assert status == 4 and "/nowhere/at/all/x.json" in error and "phase" not in out, error
        assert time.monotonic() - begin < 10
        server.end()


@test("a full disk leaves no half result")
def full_disk():
    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))

    with Server() as server, tempfile.TemporaryDirectory() as folder:
        status, _, error = run("load", "--connect", server.address, "--warmup", "0s", "--duration", "50ms",
                               "--json", os.path.join(folder, "x.json"), preexec_fn=limit_files)
        assert status == 4 and "file size limit" in error, (status, error)
        assert os.listdir(folder) == []
        server.end()


@test("an interrupted load says so and writes nothing")
def interrupted():
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        with Process("load", "--connect", server.address, "--duration", "20s",
                     "--json", os.path.join(folder, "x.json")) as client:
            client.await_line("phase measure")
            client.signal(signal.SIGINT)
            status, _, error = client.wait()
        assert status == 3 and "interrupted by SIGINT;" in error, (status, error)
        assert os.listdir(folder) == []
        server.end()


@test("a reader that goes away neither kills nor hangs the server")
def closed_stdout():
    with Server() as server:
        server.process.stdout.close()
        server.signal(signal.SIGUSR1)
        judge_result(load(server)[0], "still serving")
        server.signal(signal.SIGTERM)
        assert server.process.wait(timeout=DEADLINE_S) == 0
        server.process.stdout = open(os.devnull, "rb")


@test("a hang-up ends serve and load in good order, unless it is ignored as under nohup")
def hang_up():
    with Server() as server:
        with Process("load", "--connect", server.address, "--duration", "20s") as client:
            client.await_line("phase measure")
            client.signal(signal.SIGHUP)
            status, _, error = client.wait()
        assert status == 3 and "interrupted" in error, (status, error)
        server.signal(signal.SIGHUP)
        status, out, error = server.wait()
        assert status == 0 and "final {" in out, (status, error)
    with Server(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as server:
        server.signal(signal.SIGHUP)
        server.signal(signal.SIGUSR1)
        server.await_line("snapshot ")
        server.end()


@test("output that a full device swallows is no success")
def full_output():
    def run_full(*args):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([WEIR, *args], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                  timeout=DEADLINE_S, check=False)
        assert done.returncode == 4 and "could not be written whole" in done.stderr.decode(), (args, done)

    with Server() as server:
        run_full("load", "--connect", server.address, "--warmup", "20ms", "--duration", "50ms")
        server.end()
    for args in (("stacks",), ("stacks", "--json"), ("doctor",), ("host",), ("--help",)):
        run_full(*args)
    with open("/dev/full", "w", encoding="utf-8") as full, \
            subprocess.Popen([WEIR, "serve", "--listen", f"127.0.0.1:{free_port()}"], stdout=full,
                             stderr=subprocess.PIPE) as server:
        time.sleep(0.3)
        server.send_signal(signal.SIGTERM)
        _, error = server.communicate(timeout=DEADLINE_S)
        assert server.returncode == 4 and b"could not be written whole" in error, (server.returncode, error)


@test("metrics into a pipe that nobody reads are refused at once")
def metrics_into_a_pipe():
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        status, out, error = run("load", "--connect", f"127.0.0.1:{free_port()}", "--metrics", pipe)
        assert status == 4 and "no regular file" in error and "phase" not in out, (status, error)


@test("descriptors that connections will lack are named beforehand")
def few_descriptors():
    def allow(count):
        return lambda: limit_files(count)

    short = ("--warmup", "20ms", "--duration", "50ms")
    with Server() as server:
        args = ("load", "--connect", server.address, "--connections", 100, *short)
        status, out, error = run(*args, preexec_fn=allow(64))
        needed = re.search(r"need (\d+) descriptors, and the limit is 64: .*`ulimit -n (\d+)`", error)
        assert status == 4 and "phase" not in out and needed and needed[1] == needed[2], (status, error)
        needed = int(needed[1])
        assert run(*args, preexec_fn=allow(needed - 1))[0] == 4
        status, _, error = run(*args, preexec_fn=allow(needed))
        assert status == 0, (needed, error)
        server.end()
    with Server("--conn-max", 100, preexec_fn=allow(64)) as server:
        server.signal(signal.SIGTERM)
        status, _, error = server.wait()
        note = re.search(r"note: 100 connections need (\d+) descriptors, and the limit is 64", error)
        assert status == 0 and note, (status, error)
    with Server("--conn-max", 100, preexec_fn=allow(int(note[1]))) as server:
        load(server, "--connections", 100)
        server.end()


@test("metrics and the percentile spectrum agree with the result")
def side_files():
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        metrics, hgrm = os.path.join(folder, "metrics.jsonl"), os.path.join(folder, "latency.hgrm")
        result, _ = load(server, "--duration", "1200ms", "--metrics", metrics, "--hgrm", hgrm)
        with open(metrics, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        phases_seen = collections.Counter(row["phase"] for row in rows)
        assert phases_seen["measure"] == 3, phases_seen
        assert sum(row["completed"] for row in rows if row["phase"] == "measure") == result["completed"]
        with open(hgrm, encoding="utf-8") as file:
            spectrum = [line.split() for line in file if re.match(r"\s*[0-9]", line)]
        values = [float(row[0]) for row in spectrum]
        assert values == sorted(values) and len(values) > 20
        assert float(spectrum[-1][1]) == 1.0 and int(spectrum[-1][2]) == result["completed"]
        assert abs(values[-1] - result["latency_us"]["service"]["max"]) < 0.001
        half = next(row for row in spectrum if float(row[1]) >= 0.5)
        assert abs(float(half[0]) - result["latency_us"]["service"]["p50"]) < 0.001
        server.end()


@test("dpdk over memif is right under every policy, for one client after the other")
def dpdk_policies():
    with tempfile.TemporaryDirectory() as folder:
        pair = DpdkPair(folder)
        for delivery in ("immediate", "coalesce", "flush-at:500"):
            with pair.serve("--delivery", delivery) as server:
                assert server.ready["hugepages"] is False and server.ready["wait"] == "spin"
                for depth, refill in ((1, "window"), (8, "each"), (32, "window")):
                    args = (*pair.client_flags, "--depth", depth, "--refill", refill)
                    judge_result(load(server, *args)[0], args)
                judge_final(server.end(), delivery, (32,))


@test("dpdk over memif echoes bodies larger than any buffer")
def dpdk_large():
    with tempfile.TemporaryDirectory() as folder:
        pair = DpdkPair(folder)
        with pair.serve("--handler", "echo") as server:
            # two spinning workers on a host that is busy otherwise may not complete one such exchange in a short window
            for duration in ("150ms", "1s", "6s"):
                args = (*pair.client_flags, "--handler", "echo", "--request-bytes", 300000, "--duration", duration)
                result, _ = load(server, *args)
                if result["completed"] > 0:
                    break
            judge_result(result, args)
            server.end()


@test("dpdk over memif is right when both sides sleep, at once or after a while")
def dpdk_waits():
    with tempfile.TemporaryDirectory() as folder:
        pair = DpdkPair(folder)
        for wait in ("block", "adaptive:20us"):
            with pair.serve("--wait", wait, "--delivery", "coalesce") as server:
                assert server.ready["wait"] == wait
                for depth, connections in ((1, 1), (8, 64), (32, 64)):
                    args = (*pair.client_flags, "--wait", wait, "--depth", depth, "--connections", connections)
                    judge_result(load(server, *args)[0], args)
                final = server.end()
                judge_final(final, "coalesce", (32,))
            transport, details = final["transport"], final["details"]
            assert 0 < transport["wakeups"] <= transport["waits"], transport
            # memif has no descriptor: each sleep is one nap or several
            assert details["naps"] >= transport["waits"] and details["descriptor_sleeps"] == 0, (details, transport)
            assert transport["wait_ns"] > 0


@test("a killed dpdk server is lost within seconds")
def dpdk_killed():
    with tempfile.TemporaryDirectory() as folder:
        pair = DpdkPair(folder)
        with pair.serve() as server, \
                Process("load", "--connect", server.address, "--duration", "20s", *pair.client_flags) as client:
            client.await_line("phase measure")
            begin = time.monotonic()
            server.signal(signal.SIGKILL)
            status, _, error = client.wait()
            assert time.monotonic() - begin < 8
            assert status == 3 and re.search(r"lost|short", error), (status, error)


sys.exit(run_tests())
