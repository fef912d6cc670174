"""bench: a folder of its own for a test, and `weir run` and its results in it. For tests that speak TAP.

usage of a test file: see processes.py.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from processes import WEIR, Skip, test

DEADLINE_S = 60
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXPERIMENT = {
    "schema": "weir.experiment/1",
    "name": "tiny",
    "fixed": {"stack": "epoll@loopback", "connections": 4, "request_bytes": 32},
    "factors": {"delivery": ["immediate", "coalesce"], "depth": [4]},
    "runs": 1,
    "warmup": "50ms",
    "duration": "200ms",
}
ONE_CELL = {"depth": [4]}


class Bench:
    """A folder for one test, and the program in it."""

    def __init__(self, folder):
        self.folder = folder
        self.output = os.path.join(folder, "out")
        self.lock = os.path.join(folder, "lock")

    def experiment(self, **changes):
        """The folder of a tiny experiment."""
        folder = os.path.join(self.folder, "experiment")
        os.makedirs(folder, exist_ok=True)
        text = json.dumps({**EXPERIMENT, **changes}, indent=1)
        write(os.path.join(folder, "experiment.json"), text)
        return folder

    @staticmethod
    def weir(*arguments, **options):
        """The program with these arguments, run to its end."""
        words = [one if isinstance(one, bytes) else str(one) for one in arguments]
        return subprocess.run([WEIR, *words], capture_output=True, text=True, errors="replace",
                              timeout=2 * DEADLINE_S, check=False, **options)

    def arguments(self, *arguments):
        return ["run", *arguments, "--output", self.output, "--lock", self.lock, "--no-report"]

    def run(self, *arguments, **options):
        return self.weir(*self.arguments(*arguments), **options)

    def result(self, *arguments):
        """The path of a result all of whose samples are valid."""
        outcome = self.run(*arguments)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        return results_path(outcome)

    def start(self, *arguments):
        return subprocess.Popen([WEIR, *self.arguments(*arguments)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def made(self):
        return sorted(os.listdir(self.output)) if os.path.isdir(self.output) else []

    def only_partial(self):
        """The path of what was made, which is one directory and not whole."""
        made = self.made()
        assert len(made) == 1 and made[0].endswith(".partial"), made
        return os.path.join(self.output, made[0])

    def sample_file(self, sample_id, name):
        """The text of a file of a sample in the directory being made; "" if it is not there yet."""
        for result in self.made():
            samples = os.path.join(self.output, result, "samples")
            for sample in os.listdir(samples) if os.path.isdir(samples) else []:
                path = os.path.join(samples, sample, name)
                if sample.startswith(sample_id) and os.path.exists(path):
                    return read(path)
        return ""

    def await_measuring(self, sample_id):
        """Waits until the sample's client measures; the server's process id from its ready line."""
        wait_for(lambda: "phase measure\n" in self.sample_file(sample_id, "client.log"))
        return ready_of(self.sample_file(sample_id, "server.log"))["pid"]


@contextlib.contextmanager
def beside_others(alone):
    """Holds a lock that all cases of this user share, or that one has alone."""
    with open(os.path.join(tempfile.gettempdir(), f"weir-test-{os.getuid()}.lock"), "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def case(name, kind=Bench, alone=False):
    """Registers a test that gets a bench of its own; its name is a sentence. One that looks for what killed runners left
    runs `alone`, for any run removes it."""
    def register(function):
        def run():
            folder = tempfile.mkdtemp(prefix="weir-test-")
            try:
                with beside_others(alone):
                    function(kind(folder))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        test(name)(run)
        return function
    return register


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def read_json(*path):
    return json.loads(read(os.path.join(*path)))


def wait_for(condition, deadline_s=DEADLINE_S):
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.01)


def ready_of(log):
    return json.loads(re.search(r"^ready (\{.*\})$", log, re.M).group(1))


def path_in(stdout):
    """The path in the last line of a run's output."""
    last = stdout.splitlines()[-1]
    assert last.startswith("results: "), stdout
    return last[len("results: "):]


def results_path(outcome):
    assert outcome.stdout, outcome.stderr
    return path_in(outcome.stdout)


def read_results(path):
    return [json.loads(line) for line in read(os.path.join(path, "results.jsonl")).splitlines()]


def is_alive(pid):
    """Whether a process runs; a zombie that nobody has waited for yet does not."""
    try:
        return read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(pid):
    return [int(word) for word in read(f"/proc/{pid}/task/{pid}/children").split()]


def ground_of(pid):
    """The private folder of a runner, or None."""
    for name in os.listdir("/tmp"):
        path = os.path.join("/tmp", name)
        with contextlib.suppress(OSError):
            if re.fullmatch("weir-run-[0-9a-f]{8}", name) and read(f"{path}/run") == f"pid {pid}\n":
                return path
    return None


def files_below(path):
    """Every file of a directory, relative to it, sorted."""
    return sorted(os.path.relpath(os.path.join(folder, name), path)
                  for folder, _, names in os.walk(path) for name in names)


def check_hashes(path):
    """Every file but the manifest's own is in it with its size and digest, and nothing else is."""
    listed = {}
    for entry in read_json(path, "manifest.json")["files"]:
        content = read_bytes(os.path.join(path, entry["path"]))
        assert len(content) == entry["bytes"], entry
        assert hashlib.sha256(content).hexdigest() == entry["sha256"], entry
        listed[entry["path"]] = True
    there = set(files_below(path)) - {"manifest.json", "manifest.sha256"}
    assert there == set(listed), there ^ set(listed)


def write_manifest(path):
    """Makes the manifest anew, as somebody does who means to hide a change."""
    files = []
    for name in files_below(path):
        if not name.startswith("manifest."):
            content = read_bytes(os.path.join(path, name))
            files.append({"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    text = json.dumps({"schema": "weir.manifest/1", "files": files})
    write(os.path.join(path, "manifest.json"), text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    write(os.path.join(path, "manifest.sha256"), f"{digest}  manifest.json\n")


def stacks():
    """What `weir stacks` says, by name."""
    outcome = Bench.weir("stacks", "--json")
    return {stack["name"]: stack for stack in json.loads(outcome.stdout)["stacks"]}


def need_stack(name):
    stack = stacks()[name]
    lacks = stack["absent"] if not stack["built"] else stack["unusable"]
    if lacks:
        raise Skip(lacks)


def need_root(what):
    if os.geteuid() != 0:
        raise Skip(f"only root may {what}")


@contextlib.contextmanager
def small_disk(path, size):
    """A file system of so many bytes at `path`."""
    need_root("mount a small file system")
    os.makedirs(path, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "weir-test", path], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


def interrupt(runner):
    """Ends a run with Ctrl-C; its stderr."""
    runner.send_signal(signal.SIGINT)
    return runner.communicate(timeout=DEADLINE_S)[1]
