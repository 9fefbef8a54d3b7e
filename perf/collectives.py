# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rerouted collectives beside native ones and the wire limit, with every MPI of this machine.

On emulated networks with the schedules that advise takes, on this machine itself (shm2, shm4: so many ranks in shared
memory) with textbook algorithms for small messages.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from hocket import Blueprint, CostModel, Network, algorithms, wire_limit_s
from hocket.advise.advise import advise
from hocket.advise.calls import CallGroup
from hocket.cli.common import print_table
from hocket.cli.options import seconds
from hocket.measure.compare import measure_once
from hocket.measure.eager import measure_rendezvous_bytes
from hocket.measure.local import LocalRunner
from hocket.measure.runner import Runner
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import MpiParts, build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.plan import ROOTED, PlanEntry, write_candidates
from hocket.search import Limits
from hocket.testbed import Testbed
from mpis import MPIS

NETWORKS = Path(__file__).resolve().parent.parent / "networks"
# Four hosts with two ranks each around a switch.
PAIRS = Network.build(
    Blueprint(
        "4x2",
        [Blueprint.Node("s0", "switch"), *(Blueprint.Node(f"n{i}", "host", 2, 4e9) for i in range(4))],
        [Blueprint.Cable(1 + i, 0, 25e6) for i in range(4)],
    )
)
PLACES: dict[str, Callable[[], Network]] = {
    "star-200M": lambda: Network.generate("star:8", bandwidth=25e6),
    "star-1G": lambda: Network.generate("star:8", bandwidth=125e6),
    "four-200M": lambda: Network.generate("star:4", bandwidth=25e6),
    "four-1G": lambda: Network.generate("star:4", bandwidth=125e6),
    "two-clusters": lambda: Network.from_file(str(NETWORKS / "two-clusters.toml")),
    "tree": lambda: Network.from_file(str(NETWORKS / "three-level-tree.toml")),
    "4x2": lambda: PAIRS,
}
SHARED = {"shm2": 2, "shm4": 4}
# What serves small messages; of several that serve as well, the first.
SMALL = (
    ("bcast", "binomial"),
    ("reduce", "binomial"),
    ("allreduce", "recursive_doubling"),
    ("allgather", "recursive_doubling"),
    ("alltoall", "linear"),
    ("reduce_scatter_block", "recursive_halving"),
    ("scatter", "binomial"),
    ("gather", "binomial"),
    ("barrier", "dissemination"),
)
LARGE = ("bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "scatter", "gather")
KNOWN = {(algorithm.collective, algorithm.name) for algorithm in algorithms()}
ON_WHOLE_MESSAGE = ("bcast", "reduce", "allreduce")


@dataclass(frozen=True)
class Point:
    """Times of single calls; `bytes` as in a plan."""

    place: str
    mpi: str
    collective: str
    bytes: int
    schedule: str
    wire_limit_s: float | None
    predicted_s: float | None
    native_s: list[float]
    rerouted_s: list[float]
    equal: bool | None

    @property
    def ratio(self) -> float:
        return statistics.median(self.rerouted_s) / statistics.median(self.native_s)

    def row(self) -> tuple[str, ...]:
        limit_s = self.wire_limit_s
        median_s = statistics.median(self.rerouted_s)
        return (
            self.place,
            self.mpi,
            f"{self.collective} {self.bytes}" + ("" if self.equal else " WRONG"),
            self.schedule,
            quartiles(self.native_s),
            quartiles(self.rerouted_s),
            "" if self.predicted_s is None else f"{self.predicted_s * 1e3:.2f}",
            "" if limit_s is None else f"{limit_s * 1e3:.2f}",
            f"{self.ratio:.3f}",
            "" if limit_s is None else f"{median_s / limit_s:.3f}",
        )


def quartiles(times_s: Sequence[float]) -> str:
    low, middle, high = statistics.quantiles(times_s, n=4) if len(times_s) > 1 else [times_s[0]] * 3
    digits = 4 if middle < 1e-3 else 2
    return " ".join(f"{time_s * 1e3:.{digits}f}" for time_s in (low, middle, high))


def main() -> int:
    options = read_options()
    points: list[Point] = []
    for place in options.places:
        network = None if place in SHARED else PLACES[place]()
        for mpi in MPIS:
            if options.mpis and mpi.label not in options.mpis:
                continue
            parts = build_mpi_parts(mpi, report=lambda text: print(text, file=sys.stderr))
            with runner_for(mpi, parts, network) as runner:
                points += measure(options, place, runner, parts, network)
    if options.json:
        print(json.dumps({"points": [asdict(point) for point in points]}))
    else:
        columns = ("place", "MPI", "what", "schedule", "native ms", "rerouted ms", "predicted", "limit")
        print_table((*columns, "/ native", "/ limit"), [point.row() for point in points])
        for mpi_label in dict.fromkeys(point.mpi for point in points):
            mean = math.exp(statistics.fmean(math.log(p.ratio) for p in points if p.mpi == mpi_label))
            print(f"{mpi_label}: geometric mean of rerouted / native {mean:.3f}")
    return 0 if all(point.equal for point in points) else 1


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="+", choices=[*PLACES, *SHARED])
    parser.add_argument("--mpis", nargs="+", help="labels such as mpich-4.0.2 (default: all of this machine)")
    parser.add_argument("--collectives", nargs="+", choices=[*LARGE, "barrier"])
    parser.add_argument("--bytes", nargs="+", type=int, help="of the message; the blocks of all ranks together")
    parser.add_argument("--chunks", nargs="+", type=int, help="sizes of segments to choose from, in bytes")
    parser.add_argument(
        "--algorithms", nargs="+", help="each of them instead of what advise takes, cut as --segments say"
    )
    parser.add_argument("--segments", "--pieces", dest="segments", nargs="+", type=int, default=[1])
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--timeout", type=seconds, default=300.0)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


