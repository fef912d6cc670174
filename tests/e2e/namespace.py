"""namespace: tests in a network namespace of their own, which ends with them, whatever becomes of them."""

import os
import shutil
import subprocess
import sys

INSIDE = "--inside"


def missing():
    """Why this host cannot run tests in a namespace with a tap device; None if it can."""
    if os.geteuid() != 0:
        return "making a network namespace takes root"
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun is missing"
    if not shutil.which("unshare") or not shutil.which("ip"):
        return "unshare (util-linux) and ip (iproute2) are needed"
    return None


def run(run_tests):
    """Calls `run_tests(program, words)` of the script that runs, within; the exit status. Speaks TAP."""
    program = os.path.abspath(sys.argv[1])
    words = [word for word in sys.argv[2:] if word != INSIDE]
    reason = missing()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    if INSIDE not in sys.argv:
        inside = [sys.executable, os.path.abspath(sys.argv[0]), program, INSIDE, *words]
        return subprocess.run(["unshare", "--net", *inside], check=False).returncode
    try:
        return run_tests(program, words)
    except (AssertionError, OSError, subprocess.SubprocessError) as reason:
        print(f"Bail out! {type(reason).__name__}: {reason}")
        return 1
