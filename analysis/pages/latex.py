"""tables/*.tex: the cells and the verdicts as LaTeX tables, which need the package booktabs alone.

Each file is one tabular to be put into a paper by \\input; what it holds stands above it as a
comment.
"""

from __future__ import annotations

import textwrap

from analysis.cells.aggregate import Cell
from analysis.cells.columns import COLUMNS, Column
from analysis.cells.words import chance, context_of, describe, ends_of, point_of, sample_size
from analysis.judgement import judged
from analysis.judgement.judged import Judged
from analysis.judgement.study import Study
from analysis.pages.blocks import Table
from analysis.pages.cell_tables import na, shown, shown_levels

FOLDER = "tables"
# What a column of a paper has room for; aggregate.csv has them all.
CELL_COLUMNS = (
    "rps_median",
    "rps_cv",
    "service_p50_us",
    "service_p99_us",
    "os_cpu_us_per_request",
    "busy_us_per_request",
    "responses_per_write",
)
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "µ": r"$\mu$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
LATIN_LAST = 0xFF  # what LaTeX knows without further packages
HEAD_LETTERS = 12
FITS = (
    "Needs \\usepackage{booktabs}. Made for the full width of a page of two columns, a table* in"
    " \\footnotesize with \\setlength{\\tabcolsep}{3pt}."
)


def files(study: Study) -> dict[str, bytes]:
    """Path in the result directory to content; verdicts only where something was compared."""
    name = study.result.path.resolve().name
    warned = [f"{one.what}: {one.detail}" for one in study.caveats]
    about = f"Caption: The cells of {name}; n counts valid samples, each a boot of the server."
    made = {f"{FOLDER}/cells.tex": _tabular([about, *warned], _cells(study))}
    if study.judged:
        about = (
            f"Caption: The verdicts of {name}: {judged.family(study.judged)} with their 95 % intervals, p"
            " after Holm's correction for all that have one."
        )
        made[f"{FOLDER}/verdicts.tex"] = _tabular([about, *warned], _verdicts(study))
    return made


def escaped(text: str) -> str:
    """Any text as LaTeX prints it; a letter that it does not know is a question mark."""
    known = (
        character if character.isprintable() and ord(character) <= LATIN_LAST else "?"
        for character in " ".join(text.split())
    )
    return "".join(SPECIAL.get(character, character) for character in known)


def _cells(study: Study) -> Table:
    columns = [column for column in COLUMNS if column.name in CELL_COLUMNS]
    rows = [
        [
            *shown_levels(study.found, cell),
            cell.n,
            *(_value(cell, column) for column in columns),
        ]
        for cell in study.found.cells
    ]
    titles = [*study.found.factors, "n", *(column.title for column in columns)]
    return Table(titles, rows, len(study.found.factors))


def _value(cell: Cell, column: Column) -> str:
    value = cell.values[column.name]
    return shown(column, value) or na(value)


def _verdicts(study: Study) -> Table:
    """With the number that is judged where there are several."""
    several = len({row.measure for row in study.judged}) > 1
    rows = [
        [*_place(row), *([row.measure] if several else []), row.verdict.word, *_numbers(row)]
        for row in study.judged
    ]
    words = ["level", "against", "where", *(["number"] if several else []), "verdict"]
    return Table([*words, "ratio", "95 % interval", "p (Holm)", "n"], rows, left=len(words))


def _place(row: Judged) -> list[str]:
    one = row.comparison
    sides = (describe(one.factor, level) for level in (one.level, one.base))
    return [*sides, context_of(one) or "all"]


def _numbers(row: Judged) -> list[str]:
    ratio, p = row.ratio, row.verdict.p_adjusted
    shown_p = f"n/a ({ratio.reason})" if p is None else chance(p)
    return [point_of(ratio), ends_of(ratio), shown_p, sample_size(ratio)]


def _tabular(about: list[str], table: Table) -> bytes:
    """The table between rules, what it is about above it as comments; reasons of unknown values as numbered notes beneath."""
    notes: list[str] = []
    rows = [[_noted(text, notes) for text in row] for row in table.rows]
    width = len(table.titles)
    kinds = "".join("l" if is_words else "r" for is_words in table.wordy)
    under = [
        rf"\multicolumn{{{width}}}{{l}}{{\footnotesize $^{{{place}}}$ {escaped(note)}}} \\"
        for place, note in enumerate(notes, start=1)
    ]
    lines = [
        *(f"% {' '.join(line.split())}" for line in [*about, FITS]),
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        *map(_row, _heads(table.titles)),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        *under,
        r"\end{tabular}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _heads(titles: list[str]) -> list[list[str]]:
    """Titles over as many rows as the longest needs; the last line of each stands lowest."""
    wrapped = [textwrap.wrap(title, HEAD_LETTERS) for title in titles]
    height = max(map(len, wrapped))
    padded = [[""] * (height - len(lines)) + lines for lines in wrapped]
    return [[escaped(lines[row]) for lines in padded] for row in range(height)]


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _noted(text: str, notes: list[str]) -> str:
    """An unknown value's reason goes beneath the table."""
    if not text.startswith("n/a ("):
        return escaped(text)
    reason = text.removeprefix("n/a (").removesuffix(")")
    if reason not in notes:
        notes.append(reason)
    return f"n/a$^{{{notes.index(reason) + 1}}}$"