@contextmanager
def runner_for(mpi: Mpi, parts: MpiParts, network: Network | None) -> Iterator[LocalRunner | TestbedRunner]:
    if network is None:
        yield LocalRunner(mpi)
    else:
        with Testbed(network) as bed:
            yield TestbedRunner(mpi, bed, parts.workarounds)


def measure(
    options: argparse.Namespace, place: str, runner: Runner, parts: MpiParts, network: Network | None
) -> list[Point]:
    ranks = SHARED[place] if network is None else network.num_ranks
    command = [str(runner.mpi.mpiexec), "-n", str(ranks), sys.executable]  # in whose place others are started
    if network is None:
        # As root, and with more ranks than cores.
        os.environ |= dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
        os.environ |= {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
        os.environ |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        entries = small_entries(options, ranks)
    else:
        rendezvous_bytes = measure_rendezvous_bytes(command, runner, parts, options.timeout)
        print(f"{place} {runner.mpi.label}: rendezvous from {rendezvous_bytes} B", file=sys.stderr)
        entries = chosen_entries(options, network, rendezvous_bytes)
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.json"
        write_candidates(plan, ranks, place, entries)
        measured = measure_once(command, plan, len(entries), options.repetitions, runner, parts, options.timeout)
    return [
        Point(
            place, runner.mpi.label, entry.collective, entry.bytes_max, describe(entry),
            limit_of(network, entry), entry.predicted_s, list(one.native_s), list(one.tuned_s), equal,
        )
        for entry, (one, equal) in zip(entries, measured, strict=True)
    ]  # fmt: skip


def small_entries(options: argparse.Namespace, ranks: int) -> list[PlanEntry]:
    entries = []
    for collective, algorithm in SMALL:
        if options.collectives and collective not in options.collectives:
            continue
        for num_bytes in [0] if collective == "barrier" else options.bytes or [8, 64, 512, 4096]:
            members, root = tuple(range(ranks)), 0 if collective in ROOTED else None
            entries.append(PlanEntry(collective, members, num_bytes, num_bytes, algorithm, root=root))
    return entries


def chosen_entries(options: argparse.Namespace, network: Network, rendezvous_bytes: int | None) -> list[PlanEntry]:
    members = tuple(range(network.num_ranks))
    groups = []
    for collective in options.collectives or LARGE:
        for message in options.bytes or [1_000_000]:
            num_bytes = message if collective in ON_WHOLE_MESSAGE else message // network.num_ranks // 8 * 8
            groups.append(CallGroup(collective, members, num_bytes, num_bytes, (0,), 1, True))
    if options.algorithms:
        return [
            PlanEntry(g.collective, members, g.bytes_min, g.bytes_max, name, segments, depth_first(network), g.root)
            for g in groups
            for name in options.algorithms
            for segments in options.segments
            if (g.collective, name) in KNOWN
        ]
    costs = CostModel.usual().replace(rendezvous_bytes=rendezvous_bytes)
    limits = Limits.of_plan(costs, tuple(options.chunks)) if options.chunks else None
    advice = advise(groups, network, network.num_ranks, costs, limits=limits)
    return [choice.entry() for choice in advice.choices]


def depth_first(network: Network) -> tuple[int, ...]:
    return tuple(network.depth_first_order(0))


def describe(entry: PlanEntry) -> str:
    schedule = entry.schedule()
    return f"{schedule.algorithm} in {schedule.segments}"


def limit_of(network: Network | None, entry: PlanEntry) -> float | None:
    if network is None:
        return None
    return wire_limit_s(entry.collective, network, list(entry.members), entry.bytes_max, entry.root or 0)


if __name__ == "__main__":
    sys.exit(main())
