# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Replays of the same traces by hocket, SimGrid's TI replay and LogGOPSim: predicted times, speed and memory.

The traces are made here: programs whose ranks send and receive one message at a time, so that no two share a link or an
end, and one with halos, where messages do share ends. hocket reads the trace itself, the others what
`hocket trace export` makes of it. All take turns in each round; the table has medians of CPU time.

What costs what, in LogGOPSim's letters: L is the latency of the route, G a byte on its slowest link, o the overhead of
sender and receiver, g and O are 0, S is the rendezvous size. A message of s bytes takes 2 o + L + (s - 1) G in
LogGOPSim, o + L + s G + o in hocket, and L + s G in SimGrid, whose overheads are 0 here.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from install import Failure, run

from hocket.cli.common import print_table
from hocket.traces.trace import Trace
from hocket.traces.traced_rank import COMPLETION, OwnCommunicator, TracedRank, new_calls

HERE = Path(__file__).resolve().parent
LATENCY_NS, NS_PER_BYTE, EAGER = 2000, 1, 2**31 - 1
FUNCTIONS = [
    "MPI_Init",
    "MPI_Send",
    "MPI_Recv",
    "MPI_Sendrecv",
    "MPI_Irecv",
    "MPI_Isend",
    "MPI_Waitall",
    "MPI_Finalize",
]
FLOPS_PER_S = 1e9


@dataclass(frozen=True)
class Call:
    """A call of one rank; `gap_ns` computes before it."""

    function: str
    gap_ns: int = 0
    send: tuple[int, int] | None = None  #: peer, bytes
    receive: tuple[int, int] | None = None


Program = Callable[[int, int, int], Iterator[Call]]  # rank, ranks, steps


def gap(rank: int, step: int) -> int:
    """Some microseconds, another number for each rank and step."""
    return 1000 + (rank * 7919 + step * 104729) % 5000


def ring(rank: int, ranks: int, steps: int) -> Iterator[Call]:
    for step in range(steps):
        yield Call("MPI_Sendrecv", gap(rank, step), ((rank + 1) % ranks, 8000), ((rank - 1) % ranks, 8000))


def pipeline(rank: int, ranks: int, steps: int) -> Iterator[Call]:
    for step in range(steps):
        if rank > 0:
            yield Call("MPI_Recv", 0, receive=(rank - 1, 20_000))
        if rank + 1 < ranks:
            yield Call("MPI_Send", gap(rank, step), send=(rank + 1, 20_000))


def ping_pong(rank: int, ranks: int, steps: int) -> Iterator[Call]:
    peer = rank ^ 1
    for step in range(steps):
        size = 1 + 37 * (step % 1000)
        first = Call("MPI_Send", gap(rank, step), send=(peer, size))
        second = Call("MPI_Recv", 0, receive=(peer, size))
        yield from (first, second) if rank % 2 == 0 else (second, first)


def butterfly(rank: int, ranks: int, steps: int) -> Iterator[Call]:
    """As recursive doubling does it."""
    for step in range(steps):
        peer = rank ^ (1 << step % (ranks.bit_length() - 1))
        yield Call("MPI_Sendrecv", gap(rank, step), (peer, 5000), (peer, 5000))


def halo(rank: int, ranks: int, steps: int) -> Iterator[Call]:
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    for step in range(steps):
        yield Call("MPI_Irecv", gap(rank, step), receive=(left, 8000))
        yield Call("MPI_Irecv", 0, receive=(right, 8000))
        yield Call("MPI_Isend", 0, send=(right, 8000))
        yield Call("MPI_Isend", 0, send=(left, 8000))
        yield Call("MPI_Waitall", 0)


PROGRAMS: dict[str, tuple[Program, int]] = {  # calls of a rank in a step
    "ping-pong": (ping_pong, 2), "ring": (ring, 1), "pipeline": (pipeline, 2), "butterfly": (butterfly, 1),
    "halo": (halo, 5),
}  # fmt: skip


