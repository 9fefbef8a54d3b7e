# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The statement lists of a procedure, and their statements as runs of whole lines that can be moved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hocket.rewrite.collector import Collector, is_directive, loop_body
from hocket.rewrite.effects import Barrier, Effects
from hocket.rewrite.facts import Facts
from hocket.rewrite.recorder import Summaries
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, line_of, source_of, text_of

#: Directives of OpenMP and compilers that concern the loop behind them only.
_OF_ONE_LOOP = re.compile(r"!\$omp\s*(paralleldo|simd)|!(dir|dec|gcc)\$")
_END_OF_ONE_LOOP = re.compile(r"!\$omp\s*end(paralleldo|simd)")


@dataclass
class Item:
    """A statement with the comments and empty lines before it."""

    node: Node
    comments: list[Node]
    first_line: int  # from 0, of the comments
    last_line: int
    effects: Effects = field(default_factory=Effects)
    has_directive: bool = False

    @property
    def line(self) -> int:
        """From 1, of the statement."""
        return line_of(self.node)

    def annotation(self, word: str) -> int:
        """The line of `!$hocket word` before the statement; 0 if there is none."""
        for comment in self.comments:
            if re.match(rf"!\$hocket\s+{word}\b", source_of(comment).lower()):
                return line_of(comment)
        return 0


@dataclass
class Block:
    """A list of statements that are executed one after another."""

    procedure: Procedure
    nodes: list[Node]
    start_line: int  # from 0: the first line that belongs to the statements
    parent: Block | None = None
    owner: Node | None = None  # the statement of the parent that it is in

    @property
    def key(self) -> int:
        return int(self.nodes[0].start_byte) if self.nodes else -1

    def chain(self) -> Iterator[Block]:
        at: Block | None = self
        while at is not None:
            yield at
            at = at.parent


def blocks_of(procedure: Procedure) -> Iterator[Block]:
    """All of them, the outer ones first."""
    first = procedure.declarations_end
    yield from _with_inner(Block(procedure, procedure.body, first))


def _with_inner(block: Block) -> Iterator[Block]:
    yield block
    for node in block.nodes:
        for inner in inner_blocks(block, node):
            yield from _with_inner(inner)


def inner_blocks(block: Block, node: Node) -> Iterator[Block]:
    """The statement lists directly in a statement of the block."""
    for nodes in bodies_of(node):
        # A comment behind `do` or `then` stays there.
        header = _row_before(nodes[0]) if nodes else 0
        inside = [one for one in nodes if one.type != "comment" or one.start_point[0] > header]
        if inside:
            yield Block(block.procedure, inside, header + 1, block, node)


def _row_before(node: Node) -> int:
    """The last line (from 0) of what stands before the first statement of a list."""
    before = node.prev_sibling
    if before is None and node.parent is not None:  # the end of a loop with a label is a statement of its own
        before = node.parent.prev_sibling
    return int(before.end_point[0]) if before is not None else int(node.start_point[0]) - 1


def bodies_of(node: Node) -> list[list[Node]]:
    """The statement lists in a statement."""
    if node.type == "do_loop":
        return [loop_body(node)]
    if node.type == "if_statement":
        if child_of(node, "end_if_statement") is None:
            return []
        own = [part for part in node.children if part.is_named and part.type not in _NOT_STATEMENTS]
        own = own[1:]  # the condition
        inner = [
            [part for part in clause.children if part.is_named and part.type != "parenthesized_expression"]
            for clause in node.children
            if clause.type in ("elseif_clause", "else_clause")
        ]
        return [own, *inner]
    if node.type == "select_case_statement":
        return [
            [part for part in case.children if part.is_named and part.type not in ("case_value_range_list", "default")]
            for case in node.children
            if case.type == "case_statement"
        ]
    return []


_NOT_STATEMENTS = ("elseif_clause", "else_clause", "end_if_statement", "block_label_start_expression", "&")


def items_of(block: Block, summaries: Summaries, facts: Facts) -> tuple[list[Item], set[str]]:
    """With their effects, and the aliases of all that they write.

    Sections are compared as if what nothing in the block writes keeps its value.
    """
    items = statements_of(block)
    changed: set[str] = set()
    for item in items:
        first = Collector(block.procedure, summaries, facts)
        _collect(first, item)
        changed |= first.effects.written
    earlier: list[Node] = []
    for item in items:
        collector = Collector(block.procedure, summaries, facts, changed, earlier)
        _collect(collector, item)
        item.effects = collector.effects
        item.effects.barriers += line_barriers(item, block)
        earlier.append(item.node)
    return items, changed


def _collect(collector: Collector, item: Item) -> None:
    for comment in filter(is_directive, item.comments):
        collector.directive(comment)
    collector.statement(item.node, bool(item.annotation("pure")))


def statements_of(block: Block) -> list[Item]:
    """Without their effects."""
    items: list[Item] = []
    comments: list[Node] = []
    next_line = block.start_line
    for node in block.nodes:
        if node.type == "comment":
            row = int(node.start_point[0])
            if items and row == items[-1].last_line:
                continue  # behind a statement
            if items and _END_OF_ONE_LOOP.match(text_of(node).replace(" ", "")) and items[-1].has_directive:
                items[-1].last_line, next_line = row, row + 1
                continue
            comments.append(node)
            continue
        if node.type in (";", "statement_label"):
            comments.append(node)  # makes a barrier of what follows
            continue
        last = int(node.end_point[0])
        if node.end_point[1] == 0 and last > node.start_point[0]:
            last -= 1
        item = Item(node, comments, min(next_line, int(node.start_point[0])), last)
        item.has_directive = any(is_directive(one) for one in comments)
        items.append(item)
        comments, next_line = [], last + 1
    return items


def line_barriers(item: Item, block: Block) -> list[Barrier]:
    """What in the layout of its lines forbids to move a statement."""
    lines = block.procedure.source.lines
    first, last = lines[item.node.start_point[0]], lines[item.node.end_point[0]] if item.node.end_point[1] else b""
    before = first[: item.node.start_point[1]].strip()
    behind = last[item.node.end_point[1] :].strip()
    found = []
    if before or (behind and not behind.startswith(b"!")):
        found.append(Barrier("layout", "it shares its line with a label or another statement", "", item.line))
    if any(one.type in (";", "statement_label") for one in item.comments) and not found:
        found.append(Barrier("layout", "it has a label or follows a semicolon", "", item.line))
    for comment in item.comments:
        text = text_of(comment).lower().replace(" ", "")
        if is_directive(comment) and not (_OF_ONE_LOOP.match(text) and item.node.type == "do_loop"):
            found.append(Barrier("directive", "a directive stands before it", "", item.line))
    return found
