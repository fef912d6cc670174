"""hosts: two network namespaces as two hosts, each with an sshd, and `weir run` with its server and clients there."""

import atexit
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from processes import WEIR, Skip

DEADLINE_S = 120
LOCK = "/tmp/weir-run.lock"
PORT = 2222
SERVER_IP, CLIENT_IP, NOBODY_IP = "10.79.0.1", "10.79.0.2", "10.79.0.77"
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
# SHLVL: a bash that sshd starts reads the user's .bashrc but for a nested one; that may take seconds, once a session.
CONFIG = """\
Port {port}
HostKey {home}/host_key
AuthorizedKeysFile {home}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
LogLevel ERROR
SetEnv SHLVL=2
"""
SSH_CONFIG = """\
Host *
  IdentityFile {home}/key
  IdentitiesOnly yes
  UserKnownHostsFile {home}/known_hosts
  GlobalKnownHostsFile /dev/null
  KexAlgorithms curve25519-sha256
"""
EXPERIMENT = {
    "schema": "weir.experiment/1",
    "name": "apart",
    "fixed": {"stack": "epoll@network", "connections": 4, "request_bytes": 32, "depth": 4},
    "runs": 1,
    "warmup": "200ms",
    "duration": "1s",
}


def within(net, *command):
    """The command in a network namespace; `ip netns exec` would remount /, which a chroot cannot."""
    return ["nsenter", f"--net=/run/netns/{net}", *command]


def run(*argv, **options):
    return subprocess.run(argv, capture_output=True, text=True, timeout=DEADLINE_S, check=True, **options)


def wait_for(condition, what):
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, f"{what}: nothing happened in time"
        time.sleep(0.05)


class World:
    """Two namespaces joined by a veth pair, an sshd in each, and a key that opens both."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="weir-hosts-test-")
        self.server_net, self.client_net = f"weir-hosts-{os.getpid()}-s", f"weir-hosts-{os.getpid()}-c"
        self.daemons = {}
        atexit.register(self.close)
        self.make_keys()
        self.join()
        for net in (self.server_net, self.client_net):
            self.serve(net)

    def make_keys(self):
        for name in ("key", "host_key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.home}/{name}")
        shutil.copy(f"{self.home}/key.pub", f"{self.home}/authorized_keys")
        with open(f"{self.home}/host_key.pub", encoding="utf-8") as file:
            key = " ".join(file.read().split()[:2])
        with open(f"{self.home}/known_hosts", "w", encoding="utf-8") as file:
            file.writelines(f"[{ip}]:{PORT} {key}\n" for ip in (SERVER_IP, CLIENT_IP))
        for name, text in (("sshd_config", CONFIG), ("ssh_config", SSH_CONFIG)):
            with open(f"{self.home}/{name}", "w", encoding="utf-8") as file:
                file.write(text.format(home=self.home, port=PORT))
        # sshd wants it at every connection; it stays, for another run of these tests may need it now
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)

    def join(self):
        ends = {self.server_net: (f"whs{os.getpid()}", SERVER_IP), self.client_net: (f"whc{os.getpid()}", CLIENT_IP)}
        try:
            for net in ends:
                run("ip", "netns", "add", net)
        except subprocess.CalledProcessError as error:
            raise Skip(f"no network namespace can be made: {error.stderr.strip()}") from None
        names = [name for name, _ in ends.values()]
        run("ip", "link", "add", names[0], "type", "veth", "peer", "name", names[1])
        for net, (name, ip) in ends.items():
            run("ip", "link", "set", name, "netns", net)
            run(*within(net, "ip"), "address", "add", f"{ip}/24", "dev", name)
            run(*within(net, "ip"), "link", "set", name, "up")
            run(*within(net, "ip"), "link", "set", "lo", "up")

    def serve(self, net):
        """Starts the sshd of a namespace and waits until it listens.

        The server's has a boot id and a lock of its own: it is another machine to all who ask.
        """
        log = open(f"{self.home}/{net}.log", "ab")  # closed with the process that tests
        command = [SSHD, "-D", "-e", "-f", f"{self.home}/sshd_config"]
        if net == self.server_net:
            boot_id = f"{self.home}/boot_id"
            with open(boot_id, "w", encoding="utf-8") as file:
                file.write("00000000-0000-4000-8000-000000000001\n")
            lock = f"{self.home}/lock"
            for path in (lock, LOCK):  # a file is mounted over one that is there
                with open(path, "a", encoding="utf-8"):
                    os.chmod(path, 0o666)
            script = (f'mount --bind "$0" /proc/sys/kernel/random/boot_id && mount --bind "$1" {LOCK} && '
                      'shift && exec "$@"')
            command = ["unshare", "-m", "sh", "-c", script, boot_id, lock, *command]
        self.daemons[net] = subprocess.Popen(within(net, *command), stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=log)
        wait_for(lambda: f":{PORT} " in run(*within(net, "ss", "-Hltn")).stdout, "sshd")

    @contextlib.contextmanager
    def lock_there(self):
        """The lock of runs on the server's machine, open."""
        with open(f"/proc/{self.daemons[self.server_net].pid}/root{LOCK}", "a+", encoding="utf-8") as file:
            yield file

    def pids(self, net):
        """Of the namespace, but for its sshd itself."""
        daemon = self.daemons.get(net)
        listed = run("ip", "netns", "pids", net).stdout.split()
        return [int(pid) for pid in listed if not daemon or int(pid) != daemon.pid]

    def stop(self, net):
        """Ends a namespace's sshd, and with it every session."""
        daemon = self.daemons.pop(net, None)
        if daemon:
            daemon.kill()
            daemon.wait()
        for pid in self.pids(net):
            if "sshd" in command_of(pid):
                kill(pid)

    def close(self):
        for net in (self.server_net, self.client_net):
            with contextlib.suppress(subprocess.SubprocessError):
                self.stop(net)
                run("ip", "netns", "delete", net)
        shutil.rmtree(self.home, ignore_errors=True)