def traced(program: Program, rank: int, ranks: int, steps: int) -> TracedRank:
    calls = [Call("MPI_Init"), *program(rank, ranks, steps), Call("MPI_Finalize")]
    rows = new_calls(len(calls))
    completions: list[tuple[int, int, int, int]] = []
    clock, request = 0, 0
    open_requests: list[tuple[int, int, int, int]] = []
    for row, call in zip(rows, calls, strict=True):
        clock += call.gap_ns
        row["function"] = FUNCTIONS.index(call.function)
        row["enter_ns"] = row["exit_ns"] = clock
        if call.send or call.receive:
            row["communicator"] = 0
            row["peer"], row["bytes"] = call.send or call.receive
            row["tag"] = 0
        if call.send and call.receive:
            row["receive_peer"], row["receive_bytes"] = call.receive
            row["receive_tag"] = 0
        if call.function in ("MPI_Irecv", "MPI_Isend"):
            request += 1
            row["request"] = request
            open_requests.append(
                (request, call.receive[0], 0, call.receive[1]) if call.receive else (request, -1, -1, -1)
            )
        if call.function == "MPI_Waitall":
            row["completions"], row["num_completions"] = len(completions), len(open_requests)
            row["request"] = open_requests[0][0]
            completions += open_requests
            open_requests = []
    return TracedRank(rows, FUNCTIONS, [OwnCommunicator(range(ranks))], completions=np.array(completions, COMPLETION))


@dataclass
class Way:
    """One simulator: its command, and how its output tells the predicted seconds."""

    name: str
    command: Sequence[str]
    pattern: str
    unit_s: float = 1.0
    environment: dict[str, str] = field(default_factory=dict)
    predicted_s: float = 0.0
    cpu_s: list[float] = field(default_factory=list)
    memory_kib: list[int] = field(default_factory=list)

    def run(self) -> None:
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(
                list(self.command), stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **self.environment}
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read()
        found = re.search(self.pattern, text)
        if process.returncode != 0 or found is None:
            raise Failure(f"`{' '.join(self.command)}` failed: {text[-500:]}")
        self.predicted_s = float(found[1]) * self.unit_s
        self.cpu_s.append(used.ru_utime + used.ru_stime)
        self.memory_kib.append(used.ru_maxrss)


def build_loggopsim(source: Path, folder: Path) -> Path:
    """LogGOPSim with optimisation, of a copy of its sources. Needs gengetopt, re2c and the headers of graphviz."""
    built = folder / "loggopsim"
    program = built / "LogGOPSim"
    if not program.exists():
        shutil.copytree(next(source.rglob("LogGOPSim.cpp")).parent, built, dirs_exist_ok=True)
        for name in ("loggopsim_cmdline", "txt2bin_cmdline"):
            run(folder, "loggopsim", ["gengetopt", "--input", str(built / f"{name}.ggo"), "-F", name,
                                      "--output-dir", str(built)])  # fmt: skip
        flags = ["g++", "-O3", "-DNDEBUG", "-std=c++14", "-w", "-fpermissive"]
        run(folder, "loggopsim", [*flags, str(built / "LogGOPSim.cpp"), "-x", "c++", str(built / "loggopsim_cmdline.c"),
                                  "-lcgraph", "-o", str(program)])  # fmt: skip
    return program


def platform(ranks: int) -> str:
    """A star whose links nobody shares: FATPIPE."""
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="n" suffix="" radical="0-{ranks - 1}" speed="{FLOPS_PER_S:.0f}f"
           bw="{1e9 / NS_PER_BYTE:.0f}Bps" lat="{LATENCY_NS / 2}ns" sharing_policy="FATPIPE"/>
