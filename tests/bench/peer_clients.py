"""peer_clients: wrk and `weir load`, pinned, as peers.py asks servers with them: one thread, many connections."""

import json
import re
import subprocess

from peer_servers import CIPHER

CPU = "1"
CONNECTIONS = 64
# Requests are written together; answers come in order.
PIPELINE = """
init = function(args)
  local all = {}
  for i = 1, %d do all[i] = wrk.format(nil, nil) end
  req = table.concat(all)
end
request = function() return req end
"""


class Client:
    """How a client is called for a case, and what it says when it is done."""

    def __init__(self, program, folder, depth, tls, seconds):
        self.program, self.folder, self.depth, self.tls, self.seconds = program, folder, depth, tls, seconds

    def start(self, server):
        command = ["taskset", "-c", CPU, *self.command(server)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Wrk(Client):
    name = "wrk"

    def command(self, server):
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{self.seconds}s"]
        if self.depth > 1:
            script = f"{self.folder}/pipeline-{self.depth}.lua"
            with open(script, "w", encoding="ascii") as file:
                file.write(PIPELINE % self.depth)
            command += ["-s", script]
        return [*command, f"{'https' if self.tls else 'http'}://127.0.0.1:{server.port}/"]

    def read(self, said):
        """(requests answered, requests/s); raises ValueError if some failed."""
        bad = re.search(r"Socket errors.*|Non-2xx.*", said)
        if bad:
            raise ValueError(bad.group(0))
        requests, rate = re.search(r"(\d+) requests in", said), re.search(r"Requests/sec:\s+([\d.]+)", said)
        if not requests or not rate:
            raise ValueError(f"wrk says no rate: {said.strip()!r}")
        return int(requests[1]), float(rate[1])


class Load(Client):
    name = "load"

    def command(self, server):
        command = [self.program, "load", "--stack", "epoll", "--protocol", "http1", "--request-bytes", "0",
                   "--connect", f"127.0.0.1:{server.port}", "--connections", str(CONNECTIONS), "--depth",
                   str(self.depth), "--warmup", "0s", "--duration", f"{self.seconds}s", "--cpus", CPU, "--json",
                   f"{self.folder}/load.json"]
        if self.tls:
            command += ["--tls", "--tls-insecure", "--tls-min", "1.3", "--tls-ciphersuites", CIPHER]
        return command

    def read(self, _):
        """As Wrk's; each answer was verified to its last byte."""
        with open(f"{self.folder}/load.json", encoding="utf-8") as file:
            result = json.load(file)
        if result["failed"]:
            raise ValueError(result["failures"])
        return result["completed"], result["effective_rps"]


KINDS = {kind.name: kind for kind in (Wrk, Load)}
