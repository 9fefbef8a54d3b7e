# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""When a schedule's send that comes after another send of its rank should begin: what each way costs.

The ways, measured in turns on emulated networks with every MPI:
  together       all sends of a rank begin when they can, and share its link
  local          each begins when MPI says that the one before is complete: its bytes may still lie in the socket
  synchronous    the same with MPI_Issend: complete when the receiver has begun to take the message
  acknowledged   each begins when the receiver of the one before has told by an empty message that it has it
A schedule's time is set beside what the simulation says of sends in turn, each of which ends when its last byte has
left, and of the way itself.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

from collectives import PLACES, quartiles, runner_for

from hocket import CostModel, Network, Schedule, lower, simulate
from hocket._core import one_send_at_a_time
from hocket.cli.common import print_table
from hocket.cli.options import seconds
from hocket.measure.compare import measure_once
from hocket.measure.eager import measure_rendezvous_bytes
from hocket.measure.emulation import emulated_costs
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.plan import PlanEntry, write_candidates
from hocket.search.optimal import optimal_schedule
from mpis import MPIS

WAYS = ("together", "local", "synchronous", "acknowledged")
TEXTBOOK = (("scatter", "linear"), ("scatter", "binomial"), ("bcast", "binomial"))


def in_turn(schedule: Schedule) -> Schedule:
    """Each send of a rank after the one before it, as MPI completes them."""
    document = json.loads(schedule.to_json())
    for ops in document["ranks"]:
        sends = [i for i, (kind, _, _, _) in enumerate(ops) if kind == "send"]
        for before, send in pairwise(sends):
            ops[send][3] = sorted({*ops[send][3], before})
    return Schedule.from_json(json.dumps(document))


@dataclass(frozen=True)
class Case:
    name: str
    collective: str
    bytes: int  # as in a plan
    together: Schedule
    in_turn: Schedule
    acknowledged: Schedule

    def schedule(self, way: str) -> Schedule:
        return {"together": self.together, "acknowledged": self.acknowledged}.get(way, self.in_turn)

    def entry(self, way: str) -> PlanEntry:
        custom = self.schedule(way)
        members = tuple(range(custom.num_ranks))
        return PlanEntry(self.collective, members, self.bytes, self.bytes, "custom", root=0, custom=custom)


def cases(network: Network, message_bytes: int) -> list[Case]:
    ranks, found = network.num_ranks, []
    order = list(network.depth_first_order(0))
    for collective, algorithm in TEXTBOOK:
        together = Schedule.build(collective, algorithm, ranks, order=order)
        size = message_bytes if collective == "bcast" else message_bytes // ranks
        found.append(
            Case(
                f"{collective} {algorithm}", collective, size, together, in_turn(together), one_send_at_a_time(together)
            )
        )
    best = optimal_schedule(network, "bcast", message_bytes, time_limit_s=5)
    unordered = best.unordered_schedule
    found.append(Case("bcast optimal tree", "bcast", message_bytes, unordered, in_turn(unordered), best.schedule))
    return found


@dataclass
class Point:
    place: str
    mpi: str
    case: str
    way: str
    meant_s: float  # simulated: sends in turn, each of which ends when its last byte has left
    predicted_s: float  # simulated: this way
    measured_s: list[float]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.place, self.mpi, self.case

    @property
    def median_s(self) -> float:
        return statistics.median(self.measured_s)


def measure(options: argparse.Namespace, place: str, network: Network) -> Iterator[Point]:
    for mpi in MPIS:
        if options.mpis and mpi.label not in options.mpis:
            continue
        parts = build_mpi_parts(mpi, report=lambda text: print(text, file=sys.stderr))
        some = cases(network, options.bytes)
        with runner_for(mpi, parts, network) as runner, tempfile.TemporaryDirectory() as folder:
            command = [str(mpi.mpiexec), "-n", str(network.num_ranks), "true"]
            limit = measure_rendezvous_bytes(command, runner, parts, options.timeout)
            costs = emulated_costs(CostModel.usual().replace(rendezvous_bytes=limit))
            synchronous = replace(runner, workarounds=(compiled(mpi, Path(folder)), *runner.workarounds))
            times: dict[tuple[str, str], list[float]] = {}
            for _ in range(options.launches):
                for here, ways in ((runner, [w for w in WAYS if w != "synchronous"]), (synchronous, ["synchronous"])):
                    tried = [(case, way) for case in some for way in ways]
                    plan = Path(folder) / "plan.json"
                    write_candidates(plan, network.num_ranks, place, [case.entry(way) for case, way in tried])
                    found = measure_once(command, plan, len(tried), options.repetitions, here, parts, options.timeout)
                    for (case, way), (launch, equal) in zip(tried, found, strict=True):
                        if not equal:
                            raise SystemExit(f"{place}, {mpi.label}: {case.name}, {way}: the data differ")
                        times.setdefault((case.name, way), []).extend(launch.tuned_s)
            for case in some:
                meant_s = simulate(lower(case.in_turn, case.bytes), network, costs).makespan_s
                for way in WAYS:
                    own_s = simulate(lower(case.schedule(way), case.bytes), network, costs).makespan_s
                    yield Point(place, mpi.label, case.name, way, meant_s, own_s, times[case.name, way])


def compiled(mpi: Mpi, folder: Path) -> Path:
    library = folder / "libsynchronous_sends.so"
    source = Path(__file__).with_name("synchronous_sends.c")
    subprocess.run([str(mpi.mpicc), "-shared", "-fPIC", "-O2", str(source), "-o", str(library)], check=True)
    return library


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="+", choices=list(PLACES))
    parser.add_argument("--mpis", nargs="+", help="labels such as mpich-4.0.2 (default: all of this machine)")
    parser.add_argument("--bytes", type=int, default=1 << 20, help="of the message; of scatter the blocks of all")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--launches", type=int, default=2)
    parser.add_argument("--timeout", type=seconds, default=300.0)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    points = [point for place in options.places for point in measure(options, place, PLACES[place]())]
    if options.json:
        print(json.dumps({"bytes": options.bytes, "points": [asdict(point) for point in points]}))
        return 0
    best_s: dict[tuple[str, ...], float] = {}
    for point in points:
        best_s[point.key] = min(point.median_s, best_s.get(point.key, point.median_s))
    rows = [
        (
            *point.key, point.way, quartiles(point.measured_s), f"{point.predicted_s * 1e3:.2f}",
            f"{point.median_s / point.meant_s:.3f}", f"{point.median_s / best_s[point.key]:.3f}",
        )
        for point in points
    ]  # fmt: skip
    columns = ("place", "MPI", "schedule", "way", "ms: quartiles", "predicted", "/ meant", "/ best way")
    print_table(columns, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
