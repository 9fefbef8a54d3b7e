# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces: what each rank of a real MPI program did, as `hocket record` wrote it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket import _core, formats
from hocket.errors import InvalidInput
from hocket.traces.rank_summary import RankEnd, RankSummary, Summing, filters, shortfalls
from hocket.traces.traced_rank import CALL, COMPLETION, TracedRank

FORMATS = ("hocket.trace/1", "hocket.trace/2", "hocket.trace/3")
_WHOLE, _TEXT, _TEXTS = "a whole number", "a text", "a list of texts"
META_KEYS = {
    "format": _TEXT,
    "ranks": _WHOLE,
    "mpi": _TEXT,
    "thread_level": _TEXT,
    "functions_wrapped": _WHOLE,
    "cost_per_call_ns": _WHOLE,
    "only": _TEXTS,
    "without": _TEXTS,
    "program": _TEXTS,
    "command": _TEXTS,
    "created_by": _TEXT,
}
OPTIONAL_KEYS = ("only", "without", "program", "command", "created_by")
RECORD_HINT = "record the program again: hocket record -o FOLDER -- mpiexec -n 8 ./app"


@dataclass(frozen=True)
class Communicator:
    id: int
    members: tuple[int, ...]  # world ranks in the order of the communicator; -1: a process outside this world
    remote: tuple[int, ...]  # the other group of an inter-communicator
    inter: bool
    made_by: str  # "MPI_Comm_split", ...; empty: predefined, or first seen in use
    parent: int | None


@dataclass(frozen=True)
class Collective:
    """A collective call on an intra-communicator, matched over its ranks."""

    collective: str  # "bcast", "alltoallv", ...
    form: str  # "blocking", "nonblocking" or "persistent"
    communicator: int
    members: tuple[int, ...]
    bytes: int  # the message of bcast, reduce, allreduce; the block of one rank of the others; the most of any rank
    uniform: bool  # all ranks gave the same bytes; never so for a v-variant
    root: int  # rank in the communicator; -1: none
    op: str  # "MPI_SUM", ..., "user"; empty: none
    commutative: bool  # True where there is no operator
    datatype: str
    in_place: bool  # at some rank
    first_enter_ns: int
    last_enter_ns: int
    last_exit_ns: int  # the last rank's call returned, or its request was complete
    enter_ns: npt.NDArray[np.int64]  # by rank in the communicator
    exit_ns: npt.NDArray[np.int64]
    mean_bytes: int = 0  # of a v-variant: what a rank contributes on average, rounded up; else as bytes


