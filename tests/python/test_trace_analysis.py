# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Wait states of traces with known times, and critical paths beside what shortening each computation does."""

from __future__ import annotations

import base64
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traced_calls import Row, traced_calls

from hocket import CostModel, Network, simulate
from hocket.errors import InvalidInput
from hocket.traces.analysed import ACTIVITIES, SHARES
from hocket.traces.analysis import COMPUTATION, drift, recorded_run, simulated_run
from hocket.traces.analysis_request import AnalysisRequest, analyse, run
from hocket.traces.replay import replay, replay_at
from hocket.traces.timeline_levels import timeline_levels

END: Row = ("MPI_Finalize", 1000, 1001, {})


def waits_of(folder: Path, *ranks: list[Row], groups: list[list[int]] | None = None) -> list[tuple[Any, ...]]:
    """State, rank, function, microseconds, rank that was waited for."""
    from hocket import _core

    trace = traced_calls(folder / "trace", [[*rows, END] for rows in ranks], groups or [])
    found = recorded_run(trace, replay(trace, call_ops=True)).core
    return [
        (_core.wait_states()[state], int(rank), str(trace.names(rank)[call]), wait_ns / 1000, int(cause))
        for state, rank, call, wait_ns, cause in zip(
            found.wait_state, found.wait_rank, found.wait_call, found.wait_ns, found.cause_rank, strict=True
        )
    ]


def message(peer: int, **more: Any) -> dict[str, Any]:
    return {"peer": peer, "tag": 0, "bytes": 8, **more}


def test_late_sender(tmp_path: Path) -> None:
    sends: list[Row] = [("MPI_Send", 300, 310, message(1))]
    receives: list[Row] = [("MPI_Recv", 100, 500, message(0))]
    assert waits_of(tmp_path, sends, receives) == [("late sender", 1, "MPI_Recv", 200, 0)]


def test_late_sender_in_a_wait(tmp_path: Path) -> None:
    sends: list[Row] = [("MPI_Send", 300, 310, message(1))]
    receives: list[Row] = [
        ("MPI_Irecv", 50, 51, message(0, request=1)),
        ("MPI_Wait", 120, 500, {"request": 1, "waits": [1]}),
    ]
    assert waits_of(tmp_path, sends, receives) == [("late sender", 1, "MPI_Wait", 180, 0)]


def test_the_last_of_several_messages_counts(tmp_path: Path) -> None:
    receives: list[Row] = [
        ("MPI_Irecv", 10, 11, message(0, request=1)),
        ("MPI_Irecv", 20, 21, message(2, request=2)),
        ("MPI_Waitall", 100, 450, {"waits": [1, 2]}),
    ]
    first: list[Row] = [("MPI_Send", 300, 310, message(1))]
    second: list[Row] = [("MPI_Send", 400, 410, message(1))]
    assert waits_of(tmp_path, first, receives, second) == [("late sender", 1, "MPI_Waitall", 300, 2)]


def test_late_receiver(tmp_path: Path) -> None:
    sends: list[Row] = [("MPI_Ssend", 100, 420, message(1))]
    receives: list[Row] = [("MPI_Recv", 400, 425, message(0))]
    assert waits_of(tmp_path, sends, receives) == [("late receiver", 0, "MPI_Ssend", 300, 1)]


def test_a_send_that_has_returned_waits_for_nobody(tmp_path: Path) -> None:
    sends: list[Row] = [("MPI_Send", 100, 110, message(1))]
    receives: list[Row] = [("MPI_Recv", 400, 401, message(0))]
    assert waits_of(tmp_path, sends, receives) == []


def test_no_call_waits_for_longer_than_it_takes(tmp_path: Path) -> None:
    # Clocks differ: the message is there before it was sent.
    sends: list[Row] = [("MPI_Send", 300, 310, message(1))]
    receives: list[Row] = [("MPI_Recv", 100, 250, message(0))]
    assert waits_of(tmp_path, sends, receives) == [("late sender", 1, "MPI_Recv", 150, 0)]


