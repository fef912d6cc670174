"""A run's report as one page: which parts it has, and in which order they are read."""

from __future__ import annotations

from typing import Sequence

from analysis.figures.canvas import Drawing
from analysis.inputs.load import Result
from analysis.judgement.study import Study
from analysis.pages import cell_tables
from analysis.pages import claims
from analysis.pages import comparison
from analysis.pages import course
from analysis.pages import factors
from analysis.pages import method
from analysis.pages import origin
from analysis.pages import samples
from analysis.pages import sentences
from analysis.pages import spectrum
from analysis.pages import verdicts
from analysis.pages.blocks import Block
from analysis.pages.headline import headline
from analysis.pages.page import Page, Section


def page(study: Study, drawings: Sequence[Drawing]) -> Page:
    """What speaks against the run, its answer, and all sections."""
    return Page(
        title=title(study.result),
        sections=sections(study, drawings),
        banner=study.caveats,
        answer=headline(study),
        question=str(study.result.effective.get("question", "")),
    )


def title(result: Result) -> str:
    """The run's name."""
    return f"{result.experiment.get('name', 'experiment')}: {result.path.resolve().name}"


def sections(study: Study, drawings: Sequence[Drawing] = ()) -> list[Section]:
    """Verdicts first, then what they rest on, then how it came about; some may hold nothing."""
    ceiling = study.result.ceiling
    shares = [Block("Shares of the bare echo", verbatim=ceiling)] if ceiling else []
    return [
        Section("verdicts", "Verdicts", verdicts.blocks(study)),
        Section("claims", "Claims", claims.blocks(study)),
        Section("says", "What the run says", sentences.blocks(study)),
        Section("variants", "Variants", comparison.blocks(study)),
        Section("factors", "Factors", factors.blocks(study)),
        Section("latency", "Latency", spectrum.blocks(study)),
        Section("shares", "Shares of the bare echo", shares),
        Section("cells", "Cells", cell_tables.blocks(study)),
        Section("kernel", "What the kernel was asked for", cell_tables.kernel(study)),
        Section("figures", "Figures", samples.blocks(study), list(drawings)),
        Section("course", "How the run went", course.blocks(study)),
        Section("invalid", "Invalid samples", samples.invalid(study)),
        Section("method", "How it was measured", method.blocks(study)),
        Section("limits", "What these numbers do not show", method.not_shown(study)),
        Section("facts", "Host and build", origin.blocks(study)),
        Section("files", "Files", origin.files(study)),
        Section("again", "Run it again", method.again(study)),
    ]