class Trace:
    """A trace folder; what was read or made of it does not change."""

    def __init__(self, core: _core.Trace, meta: Mapping[str, Any], folder: Path) -> None:
        self.core = core
        self.meta = meta
        self.folder = folder

    @staticmethod
    def open(folder: str | Path) -> Trace:
        """Raises InvalidInput, naming the file, for anything that is not a whole trace folder.

        Ranks whose recording was cut off have what was recorded until then: see `complete`.
        """
        folder = Path(folder)
        meta = _read_meta(folder / "meta.json")
        core = _core.Trace.open(folder)
        _check_ranks(folder, meta, core.num_ranks)
        return Trace(core, meta, folder)

    @staticmethod
    def create(
        folder: str | Path,
        ranks: Sequence[TracedRank],
        *,
        mpi: str = "unknown MPI",
        thread_level: str = "single",
        program: Sequence[str] = (),
        created_by: str = "hocket",
    ) -> Trace:
        """Writes a trace of what another tool recorded, into a folder that has none yet.

        Raises InvalidInput, naming the rank, for what no program does, such as a call that ends before it begins.
        """
        core = _core.Trace.make([rank.core(number, len(ranks)) for number, rank in enumerate(ranks)])
        meta = {
            "mpi": mpi,
            "thread_level": thread_level,
            "functions_wrapped": 0,
            "cost_per_call_ns": 0,
            "program": list(program),
            "command": list(program),
            "created_by": created_by,
        }
        trace = Trace(core, meta, Path(folder))
        trace.write(folder)
        return Trace.open(folder)

    def write(self, folder: str | Path) -> None:
        """Writes the trace, as what is read of it, into a folder that has none yet. Opened again it is the same.

        Instants are those on the clock of rank 0, the counts of elements are left out, and CPU times are there for each
        call.
        """
        folder = Path(folder)
        self.core.write(folder)
        meta = {"format": FORMATS[-1], "ranks": self.ranks} | {
            key: value for key, value in self.meta.items() if key not in ("format", "ranks")
        }
        path = folder / "meta.json"
        try:
            path.write_text(json.dumps(meta, indent=1) + "\n")
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be written: {error.strerror}", "name another folder") from error

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self.core.num_ranks

    @property
    def hosts(self) -> tuple[str, ...]:
        """The name of each rank's host, as the host called itself."""
        return tuple(self.core.host(rank) for rank in range(self.ranks))

    def complete(self, rank: int) -> bool:
        """Whether all its calls until MPI_Finalize are here."""
        return self.core.complete(rank)

    @cached_property
    def functions(self) -> list[str]:
        return list(self.core.functions)

    @cached_property
    def communicators(self) -> list[Communicator]:
        """By id; 0 is MPI_COMM_WORLD. Equal on all ranks."""
        return _communicators(self.core.communicators, self.functions)

    @cached_property
    def datatypes(self) -> list[tuple[str, int]]:
        """Name and bytes, by id."""
        return [(found.name, found.bytes) for found in self.core.datatypes]

    @cached_property
    def operators(self) -> list[tuple[str, bool]]:
        """Name and whether it commutes, by id."""
        return [(found.name, found.commutative) for found in self.core.operators]

    def calls(self, rank: int) -> npt.NDArray[Any]:
        """One row a call (dtype CALL), in the order in which they returned. A view: nothing is copied.

        Polls in a row that found nothing are one row, where the first of them returned.
        """
        return self.core.call_rows(rank).view(CALL)

    def num_calls(self) -> int:
        """Of all ranks."""
        return sum(int(self.calls(rank)["calls"].sum()) for rank in range(self.ranks))

    def names(self, rank: int) -> npt.NDArray[np.str_]:
        """The function of each row, as text."""
        found: npt.NDArray[np.str_] = np.array(self.functions or [""])[self.calls(rank)["function"]]
        return found

    def completions(self, rank: int) -> npt.NDArray[Any]:
        """Requests started or completed (dtype COMPLETION): a call has `num_completions` from `completions` on."""
        return self.core.completion_rows(rank).view(COMPLETION)

    def blocks(self, rank: int, call: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Bytes sent to and received from each rank by a v-variant, a row of `calls(rank)`; may be empty."""
        values, at = self.core.blocks(rank), int(call["blocks"])
        if at < 0:
            return values[:0], values[:0]
        middle = at + 1 + int(values[at])
        return values[at + 1 : middle], values[middle + 1 : middle + 1 + int(values[middle])]

    def collectives(self) -> list[Collective]:
        """All collective calls on intra-communicators, in the order of their first entry.

        Raises InvalidInput if the ranks of a communicator disagree on what they called.
        """
        members = [communicator.members for communicator in self.communicators]
        rows = []
        for row in self.core.collectives():
            op, commutative = self.operators[row.op] if row.op >= 0 else ("", True)
            rows.append(
                Collective(
                    collective=row.collective,
                    form=row.form,
                    communicator=row.communicator,
                    members=members[row.communicator],
                    bytes=row.bytes,
                    uniform=row.uniform,
                    root=row.root,
                    op=op,
                    commutative=commutative,
                    datatype=self.datatypes[row.datatype][0] if row.datatype >= 0 else "",
                    in_place=row.in_place,
                    first_enter_ns=row.first_enter_ns,
                    last_enter_ns=row.last_enter_ns,
                    last_exit_ns=row.last_exit_ns,
                    enter_ns=row.enter_ns,
                    exit_ns=row.exit_ns,
                    mean_bytes=row.mean_bytes,
                )
            )
        return rows

    @cached_property
    def limited_to_s(self) -> float | None:
        """From when on some rank's trace was at its limit, counted from that rank's first call. None: none was."""
        found = [self.summary(rank) for rank in range(self.ranks) if self.core.end(rank) == "limit"]
        return min((rank.elapsed_s for rank in found), default=None)

    def shortfalls(self) -> list[str]:
        """What is missing, in lines for the user."""
        parts = shortfalls(self.summary(rank) for rank in range(self.ranks) if not self.complete(rank))
        return [*self.filters(), *parts]

    def filters(self) -> list[str]:
        """A line for the user if calls were left out of the trace on purpose."""
        return filters(self.meta)

    def summary(self, rank: int) -> RankSummary:
        counted = Summing()
        counted.add(self.calls(rank))
        stopped = self.core.open_call(rank)
        return counted.summary(
            rank, self.core.host(rank), self.core.end(rank), self.functions[stopped] if stopped >= 0 else ""
        )


class TraceFiles:
    """A trace folder that is read forward, a part of it at a time: its size does not matter."""

    def __init__(self, folder: str | Path) -> None:
        """Raises InvalidInput, naming the file, for anything that is not a whole trace folder."""
        self.folder = Path(folder)
        self.meta = _read_meta(self.folder / "meta.json")
        self.core = _core.TraceFiles(self.folder)
        _check_ranks(self.folder, self.meta, self.core.num_ranks)

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self.core.num_ranks

    @property
    def functions(self) -> list[str]:
        """The MPI functions called, by id, as far as they were read."""
        return list(self.core.functions)

    @property
    def communicators(self) -> list[Communicator]:
        """As in Trace, as far as they were read."""
        return _communicators(self.core.communicators, self.functions)

    def read(self, rank: int, on_part: Callable[[npt.NDArray[Any]], None]) -> RankSummary:
        """Gives the calls of a rank to `on_part`, some thousands at a time (dtype CALL), which are valid until it
        returns."""
        counted = Summing()

        def on_rows(rows: npt.NDArray[np.uint8]) -> None:
            calls = rows.view(CALL)
            counted.add(calls)
            on_part(calls)

        host = self.core.read(rank, on_rows)
        end = self.core.end(rank).end
        return counted.summary(rank, host, end, self.core.open_call(rank))

    def filters(self) -> list[str]:
        """As in Trace."""
        return filters(self.meta)

    def incomplete(self) -> tuple[RankEnd, ...]:
        """The ranks whose trace is a part; known once all was read."""
        ends = [(rank, self.core.end(rank)) for rank in range(self.ranks)]
        return tuple(
            RankEnd(rank, False, end.end, self.core.open_call(rank), end.elapsed_s)
            for rank, end in ends
            if end.end != "finalize"
        )


def _communicators(found: Sequence[_core.Communicator], functions: Sequence[str]) -> list[Communicator]:
    return [
        Communicator(
            id=number,
            members=tuple(one.members),
            remote=tuple(one.remote),
            inter=one.inter,
            made_by=functions[one.made_by] if one.made_by >= 0 else "",
            parent=one.parent if one.parent >= 0 else None,
        )
        for number, one in enumerate(found)
    ]


def _check_ranks(folder: Path, meta: Mapping[str, Any], ranks: int) -> None:
    if ranks != meta["ranks"]:
        raise InvalidInput(
            f"{folder / 'meta.json'}: ranks: found {meta['ranks']}; accepted: {ranks}, as in its files", RECORD_HINT
        )


def _read_meta(path: Path) -> dict[str, Any]:
    if os.path.exists(path) and not os.path.isfile(path):  # which raise nothing
        raise InvalidInput(f"{path}: found no file; accepted: what hocket record writes", RECORD_HINT)
    try:
        meta = json.loads(path.read_bytes())
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read: {error.strerror}; accepted: a trace folder",
            f"{RECORD_HINT}; of another tool's trace `hocket trace import` makes one",
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path}: found no JSON ({error}); accepted: what hocket record writes", RECORD_HINT
        ) from error
    if not isinstance(meta, dict) or meta.get("format") not in FORMATS:
        found = meta.get("format") if isinstance(meta, dict) else meta
        accepted = ", ".join(map(json.dumps, FORMATS))
        hint = formats.hint(found, FORMATS[-1], RECORD_HINT)
        raise InvalidInput(f"{path}: format: found {json.dumps(found)[:60]}; accepted: {accepted}", hint)
    unknown = sorted(set(meta) - set(META_KEYS))
    if unknown:
        raise InvalidInput(f"{path}: {unknown[0]}: unknown key; accepted: {', '.join(META_KEYS)}", RECORD_HINT)
    for key, accepted in META_KEYS.items():
        found = json.dumps(meta[key])[:60] if key in meta else "nothing"
        if (key in meta or key not in OPTIONAL_KEYS) and not _is(meta.get(key), accepted):
            raise InvalidInput(f"{path}: {key}: found {found}; accepted: {accepted}", RECORD_HINT)
    return meta


def _is(value: Any, accepted: str) -> bool:
    if accepted == _TEXTS:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return isinstance(value, str if accepted == _TEXT else int) and not isinstance(value, bool)