</platform>
"""


SIMGRID = [
    "network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "network/bandwidth-factor:1",
    "network/latency-factor:1", "network/weight-S:0", "smpi/async-small-thresh:0",
    f"smpi/send-is-detached-thresh:{EAGER}", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "smpi/os:0:0:0",
    "smpi/or:0:0:0", "smpi/ois:0:0:0", "smpi/simulate-computation:no", "smpi/wtime:0", "smpi/test:0", "smpi/init:0",
    "smpi/iprobe:0", "smpi/display-timing:yes",
]  # fmt: skip


def ways(folder: Path, name: str, ranks: int, overhead_ns: int, loggopsim: Path | None, simgrid: bool) -> list[Way]:
    trace = folder / name
    network = ["--network", f"star:{ranks}", "--bandwidth", f"{1000 // NS_PER_BYTE} MB/s", "--latency"]
    costs = [
        "--send-overhead",
        f"{overhead_ns} ns",
        "--receive-overhead",
        f"{overhead_ns} ns",
        "--rendezvous",
        f"{EAGER}",
    ]
    hocket = [sys.executable, "-m", "hocket"]
    found = [
        Way("hocket", [*hocket, "simulate", str(trace), *network, f"{LATENCY_NS / 2} ns", *costs, "--sharing", "none",
                       "--json"], r'"makespan_s": ([0-9.e+-]+)')
    ]  # fmt: skip
    if loggopsim is not None:
        binary = folder / f"{name}.goal"
        run(folder, "export", [*hocket, "trace", "export", str(trace), "--format", "goal-binary", "-o", str(binary)])
        parameters = {"-L": LATENCY_NS, "-o": overhead_ns, "-g": 0, "-G": NS_PER_BYTE, "-O": 0, "-S": EAGER}
        found.append(
            Way("LogGOPSim", [str(loggopsim), "-f", str(binary), "-b",
                              *(str(word) for pair in parameters.items() for word in pair)],
                r"Maximum finishing time at host \d+: (\d+)", 1e-9)
        )  # fmt: skip
    if simgrid and overhead_ns == 0:
        files = folder / f"{name}.ti"
        run(folder, "export", [*hocket, "trace", "export", str(trace), "--format", "ti", "--flops", f"{FLOPS_PER_S}",
                               "-o", str(files)])  # fmt: skip
        (folder / "platform.xml").write_text(platform(ranks))
        hosts = folder / "hosts"
        hosts.write_text("".join(f"n{rank}\n" for rank in range(ranks)))
        listed = next(path for path in files.iterdir() if path.suffix == ".txt" or path.name == "traces")
        found.append(
            Way("SimGrid", ["smpirun", "-replay", str(listed), "-np", str(ranks), "-platform",
                            str(folder / "platform.xml"), "-hostfile", str(hosts),
                            *(f"--cfg={option}" for option in SIMGRID)], r"Simulated time: ([0-9.e+-]+) seconds")
        )  # fmt: skip
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loggopsim", type=Path, help="sources of LogGOPSim: a clone of github.com/spcl/LogGOPSim")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--calls", type=int, default=200_000, help="of all ranks, about")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--overhead", type=int, nargs="+", default=[0, 1500], metavar="NS")
    parser.add_argument("--program", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--folder", type=Path, default=Path("build/peers"))
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        loggopsim = build_loggopsim(arguments.loggopsim, folder) if arguments.loggopsim else None
        simgrid = shutil.which("smpirun") is not None
        for name, there in (
            ("LogGOPSim: --loggopsim", loggopsim),
            ("SimGrid: apt-get install libsimgrid-dev", simgrid),
        ):
            if not there:
                print(f"without {name}", file=sys.stderr)
        rows = list(compare(arguments, folder, loggopsim, simgrid))
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    print_table(["program", "o, ns", "calls", "simulator", "predicted, s", "of hocket's", "calls/s", "MiB"], rows)
    return 0


def compare(
    arguments: argparse.Namespace, folder: Path, loggopsim: Path | None, simgrid: bool
) -> Iterator[list[object]]:
    for name in arguments.program:
        program, in_step = PROGRAMS[name]
        steps = max(1, arguments.calls // (arguments.ranks * in_step))
        for overhead_ns in arguments.overhead:
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                ranks = [traced(program, rank, arguments.ranks, steps) for rank in range(arguments.ranks)]
                calls = Trace.create(Path(scratch) / name, ranks).num_calls()
                found = ways(Path(scratch), name, arguments.ranks, overhead_ns, loggopsim, simgrid)
                for _ in range(arguments.rounds):
                    for way in found:
                        way.run()
            for way in found:
                yield [
                    name, overhead_ns, f"{calls:,}", way.name, f"{way.predicted_s:.9f}",
                    f"{way.predicted_s / found[0].predicted_s:.5f}",
                    f"{calls / statistics.median(way.cpu_s):,.0f}", f"{max(way.memory_kib) / 1024:.0f}",
                ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
