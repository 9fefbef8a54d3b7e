# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether a collective of C that all ranks run matches itself on the others: see `hocket.rewrite.skew`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hocket.rewrite.c_source import CFunction, Cursor, around, c_walk, children_of, kind
from hocket.rewrite.mpi_procedures import mpi_procedures

_LOOPS = ("FOR_STMT", "WHILE_STMT", "DO_STMT")


def c_skew(function: CFunction, call: Cursor, is_divergent: Callable[[CFunction, Cursor], bool]) -> str:
    """Why not; empty if it does."""
    communicator = _communicator(function, call)
    places: dict[tuple[str, ...], str] = {}
    for one in _collectives(function, function.body):
        if _communicator(function, one) != communicator or not is_divergent(function, one):
            continue
        path = [*around(function.body, one), one]
        guards, is_in_loop = list[str](), any(kind(part) in _LOOPS for part in path)
        for part, inside in zip(path, path[1:], strict=False):
            if kind(part) == "IF_STMT":
                if _is_balanced(function, part, communicator):
                    break
                pieces = children_of(part)
                guards.append(f"{function.source.of(pieces[0])} {pieces.index(inside)}")
            elif kind(part) != "COMPOUND_STMT":
                guards.append(f"line {part.extent.start.line}")
        else:
            line = f"line {one.extent.start.line}"
            places.setdefault(tuple(guards), line)
            if is_in_loop:
                places.setdefault((*guards, "again"), "another iteration")
    if len(places) < 2:
        return ""
    where = " and ".join(list(places.values())[:2])
    return f"in {where} only some ranks may run collectives of this communicator, which match in their order"


def _collectives(function: CFunction, inside: Cursor) -> Iterator[Cursor]:
    for one in c_walk(inside):
        known = mpi_procedures().get(str(one.spelling).lower()) if kind(one) == "CALL_EXPR" else None
        if known is not None and known.role in ("blocking", "start"):
            if not {argument.name for argument in known.arguments} & {"dest", "source", "tag"}:
                yield one


def _communicator(function: CFunction, call: Cursor) -> str:
    names = [one.name for one in mpi_procedures()[str(call.spelling).lower()].arguments]
    arguments = list(call.get_arguments())
    at = names.index("comm")
    return function.source.of(arguments[at]) if at < len(arguments) else ""


def _is_balanced(function: CFunction, branch: Cursor, communicator: str) -> bool:
    """Whether both of its parts make as many collectives, outside of loops and branches."""
    parts = children_of(branch)
    if len(parts) != 3:
        return False
    counts = set()
    for part in parts[1:]:
        made = [one for one in _collectives(function, part) if _communicator(function, one) == communicator]
        if any(kind(one) not in ("COMPOUND_STMT",) for call in made for one in around(part, call)[1:]):
            return False
        counts.add(len(made))
    return len(counts) == 1
