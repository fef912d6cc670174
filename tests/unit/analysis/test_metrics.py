"""metrics.jsonl: what old and new clients write is read, what is malformed is refused by line."""

import json
import tempfile
import types
import unittest
from pathlib import Path

from analysis.inputs.documents import Refusal
from analysis.inputs.metrics import read, read_file

LINE = {
    "t_s": 0.5,
    "phase": "warmup",
    "completed": 100,
    "rps": 200.5,
    "p50_us": 5.5,
    "p99_us": 9,
}


class Metrics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.file = self.path / "metrics.jsonl"

    def write(self, *lines):
        """A file of these lines; objects as JSON, texts as they are."""
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        self.file.write_text("\n".join(texts) + "\n")
        return self.file

    def refused(self, *lines):
        """What reading the lines is refused with."""
        with self.assertRaises(Refusal) as caught:
            read_file(self.write(*lines))
        return str(caught.exception)

    def test_older(self):
        """lines without service_ns are read, and have none"""
        (found,) = read_file(self.write(LINE))
        self.assertEqual((found.t_s, found.phase, found.completed), (0.5, "warmup", 100))
        self.assertEqual((found.rps, found.p50_us, found.p99_us), (200.5, 5.5, 9))
        self.assertIsNone(found.service)

    def test_newer(self):
        """service_ns is a histogram of the interval; an interval without requests has no
        percentiles"""
        pairs = [[4000, 60], [9000, 40]]
        idle = LINE | {"t_s": 1.0, "completed": 0, "p50_us": None, "p99_us": None, "service_ns": []}
        first, second = read_file(self.write(LINE | {"service_ns": pairs}, idle))
        self.assertEqual((first.service.n, first.service.percentile_ns(0.5)), (100, 4000))
        self.assertEqual((second.p50_us, second.service.n), (None, 0))

    def test_missing(self):
        """a sample without the file, or without its folder, has no intervals"""
        sample = types.SimpleNamespace(folder="s0001-a")
        self.assertEqual(read(self.path, sample), [])
        self.assertEqual(read(self.path, types.SimpleNamespace(folder=None)), [])
        (self.path / "samples" / "s0001-a").mkdir(parents=True)
        self.assertEqual(read(self.path, sample), [])

    def test_own_folder(self):
        """a sample's file is that of its own folder, not of one whose name begins alike"""
        for name, rate in (("s0001-a", 1), ("s00011-a", 2)):
            (self.path / "samples" / name).mkdir(parents=True)
            text = json.dumps(LINE | {"rps": rate}) + "\n"
            (self.path / "samples" / name / "metrics.jsonl").write_text(text)
        sample = types.SimpleNamespace(folder="s0001-a")
        self.assertEqual([one.rps for one in read(self.path, sample)], [1])

    def test_malformed(self):
        """a line that is cut off, no object, or lacks or has a wrong value is refused with its
        number"""
        for bad in (
            '{"t_s": 1.0, "pha',
            "[1]",
            LINE | {"t_s": None},
            LINE | {"t_s": 1.0, "completed": -1},
            LINE | {"t_s": 1.0, "completed": 1.5},
            LINE | {"t_s": 1.0, "phase": 7},
            LINE | {"t_s": 1.0, "rps": "fast"},
            LINE | {"t_s": 1.0, "service_ns": [[5, 1], [4, 1]]},
            LINE | {"t_s": 1.0, "service_ns": [[5]]},
            '{"t_s": NaN}',
            LINE,
        ):
            self.assertIn("metrics.jsonl:2", self.refused(LINE, bad), bad)

    def test_not_text(self):
        """bytes that are no UTF-8 are refused"""
        self.file.write_bytes(b"\xff\xfe{}")
        with self.assertRaises(Refusal):
            read_file(self.file)


if __name__ == "__main__":
    unittest.main()
