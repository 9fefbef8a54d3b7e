# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""OTF2, as Score-P writes it, read by the package `otf2`.

A region MPI_X from its entry to its end is a call; the records in between say what it did. A receive that was begun
tells its sender only where it is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hocket import Trace, _core
from hocket.errors import InvalidInput
from hocket.interop.traces.otf2_package import SIZES, check_opens, import_otf2
from hocket.reporter import SILENT, Reporter
from hocket.traces.traced_rank import CALL, COMPLETION, OwnCommunicator, TracedRank, new_calls

COMPLETED, PERSISTENT = 2, 4  # flags of a call
_UNDEFINED_ROOT = 2**32 - 1

# What Score-P counts of a collective's bytes: the message times the ranks, or the message.
_OF_ALL = frozenset({"allreduce", "allgather", "alltoall"})
_RECEIVED = frozenset({"bcast", "scatter", "scatterv", "reduce_scatter", "reduce_scatter_block"})
_VECTORS = frozenset({"allgatherv", "alltoallv", "alltoallw", "gatherv", "scatterv", "reduce_scatter"})


@dataclass
class _Rank:
    rank: int
    communicators: list[OwnCommunicator]
    functions: dict[str, int] = field(default_factory=dict)
    rows: list[dict[str, int]] = field(default_factory=list)
    completions: list[tuple[int, int, int, int]] = field(default_factory=list)
    open: list[tuple[str, int, dict[str, int]]] = field(default_factory=list)  # region, since, what is known of it
    requests: dict[int, tuple[int, dict[str, int]]] = field(default_factory=dict)  # their id -> number, row
    blocks: list[int] = field(default_factory=list)
    last_request: int = 0

    def function(self, name: str) -> int:
        return self.functions.setdefault(name, len(self.functions))

    def new_request(self, request: int, row: dict[str, int]) -> int:
        self.last_request += 1
        self.requests[request] = (self.last_request, row)
        return self.last_request


