# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Replays of the same traces by hocket, SimGrid and LogGOPSim: predicted times, speed and memory; `make perf-replays`.

hocket reads each trace, SimGrid and LogGOPSim what `hocket trace export` makes of it. On programs in which no two
messages meet, all three must predict the same within 1 %: else the exit status is 1. What each message costs is in
replay_simulators.py. docs/notebook/replays-beside-others.md has the results.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import replay_programs
from install import SIMGRID_VERSION, Failure, bring_simgrid, simgrid_replay
from loggopsim import build_loggopsim
from replay_simulators import Costs, Way, hocket, loggopsim, simgrid

from hocket import CostModel, Network, Program, Trace, simulate
from hocket.cli.common import message, print_json, print_table
from hocket.traces.replay import replay

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import mpi_programs

from mpis import MPIS

LIMIT = 0.01  # of the deviation on programs without contention
PEERS = ("SimGrid", "LogGOPSim")
BUFFERED = "SimGrid, sends as its"  # hocket's program changed as `without_waits_for_sends` does
OVERHEAD_NS = 1500
# Slow enough that messages, not computations, make up most of a recorded program's time.
SLOW = Costs(latency_ns=50_000, ns_per_byte=100)
SLOW_OVERHEAD_NS = 10_000
NO_NETWORK = Costs(latency_ns=0, ns_per_byte=1e-6)
RECORD_S = 120.0  # at most, of a program that takes a second where its ranks have cores
RECORDED, RECORDED_RANKS = ("cg", "ft", "is", "hpl"), 4
REASONS = {
    "fan-out": "LogGOPSim sends one message after the other, the others all at once: the same end",
    "incast": "LogGOPSim receives one after the other, and adds an overhead for each while nothing arrives",
    "late receiver": "in LogGOPSim no bytes arrive while the receiver computes: its CPU takes them in afterwards",
    "rendezvous": "hocket asks and answers before the data; SimGrid and LogGOPSim wait for the receiver without that",
}


@dataclass(frozen=True)
class Peers:
    """The simulators that are there."""

    simgrid: tuple[Path, Path] | None
    loggopsim: Path | None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and small programs")
    parser.add_argument("--seeds", type=int, default=20, help="programs of each kind")
    parser.add_argument("--ranks", type=int, nargs="+", help="of the runs for speed  [default: 64 1024 4096]")
    parser.add_argument("--calls", type=int, default=1_000_000, help="of a run for speed, all ranks together")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each simulator for speed")
    parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON object instead of tables")
    parser.add_argument("--folder", type=Path, default=Path("build/peers"), help="for the simulators and traces")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.quick:
        arguments.seeds, arguments.calls = min(arguments.seeds, 3), min(arguments.calls, 100_000)
    ranks = arguments.ranks or ([64, 1024] if arguments.quick else [64, 1024, 4096])
    result: dict[str, Any] = {"skipped": {}}
    try:
        peers = bring(folder, result["skipped"])
        with tempfile.TemporaryDirectory(dir=folder) as name:
            scratch = Path(name)
            result["agreement"] = list(agreement(scratch, peers, arguments.seeds))
            result["recorded"] = list(recorded(scratch, folder, peers, result["skipped"]))
            result["kinds"] = list(differences(scratch, peers))
            result["speed"] = list(speed(scratch, peers, ranks, arguments.calls, arguments.rounds))
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    if arguments.as_json:
        print_json(result)
    else:
        show(result)
    (folder / "replays.json").write_text(json.dumps(result), encoding="utf-8")
    worst = [max(map(abs, row[name])) for row in result["agreement"] for name in PEERS if row.get(name)]
    return 0 if worst and max(worst) < LIMIT else 1


def bring(folder: Path, skipped: dict[str, str]) -> Peers:
    """What can be had of the others; `skipped` tells why not."""

    def attempt(name: str, get: Callable[[], Any]) -> Any:
        try:
            return get()
        except Failure as failure:
            skipped[name] = str(failure)
            return None

    def simgrid_programs() -> tuple[Path, Path]:
        bring_simgrid(folder)
        return simgrid_replay(folder)

    return Peers(
        attempt("SimGrid", simgrid_programs),
        attempt("LogGOPSim", lambda: build_loggopsim(folder, os.environ.get("CHECKOUTS", ""))),
    )


def ways(trace: Path, ranks: int, folder: Path, peers: Peers, costs: Costs) -> Iterator[Way]:
    if peers.simgrid is not None:
        yield simgrid(peers.simgrid, trace, ranks, folder, costs)
    if peers.loggopsim is not None:
        yield loggopsim(peers.loggopsim, trace, folder, costs)


