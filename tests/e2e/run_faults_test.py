#!/usr/bin/python3
"""`weir run` beside what can go wrong: kills, stops, disks, other users of the host. Speaks TAP.

usage: run_faults_test.py WEIR [SUBSTRING...]
"""

import contextlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

from bench import (DEADLINE_S, ONE_CELL, ROOT, Bench, case, check_hashes, children_of, files_below, ground_of,
                   interrupt, is_alive, need_root, need_stack, path_in, read, read_json, read_results, results_path,
                   small_disk, wait_for, write)
from processes import WEIR, Skip, free_port, run_tests

sys.path.insert(0, ROOT)
from tests.support import thread  # noqa: E402: the repository must be on the path first


@case("a server killed in the measured window invalidates its sample alone")
def killed_server(bench):
    folder = bench.experiment(runs=2, duration="1s")
    with bench.start(folder) as runner:
        os.kill(bench.await_measuring("s0002"), signal.SIGKILL)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stderr
    path = path_in(stdout)
    results = read_results(path)
    assert [r["valid"] for r in results] == [True, False, True, True]
    reasons = results[1]["invalid_reasons"]
    assert "killed by signal 9 (Killed) in the client's phase `measure`" in reasons[0], reasons
    assert "the client ended with status 3 in its phase `" in reasons[1], reasons
    assert results[1]["server"]["writes"] is None and results[1]["server"]["writes_reason"]
    check_hashes(path)


@case("a server that hangs is killed and its sample invalid")
def stopped_server(bench):
    folder = bench.experiment(factors=ONE_CELL, duration="1s")
    with bench.start(folder) as runner:
        server = bench.await_measuring("s0001")
        os.kill(server, signal.SIGSTOP)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stderr
    assert not is_alive(server)
    reasons = read_results(path_in(stdout))[0]["invalid_reasons"]
    assert any("did not stop within 8 s of SIGTERM" in reason for reason in reasons), reasons


@case("a client that was stopped for a while makes the sample invalid")
def paused_client(bench):
    folder = bench.experiment(factors=ONE_CELL, duration="1s")
    with bench.start(folder) as runner:
        bench.await_measuring("s0001")
        client = children_of(runner.pid)[1]
        os.kill(client, signal.SIGSTOP)
        time.sleep(2)
        os.kill(client, signal.SIGCONT)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stdout + stderr
    reasons = read_results(path_in(stdout))[0]["invalid_reasons"]
    assert any("stood still" in reason for reason in reasons), reasons


@case("a snapshot that would lack a worker is not given and its sample invalid")
def silent_worker(bench):
    """The second snapshot lacks the server's one worker, which is stopped meanwhile."""
    with bench.start(bench.experiment(factors=ONE_CELL, duration="1s")) as runner:
        server = bench.await_measuring("s0001")
        wait_for(lambda: "snapshot {" in bench.sample_file("s0001", "server.log"))
        try:
            with thread.Stopped(*thread.workers_of(server)):
                wait_for(lambda: "did not answer" in bench.sample_file("s0001", "server.log"))
        except thread.Refused as reason:
            runner.kill()
            raise Skip(reason) from reason
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stderr
    result = read_results(path_in(stdout))[0]
    said = "the server gave 1 of 2 snapshots: weir serve: worker 0 did not answer within 2 s: no snapshot"
    assert result["invalid_reasons"] == [said], result["invalid_reasons"]
    assert result["server"]["rss_start_kib"] is None and result["server"]["writes"] is None


@case("a client that fails makes the sample invalid with its last words")
def failing_client(bench):
    """The client is given an option that only opening finds fault with."""
    need_stack("uring")
    fixed = {"stack": "epoll@loopback", "client_stack": "uring@loopback,buffers=3", "connections": 4}
    folder = bench.experiment(fixed=fixed, factors={"depth": [1]})
    outcome = bench.run(folder)
    assert outcome.returncode == 3, outcome.stdout + outcome.stderr
    result = read_results(results_path(outcome))[0]
    assert result["valid"] is False
    assert "the client ended with status 4" in result["invalid_reasons"][0], result
    assert "must be a power of two" in result["invalid_reasons"][0], result
    assert not any("snapshots" in reason for reason in result["invalid_reasons"]), result


