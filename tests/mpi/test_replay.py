# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A recorded program becomes a Program that moves the same bytes, ends, and takes the time that it computed."""

import dataclasses

import pytest

from hocket import CostModel, Network, Trace, simulate
from hocket.mpi.build import build_mpi_parts
from hocket.plan import Plan, PlanEntry
from hocket.simulation.programs import Request, simulate_what
from hocket.traces.replay import NativeModel, replay, replay_at
from hocket.tune import predict
from hocket.tune.predict import predict_program

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

RANKS = 4
PROGRAM = """
#include <mpi.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    static char in[400000], out[400000];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Status status;
    MPI_Request requests[2];
    /* 1000 bytes each: blocking, around */
    MPI_Sendrecv(out, 1000, MPI_CHAR, next, 1, in, 1000, MPI_CHAR, last, 1, MPI_COMM_WORLD, &status);
    /* 2000 bytes each: non-blocking, from anyone, any tag */
    MPI_Irecv(in, 5000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 2000, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    /* 3000 bytes each, three times: persistent */
    MPI_Send_init(out, 3000, MPI_CHAR, last, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 3000, MPI_CHAR, next, 3, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    /* 100000 bytes by rank 0 to a receiver that names nobody; to MPI_PROC_NULL nothing */
    if (rank == 0) MPI_Send(out, 100000, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(in, 100000, MPI_CHAR, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
    MPI_Send(out, 7, MPI_CHAR, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    /* collectives on halves of the world, in reversed order */
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Bcast(in, 50000, MPI_CHAR, 1, half);
    MPI_Ibcast(in, 60000, MPI_CHAR, 0, half, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    int counts[4] = {10, 20, 30, 40}, starts[4] = {0, 10, 30, 60};
    MPI_Allgatherv(out, counts[rank], MPI_CHAR, in, counts, starts, MPI_CHAR, MPI_COMM_WORLD);
    if (rank == 2) usleep(200000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
"""
MESSAGES = RANKS * (1000 + 2000 + 3 * 3000) + 100_000
HALVES = 2 * (50_000 + 60_000)  # each half has two ranks: one message a broadcast
GATHERED = 100 * (RANKS - 1)


@pytest.fixture
def trace(runner, tmp_path):
    parts = build_mpi_parts(runner.mpi)
    folder = tmp_path / "trace"
    folder.mkdir()
    runner.run(RANKS, runner.compile(PROGRAM), libraries=[parts.record], env={"HOCKET_TRACE": str(folder)})
    return Trace.open(folder)


def test_moves_the_same_bytes_and_ends(trace):
    replayed = replay(trace)
    (made,) = replayed.left_out
    assert (made.function, made.calls) == ("MPI_Comm_split", RANKS)
    network = Network.generate(f"star:{RANKS}", bandwidth="100 GB/s", latency="0")
    timeline = simulate(replayed.program, network)
    # Each message crosses two links of the star.
    assert sum(timeline.link_bytes) == 2 * (MESSAGES + HALVES + GATHERED)
    assert 0.2 <= timeline.makespan_s <= replayed.recorded_span_s + 0.01
    with_cpu_time = simulate(replay(trace, cpu_time=True).program, network)
    assert with_cpu_time.makespan_s < timeline.makespan_s  # sleeping takes no CPU time


def test_what_is_told_of_a_trace(trace):
    (found,), _ = simulate_what(str(trace.folder), Network.generate(f"star:{RANKS}"), Request(), CostModel.usual())
    assert found.recorded.span_s == replay(trace).recorded_span_s
    sentence, left_out = found.recorded.sentences
    assert f"{found.recorded.span_s:.3f} s in the recorded run" in sentence
    why = "making communicators, windows and processes is not modelled"
    assert left_out == f"Not simulated: 4 calls of MPI_Comm_split: {why}."
    (_, nothing) = dataclasses.replace(found.recorded, left_out=()).sentences
    assert nothing == "Every recorded call that moves data is simulated."
    (row,) = found.to_dict(Network.generate(f"star:{RANKS}"))["left_out"]
    assert row == {"function": "MPI_Comm_split", "reason": why, "calls": 4, "bytes": 0}


