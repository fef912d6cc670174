"""Settings in a few letters, for legends and axes: `epoll block coalesce d8`."""

from __future__ import annotations

from typing import Any, Iterable

# A letter before a number, as in variants' names.
MARKS = {
    "depth": "d",
    "connections": "c",
    "workers": "w",
    "request_bytes": "q",
    "response_bytes": "a",
}
# What true and false are called, where not as in names of cells: "tls-on".
FLAGS = {
    "bare": ("bare echo", "pipeline"),
}
# Words that would be taken for the server's.
OF_CLIENT = ("client_stack", "client_wait")
STACKS = ("stack", "client_stack")


def short(factor: str, level: Any, levels: Iterable[Any]) -> str:
    """A level among the factor's levels, e.g. "epoll", "d8", "client spin"."""
    if level is None:
        return f"no {factor.replace('_', ' ')}"
    if isinstance(level, bool):
        yes, no = FLAGS.get(factor, (f"{factor}-on", f"{factor}-off"))
        return yes if level else no
    text = f"{MARKS.get(factor, '')}{level}"
    if factor in STACKS:
        text = _stack(str(level), [str(one) for one in levels])
    return f"client {text}" if factor in OF_CLIENT else text


def _stack(spec: str, specs: list[str]) -> str:
    """Without the device where the stacks differ without it, too: "uring sqpoll=on"."""
    devices = {_parts(one)[1] for one in specs}
    name, device, options = _parts(spec)
    same_device = len(devices) <= 1 or len({_without_device(one) for one in specs}) == len(specs)
    head = name if same_device or not device else f"{name}@{device}"
    return " ".join([head, *options])


def _without_device(spec: str) -> tuple[str, ...]:
    name, _, options = _parts(spec)
    return (name, *options)


def _parts(spec: str) -> tuple[str, str, list[str]]:
    """Name, device ("" if none) and options of STACK[@DEVICE][,OPTION=VALUE]..."""
    head, *options = spec.split(",")
    name, _, device = head.partition("@")
    return name, device, options
