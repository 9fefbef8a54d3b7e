# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The text of rewritten statements. Lines that are not rewritten stay as they are, byte for byte."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence

from hocket.rewrite.blocks import Item
from hocket.rewrite.fission import Fission
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.splitting import Split
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, Source, children, own_names, source_of, walk

#: Free form: Fortran 2018, 6.3.2.1.
MAX_COLUMNS = 132


def indent_of(item: Item, source: Source) -> bytes:
    line = source.lines[item.node.start_point[0]]
    return line[: len(line) - len(line.lstrip())]


def line_end(source: Source) -> bytes:
    return b"\r\n" if source.lines and source.lines[0].endswith(b"\r\n") else b"\n"


def lines_of(item: Item, source: Source) -> bytes:
    """With the comments before it. The last line of a file may lack its end."""
    text = b"".join(source.lines[item.first_line : item.last_line + 1])
    return text if text.endswith(b"\n") else text + line_end(source)


def comments_of(item: Item, source: Source) -> bytes:
    return b"".join(source.lines[item.first_line : item.node.start_point[0]])


def start_text(item: Item, bound: BoundArguments, requests: list[str], source: Source) -> bytes:
    """The call in its non-blocking form, with its comments."""
    name = children(item.node)[1]
    if len(requests) > 1:
        return _two_starts(item, bound, requests, source)
    request, start = requests[0], in_style(bound.procedure.starts[0], name)
    edits: list[tuple[int, int, bytes]] = [(name.start_byte, name.end_byte, start.encode())]
    arguments = children(item.node)[2]
    given = [part for part in children(arguments) if part.type not in ("(", ")", ",")]
    dropped = bound.actual("status")
    by_keyword = any(part.type == "keyword_argument" for part in given)
    if dropped is not None:  # MPI_Recv: its status is that of the wait
        edits.append((dropped.start_byte, dropped.end_byte, request.encode()))
    elif by_keyword:
        edits.append((given[-1].end_byte, given[-1].end_byte, f", request={request}".encode()))
    elif bound.error is not None:
        edits.append((bound.error.start_byte, bound.error.start_byte, f"{request}, ".encode()))
    else:
        edits.append((given[-1].end_byte, given[-1].end_byte, f", {request}".encode()))
    first = source.lines[: item.node.start_point[0]]
    offset = sum(map(len, first))
    end = offset + sum(len(line) for line in source.lines[item.node.start_point[0] : item.last_line + 1])
    text, at = b"", offset
    for begin, stop, new in sorted(edits):
        text += source.text[at:begin]
        if new != edits[0][2] and _columns(text, source.text[begin:end]) + len(new) > MAX_COLUMNS:
            text += b"&" + line_end(source) + indent_of(item, source) + b"     "
        text += new
        at = stop
    text += source.text[at:end]
    return comments_of(item, source) + (text if text.endswith(b"\n") else text + line_end(source))


def _two_starts(item: Item, bound: BoundArguments, requests: list[str], source: Source) -> bytes:
    """MPI_Sendrecv as MPI_Isend and MPI_Irecv; a comment behind the call stays behind the first.

    In this order: where ranks exchange large messages, the answer to the other's announcement must not stand behind own
    data (docs/notebook/rewrite-gain.md).
    """
    name, call = children(item.node)[1], source_of(children(item.node)[0])
    end = sum(map(len, source.lines[: item.last_line + 1]))
    behind = source.text[item.node.end_byte : end].strip()
    text = comments_of(item, source)
    for start, arguments, request in zip(bound.procedure.starts, _HALVES, requests, strict=True):
        words = [on_one_line(bound.actuals[one]) for one in arguments] + [request]
        words += [source_of(bound.error)] if bound.error is not None else []
        line = f"{call} {in_style(start, name)}({', '.join(words)})"
        text += folded(indent_of(item, source), line, source) + (b"   " + behind if behind else b"") + line_end(source)
        behind = b""
    return text