def deviations(trace: Trace, scratch: Path, peers: Peers, costs: Costs) -> dict[str, float]:
    """Of each peer's predicted time from hocket's."""
    expected = predicted_s(trace, costs)
    found = {}
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        for way in ways(trace.folder, trace.ranks, Path(name), peers, costs):
            way.run()
            found[way.name] = way.predicted_s / expected - 1
    return found


def predicted_s(trace: Trace, costs: Costs, sharing: str = "maxmin", buffered: bool = False) -> float:
    """hocket's, in this process. `buffered`: as SimGrid sees messages, which are complete for their sender at once, and
    of which those of one pair of ranks travel side by side."""
    program = replay(trace, eager_bytes=costs.eager_bytes).program
    star = Network.generate(
        f"star:{trace.ranks}", bandwidth=f"{1000 / costs.ns_per_byte} MB/s", latency=f"{costs.latency_ns / 2} ns"
    )
    overhead_s = costs.overhead_ns * 1e-9
    timeline = simulate(
        without_waits_for_sends(program) if buffered else program,
        star,
        CostModel(overhead_s, overhead_s, rendezvous_bytes=costs.eager_bytes, sharing=sharing),
        ordered_pairs=not buffered,
    )
    return float(timeline.makespan_s)


def without_waits_for_sends(program: Program) -> Program:
    """What waits for a send waits for what that send waits for instead."""
    lines = [f"num_ranks {program.num_ranks}"]
    for rank in range(program.num_ranks):
        lines.append(f"rank {rank} {{")
        waits: list[list[int]] = []  # of each operation so far
        ops = program.ops(rank)
        for number, op in enumerate(ops):
            found = [[one] if ops[one].kind != "send" else waits[one] for one in op.after]
            waits.append(sorted({one for some in found for one in some}))
            what = {
                "send": f"send {op.bytes}b to {op.peer} tag {op.tag}",
                "recv": f"recv {op.bytes}b from {op.peer} tag {op.tag}",
            }.get(op.kind, f"calc {round(op.seconds * 1e9)}")
            lines += [f"l{number}: {what}", *(f"l{number} requires l{one}" for one in waits[-1])]
        lines.append("}")
    return Program.from_goal("\n".join(lines))


def agreement(scratch: Path, peers: Peers, seeds: int) -> Iterator[dict[str, Any]]:
    """Random programs without contention, with and without overheads."""
    for name, write in replay_programs.FREE.items():
        message(f"agreement: {name}")
        rows = {ns: [] for ns in (0, OVERHEAD_NS)}  # type: dict[int, list[dict[str, float]]]
        for seed in range(seeds):
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                trace = replay_programs.make(write, 2 ** (2 + seed % 4), 10, seed, Path(folder) / "trace")
                for overhead_ns, found in rows.items():
                    costs = Costs(overhead_ns=overhead_ns)
                    alone, together = (predicted_s(trace, costs, sharing) for sharing in ("none", "maxmin"))
                    if abs(together / alone - 1) > LIMIT / 100:
                        raise Failure(f"{name}, seed {seed}: messages meet: {alone} s alone, {together} s together")
                    found.append(deviations(trace, scratch, peers, costs))
        for overhead_ns, found in rows.items():
            yield {"program": name, "overhead_ns": overhead_ns, "programs": seeds, **_by_peer(found)}


