#!/usr/bin/python3
"""peers: weir's HTTP server beside nginx and its own bare echo, under the same load on the same pins.

    tests/bench/peers.py build/apps/weir [--rounds 5] [--seconds 2] [--cases plain-1,plain-16,tls-1,tls-16] [--json FILE]

wrk (one thread, 64 connections) asks for a fixed answer of 64 bytes, at depth 1 and 16 requests pipelined, plain and
under TLS 1.3 with one cipher. The servers run at the same time on CPU 0 and are asked in turn from CPU 1, so that a
slow phase of the host meets all of them; the order rotates. A figure is the median of the rounds, a ratio the median
of the rounds' ratios. CPU is what the server's process used, in user and system mode. It measures; it judges nothing.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SERVER_CPU, CLIENT_CPU = "0", "1"
CONNECTIONS = 64
BODY = b"Z" * 64
CIPHER = "TLS_AES_128_GCM_SHA256"
TICKS = os.sysconf("SC_CLK_TCK")
# Requests are written together; answers come in order.
PIPELINE = """
init = function(args)
  local all = {}
  for i = 1, %d do all[i] = wrk.format(nil, nil) end
  req = table.concat(all)
end
request = function() return req end
"""
NGINX = """
daemon off; worker_processes 1; pid %(folder)s/nginx.pid; error_log %(folder)s/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; default_type application/octet-stream; server_tokens off;
  client_body_temp_path %(folder)s; proxy_temp_path %(folder)s; fastcgi_temp_path %(folder)s;
  uwsgi_temp_path %(folder)s; scgi_temp_path %(folder)s;
  server {
    listen 127.0.0.1:%(port)d%(tls)s backlog=1024;
    %(settings)s
    location / { return 200 "%(body)s"; }
  }
}
"""
NGINX_TLS = """ssl_certificate %(folder)s/cert.pem; ssl_certificate_key %(folder)s/key.pem; ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites """ + CIPHER + ";"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_port(port, process):
    for _ in range(500):
        if process.poll() is not None:
            raise SystemExit(f"peers: {process.args[0]} ended with {process.returncode} before it listened")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise SystemExit("peers: a server did not listen within 10 s")


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem", "-days", "2", "-subj",
                    "/CN=localhost"], check=True, capture_output=True)
    os.chmod(f"{folder}/key.pem", 0o600)


class Server:
    """A server of one kind, pinned, until the end of a `with`."""

    def __init__(self, name, command, port):
        self.name, self.port = name, port
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CPU, *command], stdout=subprocess.DEVNULL)

    def __enter__(self):
        await_port(self.port, self.process)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)

    def pids(self):
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(children, encoding="ascii") as file:
            return [self.process.pid, *map(int, file.read().split())]

    def cpu_s(self):
        """User and system time of the process and its workers so far."""
        total = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS


def nginx(folder, tls):
    port = free_port()
    own = tempfile.mkdtemp(dir=folder)
    values = {"folder": own, "port": port, "tls": " ssl" if tls else "", "body": BODY.decode(),
              "settings": NGINX_TLS % {"folder": folder} if tls else ""}
    with open(f"{own}/nginx.conf", "w", encoding="ascii") as file:
        file.write(NGINX % values)
    return Server("nginx", ["nginx", "-p", own, "-c", f"{own}/nginx.conf"], port)


def weir(program, folder, delivery, tls):
    port = free_port()
    command = [program, "serve", "--stack", "epoll", "--protocol", "http1", "--response-bytes", str(len(BODY)),
               "--delivery", delivery, "--cpus", SERVER_CPU, "--listen", f"127.0.0.1:{port}"]
    if tls:
        command += ["--tls", "--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/key.pem", "--tls-min", "1.3",
                    "--tls-ciphersuites", CIPHER]
    return Server(f"weir {delivery}", command, port)


def bare(program, request_bytes):
    port = free_port()
    return Server("weir bare", [program, "serve", "--stack", "epoll", "--protocol", "http1", "--bare",
                                "--request-bytes", str(request_bytes), "--response-bytes", str(len(BODY)), "--cpus",
                                SERVER_CPU, "--listen", f"127.0.0.1:{port}"], port)


def request_bytes_of(port):
    """Length of the request that wrk sends, with a port of as many digits."""
    return len(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")


def ask(server, depth, tls, seconds, script):
    """One wrk run: requests/s and the server's CPU microseconds a request."""
    command = ["taskset", "-c", CLIENT_CPU, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s"]
    command += ["-s", script] if depth > 1 else []
    command.append(f"{'https' if tls else 'http'}://127.0.0.1:{server.port}/")
    before = server.cpu_s()
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spent = server.cpu_s() - before
    bad = re.search(r"Socket errors.*|Non-2xx.*", out)
    if bad:
        raise SystemExit(f"peers: {server.name}: {bad.group(0)}")
    requests = int(re.search(r"(\d+) requests in", out).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    return rate, spent / requests * 1e6


def measure(servers, depth, tls, arguments, script):
    """{name: [(requests/s, us), ...]} of all rounds; one round before them is thrown away."""
    found = {server.name: [] for server in servers}
    for number in range(-1, arguments.rounds):
        turn = number % len(servers)
        for server in servers[turn:] + servers[:turn]:
            figures = ask(server, depth, tls, arguments.seconds, script)
            if number >= 0:
                found[server.name].append(figures)
    return found


def ratios(found, name, other, index):
    return [a[index] / b[index] for a, b in zip(found[name], found[other])]


def show(case, found):
    print(f"\n{case}")
    print(f"{'server':<16}{'requests/s':>14}{'min - max':>24}{'us CPU/request':>16}{'rps / nginx':>14}{'CPU / nginx':>14}")
    for name, figures in found.items():
        rates = [rate for rate, _ in figures]
        rate = statistics.median(ratios(found, name, "nginx", 0))
        cpu = statistics.median(ratios(found, name, "nginx", 1))
        spread = f"{min(rates):,.0f} - {max(rates):,.0f}"
        print(f"{name:<16}{statistics.median(rates):>14,.0f}{spread:>24}"
              f"{statistics.median(us for _, us in figures):>16.2f}{rate:>14.2f}{cpu:>14.2f}")
    if "weir bare" in found:
        print(f"weir coalesce / weir bare: {statistics.median(ratios(found, 'weir coalesce', 'weir bare', 0)):.3f}")


def run_case(case, arguments, folder):
    kind, depth = case.split("-")
    tls, depth = kind == "tls", int(depth)
    script = f"{folder}/pipeline-{depth}.lua"
    with open(script, "w", encoding="ascii") as file:
        file.write(PIPELINE % depth)
    with contextlib.ExitStack() as stack:
        servers = [nginx(folder, tls), weir(arguments.program, folder, "immediate", tls),
                   weir(arguments.program, folder, "coalesce", tls)]
        if not tls:
            servers.append(bare(arguments.program, request_bytes_of(servers[0].port)))
        for server in servers:
            stack.enter_context(server)
        found = measure(servers, depth, tls, arguments, script)
    show(case, found)
    return {name: [{"rps": rate, "cpu_us": us} for rate, us in figures] for name, figures in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built weir")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--cases", default="plain-1,plain-16,tls-1,tls-16")
    parser.add_argument("--json", help="write all figures to this file")
    arguments = parser.parse_args()
    for tool in ("nginx", "wrk", "openssl", "taskset"):
        if not shutil.which(tool):
            raise SystemExit(f"peers: there is no {tool}; install nginx-light, wrk, openssl and util-linux")
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as folder:
        os.chmod(folder, 0o755)
        make_certificate(folder)
        found = {case: run_case(case, arguments, folder) for case in arguments.cases.split(",")}
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
