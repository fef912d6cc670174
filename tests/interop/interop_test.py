#!/usr/bin/python3
"""utcp and the kernel's TCP talk over a TAP and over a veth pair, over IPv4 and IPv6, in both roles; tshark reads what
went over the wire.

Usage: interop_test.py INTEROP [--long] [--keep FOLDER] [WORD...]. Speaks TAP; with words only the tests whose names
contain one run. --long moves gigabytes, --keep leaves captures in a folder. Each device is in a network namespace of
its own, which ends with its test.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile

OUR_MAC = "02:00:00:00:07:02"
# Case, its sentence, the number of a short run and of a long one.
CASES = [
    ("cycles", "{} connections are opened and closed", 400, 10000),
    ("streams", "{} MB go each way", 16, 1024),
    ("impaired", "{} MB go each way, of which 1 % is lost and 2 % held back", 2, 256),
    ("half-close", "either side ends first, and the other streams {} MB", 4, 64),
    ("zero-window", "nobody reads for {} s", 2, 5),
    ("reset", "each resets the other", None, None),
    ("vanish", "a cable is pulled, and both give up", None, None),
]
DEVICES = {
    "tap": ("tap:utcp0", [
        "ip tuntap add utcp0 mode tap",
    ]),
    "veth": ("packet:utcp1", [
        "ip link add utcp0 type veth peer name utcp1",
        # A packet socket would see checksums that nobody has filled in, and frames beyond the MTU.
        "ethtool -K utcp0 tx off tso off gso off gro off",
        "ethtool -K utcp1 tx off tso off gso off gro off",
        "sysctl -qw net.ipv6.conf.utcp1.disable_ipv6=1",
        "ip link set utcp1 up",
    ]),
}
COMMON = ["ip link set lo up", "ip addr add 10.77.0.1/24 dev utcp0", "ip addr add fd77::1/64 dev utcp0 nodad",
          "ip link set utcp0 up"]
FAMILIES = {"ip4": "IPv4", "ip6": "IPv6"}
CALLERS = {"kernel": "the kernel calls", "utcp": "we call"}
# What a short run has of IPv6: each device and each role once; and where alone it pulls the cable, which takes its time.
SHORT_IP6 = [("tap", "ip6", "kernel"), ("veth", "ip6", "utcp")]
SHORT_VANISH = ("tap", "ip4", "utcp")
TOOLS = {"unshare": "util-linux", "ip": "iproute2", "ethtool": "ethtool", "sysctl": "procps"}
# What a capture may not say of a frame of ours: that it is malformed or has a bad checksum; and, where nothing is lost
# on the way, that it acknowledges what never came (of filled gaps tshark says so without reason).
FAULTS = ["_ws.malformed", "_ws.expert.severity >= error", "tcp.checksum.status == 0", "ip.checksum.status == 0",
          "icmpv6.checksum.status == 0"]
UNSEEN = "tcp.analysis.ack_lost_segment"
# Streams are no protocol that tshark knows, though some of their bytes look like one.
READER = ["-d", "tcp.port==7878,data", "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]


def missing():
    """Why this host cannot run the tests; None if it can."""
    if os.geteuid() != 0:
        return "making a network namespace takes root"
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun is missing"
    return next((f"{tool} ({package}) is needed" for tool, package in TOOLS.items() if not shutil.which(tool)), None)


def inside(commands):
    """A shell command line that runs `commands` in a network namespace of its own."""
    return ["unshare", "--net", "sh", "-ec", "\n".join(commands)]


def run_case(program, setting, case, number, capture):
    """Runs one case in a setting (device, family, caller); what is wrong with it, as lines."""
    device, family, caller = setting
    name, making = DEVICES[device]
    arguments = [name, family, caller, case] + ([str(number)] if number else [])
    commands = [f"{command} >/dev/null" for command in making + COMMON]
    commands.append(f"exec {program} {' '.join(arguments)}")
    environment = {**os.environ, "INTEROP_CAPTURE": capture} if capture else os.environ
    run = subprocess.run(inside(commands), capture_output=True, text=True, check=False, timeout=1800,
                         env=environment)
    said = (run.stdout + run.stderr).splitlines()
    print("".join(f"# {line}\n" for line in said), end="")
    return [] if run.returncode == 0 else [f"{case} left with {run.returncode}"]


def read_capture(path, lossy):
    """What tshark finds wrong with our frames, as lines."""
    faults = FAULTS + ([] if lossy else [UNSEEN])
    ours = f"eth.src == {OUR_MAC} && (" + " || ".join(f"({fault})" for fault in faults) + ")"
    command = ["tshark", "-r", path, *READER, "-Y", ours]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return run.stderr.splitlines()[-3:]
    return run.stdout.splitlines()[:10]


def frames_of(path):
    """How many frames of ours a capture has."""
    run = subprocess.run(["tshark", "-r", path, "-Y", f"eth.src == {OUR_MAC} && tcp"], capture_output=True, text=True,
                         check=True)
    return len(run.stdout.splitlines())


def judge_capture(path, lossy):
    """What is wrong with a capture, as lines."""
    wrong = read_capture(path, lossy)
    return wrong if wrong or frames_of(path) > 0 else ["the capture has no segment of ours"]


class Tap:
    """Tests told one by one."""

    def __init__(self):
        self.number = self.failures = 0

    def tell(self, name, wrong, skip=None):
        self.number += 1
        self.failures += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.number} - {name}{f' # SKIP {skip}' if skip else ''}")
        print("".join(f"# {line}\n" for line in wrong), end="", flush=True)


def belongs(case, setting, long):
    """Whether a run has this case in this setting (device, family, caller)."""
    if long:
        return True
    if case == "vanish":
        return setting == SHORT_VANISH
    return setting[1] == "ip4" or (setting in SHORT_IP6 and case != "zero-window")  # windows are not IP's matter


def main():
    words = sys.argv[2:]
    long = "--long" in words
    keep = words[words.index("--keep") + 1] if "--keep" in words else None
    words = [word for word in words if word not in ("--long", "--keep", keep)]
    program = os.path.abspath(sys.argv[1])
    reason = missing()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    tap = Tap()
    unread = None if shutil.which("tshark") else "tshark is needed to read what went over the wire"
    folder = keep or tempfile.mkdtemp(prefix="weir-interop-")
    os.makedirs(folder, exist_ok=True)
    try:
        for setting in itertools.product(DEVICES, FAMILIES, CALLERS):
            device, family, caller = setting
            for case, sentence, short, most in CASES:
                if not belongs(case, setting, long):
                    continue
                amount = most if long else short
                name = f"{device}, {FAMILIES[family]}, {CALLERS[caller]}: {sentence.format(amount)}"
                if words and not any(word in name for word in words):
                    continue
                capture = None if unread else os.path.join(folder, f"{'-'.join(setting)}-{case}.pcap")
                wrong = run_case(program, setting, case, amount, capture)
                tap.tell(name, wrong)
                tap.tell(f"{name}: tshark finds no fault of ours", judge_capture(capture, case == "impaired")
                         if capture and not wrong else [], unread or (wrong and "it did not come so far"))
                if capture and not keep:
                    os.remove(capture)
    finally:
        if not keep:
            shutil.rmtree(folder)
    print(f"1..{tap.number}")
    return 1 if tap.failures else 0


if __name__ == "__main__":
    sys.exit(main())
