"""Parts of a report that read the same as text, Markdown and HTML: a title, lines, a table."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Cells as people read them; the first `left` columns are words, and those with a title in
    `words`; the others are numbers."""

    titles: list[str]
    rows: list[list[str]]
    left: int = 1
    words: frozenset[str] = frozenset()

    @property
    def wordy(self) -> list[bool]:
        """Of each column, whether it holds words, which stand to the left."""
        return [at < self.left or title in self.words for at, title in enumerate(self.titles)]


@dataclass(frozen=True)
class Block:
    """One part: each of lines, table and verbatim text may be absent. Under a section of the same
    title it has no heading of its own; a folded one is opened by who wants it, and is `brief` in Markdown,
    where nothing folds."""

    title: str
    lines: list[str] = field(default_factory=list)
    table: Table | None = None
    verbatim: str = ""
    folded: bool = False
    brief: str = ""


def aligned(table: Table) -> list[str]:
    """The table in lines of a fixed-width font."""
    widths = [max(map(len, column)) for column in zip(table.titles, *table.rows)]
    return [
        "  ".join(
            text.ljust(width) if is_words else text.rjust(width)
            for text, width, is_words in zip(row, widths, table.wordy)
        ).rstrip()
        for row in (table.titles, ["-" * width for width in widths], *table.rows)
    ]


def as_text(blocks: list[Block]) -> list[str]:
    """Blocks in lines: the title, a colon, what it holds, an empty line."""
    lines: list[str] = []
    for block in blocks:
        lines += [f"{block.title}:"]
        lines += [f"  {line}" for line in block.lines]
        if block.table is not None:
            lines += ["", *aligned(block.table)]
        lines += block.verbatim.splitlines()
        lines.append("")
    return lines
