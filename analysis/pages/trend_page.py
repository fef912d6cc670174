"""The page of many results in the order of time, and its rows for programs."""

from __future__ import annotations

from typing import Any, Sequence

from analysis.cells.words import capital, count, ends_of, point_of, some
from analysis.figures.canvas import Drawing
from analysis.judgement.across import APART
from analysis.judgement.caveats import Caveat
from analysis.judgement.history import History, Point, Series
from analysis.judgement.refusals import CLIENT_REVISION
from analysis.judgement.verdicts import Verdict
from analysis.pages.blocks import Block, Table
from analysis.pages.csv_rows import csv_of
from analysis.pages.page import Page, Section

# How a verdict is marked that another client had a part in.
CLIENT = "client changed"

def page(of: History, skipped: Sequence[str], drawings: Sequence[Drawing]) -> Page:
    """Each place over time; `skipped` are directories that could not be read, with reasons."""
    names = dict.fromkeys(str(study.result.experiment.get("name")) for study in of.studies)
    return Page(
        title=f"Trend of {', '.join(names)} over {count(len(of.studies), 'result')}",
        sections=[
            Section("places", "Places", [_basis(of), *(_block(of, one) for one in of.series)]),
            Section("figures", "Figures", _left_out(of, drawings), list(drawings)),
            Section("results", "Results", [_results(of)]),
            Section("breaks", "Not comparable across", _breaks(of)),
            Section("unmatched", "What was left out", _unmatched(of, skipped)),
        ],
        banner=[Caveat(*APART)]
        + [Caveat("skipped", one) for one in skipped]
        + [
            Caveat("not comparable across", f"before result {at + 1}: {what} changed")
            for at, what in of.breaks.items()
        ]
        + _clients(of),
        answer=_answer(of),
    )


def _clients(of: History) -> list[Caveat]:
    """That a change may be the client's and not the server's."""
    if not of.other_clients:
        return []
    places = some([f"{at + 1}" for at in of.other_clients])
    text = (
        f"before result {places}: a ratio across that is of server and client together, and its"
        f" verdict is marked ({CLIENT}); variants of one experiment have one client"
    )
    return [Caveat("client revision changed", text)]


def _answer(of: History) -> list[str]:
    """The words of the newest result against the one before and the first."""
    last = len(of.studies) - 1
    points = [series.points[-1] for series in of.series if series.points[-1].result == last]
    lines = []
    for what, verdicts in (
        ("the one before", [point.against_last for point in points]),
        ("the first", [point.against_first for point in points]),
    ):
        words = [word(verdict) for verdict in verdicts]
        told = ", ".join(f"{words.count(one)} {one}" for one in dict.fromkeys(words))
        lines.append(f"The newest against {what}: {told or 'no place has it'}.")
    return lines


def word(verdict: Verdict | str) -> str:
    """A verdict's word, or why there is none."""
    return f"n/a ({verdict})" if isinstance(verdict, str) else verdict.word


def _basis(of: History) -> Block:
    judged = max(
        (
            one.judged
            for series in of.series
            for point in series.points
            for one in (point.against_last, point.against_first)
            if isinstance(one, Verdict)
        ),
        default=0,
    )
    return Block(
        "",
        [
            f"Requests per second. {count(judged, 'ratio')} judged together, p after Holm's"
            " correction for all of them; intervals are Welch's over the boots of each result."
        ],
    )


def _block(of: History, series: Series) -> Block:
    titles = ["result", "commit", "n", "median", "min", "max", "against the one before"]
    titles += ["95 % interval", "verdict", "against the first", "95 % interval", "verdict"]
    rows = [_row(of, one) for one in series.points]
    return Block(series.place, [], Table(titles, rows, 2, frozenset({"verdict"})))


def _row(of: History, point: Point) -> list[str]:
    cell = point.cell
    result = of.studies[point.result].result
    commit = result.commit_of(cell.settings.get("variant"))
    row = [f"{point.result + 1}", commit or "n/a (not recorded)", cell.n]
    row += [f"{cell.known(name):,.0f}" for name in ("rps_median", "rps_min", "rps_max")]
    for one, client in (
        (point.against_last, point.client_since_last),
        (point.against_first, point.client_since_first),
    ):
        row += [f"n/a ({one})", "", ""] if isinstance(one, str) else _told(one, client)
    return row


def _told(verdict: Verdict, client: bool) -> list[str]:
    ratio = verdict.ratio
    return [point_of(ratio), ends_of(ratio), verdict.word + (f" ({CLIENT})" if client else "")]


def _left_out(of: History, drawings: Sequence[Drawing]) -> list[Block]:
    if len(drawings) == len(of.series):
        return []
    return [Block("", [f"Drawn are the first {len(drawings)} of {len(of.series)} places."])]


def _results(of: History) -> Block:
    rows = []
    for at, study in enumerate(of.studies, start=1):
        result, host = study.result, study.result.host or {}
        when = result.measured[0] if result.measured else "n/a (not recorded)"
        known = [host.get(name) for name in ("hostname", "kernel")]
        rows.append(
            [
                str(at),
                result.path.resolve().name,
                when,
                result.commit_of() or "n/a (not recorded)",
                *(str(one) if one else "n/a (not recorded)" for one in known),
                f"{len(result.valid)}/{len(result.samples)}",
            ]
        )
    titles = ["result", "directory", "measured", "commit", "host", "kernel", "valid samples"]
    return Block("", [], Table(titles, rows, 6))


def _breaks(of: History) -> list[Block]:
    """What changed, then from what to what."""
    lines = []
    for at, what in of.breaks.items():
        directory = of.studies[at].result.path.resolve().name
        lines.append(f"Before result {at + 1} ({directory}): {what} changed.")
        lines += [
            f"{capital(one.what)}: {one.a} before, {one.b} from result {at + 1} on."
            for one in of.changes[at]
            if one.what != CLIENT_REVISION
        ]
    return [Block("", lines)] if lines else []


def _unmatched(of: History, skipped: Sequence[str]) -> list[Block]:
    lines = [f"Skipped: {one}" for one in skipped]
    lines += [
        f"result {one.result + 1}: {one.cell.variant}: {one.why}" for one in of.matching.unmatched
    ]
    if of.matching.unstated:
        names = ", ".join(of.matching.unstated)
        lines.append(f"Settings that a result does not state, and so were not compared: {names}")
    return [Block("", lines)] if lines else []


def csv_bytes(of: History) -> bytes:
    """One row a place and a result; an unknown value is an empty field."""
    sides = [
        f"{name}_{side}"
        for side in ("last", "first")
        for name in ("ratio", "low", "high", "p_adjusted", "verdict", "client_changed")
    ]
    titles = ["place", "result", "measured", "commit", "n_valid", "rps_median", "rps_min"]
    rows = ([one.place, *_fields(of, point)] for one in of.series for point in one.points)
    return csv_of([*titles, "rps_max", *sides], rows)


def _fields(of: History, point: Point) -> list[Any]:
    result, cell = of.studies[point.result].result, point.cell
    fields: list[Any] = [result.path.resolve().name, (result.measured or ("",))[0]]
    fields += [result.commit_of(cell.settings.get("variant")), len(cell.valid)]
    fields += [cell.known(name) for name in ("rps_median", "rps_min", "rps_max")]
    for one, client in (
        (point.against_last, point.client_since_last),
        (point.against_first, point.client_since_first),
    ):
        if isinstance(one, str):
            fields += [None, None, None, None, one]
        else:
            fields += [one.ratio.ratio, one.ratio.low, one.ratio.high, one.p_adjusted, one.word]
        fields.append(client)
    return fields
