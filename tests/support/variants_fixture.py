"""Comparisons of variants whose numbers are known, in memory, for the tests of analysis/."""

from __future__ import annotations

import tempfile
from pathlib import Path

from analysis.cells.aggregate import aggregate
from analysis.inputs.load import load_result
from analysis.judgement.study import Study
from result_fixture import write_variants


def loaded(change=None, **options):
    """(Result, Aggregate) of a comparison of variants."""
    with tempfile.TemporaryDirectory() as folder:
        result = load_result(write_variants(Path(folder) / "run", change, **options))
    return result, aggregate(result)


def studied(change=None, asked=None, adopted=None, **options):
    """The Study of a comparison of variants."""
    return Study(*loaded(change, **options), asked, adopted)


def only(scenario, variant, **values):
    """A change that sets these numbers in the samples of one cell."""

    def change(result, client):
        cell = result["cell"]
        if (cell["scenario"], cell["variant"]) == (scenario, variant):
            for name, value in values.items():
                table = result if name in result else result["server"]
                table[name] = value

    return change


def invalidate(scenario, variant, runs=range(5), failed=None):
    """A change that makes samples of one cell invalid."""

    def change(result, client):
        cell = result["cell"]
        if (cell["scenario"], cell["variant"]) == (scenario, variant) and result["run"] in runs:
            reason = f"wrong-answer ({failed})" if failed else "server died: signal 9"
            result.update(valid=False, invalid_reasons=[reason], failed=failed)

    return change


def block(blocks, title):
    """The one part of this title."""
    (found,) = [one for one in blocks if one.title == title]
    return found
