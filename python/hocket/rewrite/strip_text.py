# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The text of a collective in parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hocket.rewrite.blocks import Item
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.part_counts import MAX_PARTS, PARTS_AT_ONCE, least_parts
from hocket.rewrite.rows import RowBuffer
from hocket.rewrite.strips import Strip, StripLoop
from hocket.rewrite.syntax import Node, Source, children, named, source_of
from hocket.rewrite.text import (
    comments_of,
    folded,
    in_style,
    indent_of,
    line_end,
    loop_text,
    new_names,
    on_one_line,
    plus_one,
    shifted,
)


@dataclass(frozen=True)
class StripNames:
    """Of the variables that the parts need; the file has none of them."""

    requests: str
    parts: str
    rows: str
    part: str
    begin: str
    end: str
    first: str
    last: str

    @property
    def integers(self) -> list[str]:
        return [self.parts, self.rows, self.part, self.begin, self.end, self.first, self.last]


def strip_names(source: Source) -> StripNames:
    stems = "requests parts rows part begin end first last".split()
    return StripNames(*(new_names(source, 1, f"hocket_{stem}")[0] for stem in stems))


@dataclass(frozen=True)
class StripText:
    """Of one strip; `part_bytes` cost as much on the network as a part more."""

    call: Item
    bound: BoundArguments
    strip: Strip
    names: StripNames
    source: Source
    part_bytes: int

    def starts(self) -> bytes:
        """In place of the call, or of the loop above it."""
        names, above, count = self.names, self.strip.above, self.strip.rows.count
        row_bytes = " * ".join([*self.strip.rows.units, str(self.strip.rows.element_bytes)])
        at_once = "" if above is not None else f"{PARTS_AT_ONCE} * "
        wanted = f"int(sqrt({at_once}real({count}) * {row_bytes} / {self.part_bytes}))"
        lines = [
            f"{names.parts} = min({MAX_PARTS}, {count}, {wanted})",
            f"if ({names.parts} < {least_parts(above is not None)}) {names.parts} = 1",
            f"{names.rows} = max(1, {shifted_sum(count, names.parts)} / {names.parts})",
            f"{names.parts} = max(1, {shifted_sum(count, names.rows)} / {names.rows})",
        ]
        item = above.item if above is not None else self.call
        text = comments_of(item, self.source) + self._lines(lines)
        if above is None:
            text += self._lines([f"do {names.part} = 1, min({PARTS_AT_ONCE}, {names.parts})"])
            return text + self._lines(self._start_lines(names.part), 1) + self._lines(["end do"])
        text += self._loop_over_parts(above, self._start_lines(names.part), is_before=False)
        return text + self._value(above)

    def waits(self) -> bytes:
        """In place of the loop below the call, or of the call."""
        below = self.strip.below
        text = comments_of(below.item, self.source) if below is not None else b""
        text += self._loop_over_parts(below, self._wait_lines(), is_before=True)
        return text if below is None else text + self._value(below)

    def _loop_over_parts(self, loop: StripLoop | None, lines: list[str], is_before: bool) -> bytes:
        names = self.names
        text = self._lines([f"{names.begin} = {loop.loop.lower_text}"]) if loop is not None else b""
        text += self._lines([f"do {names.part} = 1, {names.parts}"])
        text += self._lines(lines, 1) if is_before else b""
        text += self._iterations(loop) if loop is not None else b""
        text += self._lines(lines, 1) if not is_before else b""
        return text + self._lines(["end do"])

    def _iterations(self, loop: StripLoop) -> bytes:
        names, upper = self.names, loop.loop.upper_text
        last = f"{names.part} * {names.rows}" + _minus(loop.distance)
        before = [
            f"{names.end} = min({upper}, {last})",
            f"if ({names.part} == {names.parts}) {names.end} = {upper}",
        ]
        text = self._lines(before, 1) + loop_text(loop.item, loop.loop.name, names.begin, names.end, self.source)
        return text + self._lines([f"{names.begin} = max({names.begin}, {names.end} + 1)"], 1)

    def _start_lines(self, part: str) -> list[str]:
        names, count = self.names, self.strip.rows.count
        before, here = (f"({shifted(part, -1)})", part if part.isidentifier() else f"({part})")
        return [
            f"{names.first} = {before} * {names.rows} + 1",
            f"{names.last} = min({count}, {here} * {names.rows})",
            self._start(part),
        ]

    def _start(self, which: str) -> str:
        name, call = children(self.call.node)[1], source_of(children(self.call.node)[0])
        names, rows = self.names, self.strip.rows
        new = {one.argument: self._section(one) for one in rows.buffers}
        number = f"{names.last} - {names.first} + 1"
        new["count"] = f"({number}) * {' * '.join(rows.units)}" if rows.units else number
        by_node = {self.bound.actuals[argument].id: text for argument, text in new.items()}
        request = f"{names.requests}({which})"
        words: list[str] = []
        has_keyword = False
        for part in children(children(self.call.node)[2]):
            if part.type in ("(", ")", ","):
                continue
            node: Node = named(part)[-1] if part.type == "keyword_argument" else part
            keyword = f"{source_of(named(part)[0])}=" if part.type == "keyword_argument" else ""
            has_keyword = has_keyword or bool(keyword)
            if self.bound.error is not None and node.id == self.bound.error.id and not keyword:
                words.append(request)
                request = ""
            words.append(keyword + by_node.get(node.id, on_one_line(node)))
        if request:
            words.append(f"request={request}" if has_keyword else request)
        return f"{call} {in_style(self.bound.procedure.starts[0], name)}({', '.join(words)})"

    def _section(self, buffer: RowBuffer) -> str:
        edges = [_behind(buffer.first_text, one) for one in (self.names.first, self.names.last)]
        subscripts = [":"] * buffer.dimension + [":".join(edges), *buffer.behind]
        return f"{buffer.symbol.name}({', '.join(subscripts)})"

    def _wait_lines(self) -> list[str]:
        name, call = children(self.call.node)[1], source_of(children(self.call.node)[0])
        error = f", {source_of(self.bound.error)}" if self.bound.error is not None else ""
        request = f"{self.names.requests}({self.names.part})"
        wait = f"{call} {in_style('MPI_Wait', name)}({request}, MPI_STATUS_IGNORE{error})"
        if self.strip.above is not None:
            return [wait]
        part, parts = self.names.part, self.names.parts
        starts = self._start_lines(f"{part} + {PARTS_AT_ONCE}")
        condition = f"if ({part} + {PARTS_AT_ONCE} <= {parts}) then"
        return [wait, condition, *(f"  {one}" for one in starts), "end if"]

    def _value(self, loop: StripLoop) -> bytes:
        """The loop variable has the value that it had behind the whole loop."""
        one = loop.loop
        return self._lines([f"{one.name} = max({one.lower_text}, {plus_one(one.upper_text)})"] * loop.needs_value)

    def _lines(self, lines: list[str], depth: int = 0) -> bytes:
        indent = indent_of(self.call, self.source) + b"  " * depth
        return b"".join(folded(indent, line, self.source) + line_end(self.source) for line in lines)


def shifted_sum(count: str, other: str) -> str:
    """(count + other - 1), readable."""
    return f"({shifted(count, -1)} + {other})" if count.isdigit() else f"({count} + {other} - 1)"


def _behind(first: str, row: str) -> str:
    """The subscript of a row, counted from 1, where the first one has the subscript `first`."""
    if re.fullmatch(r"-?\d+", first):
        offset = int(first) - 1
        return row if offset == 0 else f"{row} {'+' if offset > 0 else '-'} {abs(offset)}"
    return f"{shifted(first, -1)} + {row}"


def _minus(distance: str) -> str:
    if re.fullmatch(r"-?\d+", distance):
        return f" {'+' if int(distance) < 0 else '-'} {abs(int(distance))}"
    return f" - ({distance})" if distance else ""
