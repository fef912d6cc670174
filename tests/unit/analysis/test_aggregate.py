"""Cells and comparisons of a synthetic run, recomputed by hand."""

import json
import statistics
import tempfile
import unittest
from collections import Counter
from dataclasses import replace
from pathlib import Path

from analysis.cells import words
from analysis.judgement import caveats
from analysis.pages import method
from analysis.pages import sentences
from analysis.cells.aggregate import aggregate
from analysis.inputs.load import load_result
from result_fixture import cell_of, write_result

ROOT = Path(__file__).resolve().parents[3]


def loaded(change=None, **options):
    """(Result, Aggregate) of a synthetic run."""
    with tempfile.TemporaryDirectory() as folder:
        result = load_result(write_result(Path(folder) / "run", change, **options))
    return result, aggregate(result)


def cell_named(found, variant):
    return next(cell for cell in found.cells if cell.variant == variant)


class Cells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result, cls.found = loaded()

    def test_order(self):
        """cells stand in the experiment's own order of levels"""
        self.assertEqual(self.found.cells[0].variant, "epoll@loopback.immediate.d1")
        self.assertEqual(self.found.cells[5].variant, "epoll@loopback.coalesce.d32")
        self.assertEqual(self.found.cells[-1].variant, "dpdk@memif.coalesce.d32")
        self.assertEqual(len(self.found.cells), 12)

    def test_rates(self):
        """median, least and greatest rate are those of the cell's samples"""
        for cell in self.found.cells:
            rates = [
                sample.raw["effective_rps"]
                for sample in self.result.samples
                if sample.variant == cell.variant
            ]
            self.assertEqual(len(rates), 3)
            self.assertEqual(cell.values["rps_median"].number, sorted(rates)[1])
            self.assertEqual(cell.values["rps_min"].number, min(rates))
            self.assertEqual(cell.values["rps_max"].number, max(rates))
            self.assertAlmostEqual(
                cell.values["rps_cv"].number, statistics.stdev(rates) / statistics.mean(rates)
            )

    def test_other_cpus(self):
        """what other processes took is the most of the cell's samples, not their median"""

        def disturb(result, client):
            result["other_busy_cpus"] = 0.7 if result["order_index"] == 0 else 0.0

        cells = loaded(disturb)[1].cells
        values = [cell.values["other_busy_cpus_max"].number for cell in cells]
        self.assertEqual(values, [0.7] + [0.0] * 11)

    def test_percentiles(self):
        """a cell's p99 is that of its samples' histograms added up"""
        cell = cell_named(self.found, "epoll@loopback.coalesce.d8")
        counts = Counter()
        for sample in cell.samples:
            counts.update(
                dict(zip(sample.service.values_ns.tolist(), sample.service.counts.tolist()))
            )
        rank, below = -(-99 * sum(counts.values()) // 100), 0
        for value in sorted(counts):
            below += counts[value]
            if below >= rank:
                break
        self.assertEqual(cell.values["service_p99_us"].number, value / 1000)
        self.assertEqual(cell.values["service_n"].number, sum(counts.values()))

    def test_unknown(self):
        """a value that no sample has is unknown with the samples' reason, never 0"""
        value = cell_named(self.found, "epoll@loopback.immediate.d1").values[
            "copied_bytes_per_request"
        ]
        self.assertIsNone(value.number)
        self.assertEqual(value.reason, "copies happen in the kernel")

    def test_comparisons(self):
        """each level is compared with its factor's first, all else equal: 6 + 6 + 8 ratios"""
        counts = Counter(comparison.factor for comparison in self.found.comparisons)
        self.assertEqual(counts, {"stack": 6, "delivery": 6, "depth": 8})
        one = next(
            c
            for c in self.found.comparisons
            if c.factor == "delivery" and c.context == {"stack": "epoll@loopback", "depth": 8}
        )
        self.assertEqual((one.level, one.base), ("coalesce", "immediate"))
        self.assertAlmostEqual(one.ratio.ratio, 6.4, delta=0.6)

    def test_sentence(self):
        """a sentence gives ratio, interval, n and place"""
        one = next(
            c
            for c in self.found.comparisons
            if c.factor == "delivery" and c.context == {"stack": "epoll@loopback", "depth": 8}
        )
        self.assertRegex(
            words.sentence(one),
            r"^Coalesce against immediate at depth 8, on epoll@loopback: \d\.\d\d x "
            r"\(95 % CI \d\.\d\d to \d\.\d\d; 3 runs\)\.$",
        )

    def test_basis(self):
        """a sentence says what the ratios are of, and names each factor's base"""
        self.assertEqual(
            sentences.basis(self.found),
            (
                "The ratios are of geometric means over samples, while the tables show medians;"
                " each factor's levels are compared with its first level (epoll@loopback,"
                " immediate, depth 1)."
            ),
        )
        self.assertIsNone(sentences.basis(replace(self.found, comparisons=[])))


class Validity(unittest.TestCase):
    def test_never_averaged(self):
        """an invalid sample enters no number, however extreme"""

        def spoil(result, client):
            if result["order_index"] == 0:
                result.update(
                    valid=False, invalid_reasons=["server died: signal 9"], effective_rps=1e12
                )

        spoiled, clean = loaded(spoil)[1], loaded()[1]
        cell = spoiled.cells[0]
        self.assertEqual((cell.n, len(cell.valid)), ("2/3", 2))
        self.assertLess(cell.values["rps_max"].number, 1e9)
        self.assertEqual(cell.service.n, sum(sample.service.n for sample in cell.valid))
        self.assertEqual([c.values for c in spoiled.cells[1:]], [c.values for c in clean.cells[1:]])

    def test_partly_unknown(self):
        """a counter missing in one sample leaves its cell's value unknown, and says in how many"""

        def drop(result, client):
            if result["order_index"] == 0:
                result["server"].update(
                    busy_us_per_request=None, busy_us_per_request_reason="snapshot lost"
                )

        value = loaded(drop)[1].cells[0].values["busy_us_per_request"]
        self.assertEqual((value.number, value.reason), (None, "snapshot lost in 1 of 3 samples"))

    def test_one_run(self):
        """with one run there are ratios without intervals, and no claim from them"""
        result, found = loaded(runs=1)
        self.assertEqual({c.ratio.low for c in found.comparisons}, {None})
        self.assertTrue(
            all(
                "no interval: a side has one sample only" in words.sentence(c)
                for c in found.comparisons
            )
        )
        self.assertIn(
            "noise of this run is unknown", " ".join(sentences.summary(result, found.cells))
        )

    def test_mixed_settings(self):
        """samples of one variant that ran with other settings are not merged and enter no ratio"""

        def mix(result, client):
            if result["order_index"] == 8:
                result["cell"]["hugepages"] = False

        result, found = loaded(mix)
        self.assertEqual(len(found.cells), 13)
        self.assertIn(
            "mixed settings",
            [caveat.what for caveat in caveats.disqualifiers(result, found.cells)],
        )
        self.assertEqual(len(found.comparisons), 20 - 3)

    def test_two_of_one_run(self):
        """two samples of one run in one cell are both counted, each by its own name and no block"""

        def twice(result, client):
            if result["variant"] == "epoll@loopback.coalesce.d8" and result["run"] == 2:
                result["run"] = 1

        result, found = loaded(twice)
        cell = cell_named(found, "epoll@loopback.coalesce.d8")
        numbers = cell.by_block(lambda sample: sample.rps)
        self.assertEqual(numbers, {one.sample_id: one.rps for one in cell.valid})
        self.assertEqual(len(numbers), 3)
        other = cell_named(found, "epoll@loopback.immediate.d8").by_block(lambda one: one.rps)
        self.assertEqual(list(other), [0, 1, 2])
        (ratio,) = [
            one.ratio
            for one in found.comparisons
            if one.factor == "delivery" and set(one.sides[0]) == set(numbers)
        ]
        self.assertEqual((ratio.n_new, ratio.n_base, ratio.blocks), (3, 3, 0))

    def test_never_ready(self):
        """a dead sample that never knew its effective settings still counts in its own cell"""

        def kill(result, client):
            if result["order_index"] in (0, 6):
                result.update(valid=False, invalid_reasons=["the server was never ready"])
                result["cell"].update(
                    wait="default", hugepages=None, hugepages_reason="the server was never ready"
                )

        result, found = loaded(kill)
        self.assertEqual(len(found.cells), 12)
        self.assertEqual([cell.n for cell in found.cells].count("2/3"), 2)
        whats = [caveat.what for caveat in caveats.disqualifiers(result, found.cells)]
        self.assertEqual(whats, ["invalid samples", "degraded host", "few samples"])


class Method(unittest.TestCase):
    def fixed(self, result):
        """The one line on fixed settings."""
        (line,) = [line for line in method.method(result) if line.startswith("Fixed")]
        return line

    def test_fixed(self):
        """every setting that no factor varies is named as it was in effect, by stack if need be"""
        self.assertEqual(
            self.fixed(loaded()[0]),
            (
                "Fixed, as it was in effect: protocol: framed; tls: off; handler: respond;"
                " connections: 64; workers: 1; request_bytes: 256; response_bytes: 64; refill"
                " (when the client sends again): window; wait (how the server waits for work):"
                " block with epoll@loopback, spin with dpdk@memif; hugepages (whether the stack"
                " uses hugepages): n/a (this stack has no use for them) with epoll@loopback, on"
                " with dpdk@memif; warm-up: 0.5s; duration: 2s."
            ),
        )

    def test_factors_are_not_fixed(self):
        """a setting moves to the line when it is no factor any more, and off it when it is one"""
        result, _ = loaded(cells=[cell_of("epoll@loopback", "coalesce", 8)])
        result.plan["effective"]["factors"] = {"wait": ["block"]}
        line = self.fixed(result)
        self.assertIn("stack: epoll@loopback;", line)
        self.assertIn("delivery: coalesce; depth: 8;", line)
        self.assertNotIn("wait (", line)

    def test_default_times(self):
        """times that the experiment leaves out are those that the plan told the client"""
        result, _ = loaded(runs=1)
        for name in ("warmup", "duration"):
            del result.plan["effective"][name]
        self.assertIn("; warm-up: n/a (not stated); duration: n/a", self.fixed(result))
        result.plan["samples"][0]["client_argv"] = ["weir", "--warmup", "1s", "--duration", "3s"]
        self.assertIn("; warm-up: 1s; duration: 3s.", self.fixed(result))


    def test_upstream(self):
        """an upstream is told with its CPU where there is one, and not spoken of where there is none"""
        result, _ = loaded(runs=1)
        self.assertNotIn("upstream", " ".join(method.method(result)))
        result.plan["effective"]["upstream"] = {"response_bytes": "1KiB"}
        for sample in result.samples:
            sample.raw["pins"]["upstream_cpus"] = [3]
        said = " ".join(method.method(result))
        self.assertIn("handler respond, 1KiB response bytes, workers: 1.", said)
        self.assertIn("and upstream on CPU 3, in every sample", said)

    def test_settings_of_http(self):
        """what is of HTTP alone is told where it is spoken"""
        cell = {**cell_of("epoll@loopback", "coalesce", 8), "protocol": "http1", "path": "/a"}
        result, _ = loaded(cells=[cell])
        result.plan["effective"]["factors"] = {"wait": ["block"]}
        self.assertIn("; path (what requests ask for): /a;", self.fixed(result))


class Order(unittest.TestCase):
    def line(self, **planned):
        """What is said of the order where the experiment leaves all of it out."""
        result, _ = loaded(runs=1)
        for name in ("order", "seed", "runs"):
            result.plan["effective"].pop(name, None)
        result.plan.update(planned)
        return method.method(result)[0]

    def test_as_planned(self):
        """order and runs that the experiment leaves out are the plan's, without a seed in use"""
        line = self.line(order="rotate", seed=1, runs=3)
        self.assertTrue(line.startswith("Order: rotate, every cell 3 times. Every"), line)

    def test_random(self):
        """a random order is told with its seed"""
        line = self.line(order="random", seed=7, runs=1)
        self.assertTrue(line.startswith("Order: random with seed 7, every cell once."), line)


class Links(unittest.TestCase):
    def test_options_are_no_link(self):
        """a link is named without the options and the device's own name behind it"""
        stacks = ("epoll@loopback", "uring@loopback,sqpoll=on")
        result, _ = loaded(cells=[cell_of(stack, "coalesce", 8) for stack in stacks])
        found = " ".join(method.limits(result))
        self.assertIn("No wire and no NIC (loopback only)", found)
        self.assertNotIn("different links", found)


class Again(unittest.TestCase):
    def test_command(self):
        """the command that repeats a run names what was set besides the experiment's file"""
        result, _ = loaded(runs=2)
        here = replace(result, path=ROOT / "results" / "run")
        self.assertEqual(method.command(here), "./weir run results/run --set runs=2")

    def test_elsewhere(self):
        """a run that was written elsewhere is named by where it is"""
        result = replace(loaded(runs=2)[0], path=Path("/srv/my runs/one"))
        self.assertEqual(method.command(result), "./weir run '/srv/my runs/one' --set runs=2")

    def test_overrides(self):
        """a factor set to one level, a fixed value and a text with a space are all named"""
        result, _ = loaded()
        effective = json.loads(json.dumps(result.experiment))
        effective["factors"]["stack"] = ["epoll@loopback"]
        effective["fixed"].update(connections=8, tls=True)
        effective["question"] = "a b"
        result.plan["effective"] = effective
        self.assertEqual(
            method.command(replace(result, path=ROOT / "results" / "run")),
            (
                "./weir run results/run --set stack=epoll@loopback --set tls=true --set"
                " connections=8 --set 'question=a b'"
            ),
        )


class Words(unittest.TestCase):
    def test_numbers_for_people(self):
        """numbers are shown to three significant digits across unit steps"""
        shown = {
            0: "0.00",
            7.126: "7.13",
            99.96: "100",
            999.4: "999",
            999.6: "1.00 k",
            163_400: "163 k",
            999_600: "1.00 M",
            4.41e6: "4.41 M",
        }
        self.assertEqual({number: words.compact(number) for number in shown}, shown)
