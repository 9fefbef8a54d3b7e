# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A trace as OTF2, for Vampir, Cube and others: regions of MPI calls with Score-P's records of messages in them.

Sizes of collectives are counted as Score-P counts them: of allreduce, allgather and alltoall the message times the
ranks; of the others what the rank sends and receives.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from hocket import Trace, _core
from hocket.interop.traces.actions import Action, Message, actions
from hocket.interop.traces.otf2_package import SIZES, import_otf2

ARCHIVE = "traces"
_NO_ROOT = 2**32 - 1
_OF_ALL = frozenset({"allreduce", "allgather", "alltoall"})
_TO_ROOT = frozenset({"reduce", "gather"})


class Otf2Writer:
    def __init__(self, trace: Trace, folder: Path) -> None:
        self.otf2 = import_otf2()
        self.trace, self.folder = trace, folder
        self.notes: Counter[str] = Counter()

    def write(self) -> list[str]:
        """Notes on what the format does not hold."""
        otf2, trace = self.otf2, self.trace
        with otf2.writer.open(str(self.folder), archive_name=ARCHIVE, timer_resolution=1_000_000_000) as archive:
            definitions = archive.definitions
            root = definitions.system_tree_node("machine", class_name="machine")
            nodes = {host: definitions.system_tree_node(host or "node", class_name="node", parent=root)
                     for host in dict.fromkeys(trace.hosts)}  # fmt: skip
            groups = [
                definitions.location_group(
                    f"MPI Rank {rank}",
                    location_group_type=otf2.LocationGroupType.PROCESS,
                    system_tree_parent=nodes[trace.hosts[rank]],
                )
                for rank in range(trace.ranks)
            ]
            locations = [definitions.location("Master thread", group=group) for group in groups]
            self._define_communicators(definitions, locations)
            self.sizes = definitions.attribute(
                SIZES, "bytes sent to each rank, a bar, bytes received from each", type=otf2.Type.STRING
            )
            self.regions = [
                definitions.region(
                    name, paradigm=otf2.Paradigm.MPI, source_file="MPI", region_role=otf2.RegionRole.FUNCTION
                )
                for name in trace.functions
            ]
            for rank in range(trace.ranks):
                self._write_rank(rank, archive.event_writer_from_location(locations[rank]))
        return [f"{count} {what}" for what, count in sorted(self.notes.items())]

    def _define_communicators(self, definitions: Any, locations: list[Any]) -> None:
        otf2 = self.otf2
        definitions.group(
            "", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=otf2.Paradigm.MPI, members=locations
        )  # of all ranks
        self.comms: list[Any] = []
        for one in self.trace.communicators:
            known = one.members and -1 not in one.members and not one.inter
            if not known:
                self.comms.append(None)
                continue
            group = definitions.group(
                "",
                group_type=otf2.GroupType.COMM_GROUP,
                paradigm=otf2.Paradigm.MPI,
                members=[locations[member] for member in one.members],
            )
            name = "MPI_COMM_WORLD" if one.id == 0 else ""
            parent = self.comms[one.parent] if one.parent is not None and one.parent < len(self.comms) else None
            self.comms.append(definitions.comm(name, group=group, parent=parent))

    def _write_rank(self, rank: int, events: Any) -> None:
        last = 0
        self.begun_collectives: dict[int, Any] = {}  # by request
        for action in actions(self.trace, rank):
            # Folds of polls may reach into the calls beside them; records of a location have to be in order.
            enter = max(last, int(action.call["enter_ns"]))
            last = max(enter, int(action.call["exit_ns"]))
            region = self.regions[action.call["function"]]
            events.enter(enter, region)
            self._records(rank, action, events, enter, last)
            events.leave(last, region)
            if action.call["calls"] > 1:
                self.notes["polls that are written as one with those before"] += int(action.call["calls"]) - 1

    def _records(self, rank: int, action: Action, events: Any, enter: int, exit_: int) -> None:
        for message in sorted(action.blocking, key=lambda one: not one.sends):
            comm = self._comm(message.communicator)
            if comm is None or message.peer < 0:
                continue
            at, write = (enter, events.mpi_send) if message.sends else (exit_, events.mpi_recv)
            write(at, message.peer, comm, _tag(message), message.bytes)
        for request, message in action.begun:
            comm = self._comm(message.communicator)
            if comm is None or message.peer < 0:
                continue
            if message.sends:
                events.mpi_isend(enter, message.peer, comm, _tag(message), message.bytes, request)
            else:
                events.mpi_irecv_request(enter, request)
        if action.begun_collective is not None:
            request, call = action.begun_collective
            self.begun_collectives[request] = call
            events.non_blocking_collective_request(enter, request)
        if action.collective is not None and (values := self._sizes(rank, action.collective)) is not None:
            events.mpi_collective_begin(enter)
            events.mpi_collective_end(exit_, *values, attributes=self._attributes(rank, action.collective))
        for done, what in action.completed:
            self._complete(rank, done, what, events, exit_)
        made = int(action.call["new_communicator"])
        if made >= 0 and self.comms[made] is not None:
            events.comm_create(exit_, self.comms[made])

    def _complete(self, rank: int, request: int, message: Message | None, events: Any, at: int) -> None:
        if message is None:
            call = self.begun_collectives.pop(request, None)
            if call is not None and (values := self._sizes(rank, call)) is not None:
                op, comm, root, sent, received = values
                attributes = self._attributes(rank, call)
                events.non_blocking_collective_complete(
                    at, op, comm, root, sent, received, request, attributes=attributes
                )
            return
        comm = self._comm(message.communicator)
        if comm is None or message.peer < 0:
            return
        if message.sends:
            events.mpi_isend_complete(at, request)
        else:
            events.mpi_irecv(at, message.peer, comm, _tag(message), message.bytes, request)

    def _comm(self, number: int) -> Any:
        found = self.comms[number] if number >= 0 else None
        if found is None:
            self.notes["messages on communicators that OTF2 does not hold"] += 1
        return found

    def _sizes(self, rank: int, call: Any) -> tuple[Any, Any, int, int, int] | None:
        """Operation, communicator, root, bytes sent and received."""
        name = _core.collective_of(self.trace.functions[call["function"]])
        op = getattr(self.otf2.CollectiveOp, name.upper(), None)
        number = int(call["communicator"])
        comm = self.comms[number] if number >= 0 else None
        if op is None or comm is None:
            self.notes[f"calls of {self.trace.functions[call['function']]}: their times alone"] += 1
            return None
        members = self.trace.communicators[number].members
        root, size, ranks = int(call["root"]), max(0, int(call["bytes"])), len(members)
        at_root = 0 <= root < ranks and members[root] == rank
        sent = received = size
        if name in _OF_ALL:
            sent = received = size * ranks
        elif name == "bcast":
            sent = size * ranks if at_root else 0
        elif name in _TO_ROOT:
            received = size * ranks if at_root else 0
        elif name == "scatter":
            sent = size * ranks if at_root else 0
        elif call["blocks"] >= 0:
            received = int(self.trace.blocks(rank, call)[1].sum()) or size
        return op, comm, root if root >= 0 else _NO_ROOT, sent, received

    def _attributes(self, rank: int, call: Any) -> dict[Any, str] | None:
        """What the records of OTF2 have no place for: the sizes of a v-variant."""
        if call["blocks"] < 0:
            return None
        return {self.sizes: "|".join(",".join(map(str, part)) for part in self.trace.blocks(rank, call))}


def _tag(message: Message) -> int:
    return max(0, message.tag)


def write_otf2(trace: Trace, folder: Path) -> list[str]:
    """Into an empty folder: traces.otf2 and what belongs to it. Notes on what the format does not hold."""
    return Otf2Writer(trace, folder).write()
