"""What is refused, with which file and reason; nothing that is cut off or edited passes for
whole."""

import json
import random
import shutil
import tempfile
import unittest
from pathlib import Path

from analysis.inputs.documents import Refusal
from analysis.inputs.load import load_result
from result_fixture import all_cells, write_json, write_manifest, write_result, write_seal

FIRST = "samples/s0000-epoll@loopback.immediate.d1"


def edited(name, change):
    """Changes a JSON file in place."""

    def edit(path):
        table = json.loads((path / name).read_text())
        change(table)
        write_json(path / name, table)

    return edit


def edited_sample(change):
    """Changes the first sample in results.jsonl and in its own file alike."""

    def edit(path):
        lines = (path / "results.jsonl").read_text().splitlines()
        table = json.loads(lines[0])
        change(table)
        lines[0] = json.dumps(table)
        (path / "results.jsonl").write_text("\n".join(lines) + "\n")
        write_json(path / FIRST / "result.json", table)

    return edit


def removed(name):
    return lambda path: (path / name).unlink()


def written(name, text):
    return lambda path: (path / name).write_text(text)


def unended(name):
    """Takes the last line's end away."""
    return lambda path: (path / name).write_bytes((path / name).read_bytes()[:-1])


# (what is done to a whole directory, whose manifest is then made anew; file that must be named;
# words of the reason)
REFUSED = [
    (removed("experiment.json"), "experiment.json", "missing"),
    (removed("plan.json"), "plan.json", "missing"),
    (removed("results.jsonl"), "results.jsonl", "missing"),
    (written("results.jsonl", ""), "results.jsonl", "no sample"),
    (unended("results.jsonl"), "results.jsonl", "cut off"),
    (written("results.jsonl", "{}\n"), "results.jsonl line 1", "no schema"),
    (written("results.jsonl", "[]\n"), "results.jsonl line 1", "not a JSON object"),
    (written("experiment.json", "\xff"), "experiment.json", "not JSON"),
    (written("experiment.json", '{"schema": NaN}'), "experiment.json", "NaN"),
    (written("experiment.json", '{"schema": 1e999}'), "experiment.json", "out of range"),
    (written("experiment.json", '{"schema": "a", "schema": "b"}'), "experiment.json", "twice"),
    (written("experiment.json", "[" * 100_000), "experiment.json", "not acceptable JSON"),
    (written("host.json", '{"cpus": 2'), "host.json:1:11", "cut off"),
    (
        edited("experiment.json", lambda t: t.update(schema="weir.experiment/2")),
        "experiment.json",
        "weir.experiment/2",
    ),
    (edited_sample(lambda t: t.update(schema="other/1")), "results.jsonl line 1", "other/1"),
    (edited_sample(lambda t: t.pop("cell")), "results.jsonl line 1", "`cell`"),
    (edited_sample(lambda t: t.update(valid="yes")), "results.jsonl line 1", "`valid`"),
    (
        edited_sample(lambda t: t.update(sample_id="s0001")),
        "s0001-epoll@loopback.immediate.d8/result.json",
        "edited",
    ),
    (edited_sample(lambda t: t.update(sample_id="s9999")), "results.jsonl line 1", "0 folders"),
    (edited_sample(lambda t: t.update(failed=3)), "results.jsonl line 1", "`failed` is 3"),
    (edited_sample(lambda t: t.update(effective_rps=0)), "results.jsonl line 1", "`effective_rps`"),
    (edited_sample(lambda t: t.update(completed=None)), "results.jsonl line 1", "`completed`"),
    (
        edited(FIRST + "/result.json", lambda t: t.update(effective_rps=1.0)),
        FIRST + "/result.json",
        "edited",
    ),
    (removed(FIRST + "/client.json"), FIRST + "/client.json", "missing"),
    (
        edited(FIRST + "/client.json", lambda t: t.update(schema="weir.load/9")),
        FIRST + "/client.json",
        "weir.load/9",
    ),
    (
        edited(FIRST + "/client.json", lambda t: t["histogram"].update(unit="us")),
        FIRST + "/client.json",
        "unit",
    ),
    (
        edited(FIRST + "/client.json", lambda t: t["histogram"]["service"].pop()),
        FIRST + "/client.json",
        "cut off",
    ),
    (
        edited(FIRST + "/client.json", lambda t: t["histogram"]["service"].reverse()),
        FIRST + "/client.json",
        "ascend",
    ),
    (
        edited(FIRST + "/client.json", lambda t: t["histogram"].update(significant_digits=2)),
        "samples",
        "do not merge",
    ),
    (
        edited("plan.json", lambda t: t["samples"].append({})),
        "results.jsonl",
        "12 samples, plan.json has 13",
    ),
    (written("drift.json", '{"drift": [1]}'), "drift.json", "not a list of {fact"),
    (written("parity.json", "[]"), "parity.json", "not a JSON object"),
    (written("hosts.json", "{"), "hosts.json", "cut off"),
]

# The same without a new manifest: it must notice by itself.
UNLISTED = [
    (written("host.json", "{}"), "host.json", "bytes"),
    (edited("host.json", lambda t: t.update(cpus=3)), "host.json", "sha256"),
    (removed("build.json"), "build.json", "missing"),
    (edited("manifest.json", lambda t: t.pop("files")), "manifest.json", "no list `files`"),
    (
        edited("manifest.json", lambda t: t["files"][0].update(path="../x")),
        "manifest.json",
        "outside",
    ),
    (edited("manifest.json", lambda t: t["files"][0].pop("sha256")), "manifest.json", "sha256"),
]