@pytest.mark.parametrize(
    ("function", "state"),
    [("MPI_Barrier", "wait at barrier"), ("MPI_Allreduce", "wait at n x n"), ("MPI_Alltoall", "wait at n x n")],
)
def test_all_wait_for_the_last(tmp_path: Path, function: str, state: str) -> None:
    ranks: list[list[Row]] = [[(function, enter, 410, {"bytes": 8})] for enter in (100, 400, 250)]
    expected = [(state, 0, function, 300, 1), (state, 2, function, 150, 1)]
    assert waits_of(tmp_path, *ranks) == expected


def test_late_broadcast_on_a_communicator_of_another_order(tmp_path: Path) -> None:
    # Rank 0 of the communicator is rank 2 of the world.
    values = {"bytes": 8, "root": 0, "communicator": 1}
    ranks: list[list[Row]] = [[("MPI_Bcast", enter, 410, values)] for enter in (100, 350, 300)]
    expected = [("late broadcast", 0, "MPI_Bcast", 200, 2)]
    assert waits_of(tmp_path, *ranks, groups=[[2, 0, 1]]) == expected


def test_early_reduce_until_the_first_other_rank(tmp_path: Path) -> None:
    ranks: list[list[Row]] = [[("MPI_Reduce", enter, 410, {"bytes": 8, "root": 1})] for enter in (300, 100, 200)]
    assert waits_of(tmp_path, *ranks) == [("early reduce", 1, "MPI_Reduce", 100, 2)]


def test_collectives_are_counted_by_communicator(tmp_path: Path) -> None:
    pair = {"communicator": 1, "bytes": 8}
    ranks: list[list[Row]] = [
        [("MPI_Barrier", 10, 100, {}), ("MPI_Allreduce", 200, 290, pair), ("MPI_Barrier", 300, 500, {})],
        [("MPI_Barrier", 20, 100, {}), ("MPI_Barrier", 310, 500, {})],
        [("MPI_Barrier", 90, 100, {}), ("MPI_Allreduce", 250, 290, pair), ("MPI_Barrier", 490, 500, {})],
    ]
    assert sorted(waits_of(tmp_path, *ranks, groups=[[0, 2]])) == [
        ("wait at barrier", 0, "MPI_Barrier", 80, 2),
        ("wait at barrier", 0, "MPI_Barrier", 190, 2),
        ("wait at barrier", 1, "MPI_Barrier", 70, 2),
        ("wait at barrier", 1, "MPI_Barrier", 180, 2),
        ("wait at n x n", 0, "MPI_Allreduce", 50, 2),
    ]


def test_the_critical_path_goes_on_where_a_call_waited(tmp_path: Path) -> None:
    # Rank 0 computes until 300 and sends; rank 1 has waited since 100, and computes from 500 until 800.
    sends: list[Row] = [("MPI_Send", 300, 310, message(1)), ("MPI_Finalize", 320, 900, {})]
    receives: list[Row] = [("MPI_Recv", 100, 500, message(0)), ("MPI_Finalize", 800, 900, {})]
    trace = traced_calls(tmp_path / "trace", [sends, receives])
    run = recorded_run(trace, replay(trace, call_ops=True))
    found = run.core
    steps = [
        (int(rank), int(function), round(start * 1e6), round(end * 1e6))
        for rank, function, start, end in zip(
            found.path_rank, found.path_function, found.path_start_s, found.path_end_s, strict=True
        )
    ]
    receive = trace.functions.index("MPI_Recv")
    assert steps == [(0, -1, 0, 300), (1, receive, 300, 500), (1, -1, 500, 800)]
    assert run.path == pytest.approx({COMPUTATION: 600e-6, "MPI_Recv": 200e-6})
    assert run.span_s == pytest.approx(800e-6)
    assert [rank.on_path_s for rank in run.ranks] == pytest.approx([300e-6, 500e-6])
    assert [rank.computation_s for rank in run.ranks] == pytest.approx([310e-6, 400e-6])
    assert [rank.waiting_s for rank in run.ranks] == pytest.approx([0, 200e-6])


