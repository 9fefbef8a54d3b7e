# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Imports and replays public samples of other tools' traces, and compares what is read with an independent count.

The samples are not part of hocket: name a folder that has working copies of the repositories below, each under its own
name (sst-dumpi, sst-macro, ...). What is not there is left out, and the list says so.

The independent counts: of DUMPI the table of calls that libdumpi writes behind the calls, and dumpi2ascii where it
is in the path; of OTF2 the records as the package otf2 gives them; of text formats the fields of their lines; of
Chakra the package protobuf with the part of the schema that counts nodes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket import Network, Trace, simulate
from hocket.errors import InvalidInput
from hocket.interop.sources import find_sources
from hocket.interop.traces.importing import ImportRequest, run
from hocket.traces.replay import replay

Counts = dict[str, tuple[int, int | None]]  # name -> calls, bytes; None: the count does not tell bytes


@dataclass(frozen=True)
class Sample:
    repository: str
    path: str
    count: Callable[[list[Path]], Counts]
    communicators: int | None = None  # of more than one rank, known from the program


def of_dumpi(paths: list[Path]) -> Counts:
    calls: Counter[str] = Counter()
    for path in paths:
        data = path.read_bytes()
        footer, _ = struct.unpack(">QQ", data[-16:])
        numbers = struct.unpack_from(">291I", data, footer + 8)
        calls.update({DUMPI_NAMES.get(i, str(i)): number for i, number in enumerate(numbers[:290]) if number})
    sizes = _bytes_by_dumpi2ascii(paths)
    return {f"MPI_{name}": (number, sizes.get(f"MPI_{name}")) for name, number in calls.items()}


# The functions of the samples by their number in DUMPI (dumpi/common/funclabels.h).
DUMPI_NAMES = {0: "Send", 1: "Recv", 8: "Isend", 12: "Irecv", 13: "Wait", 18: "Waitall", 52: "Barrier", 53: "Bcast",
               60: "Alltoall", 65: "Allreduce", 72: "Comm_group", 76: "Group_incl", 81: "Comm_size", 82: "Comm_rank",
               85: "Comm_create", 114: "Get_processor_name", 124: "Init", 125: "Finalize"}  # fmt: skip
_TYPE_BYTES = {"MPI_INT": 4, "MPI_CHAR": 1, "MPI_BYTE": 1, "MPI_DOUBLE": 8, "MPI_FLOAT": 4, "MPI_LONG": 8}


def _bytes_by_dumpi2ascii(paths: list[Path]) -> dict[str, int]:
    tool = shutil.which("dumpi2ascii")
    if tool is None:
        return {}
    sizes: Counter[str] = Counter()
    for path in paths:
        text = subprocess.run([tool, path], capture_output=True, text=True, check=True).stdout
        name, count, done = "", 0, True
        for line in text.splitlines():
            if match := re.match(r"(MPI_\w+) entering", line):
                name, count, done = match[1], 0, False
            elif match := re.match(r"int (?:send)?count=(\d+)", line):
                count = int(match[1]) if not done else count
            elif (match := re.match(r"MPI_Datatype (?:send)?(?:data)?type=\d+ \((\w+)\)", line)) and not done:
                sizes[name] += count * _TYPE_BYTES[match[1]]
                done = True
    return dict(sizes)


def of_otf2(paths: list[Path]) -> Counts:
    import otf2

    calls: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    inside: dict[Any, list[str]] = {}
    with otf2.reader.open(str(paths[0])) as trace:
        for location, event in trace.events:
            kind = type(event).__name__
            if kind == "Enter":
                inside.setdefault(location, []).append(event.region.name)
                calls[event.region.name] += 1
            elif kind == "Leave":
                inside[location].pop()
            elif kind in ("MpiSend", "MpiIsend", "MpiRecv"):
                sizes[inside[location][-1]] += event.msg_length
            elif kind == "MpiIrecv":
                sizes["MPI_Irecv"] += event.msg_length
    return {name: (number, sizes.get(name)) for name, number in calls.items() if name.startswith("MPI_")}


def of_liballprof(paths: list[Path]) -> Counts:
    calls: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path in paths:
        for line in path.read_text().splitlines():
            fields = line.split(":")
            if not line.startswith("MPI_"):
                continue
            calls[fields[0]] += 1
            if fields[0] in ("MPI_Send", "MPI_Recv", "MPI_Bcast"):
                sizes[fields[0]] += int(fields[3]) * int(fields[4].split(",")[1])
            elif fields[0] == "MPI_Allreduce":
                sizes[fields[0]] += int(fields[4]) * int(fields[5].split(",")[1])
    return {name: (number, sizes.get(name)) for name, number in calls.items()}


def of_ti(paths: list[Path]) -> Counts:
    calls: Counter[str] = Counter()
    for path in paths:
        for line in path.read_text().splitlines():
            fields = line.split()
            if len(fields) > 1 and fields[1] not in ("compute", "sleep", "location"):
                calls[f"MPI_{fields[1].capitalize()}"] += 1
    renamed = {"MPI_Reducescatter": "MPI_Reduce_scatter"}
    return {renamed.get(name, name): (number, None) for name, number in calls.items()}


