# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tables that MPI libraries read themselves: that the library then runs the algorithm shows in the bytes on each link
of an emulated network, beside those of hocket's schedules of that name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hocket import CostModel, Network, Schedule
from hocket._core import Decider, PlanEntry
from hocket.errors import InvalidInput
from hocket.mpi.discover import Mpi
from hocket.site import mpich_selection, openmpi_rules
from hocket.site.selection import Algorithm, Rule, choose
from hocket.testbed import Testbed, available
from mpis import LIMIT_S, ROOT, MpiRunner

AVAILABLE, REASON = available()
NETWORK = ROOT / "networks/two-clusters.toml"
RANKS = 8
SCATTERS = {"scatter_allgather", "scatter_recursive_doubling"}  # and then an allgather
CALLS = 4
BYTES = {"bcast": 200_000, "allreduce": 200_000, "allgather": 40_000, "alltoall": 40_000, "gather": 40_000,
         "scatter": 40_000}  # fmt: skip

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
void *ucp_disconnect_nb(void *endpoint) { return endpoint ? NULL : NULL; } /* see test_testbed_mpi.py */
#endif
static char one[1000000], all[1000000];
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int n = atoi(argv[2]);
    for (int i = 0; i < atoi(argv[3]); ++i) {
        if (!strcmp(argv[1], "bcast")) MPI_Bcast(one, n, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (!strcmp(argv[1], "allreduce")) MPI_Allreduce(one, all, n / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (!strcmp(argv[1], "allgather")) MPI_Allgather(one, n, MPI_CHAR, all, n, MPI_CHAR, MPI_COMM_WORLD);
        if (!strcmp(argv[1], "alltoall")) MPI_Alltoall(one, n, MPI_CHAR, all, n, MPI_CHAR, MPI_COMM_WORLD);
        if (!strcmp(argv[1], "gather")) MPI_Gather(one, n, MPI_CHAR, all, n, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (!strcmp(argv[1], "scatter")) MPI_Scatter(all, n, MPI_CHAR, one, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


def bytes_on_links(network: Network, collective: str, algorithm: str) -> list[float]:
    schedule = Schedule.build(collective, algorithm, RANKS, segments=8 if algorithm.startswith("pipelined") else 1)
    # Of these three collectives the message is divided into chunks; of the others a chunk is a block.
    divided = collective in ("bcast", "allreduce")
    chunk = BYTES[collective] / (schedule.num_chunks if divided else 1)
    sent = [0.0] * len(network.links)
    for rank in range(RANKS):
        for op in schedule.ops(rank):
            if op.kind == "send":
                for link in network.route(rank, op.peer):
                    sent[link] += CALLS * chunk * sum(count for _, count in op.chunks)
    return sent


def shape(network: Network, collective: str, sent: Sequence[float]) -> list[float]:
    """What each host sends, by size, for a library may mirror a tree; and what crosses between the two groups, where
    every host sends alike."""
    nodes = network.nodes
    of_hosts = [sent[i] for i, link in enumerate(network.links) if nodes[link.source].kind == "host"]
    trunk = [
        sent[i]
        for i, link in enumerate(network.links)
        if nodes[link.source].kind == nodes[link.target].kind == "switch"
    ]
    return sorted(of_hosts) + (sorted(trunk) if collective in ("allgather", "alltoall") else [])


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / max(sum(one), sum(other))


def table(mpi: Mpi, folder: Path, collective: str, algorithm: str) -> dict[str, str]:
    """Variables for a table in which that algorithm serves all sizes."""
    segment = BYTES[collective] // 8 if algorithm.startswith("pipelined") else 0
    rules = {collective: [Rule(0, algorithm, segment)]}
    path = folder / "table"
    if mpi.family == "openmpi":
        path.write_text(openmpi_rules.to_rules(RANKS, rules))
        return openmpi_rules.variables(str(path))
    tree = mpich_selection.with_rules(mpich_selection.own_tree(mpi.library), RANKS, rules)
    path.write_text(json.dumps(tree))
    return {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(path)}


@pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")
@pytest.mark.in_turns
@pytest.mark.parametrize("collective", BYTES)
def test_the_library_runs_the_algorithm_of_the_table(
    mpi: Mpi, runner: MpiRunner, tmp_path: Path, collective: str
) -> None:
    known = (
        openmpi_rules.catalogue(RANKS)
        if mpi.family == "openmpi"
        else mpich_selection.catalogue(RANKS, mpich_selection.own_tree(mpi.library))
    )
    if collective not in known:
        pytest.skip(f"there are no tables of {collective} for {mpi.name}")
    network = Network.from_file(NETWORK)
    program = runner.compile(PROGRAM)
    names = [algorithm.name for algorithm in known[collective]]
    predicted = {name: shape(network, collective, bytes_on_links(network, collective, name)) for name in names}
    command = runner.command(RANKS, program, collective, str(BYTES[collective]), str(CALLS))
    crossing: dict[str, float] = {}
    with Testbed(network) as bed:
        for algorithm, expected in predicted.items():
            variables = table(mpi, tmp_path, collective, algorithm)
            done = bed.run(command, env=variables, mpi=mpi, timeout=LIMIT_S)
            assert done.returncode == 0, done.stderr
            measured = shape(network, collective, done.link_bytes)
            distances = {name: round(distance(measured, other), 3) for name, other in predicted.items()}
            assert distance(measured, expected) < 0.3, (algorithm, distances)
            # Some send the same bytes in other messages. Libraries' scatters send what some ranks have already.
            same = {name for name, other in predicted.items() if distance(expected, other) < 0.02}
            same |= SCATTERS if algorithm in SCATTERS else set()
            assert min(distances, key=lambda name: distances[name]) in same, (algorithm, distances)
            crossing[algorithm] = sum(shape(network, "alltoall", done.link_bytes)[RANKS:])
    if set(crossing) >= SCATTERS:  # around the ring all goes to the other group, by doubling only what goes next door
        assert crossing["scatter_allgather"] > 1.5 * crossing["scatter_recursive_doubling"]


def decider() -> Decider:
    network = Network.from_file(NETWORK)
    return Decider(network, CostModel.of(network))


def test_each_rule_is_the_best_of_the_library_at_its_size() -> None:
    deciding = decider()
    known = openmpi_rules.catalogue(RANKS)
    for collective, rules in choose(deciding, RANKS, known).items():
        for rule in rules:
            size = max(rule.from_bytes, 1)
            others = [
                deciding.predicted_s(
                    PlanEntry(
                        collective, range(RANKS), 0, 1 << 30, other.name, root=0 if collective in
                        ("bcast", "gather", "scatter") else None
                    ), range(RANKS), size
                )
                for other in known[collective]
            ]  # fmt: skip
            assert rule.predicted_s <= min(others) * 1.0001
        assert [rule.from_bytes for rule in rules] == sorted({rule.from_bytes for rule in rules})
        assert all((a.algorithm, a.segment_bytes) != (b.algorithm, b.segment_bytes) for a, b in pairwise(rules))


def test_what_does_not_serve_the_number_of_ranks_is_left_out() -> None:
    names = {algorithm.name for algorithm in openmpi_rules.catalogue(7)["allgather"]}
    assert names == {"bruck", "ring"}
    assert {algorithm.name for algorithm in openmpi_rules.catalogue(6)["allgather"]} == {*names, "neighbor_exchange"}
    with pytest.raises(InvalidInput, match="no_such_algorithm"):
        choose(decider(), 8, {"bcast": [Algorithm("no_such_algorithm")]})


@pytest.mark.one_of_each_family
def test_the_command(mpi: Mpi, hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    done = hocket_cli("site", "tables", "--network", NETWORK, "--mpi", mpi.label, "-o", "table", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["mpi"], found["ranks"]) == (mpi.name, 8)
    assert str(tmp_path / "table") in found["variables"].values()
    text = (tmp_path / "table").read_text()
    for rules in found["rules"].values():
        assert rules[0]["from_bytes"] == 0
    if mpi.family == "openmpi":
        numbers = [re.sub("#.*", "", line).split() for line in text.splitlines()]
        assert all(len(line) in (1, 4) for line in numbers)
        assert f"# {found['rules']['bcast'][-1]['algorithm']}" in text
    else:
        before = mpich_selection.own_tree(mpi.library)
        after = json.loads(text)
        assert list(after) == list(before)
        assert after["collective=scan"] == before["collective=scan"]
        assert (
            after["collective=bcast"]["comm_type=intra"]["comm_size<8"]
            == (before["collective=bcast"]["comm_type=intra"])
        )
    done = hocket_cli("site", "tables", "--network", NETWORK, "--mpi", "none", "-o", "table")
    assert done.returncode == 2
    assert "--mpi none: no such MPI here" in done.stderr
