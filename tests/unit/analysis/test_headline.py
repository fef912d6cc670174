"""The two sentences of a run, short labels, and marks on a ratio's axis."""

import math
import tempfile
import unittest
import warnings
from dataclasses import replace
from pathlib import Path

from analysis.figures import axes
from analysis.figures import catalogue
from analysis.judgement.study import study
from analysis.pages import cells_csv
from analysis.pages import render
from analysis.pages import sections
from analysis.pages import terminal
from analysis.cells.aggregate import Comparison
from analysis.cells.words import chance, context_of, interval_of, times
from analysis.judgement.caveats import Caveat
from analysis.pages.blocks import Block, Table
from analysis.pages.headline import headline
from analysis.pages.page import Page, Section
from analysis.cells.labels import short
from analysis.inputs.load import load_result
from analysis.statistics.effect import Ratio
from result_fixture import STACKS, cell_of, write_result

CELLS = [cell_of(stack, "immediate", 1) for stack in ("epoll@loopback", "dpdk@memif")]


def loaded(change=None, **options):
    """The Study of a synthetic run."""
    with tempfile.TemporaryDirectory() as folder:
        return study(load_result(write_result(Path(folder) / "run", change, **options)))


def rates_of(table):
    """A change that gives the samples of each stack these rates, run by run."""

    def change(result, client):
        rate = table[result["cell"]["stack"]][result["run"]]
        result["effective_rps"] = client["effective_rps"] = rate

    return change


class Headline(unittest.TestCase):
    def test_two_factors(self):
        """the first two factors that vary have a sentence each, with interval and place"""
        of = loaded(runs=3)
        first, second = headline(of)
        words = [
            row.verdict.word
            for row in of.judged
            if row.comparison.factor == "stack" and row.comparison.level == "dpdk@memif"
        ]
        more = f"dpdk@memif serves more than epoll@loopback in {words.count('better')} of 6"
        self.assertIn(f"{more} comparisons", first)
        self.assertRegex(first, r"up to [0-9.]+ x \(.* at depth \d+, 95 % CI [0-9.]+ to [0-9.]+; 3 runs")
        self.assertRegex(second, r"Coalesce serves more than immediate in \d of 6 comparisons")
        self.assertNotIn("depth 8 serves", second)

    def test_one_factor(self):
        """where one factor varies the second sentence says what the first rests on"""
        table = {"epoll@loopback": [100.0, 101.0, 102.0], "dpdk@memif": [50.0, 51.0, 50.5]}
        first, second = headline(loaded(rates_of(table), cells=CELLS))
        self.assertRegex(first, r"^dpdk@memif serves less than epoll@loopback 0\.50\d x \(")
        self.assertEqual(second, "It rests on 6 valid samples of 6.")

    def test_not_told_apart(self):
        """what the interval does not carry is not claimed"""
        table = {"epoll@loopback": [90.0, 100.0, 110.0], "dpdk@memif": [91.0, 102.0, 111.0]}
        first, _ = headline(loaded(rates_of(table), cells=CELLS))
        expected = "dpdk@memif cannot be told apart from epoll@loopback in the only comparison: 1.0"
        self.assertTrue(first.startswith(expected), first)
        self.assertIn("; 3 runs)", first)

    def test_one_standard(self):
        """what is better by its interval alone, and not after correction, is not counted as more"""
        of = loaded(runs=3)
        for row in of.judged:
            self.assertIsNotNone(row.ratio.low)
        unsure = [
            replace(row, verdict=replace(row.verdict, word="inconclusive")) for row in of.judged
        ]
        of.__dict__["judged"] = [of.judged[0], *unsure[1:]]
        first, _ = headline(of)
        self.assertRegex(first, r"more than epoll@loopback in 1 of 6 comparisons, up to ")
        self.assertIn("; the other 5 are inconclusive", first)
        self.assertRegex(first, r"\d intervals exclude 1, but not after correction for 20 comp")
        of.__dict__["judged"] = [
            replace(row, verdict=replace(row.verdict, word="equivalent")) for row in of.judged
        ]
        self.assertIn("lies within 2% of epoll@loopback in 6 of 6", headline(of)[0])

    def test_without_interval(self):
        """a comparison without an interval is counted apart from those that tell nothing apart"""

        def change(result, client):
            if result["run"] and result["cell"]["depth"] == 8:
                result.update(valid=False, invalid_reasons=["server died: signal 9"])
            result["effective_rps"] = client["effective_rps"] = 100.0 + result["run"]

        cells = [cell_of(stack, "immediate", depth) for stack in STACKS[:2] for depth in (1, 8)]
        first, _ = headline(loaded(change, cells=cells, runs=2))
        self.assertIn("in the only comparison, the most extreme ", first)
        self.assertTrue(first.endswith("(1 more without an interval)."), first)

    def test_wide_interval(self):
        """an interval beyond what is ever seen is not told in numbers"""
        ratio = Ratio(2.0, 1e-9, 2e7, 2, 2)
        self.assertEqual(interval_of(ratio), "no useful interval; 2 + 2 boots")
        ratio = replace(ratio, low=0.5, blocks=2)
        self.assertEqual(interval_of(ratio), "95 % CI 0.500 to >1,000; 2 runs")

    def test_numbers(self):
        """a ratio has one form, with the digits that its place on the scale needs"""
        shown = {0.9804: "0.980", 1.02: "1.020", 5.126: "5.13", 50.94: "50.9", 0.04117: "0.0412"}
        self.assertEqual({ratio: times(ratio) for ratio in shown}, shown)
        self.assertEqual([times(1e7), times(1e-7)], [">1,000", "<0.001"])
        shown = {1.0: "1", 0.0612: "0.061", 0.000139: "0.00014", 1e-9: "<0.0001"}
        self.assertEqual({p: chance(p) for p in shown}, shown)

    def test_place(self):
        """levels that say where a comparison holds are set apart by commas"""
        context = {"stack": "epoll", "wait": "block", "depth": 8}
        one = Comparison("delivery", "b", "a", context, Ratio(2.0, 1.5, 3.0, 2, 2))
        self.assertEqual(context_of(one), "with wait block, at depth 8, on epoll")

    def test_one_run(self):
        """without intervals nothing is said of more or less"""
        first, _ = headline(loaded(cells=CELLS, runs=1))
        self.assertIn("Whether dpdk@memif serves more than epoll@loopback cannot be said", first)

    def test_saturated(self):
        """a client at its limit is said in the second sentence"""

        def saturate(result, client):
            result["client"]["saturated"] = result["cell"]["stack"] == "dpdk@memif"

        _, second = headline(loaded(saturate, cells=CELLS))
        self.assertIn("in 3 of 6 valid samples the client was at its limit", second)

    def test_nothing_to_compare(self):
        """one cell alone is told with its rates"""
        first, _ = headline(loaded(cells=CELLS[:1]))
        self.assertRegex(first, r"^Nothing was compared: 1 cell measured [\d,]+ to [\d,]+ req")

    def test_nothing_valid(self):
        """a run without a valid sample leaves the question open"""

        def invalidate(result, client):
            result.update(valid=False, invalid_reasons=["the server died"])

        expected = ["No sample of 6 is valid, so the question stays open."]
        self.assertEqual(headline(loaded(invalidate, cells=CELLS)), expected)