def random_program(seed: int) -> list[list[tuple[float, str, dict[str, Any]]]]:
    """Of each rank its calls, each with the computation before it in microseconds: messages in the order of a random
    list, so that they end, and collectives of all."""
    choose = random.Random(seed)
    size = choose.randint(2, 5)
    calls: list[list[tuple[float, str, dict[str, Any]]]] = [[] for _ in range(size)]
    requests = [0] * size

    def gap() -> float:
        return choose.uniform(5, 400)

    for _ in range(choose.randint(3, 9)):
        kind = choose.random()
        if kind < 0.2:
            for rank in range(size):
                calls[rank].append((gap(), "MPI_Allreduce", {"bytes": 64}))
            continue
        source, target = choose.sample(range(size), 2)
        values = {"tag": 0, "bytes": choose.choice([8, 3000, 100_000])}
        if kind < 0.6:
            calls[source].append((gap(), "MPI_Send", {"peer": target, **values}))
            calls[target].append((gap(), "MPI_Recv", {"peer": source, **values}))
            continue
        requests[target] += 1
        number = requests[target]
        calls[target].append((gap(), "MPI_Irecv", {"peer": source, "request": number, **values}))
        calls[source].append((gap(), "MPI_Send", {"peer": target, **values}))
        calls[target].append((gap(), "MPI_Wait", {"request": number, "waits": [number]}))
    return [[*of_rank, (gap(), "MPI_Finalize", {})] for of_rank in calls]


def rows_of(program: list[list[tuple[float, str, dict[str, Any]]]]) -> list[list[Row]]:
    """Each call takes a microsecond; only what is between them counts in a replay."""
    ranks = []
    for calls in program:
        now, rows = 0.0, []
        for gap, name, values in calls:
            rows.append((name, now + gap, now + gap + 1, values))
            now += gap + 1
        ranks.append(rows)
    return ranks


@pytest.mark.parametrize("seed", range(40))
def test_only_computations_on_the_critical_path_count(tmp_path: Path, seed: int) -> None:
    """Without shared links and cores: a computation that is shorter ends the program earlier if it is on the path."""
    program = random_program(seed)
    network = Network.generate(f"star:{len(program)}", bandwidth="1 Gbit/s", latency="7 us")
    costs = CostModel(send_overhead_s=3e-6, receive_overhead_s=2e-6, sharing="none", rendezvous_bytes=50_000)
    less = 0.02  # microseconds; less than by how much other paths are shorter

    def simulated(number: int) -> Any:
        trace = traced_calls(tmp_path / str(number), rows_of(program))
        replayed = replay_at(costs, trace, call_ops=True)
        return trace, replayed, simulate(replayed.program, network, costs)

    trace, replayed, timeline = simulated(0)
    run = simulated_run(trace, replayed, network, costs)
    core = run.core
    assert core.path_start_s[0] == pytest.approx(0, abs=1e-12)
    assert core.path_end_s[-1] == pytest.approx(timeline.makespan_s)
    assert core.path_end_s[:-1] == pytest.approx(core.path_start_s[1:])
    assert sum(run.path.values()) == pytest.approx(timeline.makespan_s)
    on_path = {}
    for rank, calls in enumerate(program):
        computes = (core.path_rank == rank) & (core.path_function == -1)
        starts, ends = core.path_start_s[computes], core.path_end_s[computes]
        for place in range(len(calls)):  # row 0 is MPI_Init
            middle = (run.spans[rank][place, 1] + run.spans[rank][place + 1, 0]) / 2
            on_path[rank, place] = bool(((starts < middle) & (middle < ends)).any())
    for number, ((rank, place), is_on_path) in enumerate(on_path.items(), start=1):
        gap, name, values = program[rank][place]
        program[rank][place] = (gap - less, name, values)
        saved_s = timeline.makespan_s - simulated(number)[2].makespan_s
        program[rank][place] = (gap, name, values)
        expected_s = less * 1e-6 if is_on_path else 0.0
        assert saved_s == pytest.approx(expected_s, abs=1.5e-9), (
            f"seed {seed}, rank {rank}, before call {place}: {name}"
        )


