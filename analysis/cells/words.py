"""Numbers, levels and comparisons in words."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from analysis.cells.aggregate import Comparison

# Bounds of a ratio beyond this, or below its inverse, are not told as numbers.
RATIO_MAX = 1000
# A sentence names this many at most.
NAMED_MAX = 5


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
    """A ratio to three significant digits, e.g. "5.13", "0.64", "12.4"."""
    return _three_digits(ratio)


def level_of(factor: str, level: Any) -> str:
    """A level by itself, e.g. "8", "bare echo", "false"."""
    if factor == "bare" and isinstance(level, bool):
        return "bare echo" if level else "pipeline"
    return str(level).lower() if isinstance(level, bool) else str(level)


def capital(text: str) -> str:
    """The same at the beginning of a sentence; a stack keeps its name's letters."""
    return text if "@" in text.split()[0] else text[:1].upper() + text[1:]


def describe(factor: str, level: Any) -> str:
    """A level in words, e.g. "depth 8", "coalesce"."""
    text = level_of(factor, level)
    if factor == "bare" and isinstance(level, bool):
        return f"the {text}"
    return (
        text
        if factor in ("stack", "delivery", "protocol", "handler")
        else f"{factor.replace('_', ' ')} {text}"
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


def _bound(ratio: float, show: Callable[[float], str]) -> str:
    """An end of an interval; beyond what is ever seen, only that it is."""
    if ratio > RATIO_MAX:
        return f">{RATIO_MAX:,} x"
    return f"<{1 / RATIO_MAX:g} x" if ratio < 1 / RATIO_MAX else show(ratio)


def interval_of(comparison: Comparison, show: Callable[[float], str] = times) -> str:
    """E.g. "95 % CI 4.8 to 5.4; n = 3 + 3"."""
    ratio = comparison.ratio
    bounds = f"no interval: {ratio.reason}"
    if ratio.low is not None and ratio.high is not None:
        bounds = f"95 % CI {_bound(ratio.low, show)} to {_bound(ratio.high, show)}"
        if ratio.low < 1 / RATIO_MAX and ratio.high > RATIO_MAX:
            bounds = "no useful interval"
    return f"{bounds}; n = {ratio.n_new} + {ratio.n_base}"


def sentence(comparison: Comparison) -> str:
    """A comparison as a sentence that claims no more than its interval carries."""
    ratio = comparison.ratio
    level = capital(describe(comparison.factor, comparison.level))
    base, where = describe(comparison.factor, comparison.base), context_of(comparison)
    where = f" {where}" if where else ""
    if ratio.ratio is None:
        return f"{level} against {base}{where}: n/a ({ratio.reason})."
    if ratio.low is None:
        return f"{level} measured {times(ratio.ratio)} x {base}{where} ({interval_of(comparison)})."
    if not ratio.excludes_one:
        return (
            f"{level} and {base} cannot be told apart{where}: {times(ratio.ratio)} x"
            f" ({interval_of(comparison)})."
        )
    verb = "is worth" if ratio.ratio > 1 else "reaches only"
    return f"{level} {verb} {times(ratio.ratio)} x {base}{where} ({interval_of(comparison)})."
