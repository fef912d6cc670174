#!/usr/bin/python3
"""The verbs that lead to the analysis: what it is told, and whose exit status counts. Speaks TAP.

The analysis is a stand-in, in a root of the test's own: each module says what it was given and ends as it is told. So
this is about the verbs alone.

usage: verbs_test.py WEIR [SUBSTRING...]
"""

import json
import os
import signal
import subprocess
import sys

from bench import DEADLINE_S, EXPERIMENT, ONE_CELL, Bench, case, path_in, read, results_path, wait_for, write
from processes import WEIR, Skip, run_tests

STAND_IN = '''
import json, os, pathlib, sys, time
name = __spec__.name
with open(os.environ["WEIR_TEST_LOG"], "a") as log:
    log.write(json.dumps([name, *sys.argv[1:]]) + "\\n")
told = json.loads(os.environ["WEIR_TEST_TOLD"]).get(name, {})
if told.get("writes"):
    pathlib.Path(sys.argv[1], told["writes"]).touch()
time.sleep(told.get("takes_s", 0))
sys.exit(told.get("status", 0))
'''
MODULES = ("report", "compare", "trend", "calibrate", "reproduce")
REPORT = "report.html"


class Verbs(Bench):
    """A bench whose repository has a stand-in for the analysis, and a small experiments/calibrate."""

    def __init__(self, folder):
        super().__init__(folder)
        self.root = os.path.join(folder, "root")
        self.log = os.path.join(folder, "log")
        os.makedirs(os.path.join(self.root, "analysis"))
        os.makedirs(os.path.join(self.root, "experiments", "calibrate"))
        for module in MODULES:
            write(os.path.join(self.root, "analysis", f"{module}.py"), STAND_IN)
        write(os.path.join(self.root, "experiments", "calibrate", "experiment.json"),
              json.dumps({**EXPERIMENT, "name": "calibrate", "factors": ONE_CELL}))

    def environment(self, told):
        """With the stand-in told for each module what it writes, how long it takes and what it ends with."""
        write(self.log, "")
        modules = {f"analysis.{name}": what for name, what in told.items()}
        return {**os.environ, "WEIR_ROOT": self.root, "WEIR_TEST_LOG": self.log, "WEIR_TEST_TOLD": json.dumps(modules)}

    def told(self, *arguments, **told):
        """A verb run to its end, and what the stand-in was given."""
        outcome = self.weir(*arguments, env=self.environment(told))
        if "packages are missing" in outcome.stderr:
            raise Skip(outcome.stderr.strip())
        return outcome, [json.loads(line) for line in read(self.log).splitlines()]

    def flags(self, *more):
        return ["--output", self.output, "--lock", self.lock, *more]


@case("compare, trend and report hand every argument to the analysis, and end as it does", Verbs)
def handed_on(bench):
    for verb, words in (("report", ["A"]), ("report", []), ("report", ["A", "--gate", "none"]), ("report", ["--help"]),
                        ("compare", ["A", "B", "--force"]), ("compare", ["-h"]),
                        ("trend", ["A", "B", "C D", "", "--by=commit"]), ("calibrate", ["A", "--help"]),
                        ("reproduce", ["A", "B", "--help"])):
        for status in (0, 2):
            outcome, given = bench.told(verb, *words, **{verb: {"status": status}})
            assert given == [[f"analysis.{verb}", *words]], given
            assert outcome.returncode == status, (verb, outcome)
    _, given = bench.told("help", "compare")
    assert given == [["analysis.compare", "--help"]], given


@case("a run ends with the status of its report, whatever it says, if the report is there", Verbs)
def status_of_a_report(bench):
    folder = bench.experiment(factors=ONE_CELL)
    for status, writes, expected in ((1, REPORT, 1), (4, REPORT, 4), (0, None, 4), (77, REPORT, 4)):
        outcome, given = bench.told("run", folder, *bench.flags(), report={"status": status, "writes": writes})
        assert given == [["analysis.report", results_path(outcome)]], given
        assert outcome.returncode == expected, (status, writes, outcome)
        assert ("NO REPORT" in outcome.stderr) == (writes is None or status == 77), outcome.stderr


@case("calibrate runs its experiment, and ends as the analysis of it does", Verbs)
def calibrate(bench):
    outcome, given = bench.told("calibrate", *bench.flags("--set", "depth=2"), report={"status": 1, "writes": REPORT},
                                calibrate={"status": 2})
    path = results_path(outcome)
    assert os.path.basename(path).split("-")[1] == "calibrate" and "\nd2 " in outcome.stdout, outcome
    assert given == [["analysis.calibrate", path], ["analysis.report", path]], given
    assert outcome.returncode == 2, outcome
    outcome, given = bench.told("calibrate", *bench.flags("--dry-run"))
    assert outcome.returncode == 0 and given == [] and "nothing was run" in outcome.stdout, outcome
    outcome, given = bench.told("calibrate", *bench.flags("--set", "runs=0"))
    assert outcome.returncode == 4 and given == [] and "'runs' is 0" in outcome.stderr, outcome
    outcome, given = bench.told("calibrate", "--help")
    assert outcome.returncode == 0 and given == [] and "--resume" in outcome.stdout, outcome


@case("reproduce repeats a result, and ends as the analysis of both does", Verbs)
def reproduce(bench):
    old = bench.result(bench.experiment(factors=ONE_CELL))
    outcome, given = bench.told("reproduce", old, *bench.flags("--no-report"), reproduce={"status": 1})
    new = results_path(outcome)
    assert new != old and given == [["analysis.reproduce", old, new]], given
    assert outcome.returncode == 1, outcome
    outcome, given = bench.told("reproduce", old, *bench.flags("--no-report"), reproduce={"status": 77})
    again = f"`weir reproduce {old} {results_path(outcome)}` judges it"
    assert outcome.returncode == 4, outcome
    assert f"NOT JUDGED: the analysis failed (status 77); the result is whole all the same: {again}" in outcome.stderr
    outcome, given = bench.told("reproduce", bench.folder, *bench.flags())
    assert outcome.returncode == 4 and given == [] and "no result directory" in outcome.stderr, outcome
    outcome, given = bench.told("reproduce", old, *bench.flags("--resume"))
    assert outcome.returncode == 4 and given == [], outcome


@case("a judgement that is interrupted is none, with or without a report: 130, and the result is whole", Verbs)
def interrupted_judgement(bench):
    old = bench.result(bench.experiment(factors=ONE_CELL))
    bench.told("report", old)  # or there is no analysis here
    for flags in (["--no-report"], []):
        runner = subprocess.Popen([WEIR, "reproduce", old, *bench.flags(*flags)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=bench.environment({"reproduce": {"takes_s": 600}}))
        wait_for(lambda: read(bench.log) or runner.poll() is not None)
        runner.send_signal(signal.SIGINT)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
        assert runner.returncode == 130, (runner.returncode, stderr)
        assert "NOT JUDGED: interrupted by SIGINT" in stderr and ("NO REPORT" in stderr) == (not flags), stderr
        assert bench.weir("verify", path_in(stdout)).returncode == 0


if __name__ == "__main__":
    sys.exit(run_tests())
