# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The text of a loop in two stages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hocket.rewrite.blocks import Item
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.pipelines import Pipeline
from hocket.rewrite.symbols import Symbol
from hocket.rewrite.syntax import Node, Source, child_of, children, source_of, text_of, walk
from hocket.rewrite.text import (
    MAX_COLUMNS,
    comments_of,
    folded,
    in_style,
    indent_of,
    line_end,
    new_names,
    plus_one,
    start_text,
)


@dataclass(frozen=True)
class Double:
    """The array with the two copies of a variable, whose rank is `rank`. The last subscript chooses the copy."""

    name: str
    rank: int

    def whole(self, copy: str) -> str:
        return f"({', '.join([':'] * self.rank + [copy])})"


@dataclass(frozen=True)
class PipelineText:
    call: Item
    bound: BoundArguments
    pipeline: Pipeline
    source: Source
    requests: str
    step: str
    copy: str
    doubles: dict[str, Double]  # by the variable

    @staticmethod
    def of(call: Item, bound: BoundArguments, pipeline: Pipeline, source: Source) -> PipelineText:
        requests, step, copy = (new_names(source, 1, f"hocket_{stem}")[0] for stem in ("requests", "step", "copy"))
        doubles = {
            one.name: Double(new_names(source, 1, f"hocket_{one.name}")[0], len(one.bounds or ()))
            for one in pipeline.doubled
        }
        return PipelineText(call, bound, pipeline, source, requests, step, copy, doubles)

    def declarations(self, request_type: str) -> list[str]:
        lines = [f"{request_type} :: {self.requests}(2)", f"integer :: {self.step}, {self.copy}"]
        return lines + [
            f"{_type_of(one)} :: {self.doubles[one.name].name}({_bounds(one)})" for one in self.pipeline.doubled
        ]

    def text(self) -> bytes:
        """In place of the loop, with the comments before it."""
        one, node = self.pipeline, self.pipeline.item.node
        upper, last = one.upper, node.start_point[0]
        header = next(child for child in node.children if child.type == "do_statement")
        control = next(child for child in walk(header) if child.type == "loop_control_expression")
        begin = sum(map(len, self.source.lines[:last]))
        end = sum(map(len, self.source.lines[: header.end_point[0] + 1]))
        text = comments_of(one.item, self.source) + self.source.text[begin : control.start_byte]
        text += f"{self.step} = {one.lower}, {plus_one(upper)}".encode() + self.source.text[control.end_byte : end]
        text += self._stage(f"{self.step} <= {upper}", self.step, "first")
        text += self._stage(f"{self.step} > {one.lower}", f"{self.step} - 1", "second")
        # Comments behind the last statement stay behind it.
        tail = b"".join(self.source.lines[one.second[-1].last_line + 1 : one.item.last_line + 1])
        text += tail if tail.endswith(b"\n") else tail + line_end(self.source)
        if one.needs_value:
            text += self._line(
                f"{one.variable} = max({one.lower}, {plus_one(upper)})", indent_of(one.item, self.source)
            )
        return text

    @property
    def fits(self) -> bool:
        return all(len(line.rstrip()) <= MAX_COLUMNS for line in self.text().splitlines())

    def _stage(self, condition: str, value: str, name: str) -> bytes:
        one, indent = self.pipeline, indent_of(self.call, self.source)
        lines = [f"if ({condition}) then", f"{one.variable} = {value}"]
        lower = one.lower if one.lower.isalnum() else f"({one.lower})"
        lines.append(f"{self.copy} = mod({one.variable} - {lower}, 2) + 1")
        text = b"".join(self._line(line, indent) for line in lines)
        if name == "first":
            text += self._items(one.first) + self._start()
        else:
            error = f", {source_of(self.bound.error)}" if self.bound.error is not None else ""
            call, wait = source_of(children(self.call.node)[0]), in_style("MPI_Wait", children(self.call.node)[1])
            text += self._line(f"{call} {wait}({self.requests}({self.copy}), MPI_STATUS_IGNORE{error})", indent)
            text += self._items(one.second)
        return text + self._line("end if", indent)

    def _line(self, text: str, indent: bytes) -> bytes:
        return indent + text.encode() + line_end(self.source)

    def _items(self, items: Iterable[Item]) -> bytes:
        return b"".join(self._item(one) for one in items)

    def _item(self, item: Item) -> bytes:
        begin = sum(map(len, self.source.lines[: item.first_line]))
        end = sum(map(len, self.source.lines[: item.last_line + 1]))
        text = self.renamed(item.node, begin, end)
        return text if text.endswith(b"\n") else text + line_end(self.source)

    def _start(self) -> bytes:
        """The start of the call: parsed again, to put the copies into it."""
        text = start_text(self.call, self.bound, [f"{self.requests}({self.copy})"], self.source)
        own = Source(self.source.path, b"subroutine s\n" + text + b"end subroutine\n")
        call = next(one for one in walk(own.root) if one.type == "subroutine_call")
        begin, end = len(b"subroutine s\n"), len(own.text) - len(b"end subroutine\n")
        new = _renamed(own, call, self.doubles, self.copy, begin, end)
        if all(len(line.rstrip()) <= MAX_COLUMNS for line in new.splitlines()):
            return new
        words = _renamed(own, call, self.doubles, self.copy, call.start_byte, call.end_byte).decode(errors="replace")
        line = " ".join(words.replace("&", " ").split())
        before = own.text[begin : call.start_byte].rpartition(b"\n")[0]
        before += b"\n" if before else b""
        return before + folded(indent_of(self.call, self.source), line, self.source) + own.text[call.end_byte : end]

    def renamed(self, node: Node, begin: int, end: int) -> bytes:
        return _renamed(self.source, node, self.doubles, self.copy, begin, end)


def _renamed(source: Source, node: Node, doubles: dict[str, Double], copy: str, begin: int, end: int) -> bytes:
    """The text from `begin` to `end`, with the copies in place of the variables of `node`."""
    edits: list[tuple[int, int, bytes]] = []
    for one in walk(node):
        if one.type != "identifier" or text_of(one) not in doubles:
            continue
        edits.append((one.start_byte, one.end_byte, doubles[text_of(one)].name.encode()))
        parent = one.parent
        arguments = child_of(parent, "argument_list") if parent is not None else None
        if parent is not None and parent.type == "call_expression" and parent.children[0].id == one.id and arguments:
            edits.append((arguments.end_byte - 1, arguments.end_byte - 1, f", {copy}".encode()))
        else:
            edits.append((one.end_byte, one.end_byte, doubles[text_of(one)].whole(copy).encode()))
    text, at = b"", begin
    for start, stop, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        text += source.text[at:start] + new
        at = stop
    return text + source.text[at:end]


def _type_of(symbol: Symbol) -> str:
    kind = "kind(1d0)" if symbol.kind == "double" else symbol.kind
    return f"{symbol.type}({kind})" if kind else symbol.type


def _bounds(symbol: Symbol) -> str:
    texts = [
        f"{source_of(lower)}:{source_of(upper)}" if lower is not None else source_of(upper)
        for lower, upper in symbol.bounds or ()
    ]
    return ", ".join([*texts, "2"])