def test_bytes_of_native_models_are_scaled(trace):
    network = Network.generate(f"star:{RANKS}", bandwidth="100 GB/s", latency="0")
    halves = [c.members for c in trace.communicators if len(c.members) == 2]
    native = [NativeModel(PlanEntry("bcast", members, 0, 10**6, "binomial"), 3.0) for members in halves]
    assert sum(simulate(replay(trace, native=native).program, network).link_bytes) == 2 * (
        MESSAGES + 3 * HALVES + GATHERED
    )
    # The plan's own entries come first.
    plan = Plan(RANKS, "test", tuple(PlanEntry("bcast", members, 0, 10**6, "linear") for members in halves))
    assert sum(simulate(replay(trace, plan, native=native).program, network).link_bytes) == 2 * (
        MESSAGES + HALVES + GATHERED
    )


def test_what_a_plan_does_not_change_takes_what_it_took(trace, monkeypatch):
    costs = CostModel.usual().replace(send_overhead_s=0, receive_overhead_s=0)
    slow = Network.generate(f"star:{RANKS}", bandwidth="1 MB/s", latency="0")
    wall_s = replay(trace).recorded_span_s + 1
    empty_s = predict_program(trace, wall_s, Plan(RANKS, "test", ()), slow, costs)
    assert empty_s == pytest.approx(wall_s, rel=1e-3)  # and the hand-over of the plan
    # A broadcast among two ranks is one message, whatever its algorithm: what it took is what it takes with the plan.
    halves = [c.members for c in trace.communicators if len(c.members) == 2]
    plan = Plan(RANKS, "test", tuple(PlanEntry("bcast", members, 50_000, 60_000, "linear") for members in halves))
    free = [NativeModel(entry, 0.0) for entry in plan.entries]
    with_s, without_s = (
        simulate(replayed.program, slow, costs).makespan_s
        for replayed in (replay_at(costs, trace, plan), replay_at(costs, trace, None, free))
    )
    assert with_s > without_s
    monkeypatch.setattr(predict, "served_s", lambda _calls, _plan: with_s - without_s)
    same_s = predict_program(trace, wall_s, plan, slow, costs)
    assert same_s == pytest.approx(wall_s, rel=5e-3)
    # Where native calls took ten times as long, the plan saves, and only between MPI_Init and MPI_Finalize.
    monkeypatch.setattr(predict, "served_s", lambda _calls, _plan: 10 * (with_s - without_s))
    assert 1 < predict_program(trace, wall_s, plan, slow, costs) < same_s - 0.01


def test_where_the_program_does_not_wait_for_calls_those_measured_alone_count(trace, monkeypatch):
    costs = CostModel.usual().replace(send_overhead_s=0, receive_overhead_s=0)
    slow = Network.generate(f"star:{RANKS}", bandwidth="1 MB/s", latency="0")
    wall_s = replay(trace).recorded_span_s + 1
    halves = [c.members for c in trace.communicators if len(c.members) == 2]
    monkeypatch.setattr(predict, "served_s", lambda _calls, _plan: None)
    entries = [PlanEntry("bcast", members, 50_000, 60_000, "linear", native_s=0.06) for members in halves]
    same_s = predict_program(trace, wall_s, Plan(RANKS, "test", tuple(entries)), slow, costs)
    assert same_s == pytest.approx(wall_s, rel=5e-3)
    entries = [entry.replace(native_s=0.6) for entry in entries]
    faster_s = predict_program(trace, wall_s, Plan(RANKS, "test", tuple(entries)), slow, costs)
    assert 1 < faster_s < same_s - 0.01


def test_a_plan_takes_the_place_of_the_textbook_algorithm(trace):
    slow = Network.generate(f"star:{RANKS}", bandwidth="1 MB/s", latency="0")
    halves = [c.members for c in trace.communicators if len(c.members) == 2]
    assert sorted(halves) == [(2, 0), (3, 1)]
    entries = [PlanEntry("bcast", members, 0, 10**6, "pipelined_chain", 100) for members in halves]
    native = simulate(replay(trace).program, slow)
    planned = simulate(replay(trace, Plan(RANKS, "test", tuple(entries))).program, slow)
    # One message of two ranks is as fast in one piece as in many: the same bytes, more messages.
    assert sum(planned.link_bytes) == sum(native.link_bytes)
    assert planned.num_events > native.num_events + 4 * 90
