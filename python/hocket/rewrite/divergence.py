# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Calls that only some ranks may run. There a collective may meet another call of the same collective, which has to
stay of the same kind: a blocking collective never matches a non-blocking one (MPI 4.1, 6.12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from hocket.rewrite.mpi_arguments import bind
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.program import Program
from hocket.rewrite.reach import Reach
from hocket.rewrite.same_flow import SameFlow
from hocket.rewrite.sameness import ALL, NOBODY, OWN
from hocket.rewrite.skew import Skew
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, children, text_of


@dataclass
class Divergence:
    """Which calls all ranks run, for all given files.

    What is the same on all ranks has to be proved: constants, what collectives over all ranks give, and what is
    computed from these, at each place of the program. Everything else may differ.
    """

    program: Program
    _reach: Reach = field(init=False)
    _flows: dict[str, SameFlow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._reach = Reach(self.program)

    def reason(self, call: Node, procedure: Procedure) -> str:
        """Why not all ranks may run a call, or not all of its communicator; empty if they do."""
        everywhere = self._flow("")
        unknown = NOBODY, "whether ranks come here is not known"
        level, reason = everywhere.runs.get(call.id, unknown)
        table = mpi_procedures().get(text_of(children(call)[1])) if call.type == "subroutine_call" else None
        bound = bind(table, call) if table is not None else None
        if bound is not None and (skewed := self._skew.reason(bound, procedure)):
            return skewed
        if level == ALL:
            return ""
        comm = bound.actual("comm") if bound is not None else None
        everywhere.procedure = procedure
        own = everywhere.key(comm) if comm is not None else ""
        if not own:
            return reason
        inside = self._flow(own)
        level, reason = inside.runs.get(call.id, unknown)
        return "" if level <= OWN and inside.is_valid else reason

    @cached_property
    def _skew(self) -> Skew:
        return Skew(self.program, self._flow(""))

    def _flow(self, own: str) -> SameFlow:
        """`own`: the communicator whose ranks are looked at; empty: all ranks."""
        if own not in self._flows:
            self._flows[own] = SameFlow(self.program, self._reach, own)
            self._flows[own].follow()
        return self._flows[own]
