"""Results whose numbers are stated run by run, with claims about them. The numbers are made up;
they are evidence of nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from analysis.inputs.load import Result, load_result
from result_fixture import EXPERIMENT, cell_of, edit_json, write_json, write_manifest, write_result

# (stack, delivery, depth) to one number a run.
Numbers = dict[tuple[str, str, int], list[float]]


def write_claimed(
    path: Path, numbers: Numbers, claims: Any = None, metric: str = "effective_rps", **fixed: Any
) -> Path:
    """A result directory of these cells, in which each run's sample has its number of `metric`;
    `fixed` are settings of the experiment. All cells have as many runs as the first."""
    cells = [cell_of(*levels) for levels in numbers]

    def change(result: dict[str, Any], client: dict[str, Any]) -> None:
        cell = result["cell"]
        number = numbers[cell["stack"], cell["delivery"], cell["depth"]][result["run"]]
        (result if metric in result else result["server"])[metric] = number

    runs = len(next(iter(numbers.values())))
    write_result(path, change, runs=runs, cells=cells)
    factors = {
        name: list(dict.fromkeys(levels[place] for levels in numbers))
        for place, name in enumerate(("stack", "delivery", "depth"))
    }
    experiment = EXPERIMENT | {"factors": factors, "runs": runs}
    experiment["fixed"] = experiment["fixed"] | fixed
    if claims is not None:
        experiment["claims"] = claims
    write_json(path / "experiment.json", experiment)
    edit_json(path / "plan.json", effective=experiment)
    write_manifest(path)
    return path


def claimed(numbers: Numbers, claims: Any = None, metric: str = "effective_rps") -> Result:
    """The same in memory."""
    with tempfile.TemporaryDirectory() as folder:
        return load_result(write_claimed(Path(folder) / "run", numbers, claims, metric))
