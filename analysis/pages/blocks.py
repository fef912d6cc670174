"""Parts of a report that read the same as text, Markdown and HTML: a title, lines, a table."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Cells as people read them; the first `left` columns are words, the others numbers."""

    titles: list[str]
    rows: list[list[str]]
    left: int = 1


@dataclass(frozen=True)
class Block:
    """One part: each of lines, table and verbatim text may be absent. Under a section of the same
    title it has no heading of its own; a folded one is opened by who wants it."""

    title: str
    lines: list[str] = field(default_factory=list)
    table: Table | None = None
    verbatim: str = ""
    folded: bool = False


def aligned(table: Table) -> list[str]:
    """The table in lines of a fixed-width font."""
    widths = [max(map(len, column)) for column in zip(table.titles, *table.rows)]
    return [
        "  ".join(
            text.ljust(width) if place < table.left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths))
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