@case("Ctrl-C, SIGTERM and SIGHUP end both children and keep what there is as partial")
def interrupted(bench):
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with bench.start(bench.experiment(duration="20s")) as runner:
            bench.await_measuring("s0001")
            children = children_of(runner.pid)
            assert len(children) == 2, children
            runner.send_signal(signal_number)
            _, stderr = runner.communicate(timeout=DEADLINE_S)
        assert runner.returncode == 128 + signal_number, (runner.returncode, stderr)
        assert not any(is_alive(pid) for pid in children)
        assert ground_of(runner.pid) is None
        partial = bench.only_partial()
        assert partial in stderr, stderr
        assert f"run {partial} --resume" in read(os.path.join(partial, "INCOMPLETE.txt"))
        shutil.rmtree(bench.output)


def kill_runner(bench, folder):
    """Kills a runner with -9 in the measured window; its run id, once its children are gone."""
    with bench.start(folder) as runner:
        bench.await_measuring("s0001")
        children = children_of(runner.pid)
        ground = ground_of(runner.pid)
        runner.kill()
    assert len(children) == 2, children
    wait_for(lambda: not any(is_alive(pid) for pid in children))
    assert os.path.isdir(ground)
    return ground.removeprefix("/tmp/weir-run-")


@case("a runner killed with -9 takes its children along, doctor names what is left, and the next run removes it",
      alone=True)
def killed_runner(bench):
    folder = bench.experiment(fixed={"stack": "epoll@unix", "connections": 2}, duration="20s")
    run_id = kill_runner(bench, folder)
    ground = f"/tmp/weir-run-{run_id}"
    assert "s0001.sock" in os.listdir(ground)
    left = [check for check in json.loads(bench.weir("doctor", "--json").stdout)["checks"]
            if check["name"] == "left behind"]
    assert len(left) == 1 and left[0]["state"] == "note" and ground in left[0]["found"], left
    outcome = bench.run(folder, "--set", "duration=100ms")
    assert outcome.returncode == 0, outcome.stderr
    assert f"removed what run {run_id} left when it was killed: {ground}\n" in outcome.stderr, outcome.stderr
    assert not os.path.exists(ground)


def autogroup_of(pid):
    """The nice value of a process's session, or None where the kernel has no such thing."""
    with contextlib.suppress(OSError, ValueError):
        return int(read(f"/proc/{pid}/autogroup").split()[-1])
    return None


@case("a runner killed with -9 leaves its session's weight raised, and the next run puts it back, from another session",
      alone=True)