def test_a_simulation_on_the_recorded_times_does_not_drift(tmp_path: Path) -> None:
    """Messages that cost nothing, on a network without latencies: recorded as simulated."""
    sends: list[Row] = [("MPI_Send", 300, 300, message(1)), ("MPI_Finalize", 320, 900, {})]
    receives: list[Row] = [("MPI_Recv", 100, 300, message(0)), ("MPI_Finalize", 800, 900, {})]
    trace = traced_calls(tmp_path / "trace", [sends, receives])
    network, costs = Network.generate("star:2", bandwidth="1000 Gbit/s"), CostModel()
    replayed = replay_at(costs, trace, call_ops=True)
    recorded, simulated = recorded_run(trace, replayed), simulated_run(trace, replayed, network, costs)
    late = drift(recorded, simulated)
    assert np.abs([*late.least_s, *late.most_s]).max() < 2e-9
    assert simulated.waits == recorded.waits
    assert simulated.path[COMPUTATION] == pytest.approx(recorded.path[COMPUTATION], abs=2e-9)


def test_drift_beside_another_recording(tmp_path: Path) -> None:
    """Rank 1 makes the same calls, 50 us later; rank 0 another one, and is left out."""
    first: list[list[Row]] = [
        [("MPI_Send", 300, 300, message(1)), ("MPI_Finalize", 320, 900, {})],
        [("MPI_Recv", 100, 300, message(0)), ("MPI_Finalize", 800, 900, {})],
    ]
    second: list[list[Row]] = [
        [("MPI_Ssend", 350, 350, message(1)), ("MPI_Finalize", 370, 900, {})],
        [("MPI_Recv", 100, 350, message(0)), ("MPI_Finalize", 850, 900, {})],
    ]
    one, other = (traced_calls(tmp_path / f"trace-{i}", rows) for i, rows in enumerate((first, second)))
    network, costs = Network.generate("star:2", bandwidth="1000 Gbit/s"), CostModel()
    found = analyse(one, network, costs, None, other)
    assert found.recorded.span_s == pytest.approx(850e-6)
    assert found.drift is not None
    at = np.searchsorted(found.drift.time_s, 400e-6)
    assert [found.drift.mean_s[at], found.drift.least_s[at], found.drift.most_s[at]] == pytest.approx([-50e-6] * 3)
    assert [found.drift.time_s[-1], found.drift.mean_s[-1]] == pytest.approx([850e-6, -50e-6])
    nothing_alike = traced_calls(tmp_path / "trace-2", [second[0], [*second[1][:1], *second[1]]])
    assert analyse(one, network, costs, None, nothing_alike).drift is None


def test_levels_show_what_takes_most_of_each_cell(tmp_path: Path) -> None:
    sends: list[Row] = [("MPI_Send", 300, 310, message(1)), ("MPI_Finalize", 400, 900, {})]
    receives: list[Row] = [("MPI_Recv", 100, 500, message(0)), ("MPI_Finalize", 800, 900, {})]
    trace = traced_calls(tmp_path / "trace", [sends, receives])
    found = timeline_levels(recorded_run(trace, replay(trace, call_ops=True)), 800e-6)
    (text,) = found.cells
    cells = np.frombuffer(base64.b64decode(text), np.uint8).reshape(len(found.ranks), -1)

    def at(rank: int, time_us: float) -> tuple[str, float]:
        cell = int(cells[rank, int(time_us / 800 * cells.shape[1])])
        return ACTIVITIES[cell // SHARES], cell % SHARES / (SHARES - 1)

    assert [at(0, time)[0] for time in (100, 305, 390, 500)] == [
        "computation",
        "point to point",
        "computation",
        "ended",
    ]
    assert [at(1, time)[0] for time in (50, 150, 299, 301, 499, 700)] == [
        "computation", "waiting", "waiting", "point to point", "point to point", "computation",
    ]  # fmt: skip
    assert at(1, 200)[1] == 1


def test_what_needs_a_network_is_refused_without(tmp_path: Path) -> None:
    trace = traced_calls(tmp_path / "trace", [[END], [END]])
    with pytest.raises(InvalidInput, match="needs a network"):
        run(AnalysisRequest(trace.folder, plan=tmp_path / "plan.json"))
    values = run(AnalysisRequest(trace.folder)).values
    assert (values["recorded"]["span_s"], "simulated" in values) == (pytest.approx(1e-3), False)


def test_more_ranks_than_the_network_has(tmp_path: Path) -> None:
    from hocket.networks.source import NetworkSource

    trace = traced_calls(tmp_path / "trace", [[END], [END], [END]])
    with pytest.raises(InvalidInput, match="3 ranks; .* has 2"):
        run(AnalysisRequest(trace.folder, NetworkSource("star:2")))
