# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tables 5 and 6 of [Hourai] again: broadcasts of 1 MB on its three kinds of clusters, emulated.

For each cluster and MPI, in turns: MPI_Bcast from rank 0 and from rank 1, the optimal schedule of one segment, and the
pipelined one that `hocket schedule bcast` finds; beside what the paper measured, the search predicts and the wire
allows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from clusters import BYTES, Cluster, dual, two_clusters, unequal

from hocket import Network, Schedule
from hocket.cli.common import message, print_table
from hocket.measure.compare import measure_once
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.plan import Plan, PlanEntry, write_plan
from hocket.search.find import find
from hocket.search.optimal import optimal_schedule
from hocket.testbed import Testbed
from mpis import MPIS

MEASURED = ("native_root_0_s", "native_root_1_s", "optimal_s", "optimal_root_1_s", "pipelined_s")


def _ms(*values: float) -> tuple[float, float, float]:
    return (values[0] * 1e-3, values[1] * 1e-3, values[2] * 1e-3)


# What the paper measured with LAM/MPI: MPI_Bcast from rank 0, from rank 1, and its optimal schedule.
CLUSTERS = [
    (dual(2), _ms(12.2, 13.0, 12.3)),
    (dual(3), _ms(20.7, 22.2, 23.1)),
    (dual(4), _ms(29.2, 30.8, 21.6)),
    (two_clusters(2), _ms(29.5, 31.2, 22.0)),
    (two_clusters(3), _ms(46.5, 48.6, 32.8)),
    (two_clusters(4), _ms(55.2, 59.4, 32.4)),
    (unequal(2), _ms(259, 269, 175)),
    (unequal(3), _ms(429, 443, 186)),
    (unequal(4), _ms(514, 532, 260)),
]


def entry(network: Network, schedule: Schedule, root: int) -> PlanEntry:
    members = tuple(range(network.num_ranks))
    return PlanEntry("bcast", members, BYTES, BYTES, "custom", root=root, custom=schedule)


def run(cluster: Cluster, paper_s: tuple[float, float, float], repetitions: int) -> list[dict[str, object]]:
    network = cluster.network()
    best = optimal_schedule(network, "bcast", BYTES, 0)
    other = optimal_schedule(network, "bcast", BYTES, 1)
    pipelined = find("bcast", network, BYTES, root=0)
    entries = (
        entry(network, best.schedule, 0),
        entry(network, other.schedule, 1),
        entry(network, pipelined.schedule, 0),
    )
    results = []
    for mpi in MPIS:
        parts = build_mpi_parts(mpi, report=message)
        message(f"{cluster.name}: {mpi.label}")
        with tempfile.TemporaryDirectory() as folder, Testbed(network) as bed:
            runner = TestbedRunner(mpi, bed, parts.workarounds)
            times: list[list[float]] = [[] for _ in MEASURED]
            # A plan has one entry for a collective and its size: three plans, in turns.
            for _ in range(repetitions):
                for i, one in enumerate(entries):
                    path = Path(folder) / "plan.json"
                    write_plan(Plan(network.num_ranks, network.name, (one,)), path)
                    command = [str(mpi.mpiexec), "-n", str(network.num_ranks), "true"]
                    ((measured, _),) = measure_once(command, path, 1, 5, runner, parts, 120)
                    if measured.equal is False:
                        raise SystemExit(f"{cluster.name}, {mpi.label}: the data differ")
                    times[2 + i] += measured.tuned_s
                    times[1 if i == 1 else 0] += measured.native_s
        results.append(
            {
                "cluster": cluster.name,
                "ranks": network.num_ranks,
                "mpi": mpi.label,
                "paper_s": paper_s,
                "predicted_s": best.makespan_s,
                "pipelined_algorithm": pipelined.schedule.algorithm,
                "pipelined_chunks": pipelined.chunks,
                "pipelined_predicted_s": pipelined.predicted_s,
                "wire_limit_s": pipelined.lower_bound_s,
                **dict(zip(MEASURED, times, strict=True)),
            }
        )
    return results


def row(result: dict[str, object]) -> tuple[str, ...]:
    def median(name: str) -> float:
        values = result[name]
        return statistics.median(values) if isinstance(values, list) else float(values)  # type: ignore[arg-type]

    names = ("native_root_0_s", "native_root_1_s", "optimal_s", "predicted_s", "pipelined_s", "wire_limit_s")
    native = min(median("native_root_0_s"), median("native_root_1_s"))
    return (
        str(result["cluster"]),
        str(result["mpi"]),
        *(f"{median(name) * 1e3:.1f}" for name in names),
        f"{median('optimal_s') / median('predicted_s') - 1:+.0%}",
        f"{native / median('optimal_s'):.2f}",
        f"{median('pipelined_s') / median('wire_limit_s'):.2f}",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="clusters whose names contain this")
    parser.add_argument("--repetitions", type=int, default=3, help="launches of each; each measures five times")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    results = []
    for cluster, paper_s in CLUSTERS:
        if given.only in cluster.name:
            results += run(cluster, paper_s, given.repetitions)
    if given.json:
        print(json.dumps({"bytes": BYTES, "results": results}, indent=1))
        return 0
    columns = ("cluster", "MPI", "root 0", "root 1", "optimal", "predicted", "pipelined", "wire limit")
    print_table((*columns, "off by", "MPI / optimal", "pipelined / limit"), [row(r) for r in results], "1 MB, ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