class Ceiling(unittest.TestCase):
    """A run of the pipeline beside the bare echo."""

    def ceiling(self):
        cells = [
            cell_of(stack, "coalesce", 1) | {"bare": bare}
            for stack in ("epoll@loopback", "uring@loopback")
            for bare in (False, True)
        ]

        def change(result, client):
            cell = result["cell"]
            rate = 100.0 if cell["bare"] else 90.0 if "epoll" in cell["stack"] else 80.0
            result["effective_rps"] = client["effective_rps"] = rate + 0.1 * result["run"]

        result = loaded(change, cells=cells).result
        factors = {"stack": ["epoll@loopback", "uring@loopback"], "bare": [False, True]}
        result.plan["effective"]["factors"] = factors
        return study(result)

    def test_share(self):
        """the first sentence is the pipeline's share overall and where it is least"""
        first, second = headline(self.ceiling())
        self.assertRegex(
            first,
            r"^The pipeline reaches 84\.\d % of the bare echo's requests/s, the geometric mean over"
            r" 2 cells, and at worst 80\.\d % \(on uring@loopback, 95 % CI (79|80)\.\d % to 80\.\d %; 3",
        )
        self.assertTrue(second.startswith("It rests on 12 valid samples of 12"))

    def test_names(self):
        """bare echo and pipeline are called so in the tables, never true and false"""
        shares = "epoll@loopback 90.0% | 1"
        of = study(replace(self.ceiling().result, ceiling=shares))
        pages = render.markdown(sections.page(of, [])).decode()
        for words in ("| bare echo | 3/3 |", "| pipeline | 3/3 |", f"    {shares}"):
            self.assertIn(words, pages)
        self.assertNotRegex(pages + terminal.text_bytes(of).decode(), "True|False")


class Markdown(unittest.TestCase):
    def test_hostile(self):
        """a name in Markdown begins no line, no tag and no column, wherever it stands"""
        name = "a\n## b<script>|c"
        table = Table([name], [[name]])
        part = Block(name, [name, name], table)
        one = Section("id", name, [part, Block("one", [name])])
        caveat = Caveat(name, name)
        text = render.markdown(Page(name, [one], [caveat], [name], name, name)).decode()
        self.assertEqual(text.count(r"a ## b\<script>\|c"), 12)
        self.assertNotRegex(text, r"(?m)^## b|(?<!\\)[<]|b.<script>\|")


