"""Numbers, levels and comparisons in words."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from analysis.cells.aggregate import Comparison
from analysis.statistics.effect import Ratio
from analysis.statistics.interval import Interval

# Bounds of a ratio beyond this, or below its inverse, are not told as numbers.
RATIO_MAX = 1000
# A p value below this is told as below it: its digits rest on tails that nobody has measured.
P_LEAST = 1e-4
# A sentence names this many at most.
NAMED_MAX = 5
# Factors that a sentence spells otherwise.
ABBREVIATIONS = {"tls": "TLS"}


def count(number: int, noun: str) -> str:
    """E.g. "1 sample", "3 samples"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - NAMED_MAX
    return ", ".join(names[:NAMED_MAX]) + (f", and {more} more" if more > 0 else "")


def compact(number: float) -> str:
    """Three significant digits with a unit step, e.g. "1.05 M", "163 k", "940"."""
    for step, suffix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(number) >= 0.9995 * step:
            return f"{_three_digits(number / step)}{suffix}"
    return _three_digits(number)


def _three_digits(number: float) -> str:
    size = abs(number)
    return (
        f"{number:.0f}" if size >= 99.95 else f"{number:.1f}" if size >= 9.995 else f"{number:.2f}"
    )


def times(ratio: float) -> str:
    """A ratio, in one form wherever it stands: three decimals near 1, where a margin is small, else
    three significant digits; beyond what is ever seen only that it is. E.g. "1.031", "5.13",
    "0.0412", ">1,000"."""
    if ratio > RATIO_MAX:
        return f">{RATIO_MAX:,}"
    if ratio < 1 / RATIO_MAX:
        return f"<{1 / RATIO_MAX:g}"
    if 0.5 <= ratio < 1.9995:
        return f"{ratio:.3f}"
    return f"{ratio:#.3g}" if ratio < 0.5 else _three_digits(ratio)


def interval(low: float, high: float, show: Callable[[float], str] = times) -> str:
    """Both ends, e.g. "0.975 to 1.031"."""
    return f"{show(low)} to {show(high)}"


def point_of(ratio: Ratio) -> str:
    """The ratio itself, or why there is none."""
    return f"n/a ({ratio.reason})" if ratio.ratio is None else times(ratio.ratio)


def ends_of(ratio: Ratio | Interval) -> str:
    """Its interval's ends, or why there are none."""
    if ratio.low is None or ratio.high is None:
        return f"n/a ({ratio.reason})"
    return interval(ratio.low, ratio.high)


def chance(p: float) -> str:
    """A p value, in one form wherever it stands: two significant digits, below P_LEAST only that
    it is, e.g. "0.039", "<0.0001"."""
    return f"<{P_LEAST:.4f}" if p < P_LEAST else f"{p:.2g}"


def sample_size(ratio: Ratio) -> str:
    """What a ratio rests on: "3 runs" where runs are blocks of both sides, "3 + 2 boots" of new and
    base where these are independent."""
    if ratio.blocks:
        return count(ratio.blocks, "run")
    return f"{ratio.n_new} + {ratio.n_base} boots"


def level_of(factor: str, level: Any) -> str:
    """A level by itself, e.g. "8", "bare echo", "off"."""
    if factor == "bare" and isinstance(level, bool):
        return "bare echo" if level else "pipeline"
    return switch(level)


def switch(value: Any) -> str:
    """A setting's value; true and false as in names of cells, "on" and "off"."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def factor_of(factor: str) -> str:
    """A factor's name in a sentence, e.g. "request bytes", "TLS"."""
    return ABBREVIATIONS.get(factor, factor.replace("_", " "))


def capital(text: str) -> str:
    """The same at the beginning of a sentence; a stack keeps its name's letters."""
    return text if "@" in text.split()[0] else text[:1].upper() + text[1:]


def describe(factor: str, level: Any) -> str:
    """A level in words, e.g. "depth 8", "coalesce", "TLS on"."""
    text = level_of(factor, level)
    if factor == "bare" and isinstance(level, bool):
        return f"the {text}"
    return (
        text
        if factor in ("stack", "delivery", "protocol", "handler")
        else f"{factor_of(factor)} {text}"
    )


def context_of(comparison: Comparison) -> str:
    """Where a comparison holds, e.g. "at depth 8, on epoll@loopback"."""
    names = sorted(comparison.context, key=lambda name: name == "stack")
    names = [name for name in names if comparison.context[name] is not None]
    return ", ".join(_place(name, describe(name, comparison.context[name])) for name in names)


def _place(factor: str, level: str) -> str:
    forms = {
        "stack": "on {}",
        "depth": "at {}",
        "delivery": "with {} delivery",
        "bare": "of {}",
        "scenario": "in {}",
    }
    return forms.get(factor, "with {}").format(level)


def percent(ratio: float) -> str:
    """A ratio as a share, e.g. "93.1 %"."""
    return f"{100 * ratio:.1f} %"


def interval_of(ratio: Ratio, show: Callable[[float], str] = times) -> str:
    """E.g. "95 % CI 4.80 to 5.40; 3 runs"."""
    bounds = f"no interval: {ratio.reason}"
    if ratio.low is not None and ratio.high is not None:
        bounds = f"95 % CI {interval(ratio.low, ratio.high, show)}"
        if ratio.low < 1 / RATIO_MAX and ratio.high > RATIO_MAX:
            bounds = "no useful interval"
    return f"{bounds}; {sample_size(ratio)}"


def sentence(comparison: Comparison) -> str:
    """A comparison's numbers, which claim nothing; its verdict's word stands beside them."""
    ratio, where = comparison.ratio, context_of(comparison)
    level = capital(describe(comparison.factor, comparison.level))
    base = describe(comparison.factor, comparison.base)
    begin = f"{level} against {base}{' ' if where else ''}{where}"
    if ratio.ratio is None:
        return f"{begin}: n/a ({ratio.reason})."
    return f"{begin}: {times(ratio.ratio)} x ({interval_of(ratio)})."
