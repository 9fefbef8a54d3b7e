# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The statements of a block of C as the planner of windows has them: with their lines and what they access."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hocket.rewrite.blocks import Item
from hocket.rewrite.c_effects import CCollector, CProgram
from hocket.rewrite.c_names import Names
from hocket.rewrite.c_source import CFunction, Cursor, kind, outer_names

_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)


@dataclass
class _Statement:
    """Stands for a node of the syntax tree, where the planner looks for loops of Fortran."""

    type: str = "c_statement"
    children: tuple[Any, ...] = ()


@dataclass
class CItem(Item):
    """A statement of a block, with the comments and empty lines before it."""

    cursor: Any = None
    stated: dict[str, int] = field(default_factory=dict)  # word of `// hocket word` -> line

    @property
    def line(self) -> int:
        return int(self.cursor.extent.start.line)

    def annotation(self, word: str) -> int:
        return self.stated.get(word, 0)


def items_of(
    block: Cursor, statements: list[Cursor], function: CFunction, program: CProgram, names: Names
) -> list[CItem]:
    lines, next_line = function.source.lines, int(block.extent.start.line)
    outer, end = outer_names(block), int(block.extent.start.offset) + 1
    items: list[CItem] = []
    for cursor in statements:
        first, last = int(cursor.extent.start.line) - 1, int(cursor.extent.end.line) - 1
        collector = CCollector(function, program, names)
        collector.statement(cursor)
        stands_in: Any = _Statement()
        item = CItem(stands_in, [], min(next_line, first), last, collector.effects, cursor=cursor)
        for number in range(item.first_line, first):
            found = re.match(rb"\s*(?://|/\*)\s*hocket\s+(\w+)", lines[number])
            if found:
                item.stated[found[1].decode()] = number + 1
        if any(one.spelling in outer for one in cursor.get_children() if kind(cursor) == "DECL_STMT"):
            collector.barrier("unknown", cursor, "the block uses another variable of this name, too")
        between = _COMMENT.sub(b"", function.source.text[end : cursor.extent.start.offset])
        end = int(cursor.extent.end.offset)
        if items and first <= items[-1].last_line:  # a macro makes both
            CCollector(function, program, names, effects=items[-1].effects).barrier(
                "layout", cursor, "a macro makes it"
            )
            collector.barrier("layout", cursor, "a macro makes it")
        elif not _has_lines(cursor, lines) or between.strip(b" \t\n;"):
            collector.barrier("layout", cursor, "it shares its line with another statement, or a macro makes it")
        items.append(item)
        next_line = last + 1
    return items


def _has_lines(cursor: Cursor, lines: list[bytes]) -> bool:
    """Whether nothing else stands in the lines of a statement."""
    start, end = cursor.extent.start, cursor.extent.end
    before = lines[start.line - 1][: start.column - 1]
    behind = lines[end.line - 1][end.column - 1 :]
    is_whole = lines[end.line - 1][end.column - 2 : end.column - 1] in (b"}", b";")
    rest = re.match(
        rb"\s*(//.*|/\*(?:(?!\*/).)*\*/\s*)?$" if is_whole else rb"\s*;\s*(//.*|/\*(?:(?!\*/).)*\*/\s*)?$", behind
    )
    is_spliced = any(line.endswith(b"\\\n") for line in lines[start.line - 1 : end.line])
    return not before.strip() and rest is not None and not is_spliced