class Labels(unittest.TestCase):
    def test_short(self):
        """a level takes a few letters, and the client's is told from the server's"""
        stacks = ["epoll@loopback", "uring@loopback,sqpoll=on"]
        self.assertEqual(short("stack", stacks[0], stacks), "epoll")
        self.assertEqual(short("stack", stacks[1], stacks), "uring sqpoll=on")
        self.assertEqual(short("client_stack", stacks[0], stacks), "client epoll")
        self.assertEqual(short("client_wait", "spin", ["spin", "block"]), "client spin")
        self.assertEqual(short("wait", "adaptive:50us", []), "adaptive:50us")
        self.assertEqual(short("depth", 8, [1, 8]), "d8")
        self.assertEqual(short("bare", True, [True, False]), "bare echo")
        self.assertEqual(short("bare", False, [True, False]), "pipeline")
        self.assertEqual(short("delivery", None, [None, "coalesce"]), "no delivery")

    def test_device_kept(self):
        """a device stays where the stack alone would not tell two levels apart"""
        stacks = ["epoll@loopback", "epoll@unix", "uring@unix"]
        shown = [short("stack", stack, stacks) for stack in stacks]
        self.assertEqual(shown, stacks)


class Ticks(unittest.TestCase):
    def test_apart(self):
        """marks on a ratio's axis keep apart, and 1 is among them where it is in sight"""
        for low, high in ((0.87, 1.2), (0.8, 2.6), (0.87, 21), (0.02, 60), (0.5, 700), (0.99, 1.01)):
            ticks = axes.ratio_ticks(low, high)
            self.assertIn(1, ticks)
            room = axes.RATIO_GAP * math.log(high / low)
            for before, after in zip(ticks, ticks[1:]):
                self.assertGreaterEqual(math.log(after / before), 0.999 * room, (low, high, ticks))


class Figures(unittest.TestCase):
    LONG = "uring@loopback,sqpoll=on,sqpoll-cpu=3,sqpoll-idle=20"

    def drawn(self):
        """The figures of a run of long names, in part beyond all bounds, by name."""
        stacks = ["epoll@loopback", self.LONG, "epoll@veth"]
        deliveries = ["immediate", "coalesce", *(f"flush-at:{256 << k}" for k in range(5))]
        cells = [cell_of(stack, delivery, 8) for stack in stacks for delivery in deliveries]

        def change(result, client):
            if result["cell"]["stack"] == "epoll@veth":
                result["effective_rps"] *= 10.0 ** (6 * result["run"])
                client["effective_rps"] = result["effective_rps"]

        result = loaded(change, cells=cells, runs=2).result
        result.plan["effective"]["factors"] = {"stack": stacks, "delivery": deliveries}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return {one.name: one for one in catalogue.draw_all(study(result), ["single"])}

    def test_long_names(self):
        """long names and long legends leave the axes room, so that nothing is warned of"""
        found = self.drawn()
        svg = found["ratios-stack"].svg.decode()
        self.assertIn("sqpoll-cpu=3", svg)
        self.assertNotIn(self.LONG + ":", svg)

    def test_clipped(self):
        """a ratio's axis ends at 1,000 and at its inverse, and the caption tells of arrows"""
        one = self.drawn()["ratios-stack"]
        self.assertIn("An arrow goes on beyond 1,000 x or 1/1,000 x.", one.caption)
        self.assertNotRegex(one.svg.decode(), r"1e[+-]?\d+ x|10000 x")
        self.assertIn("1000 x", one.svg.decode())


class Kernel(unittest.TestCase):
    def test_table(self):
        """what was counted per request is in the csv and in the text, unknown with its reason"""

        def count(result, client):
            result["server"]["wakeups_per_request"] = 0.25
            result["server"]["net_rx_softirqs_per_request"] = None
            result["server"]["net_rx_softirqs_per_request_reason"] = "no such table"

        of = loaded(count, cells=CELLS)
        found = terminal.text_bytes(of).decode().split("What the kernel was asked for, per request")[1]
        self.assertIn("wake-ups per request", found)
        self.assertIn("0.2500", found)
        self.assertIn("n/a (no such table)", found)
        rows = cells_csv.csv_bytes(of.found).decode().splitlines()
        names = rows[0].split(",")
        self.assertEqual(rows[1].split(",")[names.index("wakeups_per_request")], "0.25")
        self.assertEqual(rows[1].split(",")[names.index("net_rx_softirqs_per_request")], "")
