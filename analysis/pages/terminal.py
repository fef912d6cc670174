"""aggregate.txt: the report for a terminal."""

from __future__ import annotations

from analysis.judgement.study import Study
from analysis.pages import cell_tables
from analysis.pages import claims
from analysis.pages import comparison
from analysis.pages import course
from analysis.pages import headline
from analysis.pages import samples
from analysis.pages import verdicts
from analysis.pages.blocks import as_text
from analysis.pages.sections import title


def text_bytes(study: Study) -> bytes:
    """What speaks against the run, the answer, the verdicts, the variants side by side, how the run
    went, the table, what the columns are."""
    compared = comparison.blocks(study)
    # A comparison has them among its failures.
    invalid = [] if compared else samples.invalid_lines(study)
    return "\n".join(
        [
            title(study.result),
            "",
            *(f"! {caveat.what}: {caveat.detail}" for caveat in study.caveats),
            *headline.headline(study),
            "",
            *as_text(verdicts.blocks(study)),
            *as_text(claims.blocks(study)),
            *as_text(compared),
            *as_text(course.blocks(study)),
            *as_text(invalid),
            "Cells:",
            "",
            cell_tables.as_text(study.found, cell_tables.SHOWN),
            cell_tables.N_ABOUT,
            *cell_tables.about(cell_tables.SHOWN),
            "",
            "What the kernel was asked for, per request, on the server's CPUs:",
            "",
            cell_tables.as_text(study.found, cell_tables.KERNEL),
            *cell_tables.about(cell_tables.KERNEL),
            "",
        ]
    ).encode()
