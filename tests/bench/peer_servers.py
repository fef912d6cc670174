"""peer_servers: the servers that peers.py compares, each pinned and with what the system charges it."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time

CPU = "0"
BODY = b"Z" * 64  # as weir's `respond` fills it, so that `weir load` verifies nginx's answers, too
CIPHER = "TLS_AES_128_GCM_SHA256"
TICKS = os.sysconf("SC_CLK_TCK")
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
            raise SystemExit(f"peers: {process.args[3]} ended with {process.returncode} before it listened")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise SystemExit(f"peers: {process.args[3]} did not listen within 10 s")


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem", "-days", "2", "-subj",
                    "/CN=localhost"], check=True, capture_output=True)
    os.chmod(f"{folder}/key.pem", 0o600)


class Server:
    """A server of one kind, pinned, until the end of a `with`."""

    def __init__(self, name, command, port):
        self.name, self.port = name, port
        self.command = ["taskset", "-c", CPU, *command]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        try:
            await_port(self.port, self.process)
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def pids(self):
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(children, encoding="ascii") as file:
            return [self.process.pid, *map(int, file.read().split())]

    def cpu_s(self):
        """(user, system) time of the process and its workers so far."""
        user = system = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            user += int(fields[11])
            system += int(fields[12])
        return user / TICKS, system / TICKS


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
               "--delivery", delivery, "--cpus", CPU, "--listen", f"127.0.0.1:{port}"]
    if tls:
        command += ["--tls", "--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/key.pem", "--tls-min", "1.3",
                    "--tls-ciphersuites", CIPHER]
    return Server(f"weir {delivery}", command, port)


def bare(program):
    """Weir's bare echo, which counts bytes: wrk and `weir load` send the same request, here with the port's digits."""
    port = free_port()
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    return Server("weir bare", [program, "serve", "--stack", "epoll", "--protocol", "http1", "--bare",
                                "--request-bytes", str(len(request)), "--response-bytes", str(len(BODY)), "--cpus",
                                CPU, "--listen", f"127.0.0.1:{port}"], port)