def _by_peer(rows: list[dict[str, float]]) -> dict[str, list[float]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def recorded(scratch: Path, folder: Path, peers: Peers, skipped: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Programs of perf/programs as they ran here, on a slow network. Their messages may meet."""
    if not MPIS:
        skipped["recorded programs"] = "no MPI was found"
        return
    mpi = MPIS[0]
    for name in RECORDED:
        message(f"recorded: {name}")
        program = next(one for one in mpi_programs.PROGRAMS if one.name == name)
        executable = mpi_programs.prepare(program, mpi, folder / "programs" / mpi.name.replace(" ", "-"))
        trace = scratch / f"recorded-{name}"
        command = [str(mpi.mpiexec), "-n", str(RECORDED_RANKS), *executable, *program.arguments(0.1)]
        record = [sys.executable, "-m", "hocket", "record", "-o", str(trace), "--", *command]
        try:
            done = subprocess.run(record, capture_output=True, text=True, check=False, timeout=RECORD_S)
        except subprocess.TimeoutExpired:
            skipped[f"recorded {name}"] = f"not done after {RECORD_S:.0f} s"
            continue
        if done.returncode != 0:
            raise Failure(f"`{' '.join(record)}` failed: {done.stderr[-500:]}")
        opened = Trace.open(trace)
        for overhead_ns in (0, SLOW_OVERHEAD_NS):
            costs = replace(SLOW, overhead_ns=overhead_ns)
            found = deviations(opened, scratch, peers, costs)
            share = 1 - predicted_s(opened, NO_NETWORK) / predicted_s(opened, costs)
            again = predicted_s(opened, costs, buffered=True) / predicted_s(opened, costs)
            yield {
                "program": name, "overhead_ns": overhead_ns, "calls": opened.num_calls(), "messages_share": share,
                **found, **({BUFFERED: (1 + found["SimGrid"]) / again - 1} if "SimGrid" in found else {}),
            }  # fmt: skip


def differences(scratch: Path, peers: Peers) -> Iterator[dict[str, Any]]:
    """Programs that the models see differently."""
    chain = replay_programs.FREE["chain"]
    cases = [(name, write, EVERY) for name, write in replay_programs.CONTENDED.items()]
    for name, write, eager in [*cases, ("rendezvous", chain, 1000)]:
        for overhead_ns in (0, OVERHEAD_NS):
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                trace = replay_programs.make(write, 16, 20, 1, Path(folder) / "trace")
                found = deviations(trace, scratch, peers, Costs(overhead_ns=overhead_ns, eager_bytes=eager))
                yield {"program": name, "overhead_ns": overhead_ns, "reason": REASONS[name], **found}


EVERY = Costs().eager_bytes


def speed(scratch: Path, peers: Peers, sizes: list[int], calls: int, rounds: int) -> Iterator[dict[str, Any]]:
    """The stencil; simulators take turns. CPU time of the whole process, starting included."""
    for ranks in sizes:
        message(f"speed: {ranks} ranks")
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            trace = replay_programs.make(replay_programs.stencil, ranks, calls // ranks, 1, Path(folder) / "trace")
            costs = Costs()
            all_ways = [hocket(trace.folder, ranks, costs), *ways(trace.folder, ranks, Path(folder), peers, costs)]
            for _ in range(rounds):
                for way in all_ways:
                    way.run()
            ours = all_ways[0]
            for way in all_ways:
                ratios = [b / a for a, b in zip(ours.cpu_s, way.cpu_s, strict=True)]
                yield {
                    "ranks": ranks, "calls": trace.num_calls(), "simulator": way.name, "cpu_s": way.cpu_s,
                    "rss_bytes": max(way.rss_bytes), "predicted_s": way.predicted_s,
                    "deviation": way.predicted_s / ours.predicted_s - 1, "times_as_long": statistics.median(ratios),
                }  # fmt: skip


def show(result: dict[str, Any]) -> None:
    print(f"SimGrid {SIMGRID_VERSION}. Deviations are those of the predicted time from hocket's, in %.\n")
    print("No two messages meet: median and worst deviation")
    print_table(
        ["program", "o, ns", "programs", *(f"{name}: median" for name in PEERS), *(f"{name}: worst" for name in PEERS)],
        [
            [row["program"], row["overhead_ns"], row["programs"],
             *(_percent(row, name, statistics.median) for name in PEERS), *(_percent(row, name, max) for name in PEERS)]
            for row in result["agreement"]
        ],
    )  # fmt: skip
    print("Recorded programs, collectives as messages, on a slow network; messages may meet")
    print_table(
        ["program", "o, ns", "calls", "messages' share", *PEERS, BUFFERED],
        [
            [row["program"], row["overhead_ns"], f"{row['calls']:,}", f"{row['messages_share']:.0%}",
             *(_percent(row, name) for name in (*PEERS, BUFFERED))]
            for row in result["recorded"]
        ],
    )  # fmt: skip
    print("What the models see differently")
    print_table(
        ["program", "o, ns", *PEERS, "why"],
        [
            [row["program"], row["overhead_ns"], *(_percent(row, name) for name in PEERS), row["reason"]]
            for row in result["kinds"]
        ],
    )
    print("Speed: a stencil; CPU time and memory of the whole process")
    print_table(
        ["ranks", "calls", "simulator", "CPU s (least to most)", "calls/s", "times hocket's", "MB", "deviation"],
        [
            [f"{row['ranks']:,}", f"{row['calls']:,}", row["simulator"],
             f"{statistics.median(row['cpu_s']):.2f} ({min(row['cpu_s']):.2f} to {max(row['cpu_s']):.2f})",
             f"{row['calls'] / statistics.median(row['cpu_s']):,.0f}", f"{row['times_as_long']:.2f}",
             f"{row['rss_bytes'] / 1e6:.0f}", f"{row['deviation']:+.3%}"]
            for row in result["speed"]
        ],
    )  # fmt: skip
    for name, reason in result["skipped"].items():
        print(f"skipped: {name}: {reason}")


def _percent(row: dict[str, Any], name: str, of: Callable[[list[float]], float] | None = None) -> str:
    if name not in row:
        return "-"
    value = row[name] if of is None else of([abs(one) for one in row[name]])
    return f"{100 * value:+.3f}" if of is None else f"{100 * value:.3f}"


if __name__ == "__main__":
    sys.exit(main())