def command_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        return file.read().replace("\0", " ")
    return ""


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def kill(pid, number=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


THE_WORLD = []


def world():
    """The same for all tests; what cannot be had is a reason to skip."""
    if os.geteuid() != 0:
        raise Skip("namespaces and sshd need root")
    for name in ("ssh", "ssh-keygen", "ip", "ss"):
        if not shutil.which(name):
            raise Skip(f"{name} is not installed")
    if not SSHD:
        raise Skip("sshd is not installed: apt-get install openssh-server")
    apart = subprocess.run(["unshare", "-m", "true"], capture_output=True, text=True, check=False)
    if apart.returncode:
        raise Skip(f"no mounts of its own can be given to a machine here, as in a chroot: {apart.stderr.strip()}")
    if not THE_WORLD:
        THE_WORLD.append(World())
    return THE_WORLD[0]


class Bench:
    """A folder for one test, folders on both hosts in it, and `weir run` in the client's namespace."""

    def __init__(self):
        self.world = world()
        self.folder = tempfile.mkdtemp(prefix="weir-hosts-bench-")
        self.parents = {name: os.path.join(self.folder, name) for name in ("server", "client")}
        for path in self.parents.values():
            os.mkdir(path)
        self.output = os.path.join(self.folder, "out")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def far(self, ip, role, **more):
        return {"ssh": f"root@{ip}", "port": PORT, "config": f"{self.world.home}/ssh_config",
                "folder": self.parents[role], **more}

    def server(self, ip=SERVER_IP, **more):
        return self.far(ip, "server", **{"address": SERVER_IP, "cpus": "0", **more})

    def client(self, **more):
        return self.far(CLIENT_IP, "client", **{"cpus": "1", **more})

    def hosts(self, clients=2):
        return {"server": self.server(), "clients": [self.client() for _ in range(clients)]}

    def command(self, hosts, *more, **changes):
        experiment = {**EXPERIMENT, **changes, "hosts": hosts}
        with open(os.path.join(self.folder, "experiment.json"), "w", encoding="utf-8") as file:
            json.dump(experiment, file)
        flags = ["--output", self.output, "--lock", os.path.join(self.folder, "lock"), "--no-report", *more]
        return within(self.world.client_net, WEIR, "run", self.folder, *flags)

    def run(self, hosts, *more, **changes):
        return subprocess.run(self.command(hosts, *more, **changes), capture_output=True, text=True, timeout=DEADLINE_S,
                              check=False)

    def start(self, hosts, **changes):
        """Started; the caller waits for it."""
        return subprocess.Popen(self.command(hosts, **changes), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def invalid(self, process):
        """The results of a started run, which must end because a sample is invalid."""
        stdout, stderr = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 3, (stdout, stderr)
        return results_in(stdout.splitlines()[-1].removeprefix("results: "))

    def sample_file(self, sample_id, name):
        """A file of a sample in whatever directory is being made; "" if it is not there yet."""
        for folder, _, names in os.walk(self.output):
            if os.path.basename(name) in names and f"/samples/{sample_id}-" in folder + "/":
                path = os.path.join(folder, os.path.basename(name))
                if path.endswith(name):
                    with open(path, encoding="utf-8") as file:
                        return file.read()
        return ""

    def await_measuring(self, sample_id, log="client.log"):
        wait_for(lambda: "phase measure\n" in self.sample_file(sample_id, log), f"the window of {sample_id}")

    def left(self):
        """Folders of runs on either host."""
        return [os.path.join(path, name) for path in self.parents.values() for name in os.listdir(path)]

    def await_nothing_left(self):
        wait_for(lambda: not self.left(), f"{self.left()} to go")
        for net in (self.world.server_net, self.world.client_net):
            wait_for(lambda net=net: not self.world.pids(net),
                     [command_of(pid) for pid in self.world.pids(net)])

    def sessions(self, net, program_parent):
        """The sshd sessions of a namespace under which an agent carries out a process."""
        found = []
        for pid in self.world.pids(net):
            if not command_of(pid).startswith(f"{program_parent}/") or " agent run" not in command_of(pid):
                continue
            while "sshd" not in command_of(pid):
                pid = parent_of(pid)
            found.append(pid)
        return found


def takes(file):
    """Whether a lock that nobody holds could be taken; then it is."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def path_of(outcome):
    last = outcome.stdout.splitlines()[-1]
    assert last.startswith("results: "), (outcome.stdout, outcome.stderr)
    return last.removeprefix("results: ")


def read_json(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def results_in(path):
    with open(os.path.join(path, "results.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def folders_in(path):
    samples = os.path.join(path, "samples")
    return [os.path.join(samples, name) for name in sorted(os.listdir(samples))]