def of_goal(paths: list[Path]) -> Counts:
    text = paths[0].read_text()
    counts: Counts = {}
    for kind in ("send", "recv"):
        found = [int(one) for one in re.findall(rf"\b{kind} (\d+)b\b", text)]
        counts[kind] = (len(found), sum(found))
    return counts


def of_chakra(paths: list[Path]) -> Counts:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.internal.decoder import _DecodeVarint32

    file = descriptor_pb2.FileDescriptorProto(name="nodes.proto", package="nodes", syntax="proto3")
    node = file.message_type.add(name="Node")
    node.field.add(name="type", number=3, type=13, label=1)  # uint32, optional
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("nodes.Node"))
    types: Counter[int] = Counter()
    for path in paths:
        data, at, first = path.read_bytes(), 0, True
        while at < len(data):
            length, at = _DecodeVarint32(data, at)
            if not first:
                types[kind.FromString(data[at : at + length]).type] += 1
            first, at = False, at + length
    return {"send": (types[5], None), "recv": (types[6], None)}


_TO_GRAPH = "test/data/multi_process_traces/synthetic/naive_all_to_all/procs4"
SAMPLES = [
    Sample("sst-dumpi", "tests/traces", of_dumpi, 1),
    Sample("sst-macro", "tests/test_traces/testbgp.meta", of_dumpi, 2),
    *(
        Sample(
            "dumpi_to_graph", f"test/data/multi_process_traces/synthetic/naive_all_to_all/procs4/run_{n}", of_dumpi, 1
        )
        for n in (0, 1)
    ),
    Sample("sst-macro", "tests/otf2_test_traces", of_otf2, 5),
    Sample("pipit", "pipit/tests/data/ping-pong-otf2", of_otf2, 1),
    Sample("simgrid", "examples/smpi/replay_multiple/ti_traces_32_1", of_ti, 1),
    Sample("simgrid", "examples/smpi/replay/actions_with_isend.txt", of_ti, 1),
    Sample("atlahs", "goal_gen/hpc/Schedgen/liballprof-samples/sweep3d-2x2", of_liballprof, 1),
    Sample("atlahs", "goal_gen/hpc/Schedgen/liballprof-samples/bcast", of_liballprof, 1),
    Sample("LogGOPSim", "src/LogGOPSim/binary_tree_32.goal", of_goal),
    Sample("astra-sim", "examples/system/custom_collectives/custom_ring_allreduce_8npus_1MB", of_chakra),
    Sample("chakra", "tests/data/chakra.0.et", of_chakra),  # unpacked from feeder_tests_trace.tar.gz
]


def compare(path: Path, sample: Sample) -> list[str]:
    """Prints a line; gives what differs."""
    found = run(ImportRequest(path))
    expected = sample.count(find_sources(path).paths)
    read = {one.name: (one.calls, one.bytes) for one in found.calls}
    differs = []
    for name, (calls, size) in expected.items():
        got = read.get(name, (0, 0))
        if got[0] != calls or (size is not None and got[1] != size):
            differs.append(f"{name}: read {got}, counted {(calls, size)}")
    if found.trace is not None:
        differs += [f"{name}: read, not counted" for name in sorted(set(read) - set(expected))]
        several = [one for one in found.communicators if len(one.members) > 1]
        if sample.communicators is not None and len(several) != sample.communicators:
            differs.append(f"{len(several)} communicators of several ranks, known are {sample.communicators}")
    network = Network.generate(f"star:{found.ranks}", bandwidth="10 Gbit/s", latency="1 us")
    program = replay(found.trace).program if isinstance(found.trace, Trace) else found.program
    try:
        assert program is not None
        simulated = f"{simulate(program, network).makespan_s:.6g} s"
    except InvalidInput as error:
        simulated = f"no replay: {error}"
        differs.append(simulated)
    with_bytes = sum(size is not None for _, size in expected.values())
    print(
        f"{sample.repository} {sample.path}: {found.format}, {found.ranks} ranks, "
        f"{sum(calls for calls, _ in read.values()):,} calls, {len(expected)} functions compared "
        f"({with_bytes} with bytes), "
        f"replayed {simulated}: {'as counted' if not differs else 'DIFFERS'}"
    )
    for line in [*differs, *(f"note: {note}" for note in found.notes)]:
        print(f"    {line}")
    return differs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, help="folder with working copies of the repositories")
    arguments = parser.parse_args()
    wrong = 0
    for sample in SAMPLES:
        path = arguments.checkouts / sample.repository / sample.path
        if not path.exists():
            print(f"{sample.repository} {sample.path}: not there, left out")
            continue
        wrong += bool(compare(path, sample))
    print(f"{wrong} sample(s) differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