_HALVES = (
    ("sendbuf", "sendcount", "sendtype", "dest", "sendtag", "comm"),
    ("recvbuf", "recvcount", "recvtype", "source", "recvtag", "comm"),
)


def on_one_line(node: Node) -> str:
    return " ".join(source_of(node).replace("&", " ").split())


def folded(indent: bytes, line: str, source: Source) -> bytes:
    """In lines of at most MAX_COLUMNS, broken behind commas, or else at blanks."""
    for parts in (line.split(", "), line.split(" ")):
        mark, lines = (", " if ", ".join(parts) == line else " "), [""]
        for part in parts:
            if lines[-1] and len(indent) + len(lines[-1]) + len(part) + 9 > MAX_COLUMNS:
                lines.append("")
            lines[-1] += (mark if lines[-1] else "") + part
        if len(indent) + max(map(len, lines)) + 8 <= MAX_COLUMNS:
            break
    joint = mark + "&" + line_end(source).decode() + indent.decode() + "     "
    return indent + joint.join(lines).encode()


def in_style(name: str, like: Node) -> str:
    """In small or capital letters where the call is written so."""
    text = source_of(like)
    return name.lower() if text.islower() else name.upper() if text.isupper() else name


def _columns(before: bytes, behind: bytes) -> int:
    """Of the line that ends with `before` and goes on with `behind`."""
    return len(before.rpartition(b"\n")[2]) + len(behind.partition(b"\n")[0].rstrip())


def null_text(branch: Item, call: Item, requests: list[str], source: Source) -> bytes:
    """Before a branch: what is not started in it needs no wait."""
    null = in_style("MPI_REQUEST_NULL", children(call.node)[1])
    lines = [f"{one} = {null}" for one in requests]
    return b"".join(folded(indent_of(branch, source), line, source) + line_end(source) for line in lines)


def wait_text(item: Item, place: Item, bound: BoundArguments, requests: list[str], source: Source) -> bytes:
    """Indented as the statement `place`."""
    status = bound.actual("status")
    error = f", {source_of(bound.error)}" if bound.error is not None else ""
    name, call = children(item.node)[1], source_of(children(item.node)[0])
    statuses = ["MPI_STATUS_IGNORE"] * len(requests)
    if status is not None:
        statuses[-1] = source_of(status)  # of an exchange that of the receive, which starts last
    lines = [
        f"{call} {in_style('MPI_Wait', name)}({one}, {its}{error})" for one, its in zip(requests, statuses, strict=True)
    ]
    return b"".join(folded(indent_of(place, source), line, source) + line_end(source) for line in lines)


def early_text(parts: Split | Fission, source: Source) -> bytes:
    """What runs first of a loop that runs in two parts, with the loop's comments."""
    comments = comments_of(parts.item, source)
    if isinstance(parts, Fission):
        return comments + _body_text(parts.item, parts.early, source)
    return comments + (_other_iterations(parts, source) if parts.is_above else _inner_iterations(parts, source))


def late_text(parts: Split | Fission, source: Source) -> bytes:
    if isinstance(parts, Fission):
        return _body_text(parts.item, parts.late, source)
    text = _inner_iterations(parts, source) if parts.is_above else _other_iterations(parts, source)
    if parts.needs_value:
        value = f"{parts.variable} = max({parts.lower}, {plus_one(parts.upper)})"
        text += folded(indent_of(parts.item, source), value, source) + line_end(source)
    return text


def _inner_iterations(split: Split, source: Source) -> bytes:
    """Those that run beside communication."""
    lower = _extreme("max", split.lower, split.first)
    upper = _extreme("min", split.upper, split.last)
    return loop_text(split.item, split.variable, lower, upper, source)


def _other_iterations(split: Split, source: Source) -> bytes:
    """In their order."""
    text = b""
    if split.first:
        text += loop_text(
            split.item, split.variable, split.lower, _extreme("min", split.upper, _minus_one(split.first)), source
        )
    if split.last:
        begin = _extreme("max", split.lower, split.first, plus_one(split.last))
        text += loop_text(split.item, split.variable, begin, split.upper, source)
    return text


