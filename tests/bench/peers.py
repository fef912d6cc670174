#!/usr/bin/python3
"""peers: weir's HTTP server beside nginx and its own bare echo, under the same load on the same pins.

    tests/bench/peers.py build/apps/weir [--rounds 5] [--seconds 2] [--cases plain-1,plain-16,tls-1,tls-16]
                                         [--clients wrk,load] [--json FILE]

wrk and `weir load` (one thread, 64 connections) ask for a fixed answer of 64 bytes, at depth 1 and 16 requests
pipelined, plain and under TLS 1.3 with one cipher. The servers run at the same time on CPU 0 and are asked in turn from
CPU 1, by one client after the other, so that a slow phase of the host meets all of them; the order rotates. A figure is
the median of the rounds, a ratio the median of the rounds' ratios to nginx under the same client. CPU us a request is
what the server's processes used in user and in system mode; `sys/nginx` is the second alone against all that nginx
used, which is where a server would stand that spent no user time. The busy shares of both CPUs, all but their idle time
in the middle half of each run, say who was the limit. It measures; it judges nothing.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time

import peer_clients
import peer_servers

COLUMNS = ("{:<8}{:<16}{:>12}{:>26}{:>8}{:>8}{:>11}{:>11}{:>11}{:>13}{:>13}")


def idle_s(cpu):
    with open("/proc/stat", encoding="ascii") as file:
        fields = next(line for line in file if line.startswith(f"cpu{cpu} ")).split()
    return (int(fields[4]) + int(fields[5])) / peer_servers.TICKS


def busy_shares(seconds):
    """(server's CPU, client's CPU) within the next so many seconds."""
    cpus = (peer_servers.CPU, peer_clients.CPU)
    begin, before = time.monotonic(), [idle_s(cpu) for cpu in cpus]
    time.sleep(seconds)
    elapsed, after = time.monotonic() - begin, [idle_s(cpu) for cpu in cpus]
    return [max(0.0, 1 - (late - early) / elapsed) for early, late in zip(before, after)]


def ask(client, server):
    """One run: requests/s, the server's CPU time a request by mode, and how busy both CPUs were."""
    before = server.cpu_s()
    process = client.start(server)
    time.sleep(client.seconds / 4)
    server_busy, client_busy = busy_shares(client.seconds / 2)
    said = process.communicate()[0]
    if process.returncode != 0:
        raise SystemExit(f"peers: {client.name} against {server.name} ended with {process.returncode}: {said}")
    user_s, system_s = (late - early for early, late in zip(before, server.cpu_s()))
    try:
        requests, rps = client.read(said)
    except ValueError as error:
        raise SystemExit(f"peers: {client.name} against {server.name}: {error}") from error
    user_us, system_us = user_s / requests * 1e6, system_s / requests * 1e6
    return {"rps": rps, "user_us": user_us, "system_us": system_us, "cpu_us": user_us + system_us,
            "server_busy_share": server_busy, "client_busy_share": client_busy}


def measure(clients, servers, rounds):
    """{client: {server: [figures, ...]}} of all rounds; one round before them is thrown away."""
    found = {client.name: {server.name: [] for server in servers} for client in clients}
    for number in range(-1, rounds):
        turn = number % len(servers)
        for server in servers[turn:] + servers[:turn]:
            for client in clients if number % 2 else clients[::-1]:
                figures = ask(client, server)
                if number >= 0:
                    found[client.name][server.name].append(figures)
    return found


def middle(figures, name):
    return statistics.median(one[name] for one in figures)


def ratio(figures, name, others, other_name=None):
    """The median of the rounds' ratios, "n/a" where the other is zero in one of them."""
    pairs = [(one[name], other[other_name or name]) for one, other in zip(figures, others)]
    if any(under == 0 for _, under in pairs):
        return "n/a"
    return f"{statistics.median(over / under for over, under in pairs):.2f}"


def show(case, found):
    print(f"\n{case}")
    print(COLUMNS.format("client", "server", "requests/s", "min - max", "user us", "sys us", "rps/nginx", "CPU/nginx",
                         "sys/nginx", "server busy", "client busy"))
    for client, servers in found.items():
        nginx = servers["nginx"]
        for server, figures in servers.items():
            rates = [one["rps"] for one in figures]
            print(COLUMNS.format(
                client, server, f"{statistics.median(rates):,.0f}", f"{min(rates):,.0f} - {max(rates):,.0f}",
                f"{middle(figures, 'user_us'):.2f}", f"{middle(figures, 'system_us'):.2f}",
                ratio(figures, "rps", nginx), ratio(figures, "cpu_us", nginx),
                ratio(figures, "system_us", nginx, "cpu_us"), f"{middle(figures, 'server_busy_share'):.0%}",
                f"{middle(figures, 'client_busy_share'):.0%}"))
        if "weir bare" in servers:
            print(f"{client}: weir coalesce / weir bare: "
                  f"{ratio(servers['weir coalesce'], 'rps', servers['weir bare'])} of its requests/s, "
                  f"{ratio(servers['weir coalesce'], 'cpu_us', servers['weir bare'])} of its CPU a request")


def run_case(case, arguments, folder):
    kind, depth = case.split("-")
    tls, depth = kind == "tls", int(depth)
    clients = [peer_clients.KINDS[name](arguments.program, folder, depth, tls, arguments.seconds)
               for name in arguments.clients.split(",")]
    with contextlib.ExitStack() as stack:
        servers = [peer_servers.nginx(folder, tls), peer_servers.weir(arguments.program, folder, "immediate", tls),
                   peer_servers.weir(arguments.program, folder, "coalesce", tls)]
        if not tls:
            servers.append(peer_servers.bare(arguments.program))
        for server in servers:
            stack.enter_context(server)
        found = measure(clients, servers, arguments.rounds)
    show(case, found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built weir")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--cases", default="plain-1,plain-16,tls-1,tls-16", help="plain or tls, and a depth")
    parser.add_argument("--clients", default="wrk,load", help="wrk, load or both")
    parser.add_argument("--json", help="write all figures to this file")
    arguments = parser.parse_args()
    unknown = set(arguments.clients.split(",")) - set(peer_clients.KINDS)
    if unknown:
        parser.error(f"--clients knows no {', '.join(sorted(unknown))}")
    wrong = [case for case in arguments.cases.split(",") if not re.fullmatch(r"(plain|tls)-[1-9]\d*", case)]
    if wrong:
        parser.error(f"--cases: {', '.join(wrong)}: write plain-DEPTH or tls-DEPTH")
    for tool in {"nginx", "openssl", "taskset", *(["wrk"] if "wrk" in arguments.clients.split(",") else [])}:
        if not shutil.which(tool):
            raise SystemExit(f"peers: there is no {tool}; install nginx-light, wrk, openssl and util-linux")
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as folder:
        os.chmod(folder, 0o755)
        peer_servers.make_certificate(folder)
        found = {case: run_case(case, arguments, folder) for case in arguments.cases.split(",")}
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
