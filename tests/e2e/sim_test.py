"""`weir sim` from the outside: seeds that hold, one that fails and its replay, and wrong words. Speaks TAP.

usage: sim_test.py WEIR [SUBSTRING...]
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from tests.e2e.processes import run, run_tests, test  # noqa: E402: as above


@test("seeds hold under every kind of fault and under a list of them")
def seeds_hold():
    for impair in ("clean", "loss", "all", "loss=1%,reorder=5%,hold=3ms,delay=1ms", "loss=100%", "mark=30%,jitter=2ms"):
        status, out, error = run("sim", "--seeds", 5, "--impair", impair)
        assert status == 0 and f"5 of 5 seeds from 0 on held under {impair}, in " in out, (status, out, error)


@test("a seed runs the same way each time, frame for frame")
def deterministic():
    first, second = (run("sim", "--seed", 7, "--impair", "all", "--trace", 100000)[1] for _ in range(2))
    assert first.count("> ") > 20 and first.rsplit(",", 1)[0] == second.rsplit(",", 1)[0], first[-300:]


@test("a seed that fails ends with 1, its trace, and the line that repeats it")
def fails():
    status, out, error = run("sim", "--seed", 3, "--impair", "loss=40%,delay=5ms", "--bound", "1ms")
    replay = re.search(r"^# replay: weir (sim .*)$", out, re.M)
    assert status == 1 and replay and "0 of 1 seeds" in out and "FAILED: no end within" in out, (status, out, error)
    again = run(*replay.group(1).split())
    assert again[0] == 1 and again[1].rsplit(",", 1)[0] == out.rsplit(",", 1)[0], again


@test("of many seeds each that fails has its own line, and the others go on")
def some_fail():
    status, out, error = run("sim", "--seeds", 30, "--seed", 100, "--impair", "loss=20%", "--bound", "1ms")
    failed = re.findall(r"^# replay: weir sim --seed (\d+) --impair loss=20% --bound 1ms$", out, re.M)
    assert status == 1 and 0 < len(failed) <= 30, (status, out, error)
    assert f"{30 - len(failed)} of 30 seeds from 100 on held" in out, out[-300:]


@test("what is asked wrongly is refused with what would be right")
def wrong():
    for flag, value in (("--impair", "rain"), ("--impair", "lost"), ("--impair", "loss="), ("--impair", "loss=1"), ("--impair", "loss=101%"),
                        ("--impair", "loss=0.01%"), ("--impair", "delay=1s"), ("--impair", ""), ("--impair", "loss=nan%"),
                        ("--impair", "duplicate=1%,reorder=1%,hold=9ms,delay=1ms"), ("--seed", "-1"),
                        ("--seed", "18446744073709551616"), ("--seeds", "0"), ("--bound", "0s")):
        status, out, error = run("sim", flag, value)
        assert status == 4 and flag in error and not out, (flag, value, status, out, error)


@test("a wrong list of faults is refused by the part that is wrong")
def wrong_part():
    for impair, part in (("rain", "'rain' is neither"), ("loss=1%,rain=2%", "'rain' is no fault"), ("loss=1", "loss=1: wanted is 0%"),
                         ("loss=1%,delay=1s", "delay=1s: wanted is a time"), ("loss=1%,loss=2%", "loss is given twice"),
                         ("loss=1%,", "'' is neither"), ("hold=5ms", "add reorder"), ("all,loss=1%", "'all' is neither"),
                         ("duplicate=1%,jitter=6ms,delay=1ms", "they are 6 ms, and the delay is 1 ms")):
        status, out, error = run("sim", "--impair", impair)
        assert status == 4 and part in error and not out, (impair, status, out, error)


if __name__ == "__main__":
    sys.exit(run_tests())
