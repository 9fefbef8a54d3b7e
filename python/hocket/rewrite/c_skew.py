# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether a collective of C that all ranks run matches itself on the others: see `hocket.rewrite.skew`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from hocket.rewrite.c_effects import CProgram
from hocket.rewrite.c_source import CFunction, Cursor, around, c_walk, children_of, kind
from hocket.rewrite.mpi_procedures import mpi_procedures

_LOOPS = ("FOR_STMT", "WHILE_STMT", "DO_STMT")
_MAKERS = (
    "MPI_Comm_i?dup|MPI_Comm_dup_with_info|MPI_Comm_split(?:_type)?|MPI_Comm_create(?:_group)?|MPI_Cart_create|"
    "MPI_Cart_sub|MPI_Graph_create|MPI_Dist_graph_create(?:_adjacent)?|MPI_Intercomm_create|MPI_Intercomm_merge"
)
_ANY = ""  # the communicator of a function's collectives


@dataclass
class CSkew:
    """Of a program. `is_divergent`: whether a condition of its function around a place may differ between ranks."""

    program: CProgram
    is_divergent: Callable[[CFunction, Cursor], bool]
    _communicates: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def _made(self) -> set[str]:
        return _made_by_mpi(self.program)

    def reason(self, function: CFunction, call: Cursor) -> str:
        """Why a call may match another one; empty if it does not."""
        own = _communicator(function, call)
        places: list[str] = []
        for one, communicator in self._calls(function, function.body):
            is_other = communicator != own and {communicator, own} <= self._made
            if is_other or not self.is_divergent(function, one):
                continue
            path = around(function.body, one)
            if not any(kind(part) == "IF_STMT" and self._is_balanced(function, part) for part in path):
                places.append(f"line {one.extent.start.line}")
                places += ["another iteration"] * any(kind(part) in _LOOPS for part in path)
        if len(places) < 2:
            return ""
        where = f"{places[0]} and {places[1]}"
        return f"in {where} only some ranks may run collectives of this communicator, which match in their order"

    def _calls(self, function: CFunction, inside: Cursor) -> Iterator[tuple[Cursor, str]]:
        """Collectives, and calls of functions that make some, with the communicator."""
        for one in c_walk(inside):
            if kind(one) != "CALL_EXPR":
                continue
            name = str(one.spelling)
            if _is_collective(name):
                yield one, _communicator(function, one)
            elif (known := self.program.functions.get(name)) is not None and self._makes_some(known):
                yield one, _ANY

    def _makes_some(self, function: CFunction) -> bool:
        if function.name not in self._communicates:
            self._communicates[function.name] = False  # where it calls itself
            self._communicates[function.name] = next(self._calls(function, function.body), None) is not None
        return self._communicates[function.name]

    def _is_balanced(self, function: CFunction, branch: Cursor) -> bool:
        """Whether both parts make the same collectives, outside of loops and branches."""
        parts = children_of(branch)
        if len(parts) != 3:
            return False
        made = []
        for part in parts[1:]:
            calls = list(self._calls(function, part))
            deeper = (one for call, _ in calls for one in around(part, call)[1:])
            if any(communicator == _ANY for _, communicator in calls) or any(
                kind(x) != "COMPOUND_STMT" for x in deeper
            ):
                return False
            made.append([communicator for _, communicator in calls])
        return made[0] == made[1]


def _made_by_mpi(program: CProgram) -> set[str]:
    """Constants, and variables that only functions of MPI set."""
    made, assigned = {"MPI_COMM_WORLD", "MPI_COMM_SELF"}, set[str]()
    for text in (source.text.decode(errors="replace") for source in program.sources):
        for found in re.finditer(rf"\b(?:{_MAKERS})\s*\(([^;]*);", text):
            made |= set(re.findall(r"&\s*(\w+)\s*\)", found[1]))
        assigned |= set(re.findall(r"(\w+)\s*=(?!=)", text)) | set(re.findall(r"\bMPI_Comm\s*\w*[*&]+\s*(\w+)", text))
    return made - assigned


def _is_collective(name: str) -> bool:
    known = mpi_procedures().get(name.lower())
    return known is not None and known.name == name and known.role in ("blocking", "start") and known.is_collective


def _communicator(function: CFunction, call: Cursor) -> str:
    names = [one.name for one in mpi_procedures()[str(call.spelling).lower()].arguments]
    arguments = list(call.get_arguments())
    at = names.index("comm")
    return function.source.of(arguments[at]) if at < len(arguments) else _ANY
