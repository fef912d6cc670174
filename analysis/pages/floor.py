"""The noise floor that an A/A run found, for people."""

from __future__ import annotations

from analysis.cells.words import count
from analysis.judgement.calibration import MEASURES, Calibration, Noise
from analysis.judgement.calibration_file import CHANGES
from analysis.judgement.judged import CPU, RPS
from analysis.pages.blocks import Block, Table

NAMES = dict(zip(MEASURES, (RPS, CPU)))
TITLES = [
    "place",
    "number",
    "runs",
    "CV",
    "spread of a block",
    "half width",
    "of medians",
    "least detectable",
    *(f"runs for {change:.0%}" for change in CHANGES),
]
ABOUT = [
    "CV: coefficient of variation of a side's samples.",
    "Spread of a block: standard deviation of the log ratio of the two sides in one run; slow"
    " phases of the host that cover a whole run are not in it.",
    "Half width: how far a 95 % interval over these runs reaches to either side; an interval"
    " gate with less room is refused.",
    "Of medians: how far the ratio of two medians of these runs reaches, in which slow phases do"
    " not cancel; a gate on medians with less room than either is refused.",
    "Least detectable: the least change that these runs find in 80 of 100 cases; runs for a change:"
    " how many find it as often.",
]


def block(calibration: Calibration) -> Block:
    """What was found, each place by itself and all together, and what follows."""
    rows = [
        _row(cell.place, NAMES[name], cell.noise[name], cell.reasons.get(name))
        for cell in calibration.cells
        for name in MEASURES
    ]
    rows += [
        _row("all places", NAMES[name], calibration.overall(name), "no place has one")
        for name in MEASURES
    ]
    return Block("Noise floor", [*sentences(calibration), *ABOUT], Table(TITLES, rows, left=2))


def _row(place: str, name: str, noise: Noise | None, reason: str | None) -> list[str]:
    if noise is None:
        return [place, name, f"n/a ({reason})", *["n/a"] * (len(TITLES) - 3)]
    runs = [noise.runs_needed(change) for change in CHANGES]
    return [
        place,
        name,
        str(noise.blocks),
        f"{noise.cv:.1%}",
        f"{noise.spread:.1%}",
        f"{noise.half_width(noise.blocks):.1%}",
        f"{noise.half_width_of_medians(noise.blocks):.1%}",
        f"{noise.least_detectable:.1%}",
        *("n/a (too many)" if one is None else f"{one:,}" for one in runs),
    ]


def sentences(calibration: Calibration) -> list[str]:
    """What this host can tell, in a sentence for each number; and what the usual gate takes."""
    lines = []
    for name in MEASURES:
        noise = calibration.overall(name)
        if noise is None:
            lines.append(f"Of {NAMES[name]} nothing is known: too few runs, or runs without one.")
            continue
        lines.append(
            f"With {count(noise.blocks, 'run')} of each cell and windows of"
            f" {calibration.settings.get('duration')}, this host tells a change of {NAMES[name]} of"
            f" {noise.least_detectable:.1%} or more from none, in 80 of 100 cases;"
            f" {_for_gate(noise)}"
        )
    return lines


def _for_gate(noise: Noise) -> str:
    """What a gate of 2 % would need."""
    half, runs = noise.half_width(noise.blocks), noise.runs_needed(0.02)
    if half <= 0.02:
        return f"an interval gate of 2 % may be judged, for an interval reaches {half:.1%}."
    needs = "more runs than anybody measures" if runs is None else count(runs, "run")
    return (
        f"an interval gate of 2 % is refused, for an interval reaches {half:.1%}, and needs {needs}."
    )
