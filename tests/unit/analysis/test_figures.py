"""Figures: sizes, colours, n, every sample, the same bytes, nothing over anything else."""

import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from analysis.figures import canvas, catalogue, cpu, forest, load, order, style, timelines
from analysis.figures.canvas import finish, new_canvas
from analysis.inputs.load import load_result
from analysis.judgement.study import study
from result_fixture import write_result

RUNS = 3
# Machado, Oliveira and Fernandes (2009), table 1, severity 1.0; on linear RGB.
DEFICIENCIES = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
XYZ_OF_RGB = np.array(
    ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
)
# Texts that each figure's axes must carry, by the beginning of its name.
ALL_VALID = "n = 3 samples a cell; 36 of 36 valid"
UNITS = {
    "rps-by": ("requests/s", "pipeline depth (requests)"),
    "ratios": ("requests/s", " x"),
    "latency-depth": (" ms", "percentile"),
    "latency-shares": (" ms", "share slower"),
    "latency-response": (" ms", "time, p50 and p99"),
    "residuals": ("requests/s", "residual, %"),
    "responses": ("responses in one write", "pipeline depth (requests)"),
    "load": ("requests/s", "µs", "pipeline depth (requests)"),
    "cpu": ("server CPU per request (µs)",),
    "timelines": ("requests/s", "(s)"),
    "execution": ("requests/s over", "(samples)"),
}


def count_cpu(result, client):
    """Gives a sleeping stack's sample what its CPU time went to, softirq charged twice."""
    server = result["server"]
    whole = server["os_cpu_us_per_request"] * result["completed"]
    server.update(requests=result["completed"], user_us=0.2 * whole)
    server.update(system_us=0.8 * whole, softirq_us=0.3 * whole)