def _body_text(loop: Item, statements: Sequence[Item], source: Source) -> bytes:
    """The loop with some of its statements."""
    body = range(loop.node.start_point[0], loop.last_line + 1)
    header_end = next(one for one in loop.node.children if one.type == "do_statement").end_point[0]
    ends = next(one for one in loop.node.children if one.type == "end_do_loop_statement").start_point[0]
    kept = {line for one in statements for line in range(one.first_line, one.last_line + 1)}
    chosen = [line for line in body if line <= header_end or line >= ends or line in kept]
    text = b"".join(source.lines[line] for line in chosen)
    return text if text.endswith(b"\n") else text + line_end(source)


def _extreme(function: str, *texts: str) -> str:
    """The largest or smallest of expressions, empty ones left out. Of those that differ by a number one is left."""
    pick = max if function == "max" else min
    offsets: dict[str, int] = {}
    for text in texts:
        found = re.fullmatch(r"(\w+)(?: ?([+-]) ?(\d+))?", text)
        base, offset = (text, 0) if found is None else (found[1], int((found[2] or "+") + (found[3] or "0")))
        if text.isdigit():
            base, offset = "", int(text)
        if text:
            offsets[base] = pick(offsets.get(base, offset), offset)
    parts = [_sum(base, offset) for base, offset in offsets.items()]
    return parts[0] if len(parts) == 1 else f"{function}({', '.join(parts)})"


def _sum(base: str, offset: int) -> str:
    if not base or offset == 0:
        return base or str(offset)
    return f"{base} {'+' if offset > 0 else '-'} {abs(offset)}"


def plus_one(text: str) -> str:
    return shifted(text, 1)


def _minus_one(text: str) -> str:
    return shifted(text, -1)


def shifted(text: str, by: int) -> str:
    """Readable where the text is `n - 1`, `n`, `7`."""
    if re.fullmatch(r"\d+", text):
        return str(int(text) + by)
    found = re.fullmatch(r"(.*\S) ([+-]) (\d+)", text)
    if found:
        total = int(found[2] + found[3]) + by
        return found[1] if total == 0 else f"{found[1]} {'+' if total > 0 else '-'} {abs(total)}"
    simple = re.fullmatch(r"[\w*]+", text) is not None
    return f"{text if simple else f'({text})'} {'+' if by > 0 else '-'} 1"


def loop_text(item: Item, variable: str, lower: str, upper: str, source: Source) -> bytes:
    """The loop with other bounds; its body stays as it is."""
    control: Node = next(one for one in walk(item.node) if one.type == "loop_control_expression")
    offset = sum(map(len, source.lines[: item.node.start_point[0]]))
    end = offset + sum(len(line) for line in source.lines[item.node.start_point[0] : item.last_line + 1])
    before = source.text[offset : control.start_byte]
    # The last line before it, with what stands in it before the loop's variable, takes as much as an indent of it.
    column = len(before.rpartition(b"\n")[2])
    new = folded(b" " * column, f"{variable} = {lower}, {upper}", source)[column:]
    text = before + new + source.text[control.end_byte : end]
    return text if text.endswith(b"\n") else text + line_end(source)


def new_names(source: Source, count: int, stem: str = "hocket_request") -> list[str]:
    """Names that the file does not have, nor will have. `stem` begins with hocket_."""
    return names_not_in(source.own_names | own_names(source.declared), count, stem)


def names_not_in(taken: Collection[str], count: int, stem: str) -> list[str]:
    names = (stem if number == 1 else f"{stem}_{number}" for number in itertools.count(1))
    return list(itertools.islice((name for name in names if name not in taken), count))


def declaration_lines(procedure: Procedure, texts: Iterable[str]) -> bytes:
    """Indented as the statements of the procedure."""
    source = procedure.source
    nodes = [node for node in procedure.body if node.type != "comment"]
    line = source.lines[nodes[0].start_point[0]] if nodes else b""
    indent = line[: len(line) - len(line.lstrip())]
    return b"".join(indent + text.encode() + line_end(source) for text in texts)
