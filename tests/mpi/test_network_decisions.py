# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs with the network of a cluster and no plan: what is decided, what is served, and that it is right."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from hocket import CostModel, Network
from hocket._core import Decider
from hocket.mpi.build import build_mpi_parts
from hocket.plan import Plan, PlanEntry, write_plan
from mpis import MpiRunner, sessions_program

# All collectives at sizes and roots that change, on the world, on halves and pairs of it, on a duplicate, a single rank
# and an intercommunicator, and 40 communicators of the same members; counts what is wrong.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static long wrong = 0;
static void check(MPI_Comm comm, int count, int root) {
    int p, r;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &r);
    int* one = malloc(sizeof(int) * (count + 1));
    int* all = malloc(sizeof(int) * p * (count + 1));
    int* got = malloc(sizeof(int) * p * (count + 1));
    int* counts = malloc(sizeof(int) * p);
    int* places = malloc(sizeof(int) * p);
    for (int i = 0; i < count; ++i) one[i] = r == root ? i + root : -1;
    MPI_Bcast(one, count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i) wrong += one[i] != i + root;
    for (int i = 0; i < count; ++i) one[i] = i + r;
    const int ranks = p * (p - 1) / 2;
    MPI_Allreduce(one, got, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; ++i) wrong += got[i] != p * i + ranks;
    MPI_Reduce(one, got, count, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; r == root && i < count; ++i) wrong += got[i] != p * i + ranks;
    MPI_Allgather(one, count, MPI_INT, got, count, MPI_INT, comm);
    for (int i = 0; i < p * count; ++i) wrong += got[i] != i % count + i / count;
    MPI_Gather(one, count, MPI_INT, got, count, MPI_INT, root, comm);
    for (int i = 0; r == root && i < p * count; ++i) wrong += got[i] != i % count + i / count;
    for (int i = 0; i < p * count; ++i) all[i] = 1000 * r + i;
    MPI_Alltoall(all, count, MPI_INT, got, count, MPI_INT, comm);
    for (int i = 0; i < p * count; ++i) wrong += got[i] != 1000 * (i / count) + r * count + i % count;
    MPI_Scatter(all, count, MPI_INT, got, count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i) wrong += got[i] != 1000 * root + r * count + i;
    MPI_Reduce_scatter_block(all, got, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; ++i) wrong += got[i] != 1000 * ranks + p * (r * count + i);
    for (int i = 0; i < p; ++i) counts[i] = count + i % 2, places[i] = i * count + i / 2;
    MPI_Allgatherv(all, counts[r], MPI_INT, got, counts, places, MPI_INT, comm);
    for (int i = 0; i < p; ++i) wrong += got[places[i]] != 1000 * i || got[places[i] + 1] != 1000 * i + 1;
    for (int i = 0; i < p * (count + 1); ++i) all[i] = 1000 * r + i;
    MPI_Reduce_scatter(all, got, counts, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < counts[r]; ++i) wrong += got[i] != 1000 * ranks + p * (places[r] + i);
    MPI_Barrier(comm);
    free(counts);
    free(places);
    free(one);
    free(all);
    free(got);
}
int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm half, pair, copy, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? ranks - 2 : ranks - 1, 7, &between);
    for (int i = 0; i < 14; ++i) {
        const int count = i % 3 == 0 ? 3 : i % 3 == 1 ? 3001 : 40000;
        check(MPI_COMM_WORLD, count, i % ranks);
        if (i < 4) {
            check(half, count, i % 2);
            check(pair, count, i % 2);
            check(copy, count, 0);
            check(MPI_COMM_SELF, count, 0);
        }
    }
    int mine = 1, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, between);
    wrong += sum != ranks / 2;
    for (int i = 0; i < 40; ++i) {
        MPI_Comm again;
        MPI_Comm_dup(half, &again);
        check(again, 5000, i % 2);
        MPI_Comm_free(&again);
    }
    long all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %ld\n", all);
    MPI_Comm_free(&half);
    MPI_Comm_free(&pair);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&between);
    MPI_Finalize();
    return 0;
}
"""
# As a program of one loop: calls enough for comparisons.
LOOP = r"""
#include <mpi.h>
static char data[100000];
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 40; ++i) MPI_Bcast(data, sizeof data, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
RANKS = 4


def cluster(folder: Path, host: str | None = None) -> Path:
    """A host of four ranks whose memory is as slow as a network, so that schedules pay on one machine."""
    path = folder / "cluster.toml"
    path.write_text(
        f"""
        format = "hocket.network/1"
        [[node]]
        name = "{host or socket.gethostname()}"
        kind = "host"
        ranks = {RANKS}
        memory_bandwidth = "100 Mbit/s"
        memory_latency = "20 us"
        """
    )
    return path


def run(
    runner: MpiRunner, folder: Path, network: Path, program: str = PROGRAM, **variables: str
) -> tuple[Any, dict[str, Any]]:
    statistics = folder / "statistics.json"
    env = {"HOCKET_NETWORK": str(network), "HOCKET_STATISTICS": str(statistics), "HOCKET_SUMMARY": "1", **variables}
    interpose = build_mpi_parts(runner.mpi).interpose
    done = runner.run(RANKS, runner.compile(program), libraries=[interpose], env=env)
    return done, json.loads(statistics.read_text())


def counted(statistics: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Calls by outcome, of each collective."""
    found: dict[str, dict[str, int]] = {}
    for row in statistics["calls"]:
        found.setdefault(row["collective"], {})[row["outcome"]] = row["calls"]
    return found


def test_every_collective_on_every_communicator(runner: MpiRunner, tmp_path: Path) -> None:
    path = cluster(tmp_path)
    done, statistics = run(runner, tmp_path, path, HOCKET_SELF_CHECK="off")
    assert done.stdout == "wrong 0\n", done.stderr
    network = Network.from_file(path)
    cores = os.cpu_count() or 1  # which the ranks share where they are more
    costs = CostModel.of(network).replace(cores=cores if cores < RANKS else 0)
    decider = Decider(network, costs, runner.mpi.library_name)
    calls = counted(statistics)
    num_served = 0
    for collective, server in (("allgatherv", "allgather"), ("reduce_scatter", "reduce_scatter_block")):
        rows = [row for row in statistics["entries"] if row["collective"] == collective]
        by_schedule = RANKS * sum(row["rerouted_calls"] for row in rows)
        assert calls[collective].get("derived", 0) == by_schedule
        assert (by_schedule > 0) == ("derived" in calls[server])
    for collective in ("bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "gather"):
        # What the program has found is what is found here.
        decided = {
            repr(entry).removeprefix("PlanEntry(").removesuffix(")")
            for entry in decider.entries(collective, list(range(RANKS)))
        }
        rows = [row for row in statistics["entries"] if row["collective"] == collective]
        assert {row["description"] for row in rows if f"on {RANKS} ranks" in row["description"]} == decided
        # Each is counted on one rank, and both halves and pairs call alike.
        by_schedule = RANKS * sum(row["rerouted_calls"] for row in rows)
        assert calls[collective].get("derived", 0) == by_schedule
        num_served += by_schedule > 0
    assert num_served >= 3
    # Small messages are left to the MPI.
    assert calls["allreduce"]["predicted"] > 0
    assert set(calls["barrier"]) == {"predicted"}
    assert statistics["network"] == str(path)
    # The world and its duplicate, a half and its duplicates, a pair: each of eleven collectives once for each of them.
    assert statistics["decided"]["decisions"] == (2 + 1 + 40 + 1) * 11
    assert 0 < statistics["decided"]["cpu_s"] < 60
    assert "hocket: hocket served " in done.stderr
    assert "no schedule is predicted to be faster on this network" in done.stderr


def test_with_the_self_check(runner: MpiRunner, tmp_path: Path) -> None:
    done, statistics = run(runner, tmp_path, cluster(tmp_path))
    assert done.stdout == "wrong 0\n", done.stderr
    done, statistics = run(runner, tmp_path, cluster(tmp_path), LOOP)
    outcomes = counted(statistics)["bcast"]
    assert outcomes["comparison"] > 0
    assert outcomes["derived"] + outcomes["comparison"] + outcomes.get("slower", 0) == RANKS * 40


def test_a_schedule_that_promises_nothing_is_compared_once_and_served_if_it_is_faster(
    runner: MpiRunner, tmp_path: Path
) -> None:
    program = LOOP.replace("data[100000]", "data[400000], more[400000]").replace(
        "MPI_Bcast(data, sizeof data, MPI_CHAR, 0, MPI_COMM_WORLD)",
        "MPI_Alltoall(data, 100000, MPI_CHAR, more, 100000, MPI_CHAR, MPI_COMM_WORLD)",
    )
    _, statistics = run(runner, tmp_path, cluster(tmp_path), program)
    outcomes = counted(statistics)["alltoall"]
    (entry,) = (row for row in statistics["entries"] if row["collective"] == "alltoall")
    assert sum(outcomes.values()) == RANKS * 40
    assert outcomes["comparison"] >= RANKS
    assert outcomes["derived"] == RANKS * entry["rerouted_calls"] >= RANKS
    if entry["rerouted_calls"] == 1:  # the comparison has shown no clear gain
        assert outcomes == {"comparison": RANKS, "derived": RANKS, "predicted": RANKS * 38}
    else:
        assert outcomes["predicted"] == RANKS  # the first call
    _, statistics = run(runner, tmp_path, cluster(tmp_path), program, HOCKET_SELF_CHECK="off")
    assert counted(statistics)["alltoall"] == {"predicted": RANKS * 40}
    assert not any(row["collective"] == "alltoall" for row in statistics["entries"])


def test_what_was_measured_of_this_mpi_decides(runner: MpiRunner, tmp_path: Path) -> None:
    path = cluster(tmp_path)
    text = path.read_text()
    for mpi, outcome in ((runner.mpi.library_name, "predicted"), ("Some MPI 1.0", "derived")):
        path.write_text(
            text
            + f"""
            [[calibration.native]]
            mpi = "{mpi}"
            collective = "bcast"
            up_to_bytes = 1000
            algorithm = "binomial"
            factor = 0.001
            schedule_factor = 1.0
            """
        )
        _, statistics = run(runner, tmp_path, path, LOOP, HOCKET_SELF_CHECK="off")
        assert counted(statistics)["bcast"] == {outcome: RANKS * 40}


# Every rank believes that it has another MPI: the program has the function that says so.
VERSIONS = r"""
#include <mpi.h>
#include <stdio.h>
int PMPI_Get_library_version(char* version, int* length) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *length = sprintf(version, "Open MPI v9.9.%d, for a test", rank);
    return MPI_SUCCESS;
}
"""


def test_ranks_with_different_mpis_decide_alike(runner: MpiRunner, tmp_path: Path) -> None:
    """By what was measured of that of rank 0."""
    path = cluster(tmp_path)
    path.write_text(
        path.read_text()
        + """
        [[calibration.native]]
        mpi = "Open MPI 9.9.0"
        collective = "bcast"
        up_to_bytes = 1000
        algorithm = "binomial"
        factor = 0.001
        schedule_factor = 1.0
        """
    )
    _, statistics = run(runner, tmp_path, path, VERSIONS + LOOP, HOCKET_SELF_CHECK="off")
    assert counted(statistics)["bcast"] == {"predicted": RANKS * 40}


# Rank 1 alone makes calls that the MPI refuses, then all make calls of another kind.
ALONE = r"""
#include <mpi.h>
#include <stdio.h>
static char data[100000];
static double a[4000], b[4000];
static int wrong = 0;
static void use(MPI_Comm comm, int rank, int ranks) {
    MPI_Request request;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 1) {
        wrong += MPI_Bcast(data, -1, MPI_CHAR, 0, comm) == MPI_SUCCESS;
        wrong += MPI_Bcast(data, sizeof data, MPI_CHAR, ranks, comm) == MPI_SUCCESS;
        wrong += MPI_Ibcast(data, sizeof data, MPI_CHAR, ranks, comm, &request) == MPI_SUCCESS;
    }
    for (int k = 0; k < 20; ++k) {
        for (int i = 0; i < 4000; ++i) a[i] = rank + k;
        MPI_Allreduce(a, b, 4000, MPI_DOUBLE, MPI_SUM, comm);
        wrong += b[3] != ranks * (ranks - 1) / 2 + ranks * k;
    }
    for (int k = 0; k < 20; ++k) {
        data[7] = rank == 0 ? k : -1;
        MPI_Bcast(data, sizeof data, MPI_CHAR, 0, comm);
        wrong += data[7] != k;
    }
}
int main(int argc, char** argv) {
    int rank, ranks, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    use(MPI_COMM_WORLD, rank, ranks);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", all);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("progress", ["off", "on"])
def test_a_refused_call_of_one_rank_alone_waits_for_nobody(runner: MpiRunner, tmp_path: Path, progress: str) -> None:
    done, _ = run(runner, tmp_path, cluster(tmp_path), ALONE, HOCKET_PROGRESS=progress)
    assert done.stdout == "wrong 0\n", done.stderr


@pytest.mark.one_of_each_family
def test_a_wrong_algorithm_in_the_network_is_reported(runner: MpiRunner, tmp_path: Path) -> None:
    path = cluster(tmp_path)
    path.write_text(
        path.read_text()
        + """
        [[calibration.native]]
        mpi = "Some MPI 1.0"
        collective = "bcast"
        up_to_bytes = 1000
        algorithm = "magic"
        factor = 1.0
        schedule_factor = 1.0
        """
    )
    env = {"HOCKET_NETWORK": str(path), "HOCKET_SUMMARY": "1"}
    done = runner.run(RANKS, runner.compile(LOOP), libraries=[build_mpi_parts(runner.mpi).interpose], env=env)
    assert 'unknown algorithm "magic" for bcast' in done.stderr
    assert done.stderr.count("every call that no plan serves stays native") == 1


@pytest.mark.one_of_each_family
def test_a_host_that_the_network_does_not_have(runner: MpiRunner, tmp_path: Path) -> None:
    path = cluster(tmp_path, "elsewhere")
    done, statistics = run(runner, tmp_path, path)
    assert done.stdout == "wrong 0\n", done.stderr
    said = [line for line in done.stderr.splitlines() if "ranks are on hosts" in line]
    assert said == [
        f"hocket: 4 of 4 ranks are on hosts that network {path} does not have, such as {socket.gethostname()}: "
        "collectives with them stay native; the file must name hosts as `hostname` does"
    ]
    left = counted(statistics)["bcast"]
    assert set(left) == {"placement", "predicted"}  # the latter are those of one rank alone
    assert left["predicted"] == RANKS * 4


@pytest.mark.one_of_each_family
def test_a_plan_goes_before_decisions(runner: MpiRunner, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    entry = PlanEntry("bcast", (0, 1, 2, 3), 0, 1 << 30, "linear")
    write_plan(Plan(RANKS, "test", (entry,)), plan)
    done, statistics = run(runner, tmp_path, cluster(tmp_path), HOCKET_PLAN=str(plan), HOCKET_SELF_CHECK="off")
    assert done.stdout == "wrong 0\n", done.stderr
    # On the world and its copy: of all 18 broadcasts none is left.
    assert statistics["entries"][0]["rerouted_calls"] == 18
    others = [row for row in statistics["entries"][1:] if row["collective"] == "bcast" and "on 4" in row["description"]]
    assert sum(row["rerouted_calls"] for row in others) == 0
    assert counted(statistics)["reduce"]["derived"] > 0


@pytest.mark.one_of_each_family
def test_a_plan_for_other_hosts_gives_way(runner: MpiRunner, tmp_path: Path) -> None:
    """One of its ranks was elsewhere: an entry without that rank stays."""
    here = socket.gethostname()
    entries = (
        PlanEntry("bcast", (0, 1, 2, 3), 0, 1 << 30, "linear"),
        PlanEntry("allgather", (1, 3), 0, 1 << 30, "ring", other_members=((0, 2),)),
    )
    plan = tmp_path / "plan.json"
    write_plan(Plan(RANKS, "test", entries, hosts=(here, here, "elsewhere", here)), plan)
    done, statistics = run(runner, tmp_path, cluster(tmp_path), HOCKET_PLAN=str(plan), HOCKET_SELF_CHECK="off")
    assert done.stdout == "wrong 0\n", done.stderr
    told = "1 of 2 entries of the plan were made for other hosts than those of their ranks now; the network decides"
    assert told in done.stderr
    assert [row["collective"] for row in statistics["entries"][:1]] == ["allgather"]
    assert counted(statistics)["bcast"]["derived"] > 0


@pytest.mark.one_of_each_family
def test_what_is_no_network_serves_nothing(runner: MpiRunner, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('format = "hocket.network/1"\n')
    interpose = build_mpi_parts(runner.mpi).interpose
    env = {"HOCKET_NETWORK": str(wrong)}
    done = runner.run(RANKS, runner.compile(PROGRAM), libraries=[interpose], env=env)
    assert done.stdout == "wrong 0\n", done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("hocket: ")]
    assert len(said) == 1, done.stderr
    assert str(wrong) in said[0]
    assert said[0].endswith("every call that no plan serves stays native")


def test_a_program_that_starts_by_a_session_is_told(runner: MpiRunner, tmp_path: Path) -> None:
    program, native = sessions_program(runner, 2)
    network = tmp_path / "network.toml"
    network.write_text(Network.generate("star:2").to_toml())
    libraries = [build_mpi_parts(runner.mpi).interpose]
    done = runner.run(2, program, libraries=libraries, env={"HOCKET_NETWORK": str(network)})
    assert sorted(done.stdout.split()) == sorted(native.split())
    assert done.stderr.count("hocket does nothing until it calls MPI_Init") == 1
    assert "MPI_Session_init" not in runner.run(2, program, libraries=libraries).stderr
