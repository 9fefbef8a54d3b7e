# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What one rank of a program did, as another tool has recorded it: what `Trace.create` makes a trace of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket import _core


def _dtype(fields: list[tuple[str, str, int]], size: int) -> np.dtype[Any]:
    names, formats, offsets = zip(*fields, strict=True)
    return np.dtype({"names": list(names), "formats": list(formats), "offsets": list(offsets), "itemsize": size})


# One row a call, or `calls` polls in a row that found nothing, with `outside_ns` between them that the program spent
# elsewhere. -1 stands for "none", in `request` 0. `function`, `communicator`, `datatype`, `op` are ids.
CALL = _dtype(*_core.trace_call_fields())
COMPLETION = _dtype(*_core.trace_completion_fields())

_NOT_MINUS_ONE = ("function", "enter_ns", "exit_ns", "request", "error", "thread", "flags", "num_completions")


def new_calls(number: int) -> npt.NDArray[Any]:
    """Rows of dtype CALL to be filled: function 0, at time 0, and nothing else is known of them.

    Where the CPU clock was not read (-1), a trace takes the thread to have run since the last reading.
    """
    calls = np.zeros(number, CALL)
    for name in CALL.names or ():
        if name not in _NOT_MINUS_ONE and not name.startswith("outside"):
            calls[name] = -1
    calls["calls"] = 1
    return calls


@dataclass(frozen=True)
class OwnCommunicator:
    """A communicator as one of its ranks knows it."""

    members: Sequence[int]  # world ranks in the order of the communicator; -1: a process outside this world
    remote: Sequence[int] = ()  # the other group of an inter-communicator
    made_by: int = -1  # function; -1: predefined, or first seen in use
    parent: int = -1  # place among the rank's communicators; -1: none or unknown
    #: sources and destinations in its topology, ranks in the communicator, -1: MPI_PROC_NULL; None = it has none
    neighbours: tuple[Sequence[int], Sequence[int]] | None = None


@dataclass(frozen=True)
class TracedRank:
    """`calls` name functions, communicators, datatypes and operators by their places here.

    Communicator 0 is MPI_COMM_WORLD. The creation of a communicator is collective: of several with the same members,
    the n-th of each rank are one. `completions` and `blocks` hold what rows of `calls` point at, as in Trace.
    """

    calls: npt.NDArray[Any]  # of dtype CALL, in the order in which they returned
    functions: Sequence[str]
    communicators: Sequence[OwnCommunicator]
    datatypes: Sequence[tuple[str, int]] = ()  # name, bytes
    operators: Sequence[tuple[str, bool]] = ()  # name, whether it commutes
    completions: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, COMPLETION))
    blocks: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    host: str = ""
    end: str = "finalize"  # "exit", "abort", "limit" or "cut off": the trace of this rank is a part

    def core(self, rank: int, num_ranks: int) -> _core.RankFile:
        return _core.RankFile(
            rank=rank,
            num_ranks=num_ranks,
            host=self.host,
            end=self.end,
            functions=list(self.functions),
            communicators=[
                _core.LocalCommunicator(
                    made_by=one.made_by,
                    parent=one.parent,
                    inter=len(one.remote) > 0,
                    rank=list(one.members).index(rank) if rank in one.members else -1,
                    members=list(one.members),
                    remote=list(one.remote),
                    neighbours=None if one.neighbours is None else (list(one.neighbours[0]), list(one.neighbours[1])),
                )
                for one in self.communicators
            ],
            datatypes=list(self.datatypes),
            operators=list(self.operators),
            calls=_as_bytes(self.calls, CALL),
            completions=_as_bytes(self.completions, COMPLETION),
            blocks=np.ascontiguousarray(self.blocks, np.int64),
        )


def _as_bytes(rows: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(rows.astype(dtype, copy=False)).view(np.uint8)