def made(folder):
    """A study of a whole synthetic run with timelines."""
    path = write_result(Path(folder) / "run", count_cpu, runs=RUNS)
    for sample in sorted((path / "samples").iterdir()):
        lines = [
            {"t_s": t, "phase": "measure" if t > 1 else "warmup", "completed": 5, "rps": 1e5 * t}
            for t in (1.0, 1.5, 2.0)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (sample / "metrics.jsonl").write_text(text)
    return study(load_result(path))


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.study = made(cls.folder.name)
        cls.drawings = catalogue.draw_all(cls.study, ["single"])
        cls.by_name = {one.name: one for one in cls.drawings}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_n(self):
        """every figure says how many samples stand behind it"""
        for one in self.drawings:
            wanted = "n = 36 samples" if one.name == "residuals" else ALL_VALID
            self.assertIn(wanted, _words(one), one.name)

    def test_every_sample(self):
        """every valid sample is among the dots of each figure of samples"""
        wanted = {sample.sample_id for sample in self.study.result.valid}
        for name in ("rps-by-depth", "responses-per-write", "load", "timelines", "execution-order"):
            tips = " ".join(tip for _, _, tip in self.by_name[name].points)
            self.assertEqual(set(re.findall(r"s\d{4}", tips)), wanted, name)
        tips = " ".join(tip for _, _, tip in self.by_name["cpu-per-request"].points)
        self.assertEqual(set(re.findall(r"s\d{4}", tips)), wanted)

    def test_some_timelines(self):
        """of more samples than have room for a line, some of each cell are shown, as the caption
        says"""
        with mock.patch.object(timelines, "LINES_MAX", 24):
            (one,) = catalogue.draw_all(self.study, ["single"], [timelines.draw])
        tips = " ".join(tip for _, _, tip in one.points)
        shown = set(re.findall(r"s\d{4}", tips))
        cells = [{sample.sample_id for sample in cell.valid} for cell in self.study.found.cells]
        self.assertEqual({len(cell & shown) for cell in cells}, {2})
        self.assertIn("Shown are 24 of 36 samples", one.caption)

    def test_every_block(self):
        """a forest has a dot for each ratio, and one for each run of it"""
        self.assertEqual(len(self.by_name["ratios-stack"].points), 6 * (1 + RUNS))
        for run in range(RUNS):
            tips = [tip for _, _, tip in self.by_name["ratios-stack"].points]
            self.assertEqual(sum(tip.startswith(f"run {run}:") for tip in tips), 6)

    def test_points_lie_within(self):
        """every point lies within its picture, and no two figures have one name"""
        self.assertEqual(len(self.by_name), len(self.drawings))
        for one in self.drawings:
            self.assertTrue(one.points, one.name)
            for x, y, tip in one.points:
                self.assertTrue(0 <= x <= 1 and 0 <= y <= 1 and tip, (one.name, x, y, tip))

    def test_points_meet_dots(self):
        """a point lies where the SVG has its dot"""
        one = self.by_name["execution-order"]
        height = float(re.search(r'viewBox="0 0 [0-9.]+ ([0-9.]+)"', one.svg.decode())[1])
        dots = re.findall(r'<use [^>]* x="([0-9.]+)" y="([0-9.]+)" style="fill: #(?:0072b2|d55e00)',
                          one.svg.decode())
        places = {(round(float(x)), round(float(y))) for x, y in dots}
        for x, y, _ in one.points:
            self.assertTrue(
                any(abs(252 * x - a) < 1.5 and abs(height * y - b) < 1.5 for a, b in places), (x, y)
            )

    def test_sizes(self):
        """SVG and PDF are as wide as one column, and as both, to the point"""
        wide = catalogue.draw_all(self.study, ["double"], [order.draw])
        for one in (*self.drawings, *wide):
            points = 72 * style.WIDTH_INCHES[one.width]
            svg = float(re.search(rb'<svg[^>]* width="([0-9.]+)pt"', one.svg)[1])
            pdf = float(re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+)", one.pdf)[1])
            self.assertAlmostEqual(svg, points, 1, one.name)
            self.assertAlmostEqual(pdf, points, 1, one.name)

    def test_files(self):
        """fonts are embedded as TrueType, no file has a date"""
        for one in self.drawings:
            self.assertIn(b"/CIDFontType2", one.pdf, one.name)
            self.assertNotIn(b"/Type3", one.pdf, one.name)
            self.assertNotRegex(one.pdf + one.svg, rb"CreationDate|dc:date")

    def test_units(self):
        """the axes of every figure carry their units"""
        for one in self.drawings:
            wanted = next(texts for name, texts in UNITS.items() if one.name.startswith(name))
            for text in wanted:
                self.assertIn(text, _words(one), one.name)

    def test_same_bytes(self):
        """the same result gives the same bytes, in another process and order of hashes too"""
        again = catalogue.draw_all(self.study, ["single"], [order.draw, cpu.draw])
        for one in again:
            self.assertEqual(one, self.by_name[one.name])
        other = subprocess.run(
            [sys.executable, "-B", "-c", OTHER, str(self.study.result.path)],
            env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
        )
        one = self.by_name["ratios-stack"]
        self.assertEqual(other.stdout.strip(), _digest(one), other.stderr)

    def test_nothing_valid(self):
        """there is no figure where no sample is valid"""
        result = self.study.result
        bad = [replace(one, valid=False, invalid_reasons=["x"]) for one in result.samples]
        self.assertEqual(catalogue.draw_all(study(replace(result, samples=bad))), [])

    def test_cpu_medians(self):
        """a bar is the median of sums, for an even number of samples too, in parts that add up"""
        sums = ((1.0, 2.0), (5.0, 1.0), (2.0, 9.0), (4.0, 4.0))
        splits = [cpu.Split(None, {"user": user, "system": rest}) for user, rest in sums]
        self.assertEqual(cpu.middle(splits[:3]), {"user": 5.0, "system": 1.0})
        self.assertEqual(cpu.middle(splits), {"user": 4.5, "system": 2.5})

    def test_cpu_apart(self):
        """each meaning of CPU has an axis of its own"""
        with mock.patch.object(cpu, "finish", side_effect=lambda canvas, *_: canvas):
            (canvas,) = cpu.draw(self.study, "single")
        labels = [axes.get_xlabel() for axes in canvas.figure.axes]
        self.assertEqual(labels, [cpu.OF_KERNEL, cpu.OF_POLLING])

    def test_cpu_adds_up(self):
        """a sleeping stack's parts add up to its OS CPU, a polling one's to its core time"""
        for sample in self.study.result.valid:
            column = "os_cpu" if sample.cell["stack"].startswith("epoll") else "core"
            whole = sample.raw["server"][f"{column}_us_per_request"]
            self.assertAlmostEqual(cpu.split(sample).total, whole)

    def test_few_runs(self):
        """where the sides share few runs, every sample stands against the base's mean"""
        result = self.study.result
        two = [one for one in result.samples if one.raw["run"] < 2]
        (one,) = [
            one
            for one in catalogue.draw_all(study(replace(result, samples=two)), ["single"], [forest.draw])
            if one.name == "ratios-stack"
        ]
        self.assertEqual(sum("against the base's mean" in tip for _, _, tip in one.points), 6 * 2)


OTHER = """
import hashlib, sys
from pathlib import Path
from analysis.figures import catalogue, forest
from analysis.inputs.load import load_result
from analysis.judgement.study import study
for one in catalogue.draw_all(study(load_result(Path(sys.argv[1]))), ["single"], [forest.draw]):
    if one.name == "ratios-stack":
        print(hashlib.sha256(one.svg + one.pdf + one.png).hexdigest())
"""


def _digest(one):
    return hashlib.sha256(one.svg + one.pdf + one.png).hexdigest()


def _words(one):
    """The texts of a figure's SVG; those of several lines in one."""
    return " ".join(re.findall(r">([^<>]+)</(?:text|tspan)>", one.svg.decode()))


class Layout(unittest.TestCase):
    def drawn(self, width, labels):
        """A figure with these series, as it was laid out."""
        one = new_canvas("A title " * 9, "load (requests)", "requests/s", width)
        for label in labels:
            one.axes.plot([1, 2], [1, 2], label=label)
        one.dots([1, 2], [1, 2], ["a", "b"])
        finish(one, "x", "caption", "a note " * 14)
        return one

    def test_no_overlap(self):
        """title, legend, axes and note lie above each other and within the figure, whatever their
        length"""
        names = [f"uring@loopback sqpoll=on sqpoll-cpu={k} sqpoll-idle=20 coalesce" for k in range(9)]
        for width, labels in itertools.product(style.WIDTH_INCHES, (["a"], ["a", "b"], names)):
            with style.styled():
                one = self.drawn(width, labels)
            renderer = FigureCanvasAgg(one.figure).get_renderer()
            title, note = one.figure.texts
            parts = [title, one.figure.legends[0]]
            boxes = [part.get_window_extent(renderer) for part in parts]
            boxes += [one.axes.get_tightbbox(renderer), note.get_window_extent(renderer)]
            for above, below in zip(boxes, boxes[1:]):
                self.assertGreaterEqual(above.y0, below.y1 - 1, (width, labels))
            for box in boxes:
                self.assertGreaterEqual(box.x0, -1)
                self.assertLessEqual(box.x1, one.figure.bbox.width + 1)

    def test_many_dots(self):
        """very many dots become an image in the vector files, with fewer hover texts, and the
        caption says so"""
        many = canvas.DOTS_MAX + 1
        one = new_canvas("t", "x (s)", "y (s)", "single")
        one.dots(np.arange(many), np.arange(many), ["tip"] * many, marker="o")
        drawing = finish(one, "many", "Caption.", "n = 1")
        self.assertIn(b"<image", drawing.svg)
        self.assertLess(drawing.svg.count(b"<use "), 100)
        self.assertLessEqual(len(drawing.points), canvas.POINTS_MAX)
        self.assertIn(f"{many:,} dots, drawn as an image", drawing.caption)


class Knee(unittest.TestCase):
    def knee(self, *points):
        """The place of the knee among (rate, p99)."""
        cells = [
            SimpleNamespace(known={"rps_median": rate, "service_p99_us": p99}.__getitem__)
            for rate, p99 in points
        ]
        found = load.knee(cells)
        return None if found is None else cells.index(found)

    def test_inside(self):
        """the knee is the load of greatest rate over p99"""
        self.assertEqual(self.knee((100, 10), (190, 11), (210, 40)), 1)

    def test_outside(self):
        """there is none where the least or the greatest load has the greatest power"""
        self.assertIsNone(self.knee((100, 10), (110, 20), (120, 40)))
        self.assertIsNone(self.knee((100, 10), (200, 10), (300, 10)))
        self.assertIsNone(self.knee())


class Palette(unittest.TestCase):
    def test_apart(self):
        """colours stay apart for normal, protanope and deuteranope eyes"""
        for name, matrix in (("none", np.eye(3)), *DEFICIENCIES.items()):
            seen = [_lab(np.array(matrix) @ _linear(color)) for color in style.PALETTE]
            for (a, one), (b, other) in itertools.combinations(zip(style.PALETTE, seen), 2):
                self.assertGreater(np.linalg.norm(one - other), 12, (name, a, b))

    def test_grey(self):
        """neighbours differ in marker, hatching and line style, so that grey tells them apart"""
        self.assertGreaterEqual(len(set(style.MARKERS)), len(style.PALETTE))
        self.assertEqual(len(set(style.LINES)), len(style.LINES))
        kinds = list(cpu.PARTS)
        for kernel in (kinds[:3], kinds[3:]):
            self.assertEqual(len({cpu.PARTS[part][1] for part in kernel}), len(kernel))
        self.assertEqual(len({look["marker"] for look in forest.LOOKS.values()}), len(forest.LOOKS))


def _linear(color):
    parts = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _lab(linear):
    """CIE L*a*b* of linear RGB, D65."""
    xyz = XYZ_OF_RGB @ np.clip(linear, 0, 1) / (0.9505, 1.0, 1.089)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array((116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])))


if __name__ == "__main__":
    unittest.main()
