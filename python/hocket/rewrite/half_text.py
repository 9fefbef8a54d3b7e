# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The text of the two halves of a procedure, and of their calls."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hocket.rewrite.blocks import Item
from hocket.rewrite.halves import Halves
from hocket.rewrite.syntax import Node, Source, child_of, children
from hocket.rewrite.text import (
    MAX_COLUMNS,
    comments_of,
    declaration_lines,
    indent_of,
    line_end,
    lines_of,
    start_text,
    wait_text,
)


def half_names(halves: Halves) -> tuple[str, str]:
    return f"{halves.procedure.name}_start", f"{halves.procedure.name}_finish"


def halves_text(halves: Halves, request_type: str) -> bytes:
    """Both procedures, to stand behind the one that they divide."""
    source = halves.procedure.source
    first, second = half_names(halves)
    end = line_end(source)
    starts = b"".join(lines_of(one, source) for one in halves.before)
    waits, requests = b"", iter(halves.requests)
    for item, bound in halves.calls:
        its = [next(requests) for _ in bound.procedure.starts]
        starts += start_text(item, bound, its, source)
        waits += wait_text(item, item, bound, its, source)
    waits += b"".join(lines_of(one, source) for one in halves.after)
    return end + _half(halves, first, request_type, starts) + end + _half(halves, second, request_type, waits)


def _half(halves: Halves, name: str, request_type: str, body: bytes) -> bytes:
    procedure, source = halves.procedure, halves.procedure.source
    statement, last = procedure.node.children[0], procedure.node.children[-1]
    asynchronous = sorted(halves.dummies | halves.others)
    # The declarations that are copied do not have what a rewrite of the procedure adds in the same round.
    missing = [one for one in asynchronous if "asynchronous" not in procedure.scope.variable(one).attributes]
    more = [f"{request_type}, intent(inout) :: {', '.join(halves.requests)}"]
    more += [f"asynchronous :: {', '.join(missing)}"] if missing else []
    row = statement.end_point[0] + 1
    declarations = b"".join(source.lines[row : procedure.declarations_end])
    # Each half would make what is intent(out) undefined.
    declarations = re.sub(rb"(?i)intent\s*\(\s*out\s*\)", b"intent(inout)", declarations)
    header = _header(statement, name, halves.requests, source)
    footer = source.lines[last.start_point[0]]
    old = child_of(last, "name")
    if old is not None:
        footer = footer[: old.start_point[1]] + name.encode() + footer[old.end_point[1] :]
    footer = footer if footer.endswith(b"\n") else footer + line_end(source)
    return header + declarations + declaration_lines(procedure, more) + body + footer


def _header(statement: Node, name: str, requests: Sequence[str], source: Source) -> bytes:
    begin = sum(map(len, source.lines[: statement.start_point[0]]))
    end = sum(map(len, source.lines[: statement.end_point[0] + 1]))
    old, parameters = child_of(statement, "name"), child_of(statement, "parameters")
    assert old is not None
    words = ", ".join(requests)
    text = source.text[begin : old.start_byte] + name.encode()
    if parameters is None or not any(one.type == "identifier" for one in parameters.children):
        behind = re.sub(rb"^\s*\(\s*\)", b"", source.text[old.end_byte : end])
        return text + f"({words})".encode() + behind
    close = parameters.end_byte - 1
    text += source.text[old.end_byte : close]
    added = ", " + words
    if len(text.rpartition(b"\n")[2]) + len(added) + 4 > MAX_COLUMNS:
        text += b", &" + line_end(source) + b"      "
        added = words
    return text + added.encode() + source.text[close:end]


def _call_text(item: Item, name: str, requests: Sequence[str], dummies: Sequence[str], source: Source) -> bytes:
    """The call of a half in place of `item`. `dummies` are the names of the requests there."""
    call, old = children(item.node)[0], children(item.node)[1]
    arguments = child_of(item.node, "argument_list")
    begin = call.start_byte
    text = source.text[begin : old.start_byte] + name.encode()
    parts = [one for one in children(arguments) if one.type not in ("(", ")", ",")] if arguments is not None else []
    by_keyword = any(one.type == "keyword_argument" for one in parts)
    words = [f"{dummy}={one}" if by_keyword else one for dummy, one in zip(dummies, requests, strict=True)]
    if arguments is None:
        text += f"({', '.join(words)})".encode()
    else:
        inside = source.text[old.end_byte : arguments.end_byte - 1]
        text += inside + ((", " if parts else "") + ", ".join(words)).encode() + b")"
    lines = text.split(b"\n")
    if any(len(line) + len(indent_of(item, source)) > MAX_COLUMNS for line in lines):
        cut = text.rfind(words[0].encode())
        text = text[:cut] + b"&" + line_end(source) + indent_of(item, source) + b"     " + text[cut:]
    return indent_of(item, source) + text + line_end(source)


def start_call(item: Item, halves: Halves, requests: Sequence[str], source: Source) -> bytes:
    return comments_of(item, source) + _call_text(item, half_names(halves)[0], requests, halves.requests, source)


def finish_call(item: Item, halves: Halves, requests: Sequence[str], source: Source) -> bytes:
    return _call_text(item, half_names(halves)[1], requests, halves.requests, source)


def has_halves(halves: Halves) -> bool:
    """Whether the file has them from an earlier rewrite."""
    names = {name.encode() for name in half_names(halves)}
    found = re.findall(rb"(?im)^\s*subroutine\s+(\w+)", halves.procedure.source.text)
    return names <= {name.lower() for name in found}


def is_free(halves: Halves) -> bool:
    """Whether the names of the halves stand for nothing else."""
    text = halves.procedure.source.text
    return has_halves(halves) or not any(
        re.search(rb"(?i)\b" + name.encode() + rb"\b", text) for name in half_names(halves)
    )