class _Reader:
    def __init__(self, otf2: Any, trace: Any, name: str) -> None:
        self.otf2, self.name = otf2, name
        self.notes: dict[str, int] = {}
        self.vectors: list[tuple[int, str, dict[str, int]]] = []  # calls of v-variants without sizes: rank, name, row
        definitions = trace.definitions
        self.resolution = int(trace.timer_resolution)
        self.start = int(definitions.clock_properties.global_offset)
        comms = list(definitions.comms)
        worlds = [comm for comm in comms if comm.name == "MPI_COMM_WORLD" and hasattr(comm, "group")]
        if not worlds or self.resolution <= 0:
            raise InvalidInput(
                f"{name}: found no MPI_COMM_WORLD; accepted: the trace of an MPI program",
                "record the program with MPI measured",
            )
        self.world = list(worlds[0].group.members)
        self.rank_of = {location: rank for rank, location in enumerate(self.world)}
        processes = {location.group: rank for location, rank in self.rank_of.items()}
        self.threads: dict[Any, int] = {}
        for location in definitions.locations:
            if location not in self.rank_of and location.group in processes:
                self.threads[location] = processes[location.group]
        self.hosts = {
            rank: getattr(location.group.system_tree_parent, "name", "") for location, rank in self.rank_of.items()
        }
        self.ranks = [_Rank(rank, []) for rank in range(len(self.world))]
        self.number_of: list[dict[Any, int]] = [{} for _ in self.world]  # by rank: communicator -> number
        for rank in self.ranks:
            self._add(rank, worlds[0], OwnCommunicator(range(len(self.world))))
            rank.communicators.append(OwnCommunicator([rank.rank]))
            for comm in comms:
                if comm is not worlds[0] and hasattr(comm, "group"):
                    self._add_own(rank, comm)

    def _add(self, rank: _Rank, comm: Any, own: OwnCommunicator) -> None:
        self.number_of[rank.rank][comm] = len(rank.communicators)
        rank.communicators.append(own)

    def _add_own(self, rank: _Rank, comm: Any) -> None:
        if comm.group.group_type == self.otf2.GroupType.COMM_SELF:
            self.number_of[rank.rank][comm] = 1
            return
        members = [self.rank_of.get(member, -1) for member in comm.group.members]
        if rank.rank in members:
            parent = self.number_of[rank.rank].get(comm.parent, -1)
            self._add(rank, comm, OwnCommunicator(members, parent=parent))

    def ns(self, time: int) -> int:
        return (int(time) - self.start) * 1_000_000_000 // self.resolution

    def note(self, what: str) -> None:
        self.notes[what] = self.notes.get(what, 0) + 1

    def read(self, events: Any) -> None:
        actions: Mapping[str, Callable[[_Rank, Any], None]] = {
            "Enter": self._enter,
            "Leave": self._leave,
            "MpiSend": self._send,
            "MpiIsend": self._send,
            "MpiIsendComplete": self._complete_other,
            "MpiRecv": self._receive,
            "MpiIrecvRequest": self._begin_receive,
            "MpiIrecv": self._complete_receive,
            "MpiCollectiveEnd": self._collective,
            "NonBlockingCollectiveRequest": self._begin_collective,
            "NonBlockingCollectiveComplete": self._complete_collective,
            "CommCreate": self._made,
        }
        ignored = frozenset({"MpiCollectiveBegin", "ProgramBegin", "ProgramEnd", "MpiRequestTest", "MpiProbe"})
        for location, event in events:
            kind = type(event).__name__
            rank = self.rank_of.get(location)
            if rank is None:
                if kind == "Enter" and event.region.name.startswith("MPI_"):
                    self.note("calls of other threads than the main one")
                continue
            action = actions.get(kind)
            if action is not None:
                action(self.ranks[rank], event)
            elif kind not in ignored:
                self.note(f"records of kind {kind}")

    def _enter(self, rank: _Rank, event: Any) -> None:
        rank.open.append((event.region.name, self.ns(event.time), {}))

    def _leave(self, rank: _Rank, event: Any) -> None:
        if not rank.open:
            return
        name, since, row = rank.open.pop()
        if not name.startswith("MPI_"):
            return
        row.update(function=rank.function(name), enter_ns=since, exit_ns=max(since, self.ns(event.time)))
        if name.startswith(("MPI_Wait", "MPI_Test")):
            if "completions" in row and name.startswith("MPI_Test"):
                row["flags"] = COMPLETED
            if "completions" not in row and name.startswith("MPI_Wait"):
                row.update(completions=len(rank.completions), num_completions=0)
        elif _core.collective_of(name) and "communicator" not in row and "request" not in row:
            self.note(f"calls of {name}: the trace has their times alone")
        rank.rows.append(row)

    def _row(self, rank: _Rank) -> dict[str, int] | None:
        """Of the MPI call at hand."""
        if rank.open and rank.open[-1][0].startswith("MPI_"):
            return rank.open[-1][2]
        self.note("records outside of an MPI call")
        return None

    def _number(self, rank: _Rank, comm: Any) -> int:
        found = self.number_of[rank.rank].get(comm, -1)
        if found < 0:
            self.note("records on communicators whose members the trace does not name")
        return found

    def _apart(self, rank: _Rank, row: dict[str, int], function: str, time: int) -> dict[str, int]:
        """What a call did that is another call to a trace: MPI_Start of a persistent request begins an operation."""
        if not rank.open[-1][0].startswith("MPI_Start"):
            return row
        at = self.ns(time)
        apart = {"function": rank.function(function), "enter_ns": at, "exit_ns": at}
        rank.rows.append(apart)
        return apart

    def _send(self, rank: _Rank, event: Any) -> None:
        row = self._row(rank)
        if row is None:
            return
        row = self._apart(rank, row, "MPI_Isend", event.time)
        row.update(
            communicator=self._number(rank, event.communicator),
            peer=int(event.receiver),
            tag=_tag(event.msg_tag),
            bytes=int(event.msg_length),
        )
        if hasattr(event, "request_id"):
            row["request"] = rank.new_request(int(event.request_id), row)

    def _receive(self, rank: _Rank, event: Any) -> None:
        row = self._row(rank)
        if row is None:
            return
        half = "receive_" if rank.open[-1][0].startswith("MPI_Sendrecv") else ""
        row["communicator"] = self._number(rank, event.communicator)
        row[f"{half}peer"] = int(event.sender)
        row[f"{half}tag"] = _tag(event.msg_tag)
        row[f"{half}bytes"] = int(event.msg_length)

    def _begin_receive(self, rank: _Rank, event: Any) -> None:
        row = self._row(rank)
        if row is not None:
            row = self._apart(rank, row, "MPI_Irecv", event.time)
            row["request"] = rank.new_request(int(event.request_id), row)

    def _begin_collective(self, rank: _Rank, event: Any) -> None:
        row = self._row(rank)
        if row is not None:
            row["request"] = rank.new_request(int(event.request_id), row)

    def _done(self, rank: _Rank, event: Any, source: int, tag: int, size: int) -> dict[str, int]:
        """Puts a completion into the call at hand, and gives the row of the call that began what is complete."""
        number, began = rank.requests.pop(int(event.request_id), (0, {}))
        row = self._row(rank)
        if row is not None and number:
            if "completions" not in row:
                row.update(completions=len(rank.completions), num_completions=0, request=number)
            row["num_completions"] += 1
            rank.completions.append((number, source, tag, size))
        return began

    def _complete_other(self, rank: _Rank, event: Any) -> None:
        self._done(rank, event, -1, -1, -1)

    def _complete_receive(self, rank: _Rank, event: Any) -> None:
        source, tag, size = int(event.sender), _tag(event.msg_tag), int(event.msg_length)
        began = self._done(rank, event, source, tag, size)
        began.update(communicator=self._number(rank, event.communicator), peer=source, tag=tag, bytes=size)

    def _collective(self, rank: _Rank, event: Any) -> None:
        row = self._row(rank)
        if row is not None:
            self._fill_collective(rank, row, event, rank.open[-1][0])

    def _complete_collective(self, rank: _Rank, event: Any) -> None:
        began = self._done(rank, event, -1, -1, -1)
        if began:
            self._fill_collective(rank, began, event, "MPI_" + str(event.collective_op).rpartition(".")[2])

    def _fill_collective(self, rank: _Rank, row: dict[str, int], event: Any, function: str) -> None:
        number = self._number(rank, event.communicator)
        row["communicator"] = number
        if isinstance(event.root, int) and event.root != _UNDEFINED_ROOT:
            row["root"] = int(event.root)
        name = _core.collective_of(function)
        if not name or name == "barrier":
            return
        size = max(1, len(rank.communicators[number].members)) if number >= 0 else 1
        sent, received = int(event.size_sent), int(event.size_received)
        row["bytes"] = received if name in _RECEIVED else sent // size if name in _OF_ALL else sent
        if name in _VECTORS and not self._take_sizes(rank, row, event):
            self.vectors.append((rank.rank, name, row))

    def _take_sizes(self, rank: _Rank, row: dict[str, int], event: Any) -> bool:
        """What hocket's own export adds for a v-variant."""
        for attribute, value in (event.attributes or {}).items():
            if attribute.name == SIZES:
                parts = [[int(one) for one in part.split(",") if one] for part in str(value).split("|")]
                if len(parts) == 2 and all(0 <= one < 2**50 for part in parts for one in part):
                    self._put_sizes(rank, row, parts[0], parts[1])
                    return True
        return False

    def _put_sizes(self, rank: _Rank, row: dict[str, int], sent: list[int], received: list[int]) -> None:
        row["blocks"] = len(rank.blocks)
        rank.blocks += [len(sent), *sent, len(received), *received]

    def derive_sizes(self) -> None:
        """Of gathers and scatters what the root has to do with each rank follows from what each rank tells."""
        calls: dict[tuple[int, ...], list[tuple[int, str, dict[str, int]]]] = {}
        before: dict[tuple[int, tuple[int, ...]], int] = {}
        for rank, name, row in self.vectors:
            number = row["communicator"]
            if number < 0:
                continue
            # Communicators of equal members that ranks made one after another count as one: their sizes are in order.
            group = tuple(self.ranks[rank].communicators[number].members)
            place = before[rank, group] = before.get((rank, group), -1) + 1
            calls.setdefault((place, *group), []).append((rank, name, row))
        for key, parts in calls.items():
            members = list(key[1:])
            sizes = {rank: row.get("bytes", 0) for rank, _, row in parts}
            name = parts[0][1]
            if name in ("gatherv", "scatterv") and len(sizes) < len(members):
                continue  # the root's are there
            if name.startswith("alltoall") or len(sizes) < len(members) or any(part[1] != name for part in parts):
                self.notes[f"calls of MPI_{name.capitalize()}: the trace has the sum of their sizes alone"] = (
                    self.notes.get(f"calls of MPI_{name.capitalize()}: the trace has the sum of their sizes alone", 0)
                    + len(parts)
                )
                continue
            of_all = [sizes[member] for member in members]
            for rank, _, row in parts:
                at_root = row.get("root", -1) == members.index(rank)
                if name == "scatterv" and at_root:
                    self._put_sizes(self.ranks[rank], row, of_all, [])
                elif name in ("allgatherv", "reduce_scatter") or (name == "gatherv" and at_root):
                    self._put_sizes(self.ranks[rank], row, [], of_all)

    def _made(self, rank: _Rank, event: Any) -> None:
        if rank.open and rank.open[-1][0].startswith("MPI_"):
            rank.open[-1][2]["new_communicator"] = self._number(rank, event.communicator)

    def traced(self, rank: _Rank) -> TracedRank:
        calls = new_calls(len(rank.rows))
        for name in CALL.names or ():
            values = [(i, row[name]) for i, row in enumerate(rank.rows) if name in row]
            if values:
                places, found = zip(*values, strict=True)
                calls[name][list(places)] = found
        names = list(rank.functions)
        by_session = bool(rank.rows) and names[rank.rows[-1]["function"]] == "MPI_Session_finalize"
        return TracedRank(
            calls,
            names,
            rank.communicators,
            blocks=np.array(rank.blocks, np.int64),
            completions=np.array(rank.completions, COMPLETION) if rank.completions else np.zeros(0, COMPLETION),
            host=str(self.hosts[rank.rank])[:63],
            end="finalize" if "MPI_Finalize" in names or by_session else "cut off",
        )


