"""nginx: the server of others that ours and our client are held against. For tests that speak TAP.

usage of a test file: see processes.py.
"""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time

from tests.e2e.processes import DEADLINE_S, Skip, free_port

SIZES = [0, 1, 64, 16 * 1024 - 1, 16 * 1024 + 1, 64 * 1024 + 1, 100 * 1024]

NGINX = """
daemon off;
error_log stderr;
pid {folder}/pid;
worker_processes 1;
{user}
events {{ worker_connections 128; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    server {{
        listen 127.0.0.1:{port};
        listen [::1]:{port};
        listen unix:{folder}/socket;
        {tls}
        root {folder}/files;
        location /bounded/ {{ alias {folder}/files/; keepalive_requests 10; }}
    }}
}}
"""


class Nginx:
    """nginx with a file of each of SIZES, named by its size."""

    def __init__(self, tls=""):
        """`tls`: directives of the server block, `{port}` being that of TLS."""
        self.program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if not self.program:
            raise Skip("nginx is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.tls_port = free_port()
        os.mkdir(f"{self.folder.name}/files")
        for size in SIZES:
            self.add(size)
        user = "user root;" if os.geteuid() == 0 else ""
        config = f"{self.folder.name}/nginx.conf"
        with open(config, "w", encoding="ascii") as file:
            file.write(NGINX.format(folder=self.folder.name, port=self.port, user=user,
                                    tls=tls.format(port=self.tls_port)))
        self.process = subprocess.Popen([self.program, "-p", self.folder.name, "-c", config, "-e", "stderr"],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def add(self, size):
        with open(self.file(size), "wb") as file:
            file.write(random.Random(size).randbytes(size))

    def file(self, size):
        return f"{self.folder.name}/files/{size}"

    def __enter__(self):
        end = time.monotonic() + DEADLINE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(f"nginx does not listen: {self.process.stderr.read()}") from None
                time.sleep(0.01)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=DEADLINE_S)
        self.folder.cleanup()