class Refusing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.whole = write_result(Path(cls.folder.name) / "whole", runs=1)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def copy(self):
        path = Path(self.folder.name) / "copy"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.whole, path)
        return path

    def refused(self, change, file, words, fresh_manifest):
        path = self.copy()
        change(path)
        if fresh_manifest:
            write_manifest(path)
        with self.subTest(file=file, words=words):
            with self.assertRaises(Refusal) as caught:
                load_result(path)
            self.assertIn(file, caught.exception.file)
            self.assertIn(words, str(caught.exception))

    def test_table(self):
        """each kind of foreign, edited or cut directory is refused with its file and reason"""
        for change, file, words in REFUSED:
            self.refused(change, file, words, fresh_manifest=True)

    def test_manifest(self):
        """a file other than the manifest lists is refused, and so is a manifest that is none"""
        for change, file, words in UNLISTED:
            self.refused(change, file, words, fresh_manifest=False)

    def test_cut_anywhere(self):
        """any file cut at any place is refused, even where the manifest was made to fit"""
        rng = random.Random(5)
        for name in (
            "experiment.json",
            "plan.json",
            "host.json",
            "build.json",
            "results.jsonl",
            FIRST + "/result.json",
            FIRST + "/client.json",
        ):
            content = (self.whole / name).read_bytes()
            for end in {
                0,
                1,
                len(content) // 2,
                *(rng.randrange(len(content) - 2) for _ in range(4)),
            }:
                path = self.copy()
                (path / name).write_bytes(content[:end])
                write_manifest(path)
                with self.subTest(name=name, end=end), self.assertRaises(Refusal):
                    load_result(path)

    def test_not_a_directory(self):
        """a file, a missing path, an empty folder and a partial run are refused"""
        empty = Path(self.folder.name) / "empty"
        partial = Path(self.folder.name) / "run.partial"
        empty.mkdir()
        shutil.copytree(self.whole, partial)
        for path, words in (
            (self.whole / "host.json", "not a directory"),
            (empty / "no", "not a directory"),
            (empty, "missing"),
            (partial, "not a complete run"),
        ):
            with self.subTest(path=path), self.assertRaises(Refusal) as caught:
                load_result(path)
            self.assertIn(words, str(caught.exception))

    def test_invalid_is_kept(self):
        """a sample called invalid is kept with its reasons, even without a client file"""
        path = self.copy()
        edited_sample(
            lambda t: t.update(valid=False, invalid_reasons=["client died"], effective_rps=None)
        )(path)
        (path / FIRST / "client.json").unlink()
        write_manifest(path)
        result = load_result(path)
        self.assertEqual((len(result.samples), len(result.valid)), (12, 11))
        self.assertEqual(result.samples[0].invalid_reasons, ["client died"])

    def test_order(self):
        """samples come in execution order, whatever the order of the lines"""
        path = self.copy()
        lines = (path / "results.jsonl").read_text().splitlines(keepends=True)
        (path / "results.jsonl").write_text("".join(lines[::-1]))
        write_manifest(path)
        self.assertEqual(
            [sample.order_index for sample in load_result(path).samples], list(range(12))
        )

    def test_attempts(self):
        """an earlier attempt is read by its folder's name, and refused where it is of another schema"""
        path = self.copy()
        folder = path / "attempts" / "s0000-epoll@loopback.immediate.d1.1"
        folder.mkdir(parents=True)
        write_manifest(path)
        (one,) = load_result(path).attempts
        self.assertEqual((one.variant, one.failed), ("epoll@loopback.immediate.d1", False))
        write_json(folder / "result.json", {"schema": "other/1"})
        write_manifest(path)
        with self.assertRaises(Refusal) as caught:
            load_result(path)
        self.assertIn("attempts/s0000", caught.exception.file)


class Sealed(unittest.TestCase):
    """Directories whose manifest.sha256 vouches for the manifest."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = write_result(Path(self.folder.name) / "run", runs=1, cells=all_cells()[:1])

    def refused(self, words):
        with self.assertRaises(Refusal) as caught:
            load_result(self.path)
        self.assertIn("manifest.json", caught.exception.file)
        self.assertIn(words, caught.exception.reason)

    def test_older(self):
        """a directory without manifest.sha256 is read all the same"""
        self.assertFalse(load_result(self.path).sealed)

    def test_whole(self):
        """one with it is read, as long as the manifest is the one that it names"""
        write_seal(self.path)
        self.assertTrue(load_result(self.path).sealed)

    def test_flipped(self):
        """a byte of the manifest changed where it does not matter is refused"""
        write_seal(self.path)
        manifest = self.path / "manifest.json"
        manifest.write_bytes(manifest.read_bytes().replace(b"\n ", b"\n\t", 1))
        self.refused("is not the file that manifest.sha256 names")

    def test_other_seal(self):
        """a manifest.sha256 that is cut off, or says more than it should, is refused"""
        write_seal(self.path)
        seal = self.path / "manifest.sha256"
        whole = seal.read_text()
        for text in (whole[:-1], whole[:10], "", whole + whole, whole.upper()):
            seal.write_text(text)
            self.refused("is not the file that manifest.sha256 names")

    def test_no_manifest(self):
        """a manifest.sha256 without its manifest is refused"""
        write_seal(self.path)
        (self.path / "manifest.json").unlink()
        self.refused("is missing")