def killed_runner_of_session(bench):
    if autogroup_of(os.getpid()) is None or os.geteuid() != 0:
        raise Skip("needs root and a kernel with autogroups")
    folder = bench.experiment(factors=ONE_CELL, duration="20s")
    command = ["/bin/sh", "-c", '"$@"; read line', "sh", WEIR, *bench.arguments(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as session:
        before = autogroup_of(session.pid)
        bench.await_measuring("s0001")
        runner, = children_of(session.pid)
        os.kill(runner, signal.SIGKILL)
        wait_for(lambda: not is_alive(runner))
        raised = autogroup_of(session.pid)
        bench.result(folder, "--set", "duration=100ms")
        after = autogroup_of(session.pid)
        session.stdin.close()
    assert (before, raised, after) == (0, -10, 0), (before, raised, after)


def namespaces():
    return os.listdir("/run/netns") if os.path.isdir("/run/netns") else []


@case("a runner killed with -9 leaves no namespace that the next run does not remove by its run id",
      alone=True)
def killed_runner_of_veth(bench):
    need_root("make network namespaces")
    folder = bench.experiment(fixed={"stack": "epoll@veth", "connections": 2}, factors=ONE_CELL, duration="20s")
    if "veth pair" in bench.run(folder, "--dry-run").stderr:
        raise Skip("this host makes no veth pairs")
    run_id = kill_runner(bench, folder)
    assert {f"weir-{run_id}-s0001-server", f"weir-{run_id}-s0001-client"} <= set(namespaces())
    outcome = bench.run(bench.experiment(factors=ONE_CELL))
    assert outcome.returncode == 0, outcome.stderr
    assert f"removed what run {run_id} left when it was killed: veth pair {run_id}-s0001\n" in outcome.stderr, outcome.stderr
    assert not any(run_id in name for name in namespaces())
    assert not os.path.exists(f"/run/weir/veth-{run_id}-s0001")


def dpdk_files():
    """What DPDK's processes have on this host outside their memory."""
    folders = [folder for folder in ("/var/run/dpdk/weir", "/dev/hugepages") if os.path.isdir(folder)]
    return [os.path.join(folder, name) for folder in folders for name in files_below(folder)]


@case("a dpdk server and client killed with -9 leave no file of DPDK's behind", alone=True)
def killed_dpdk(bench):
    need_stack("dpdk")
    before = dpdk_files()
    fixed = {"stack": "dpdk@memif", "connections": 2}
    run_id = kill_runner(bench, bench.experiment(fixed=fixed, factors=ONE_CELL, duration="20s"))
    assert "s0001.sock" in os.listdir(f"/tmp/weir-run-{run_id}")
    assert dpdk_files() == before, dpdk_files()
    bench.result(bench.experiment(factors=ONE_CELL))
    assert not os.path.exists(f"/tmp/weir-run-{run_id}")


@case("a run that lives is not cleaned up after")
def living_run(bench):
    other = Bench(os.path.join(bench.folder, "other"))
    with bench.start(bench.experiment(fixed={"stack": "epoll@unix", "connections": 2}, duration="20s")) as runner:
        bench.await_measuring("s0001")
        ground = ground_of(runner.pid)
        outcome = other.run(other.experiment(factors=ONE_CELL))
        left = set(os.listdir(ground)) - {"autogroup"}
        assert left == {"run", "s0001.sock"}, (left, runner.poll(), outcome.stdout, outcome.stderr)
        interrupt(runner)
    assert outcome.returncode == 0 and ground not in outcome.stderr, outcome.stderr


@case("a link among the stale folders is not followed")
def stale_link(bench):
    kept = os.path.join(bench.folder, "kept")
    os.mkdir(kept)
    write(os.path.join(kept, "precious"), "not weir's")
    link = f"/tmp/weir-run-{os.getpid():08x}"
    os.symlink(kept, link)
    try:
        bench.result(bench.experiment(factors=ONE_CELL))
        assert os.path.islink(link)
    finally:
        os.unlink(link)
    assert os.listdir(kept) == ["precious"]


@case("a second run at the same time is refused and told who holds the host")
def two_at_once(bench):
    folder = bench.experiment(duration="20s")
    with bench.start(folder) as runner:
        bench.await_measuring("s0001")
        outcome = bench.run(folder)
        interrupt(runner)
    assert outcome.returncode == 4, outcome.stdout
    holder = f"another measurement is running on this host: pid {runner.pid}, "
    assert holder in outcome.stderr, outcome.stderr


@case("two runs into one folder at the same time have a directory each")
def one_output(bench):
    folder = bench.experiment(factors=ONE_CELL)
    locks = [os.path.join(bench.folder, name) for name in ("first", "second")]
    runners = []
    for lock in locks:
        bench.lock = lock
        runners.append(bench.start(folder))
    paths = [path_in(runner.communicate(timeout=DEADLINE_S)[0]) for runner in runners]
    assert [runner.returncode for runner in runners] == [0, 0]
    assert len(set(paths)) == 2 and sorted(map(os.path.basename, paths)) == bench.made()
    for path in paths:
        check_hashes(path)


@case("a run that may not open the files it needs is refused with their number")
def few_files(bench):
    folder = bench.experiment(factors=ONE_CELL)
    command = "ulimit -n 20 && exec " + " ".join(map(shlex.quote, [WEIR, *bench.arguments(folder)]))
    outcome = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert outcome.returncode == 4, outcome.stderr
    assert "needs 64 open files, and the limit is 20: allow them with `ulimit -n 64`" in outcome.stderr, outcome.stderr
    assert bench.made() == []


@case("a file that only begins like a lock is left as it is")
def no_lock(bench):
    folder = bench.experiment(factors=ONE_CELL)
    bench.lock = os.path.join(bench.folder, "diary")
    write(bench.lock, "pid is my diary\n")
    outcome = bench.run(folder)
    assert outcome.returncode == 4 and "is no lock" in outcome.stderr, outcome.stderr
    assert read(bench.lock) == "pid is my diary\n"


@case("a run whose output is closed writes into no file of its own")
def closed_output(bench):
    folder = bench.experiment(factors=ONE_CELL)
    command = " ".join(map(shlex.quote, [WEIR, *bench.arguments(folder)])) + " >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], timeout=DEADLINE_S, check=False).returncode in (0, 4)
    with open(os.path.join(bench.folder, "lock"), encoding="utf-8") as lock:
        assert re.fullmatch(r"pid \d+, .*\n", lock.read())
    path, = bench.made()
    check_hashes(os.path.join(bench.output, path))


@case("a host on which others work is stamped, or refused naming who")
def busy_host(bench):
    folder = bench.experiment(factors=ONE_CELL)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinner:
        try:
            stamped, refused = bench.run(folder), bench.run(folder, "--when-busy", "refuse")
        finally:
            spinner.kill()
    assert stamped.returncode == 0, stamped.stderr
    assert "others work on this host" in stamped.stderr, stamped.stderr
    for name in ("plan.json", "summary.json"):
        found = read_json(results_path(stamped), name)["busy_at_start"]
        assert found["disturbed"] is True and found["cpus"] > 0.1, found
        assert spinner.pid in [one["pid"] for one in found["who"]], found
    assert refused.returncode == 4, refused.stdout
    assert re.search(rf"nothing was run: others work on this host: .*, pid {spinner.pid}, ", refused.stderr), refused.stderr
    assert len(bench.made()) == 1


@contextlib.contextmanager
def listener(share, ip="127.0.0.1"):
    """A port that this process listens on, shared or not."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, share)
        sock.bind((ip, 0))
        sock.listen()
        yield sock.getsockname()[1]


@case("a port asked for that is held is refused naming the holder, shared or on every address")
def held_port(bench):
    folder = bench.experiment(factors=ONE_CELL)
    for share, ip in ((0, "127.0.0.1"), (1, "127.0.0.1"), (1, "0.0.0.0")):
        with listener(share, ip) as port:
            outcome = bench.run(folder, "--port", str(port))
        assert outcome.returncode == 4, outcome.stdout
        said = rf"127\.0\.0\.1:{port} is held by python3\S* \(pid {os.getpid()}\)"
        assert re.search(said, outcome.stderr), outcome.stderr
    assert bench.made() == []


@case("a port that only ended connections have is nobody's")
def port_in_time_wait(bench):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        accepted.close()  # who closes first keeps the port in TIME-WAIT
        client.close()
    result = bench.result(bench.experiment(factors=ONE_CELL), "--port", str(port))
    assert read_json(result, "plan.json")["port"] == port


def check_given_up(bench, outcome, says, earlier=None):
    """It ended with a named error, what there is is partial, and what was before is as it was."""
    assert outcome.returncode == 4, (outcome.returncode, outcome.stdout, outcome.stderr)
    assert re.search(says, outcome.stderr), (says, outcome.stderr)
    assert "results: " not in outcome.stdout
    new = [name for name in bench.made() if earlier is None or name != os.path.basename(earlier)]
    assert all(name.endswith(".partial") for name in new), new
    for name in new:
        for file in files_below(os.path.join(bench.output, name)):
            if file.endswith(".json"):
                read_json(bench.output, name, file)
    if earlier:
        assert bench.weir("verify", earlier).returncode == 0


@case("a disk that is full at the header leaves nothing that reads as a result")
def full_at_header(bench):
    with small_disk(bench.output, "4k"):
        check_given_up(bench, bench.run(bench.experiment()), "No space left on device")


@case("a disk that fills up between samples ends the run, and what there is can be gone on with elsewhere")
def full_in_samples(bench):
    with small_disk(bench.output, "300k"):
        check_given_up(bench, bench.run(bench.experiment(runs=20)), "No space left on device")
        partial = bench.only_partial()
        valid = [name for name in files_below(partial) if name.endswith("/result.json")]
        assert valid, files_below(partial)
        moved = os.path.join(bench.folder, os.path.basename(partial))
        shutil.copytree(partial, moved)
    outcome = bench.run(moved, "--resume", "--dry-run")
    assert outcome.returncode == 0, outcome.stderr
    assert f"{40 - len(valid)} samples, about" in outcome.stdout, outcome.stdout


@case("a disk that is full while servers are compared is the directory's failure, not theirs")
def full_in_parity(bench):
    """Whatever number of files there is room for, one of which ends just where a server's log would begin."""
    said = []
    for files in range(7, 14):
        with small_disk(bench.output, f"1m,nr_inodes={files}"):
            outcome = bench.run(bench.experiment())
            assert outcome.returncode == 4 and "No space left on device" in outcome.stderr, (files, outcome.stderr)
            said.append(outcome.stderr)
    assert any("cannot write parity/before-01.server.log" in one for one in said), said


@case("a file size limit is named as what it is")
def file_size_limit(bench):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    outcome = bench.run(bench.experiment(), preexec_fn=limit)
    check_given_up(bench, outcome, r"File too large; the file size limit \(ulimit -f\) is too small")


@case("a read-only file system is named before anything is measured")
def read_only_disk(bench):
    with small_disk(bench.output, "1m"):
        subprocess.run(["mount", "-o", "remount,ro", bench.output], check=True)
        outcome = bench.run(bench.experiment())
        assert bench.made() == []
    assert outcome.returncode == 4 and "Read-only file system" in outcome.stderr, outcome.stderr


def traced(bench, folder, call, error=None, when=0):
    """A run whose runner, but not its children, has its system calls of a name counted; the `when`th may fail."""
    inject = ["-e", f"inject={call}:error={error}:when={when}"] if error else []
    command = ["strace", "-o", os.path.join(bench.folder, "strace.log"), "-e", f"trace={call}", *inject]
    return subprocess.run([*command, WEIR, *bench.arguments(folder)], capture_output=True, text=True,
                          timeout=DEADLINE_S, check=False)


def calls_of(bench, folder, call):
    """How often the runner makes a system call in a run that goes well; its result."""
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    outcome = traced(bench, folder, call)
    if "ptrace" in outcome.stderr.lower():
        raise Skip("this host lets nobody trace")
    assert outcome.returncode == 0, outcome.stderr
    log = read(os.path.join(bench.folder, "strace.log"))
    return len(re.findall(rf"^{call}\(", log, re.M)), results_path(outcome)


@case("a disk that is full at the manifest or at the last rename leaves a partial that can be finished")
def full_at_end(bench):
    folder = bench.experiment(factors=ONE_CELL)
    renames, earlier = calls_of(bench, folder, "rename")
    for when in (renames - 2, renames - 1, renames):  # the manifest, its digest, the directory
        outcome = traced(bench, folder, "rename", "ENOSPC", when)
        check_given_up(bench, outcome, "No space left on device", earlier)
        partial, = [os.path.join(bench.output, name) for name in bench.made() if name.endswith(".partial")]
        finished = bench.result(partial, "--resume")
        assert finished == partial.removesuffix(".partial")
        assert bench.weir("verify", finished).returncode == 0
        assert len(read_json(finished, "plan.json")["resumed"]) == 1
        shutil.rmtree(finished)


@case("a disk whose fsync fails, first or last, ends the run and spares earlier results")
def failing_fsync(bench):
    folder = bench.experiment(factors=ONE_CELL)
    syncs, earlier = calls_of(bench, folder, "fsync")
    for when in (1, syncs - 3):
        outcome = traced(bench, folder, "fsync", "EIO", when)
        check_given_up(bench, outcome, "Input/output error", earlier)
        for name in bench.made():
            if name.endswith(".partial"):
                shutil.rmtree(os.path.join(bench.output, name))


def masked(plan):
    """plan.json without what two runs cannot have in common."""
    text = json.dumps({**plan, "busy_at_start": None, "run_id": ""})
    return text.replace(plan["run_id"], "RUN")


def shape(value):
    """The keys of an object, at every depth, and what kind each value is."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    return type(value).__name__ if not isinstance(value, (int, float)) else "number"


@case("locale, time zone, umask, HOME and a strange path change nothing but measured values")
def strange_surroundings(bench):
    folder = bench.experiment(factors=ONE_CELL)
    port = str(free_port())
    plain = bench.result(folder, "--port", port)
    strange = Bench(os.path.join(bench.folder, "a b; $(touch \"x\")\n`id` \u00e4 %s"))
    folder = strange.experiment(factors=ONE_CELL)
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    environment |= {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Asia/Kolkata"}
    outcome = strange.run(folder, "--port", port, env=environment, umask=0o077, cwd="/")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    made, = strange.made()
    path = os.path.join(strange.output, made)
    assert masked(read_json(path, "plan.json")) == masked(read_json(plain, "plan.json"))
    assert files_below(path) == files_below(plain)
    for name in ("experiment.json", "build.json"):
        assert read(os.path.join(path, name)) == read(os.path.join(plain, name))
    for one, other in zip(read_results(path), read_results(plain), strict=True):
        assert shape(one) == shape(other)
        assert abs(time.time() - time.mktime(time.strptime(one["started_at"], "%Y-%m-%dT%H:%M:%SZ")) + time.timezone) < 600
    assert bench.weir("verify", path).returncode == 0
    assert files_below(strange.folder) == sorted(
        ["experiment/experiment.json", "lock", *(f"out/{made}/{name}" for name in files_below(path))])


if __name__ == "__main__":
    sys.exit(run_tests())
