# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Fixed form (Fortran 2018, 6.3.3) as free form, line by line, and back.

The parser knows free form. Each line has one line in the other form, so a line that a rewrite leaves alone comes back
as it was, byte for byte; only new lines are written in fixed form.
"""

from __future__ import annotations

import re
from pathlib import Path

SUFFIXES = (".f", ".for", ".ftn", ".f77")
#: What stands behind is no part of the statement.
LAST_COLUMN = 72


def is_fixed(path: Path, text: bytes) -> bool:
    """By the name; a file with such a name may still be in free form (`-ffree-form`), which its lines show."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    return not any(_is_free(line) for line in text.splitlines())


def _is_free(line: bytes) -> bool:
    """Whether a line is only right in free form."""
    if line[:1] in b"cCdD*!#":
        return False
    code = line.split(b"!")[0][:LAST_COLUMN].rstrip()
    return code.endswith(b"&") or re.match(rb"[ \d]{1,4}[A-Za-z]|[A-Za-z]", code) is not None


def to_free(text: bytes) -> bytes:
    """The same lines in free form."""
    lines = re.findall(rb"[^\n]*\n|[^\n]+$", text)
    found: list[bytes] = []
    statement = -1  # the last line that a continuation line may follow
    for line in lines:
        body, end = line.rstrip(b"\r\n"), line[len(line.rstrip(b"\r\n")) :]
        if body[:1] in (b"c", b"C", b"d", b"D", b"*"):
            found.append(b"!" + body[1:] + end)
            continue
        is_comment = body.lstrip()[:1] == b"!" and len(body) - len(body.lstrip()) != 5
        if not body.strip() or body[:1] == b"#" or is_comment:
            found.append(line)
            continue
        if body[:1] == b"\t":
            body = b"      " + body[1:]
        code, comment = _cut(body)
        if len(body) > 5 and body[:5].strip() == b"" and body[5:6] not in (b" ", b"0") and statement >= 0:
            found[statement] = _with_mark(found[statement])
            code = b"     &" + code[6:]
        elif body[5:6] == b"0":
            code = code[:5] + b" " + code[6:]
        found.append(code + comment + end)
        statement = len(found) - 1
    return b"".join(found)


def _cut(body: bytes) -> tuple[bytes, bytes]:
    """A line up to column 72, and its comment."""
    quote = b""
    for at in range(6, len(body)):
        one = body[at : at + 1]
        if quote:
            quote = b"" if one == quote else quote
        elif one in (b"'", b'"') and at < LAST_COLUMN:
            quote = one
        elif one == b"!":
            return body[:at][:LAST_COLUMN], body[at:]
    return body[:LAST_COLUMN].rstrip(), b""


def _with_mark(line: bytes) -> bytes:
    """With an & behind the statement: the next line continues it."""
    end = line[len(line.rstrip(b"\r\n")) :]
    code, comment = _cut(line.rstrip(b"\r\n")) if b"!" in line else (line.rstrip(b"\r\n"), b"")
    return code + b" &" + (b" " + comment if comment else b"") + end


def to_fixed(new: bytes, origins: list[int], old: bytes) -> bytes:
    """`new` was made from to_free(old); `origins` are the old lines (from 0) of its lines, -1 for new ones."""
    fixed = re.findall(rb"[^\n]*\n|[^\n]+$", old)
    free = re.findall(rb"[^\n]*\n|[^\n]+$", to_free(old))
    lines = re.findall(rb"[^\n]*\n|[^\n]+$", new)
    text = b""
    continues = False
    for line, origin in zip(lines, origins, strict=True):
        if origin >= 0 and line == free[origin]:
            text += fixed[origin]
            continues = _has_mark(line)
            continue
        text += _line(line, continues)
        continues = _has_mark(line)
    return text


def _has_mark(line: bytes) -> bool:
    return line.split(b"!")[0].rstrip().endswith(b"&") and line.lstrip()[:1] != b"!"


def _line(line: bytes, continues: bool) -> bytes:
    """A new line in fixed form, in several lines if it is too long."""
    end = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    body = line.rstrip()
    if not body or body.lstrip()[:1] in (b"!", b"#"):
        return body + end
    code, _, comment = body.partition(b"!")
    code = code.rstrip()
    code = code[:-1].rstrip() if code.endswith(b"&") else code
    inside = code.lstrip().removeprefix(b"&") if continues else code.lstrip()
    indent = b"     &" if continues else b" " * max(6, len(code) - len(code.lstrip()))
    parts = []
    while len(indent) + len(inside) > LAST_COLUMN:
        room = LAST_COLUMN - len(indent)
        cut = max(inside.rfind(mark, 0, room) for mark in (b", ", b" ", b"("))
        cut = room - 1 if cut <= 0 else cut
        parts.append(indent + inside[: cut + 1])
        indent, inside = b"     & ", inside[cut + 1 :]
    parts.append(indent + inside + (b"  !" + comment if comment else b""))
    return b"".join(part.rstrip() + end for part in parts)
