"""serve and load over IPv6 and Unix sockets, with one worker and with several."""

import os
import socket
import sys
import tempfile

from processes import Process, Server, Skip, free_port, judge_final, judge_result, load, run, run_tests, test

CPUS = sorted(os.sched_getaffinity(0))


def needs_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError as error:
        raise Skip(f"no IPv6 on loopback: {error}") from error


def needs_cpus(count):
    if len(CPUS) < count:
        raise Skip(f"needs {count} CPUs")


def exchange(server, *args):
    for delivery_depth in (1, 8):
        judge_result(load(server, "--depth", delivery_depth, *args)[0], args)


@test("an IPv6 endpoint serves, and its address is printed as it was written")
def over_ipv6():
    needs_ipv6()
    with Server("--delivery", "coalesce", ip="[::1]") as server:
        assert server.ready["listen"] == server.address, server.ready
        exchange(server)
        judge_final(server.end(), "coalesce", (1, 8))


@test("IPv4 and IPv6 servers may have the same port on every address")
def both_families():
    needs_ipv6()
    with Server(ip="0.0.0.0") as four:
        with Server(address=f"[::]:{four.port}") as six:
            four.address = f"127.0.0.1:{four.port}"
            six.address = f"[::1]:{four.port}"
            exchange(four)
            exchange(six)
            six.end()
        four.end()


@test("a Unix socket serves, names its holder to a second server, and leaves no file")
def over_unix():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weir.sock")
        with Server(address=f"unix:{path}") as server:
            assert server.ready["listen"] == server.address, server.ready
            exchange(server)
            status, _, error = run("serve", "--listen", server.address)
            assert status == 4 and f"(pid {server.process.pid})" in error, (status, error)
            server.end()
        assert not os.path.exists(path)


@test("the socket of a killed server is replaced, a plain file is left alone")
def stale_socket():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weir.sock")
        with Server(address=f"unix:{path}") as server:
            server.process.kill()
            server.process.wait()
        assert os.path.exists(path)
        with Server(address=f"unix:{path}") as server:
            exchange(server)
            server.end()
        with open(path, "w", encoding="utf-8") as file:
            file.write("precious")
        status, _, error = run("serve", "--listen", f"unix:{path}")
        assert status == 4 and path in error and "no socket" in error, (status, error)
        with open(path, encoding="utf-8") as file:
            assert file.read() == "precious"


@test("a client of a path where nobody listens is refused")
def nobody_there():
    with tempfile.TemporaryDirectory() as folder:
        status, _, error = run("load", "--connect", f"unix:{folder}/none", "--duration", "50ms")
        assert status == 3 and "refused" in error, (status, error)


def two_workers(address, *args):
    """Two workers serve more connections than one has room for."""
    needs_cpus(2)
    cpus = f"{CPUS[0]},{CPUS[1]}"
    with Server("--workers", 2, "--cpus", cpus, "--conn-max", 24, *args, address=address) as server:
        for connections in (8, 32):
            judge_result(load(server, "--connections", connections)[0], address)
        final = server.end()
        assert final["server"]["connections"] >= 40, final["server"]


@test("two workers share the connections to one address by the client's port, none has them all")
def workers_by_port():
    two_workers(f"127.0.0.1:{free_port()}")


@test("two workers share the connections to one IPv6 address likewise")
def workers_by_port_ipv6():
    needs_ipv6()
    two_workers(f"[::1]:{free_port()}")


@test("two workers share one Unix socket, and its file goes with them")
def workers_on_unix():
    needs_cpus(2)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weir.sock")
        with Server("--workers", 2, "--cpus", f"{CPUS[0]},{CPUS[1]}", address=f"unix:{path}") as server:
            exchange(server, "--connections", 32)
            server.end()
        assert not os.path.exists(path)


@test("level-triggered serves like edge-triggered")
def by_level():
    with Server("--stack", "epoll,trigger=level,accept-batch=2") as server:
        exchange(server, "--connections", 16, "--request-bytes", 100000)
        judge_final(server.end(), "immediate", (1, 8))


@test("a stack that has no such addresses says so before anything starts")
def unknown_family():
    for stack, address in (("dpdk@ring", "unix:/tmp/none"), ("memory", "[::1]:1"), ("memory", "unix:/tmp/none")):
        for args in (("serve", "--listen", address), ("load", "--connect", address)):
            with Process(*args, "--stack", stack) as process:
                status, out, error = process.wait()
            if "is absent" in error:
                continue
            assert status == 4 and out == "" and f"the stack '{stack.split('@')[0]}' has no" in error, (status, error)


sys.exit(run_tests())
