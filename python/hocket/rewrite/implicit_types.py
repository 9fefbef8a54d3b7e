# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""With mpif.h procedures have no interface: all calls of one name in a file pass the same types (Fortran 2018, 15.5.1).

Compilers look at that: gfortran refuses a file in which `MPI_Isend` gets real numbers here and integers there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.buffers import Refusal
from hocket.rewrite.facts import base_identifier
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, line_of, source_of, text_of, walk


@dataclass(frozen=True)
class _Passed:
    type: str
    kind: str
    shape: str  # scalar, element (it may stand for an array), array

    def fits(self, other: _Passed) -> bool:
        is_same = (self.type, self.kind) == (other.type, other.kind) and self.type not in ("", "type", "class")
        return is_same and {self.shape, other.shape} != {"scalar", "array"}


def check_types(bound: BoundArguments, procedure: Procedure, analysis: Analysis) -> Refusal | None:
    """Whether another call of the file, with the name that this one gets, passes something else."""
    scope = procedure.scope.mpi()
    if scope is None or scope.binding != "mpif.h":
        return None
    for start in bound.procedure.starts:
        own = dict(_buffers(bound, start, procedure))
        for other in analysis.program.procedures:
            if other.source is not procedure.source:
                continue
            for call in analysis.facts(other).calls:
                if call.procedure.name != start and start not in call.procedure.starts:
                    continue
                if call.procedure.name == bound.procedure.name:
                    continue  # the compiler has compared them
                for name, passed in _buffers(call, start, other):
                    if name in own and not own[name][1].fits(passed[1]):
                        these = f"{source_of(own[name][0])} and in line {line_of(call.node)} {source_of(passed[0])}"
                        reason = f"{start} would get {these}, of different types, without an interface (mpif.h)"
                        return Refusal("interface", reason, "use mpi, or use mpi_f08")
    return None


def _buffers(bound: BoundArguments, start: str, procedure: Procedure) -> Iterator[tuple[str, tuple[Node, _Passed]]]:
    """What a call, or its non-blocking form, passes for each buffer of `start`."""
    for wanted in mpi_procedures()[start.lower()].arguments:
        if not wanted.is_buffer:
            continue
        for argument, actual in bound.pairs():
            is_it = argument.name == wanted.name or (len(bound.procedure.starts) > 1 and argument.use == wanted.use)
            if argument.is_buffer and is_it:
                yield wanted.name, (actual, _passed(actual, procedure))


def _passed(actual: Node, procedure: Procedure) -> _Passed:
    if text_of(actual) in ("mpi_in_place", "mpi_bottom"):
        return _Passed("integer", "", "scalar")
    base = base_identifier(actual)
    if base is None or actual.type not in ("identifier", "call_expression"):
        return _Passed("", "", "")
    symbol = procedure.scope.variable(text_of(base))
    if not symbol.is_array:
        return _Passed(symbol.type, symbol.kind, "scalar")
    has_extent = actual.type == "identifier" or any(one.type == "extent_specifier" for one in walk(actual))
    return _Passed(symbol.type, symbol.kind, "array" if has_extent else "element")