def _tag(tag: int) -> int:
    return int(tag) if int(tag) < 2**31 else -1


def read_otf2(anchor: Path, reporter: Reporter = SILENT) -> tuple[Trace, list[str]]:
    """Of the file that names the archive, such as traces.otf2, and notes on what was left out.

    Raises InvalidInput if it is damaged, holds no MPI program, or the package `otf2` is not there.
    """
    otf2 = import_otf2()
    check_opens(anchor)
    try:
        with otf2.reader.open(str(anchor)) as trace:
            reader = _Reader(otf2, trace, str(anchor))
            reader.read(trace.events)
            reader.derive_sizes()
            parts = [reader.traced(rank) for rank in reader.ranks]  # refuses numbers that a trace does not hold
    except InvalidInput:
        raise
    except Exception as error:  # whatever the package meets in a damaged file
        raise InvalidInput(
            f"{anchor}: the package otf2 cannot read it: {type(error).__name__}: {str(error)[:200]}",
            "check it with otf2-print, or copy the whole archive again: .otf2, .def and its folder",
        ) from error
    core = _core.Trace.make([part.core(number, len(parts)) for number, part in enumerate(parts)])
    meta = {
        "format": "hocket.trace/3",
        "ranks": core.num_ranks,
        "mpi": "imported from OTF2",
        "thread_level": "single",
        "functions_wrapped": 0,
        "cost_per_call_ns": 0,
        "program": [anchor.name],
        "command": [anchor.name],
        "created_by": "hocket trace import",
    }
    notes = [f"{count} {what}" for what, count in sorted(reader.notes.items())]
    return Trace(core, meta, anchor), notes
