# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-circuits: schedules on the emulated circuit switch, run by every MPI. It checks all data itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from hocket import Error, Network
from hocket.bench.circuits.measure import measure_messages, run_schedules
from hocket.circuits.batches import ALGORITHMS, schedule_of
from hocket.circuits.schedules import COLLECTIVES, CircuitInstance, solve
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import MpiParts, build_mpi_parts
from hocket.testbed import Testbed, available
from hocket.testbed.layout import make_circuit_layout
from mpis import LIMIT_S, MpiRunner

AVAILABLE, REASON = available()
pytestmark = pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")

RANKS = 4
Schedule = tuple[dict[str, Any], dict[str, Any]]

# Takes the place of the MPI's own function; the first call of rank 1 is in a run.
DIES = """
#include <mpi.h>
#include <signal.h>
int PMPI_Issend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int PMPI_Isend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* q) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) raise(SIGKILL);
    return PMPI_Issend(b, n, t, to, tag, c, q);
}
"""


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


@pytest.fixture
def place(runner: MpiRunner, parts: MpiParts) -> Iterator[TestbedRunner]:
    with Testbed(make_circuit_layout(Network.generate(f"star:{RANKS}", bandwidth="1 Gbit/s"))) as bed:
        yield TestbedRunner(runner.mpi, bed, parts.workarounds)


def _instance(collective: str, p: int = RANKS, k: int = 2, **more: Any) -> CircuitInstance:
    return CircuitInstance(collective, p, k, 10_001, 1e-3, 2e-3, 1e-4, 8e-9, **more)


def _of_equations() -> list[Schedule]:
    made = []
    for collective, algorithm in ALGORITHMS:
        for ports in (1, 2, 3):
            instance = _instance(collective, k=ports, accounting="hidden" if ports == 3 else "equations")
            plan = schedule_of(instance, algorithm, naive=ports == 1)
            made.append((asdict(instance), plan.schedule))
    return made


def _found() -> list[Schedule]:
    made = []
    variants: list[dict[str, Any]] = [
        {},
        {"injection": "all", "stop": "circuit"},
        {"p": 3, "k": 1, "stop": "circuit", "accounting": "hidden"},
        {"controller": "serial"},
        {"controller": "serial", "stop": "circuit"},
    ]
    of_rooted: list[dict[str, Any]] = [{"root": 2, "segments": 3}]
    for collective in COLLECTIVES[:-1]:  # hocket-circuits has no alltoallv
        for more in variants + (of_rooted if collective in ("bcast", "reduce") else []):
            answer = solve(_instance(collective, **more), 0.2)
            made.append((asdict(answer.instance), answer.schedule))
    return made


@pytest.mark.one_of_each_family
def test_a_serial_controller_does_one_thing_at_a_time(place: TestbedRunner) -> None:
    schedules = [
        (asdict(answer.instance), answer.schedule)
        for stop in ("all", "circuit")
        for answer in (solve(_instance("reduce", controller="serial", stop=stop, root=1), 0.2),)
    ]
    for (one,) in run_schedules(schedules, 1, place, LIMIT_S):
        setup_s, open_s, teardown_s, down_s = (one.circuits_s[i::4] for i in range(4))
        works = sorted([*zip(setup_s, open_s, strict=True), *zip(teardown_s, down_s, strict=True)])
        assert len(works) == 2 * (RANKS - 1)
        for (_, end_s), (begin_s, _) in itertools.pairwise(works):
            assert begin_s >= end_s - 2e-6  # times come in microseconds


def test_schedules_leave_the_right_data_and_go_on_circuits(place: TestbedRunner) -> None:
    schedules = [*_of_equations(), *_found()]
    times = run_schedules(schedules, 2, place, LIMIT_S)
    assert len(times) == len(schedules)
    for (_, schedule), rounds in zip(schedules, times, strict=True):
        assert len(rounds) == 2
        for one in rounds:
            assert len(one.circuits_s) == 4 * len(schedule["circuits"])
            assert len(one.messages_s) == 2 * len(schedule["messages"])
            assert one.time_s >= max(one.circuits_s) > 0
            assert min(one.messages_s) > 0


@pytest.mark.one_of_each_family
def test_what_messages_cost(place: TestbedRunner) -> None:
    cost = measure_messages(40_000, place, LIMIT_S)
    assert [size for size, _ in cost.points] == [40_000, 80_000, 160_000]
    assert cost.alpha_s >= 0
    assert cost.beta_s_per_byte > 0


@pytest.mark.one_of_each_family
def test_a_schedule_that_forgets_a_block_is_wrong(place: TestbedRunner) -> None:
    instance = _instance("allgather")
    schedule = schedule_of(instance, "ring").schedule
    forgets = {**schedule, "messages": schedule["messages"][:-1]}
    with pytest.raises(Error, match="of allgather has a wrong byte"):
        run_schedules([(asdict(instance), forgets)], 1, place, LIMIT_S)


@pytest.mark.one_of_each_family
def test_what_the_switch_or_the_program_refuses(place: TestbedRunner) -> None:
    instance = _instance("allgather")
    schedule = schedule_of(instance, "ring").schedule
    with pytest.raises(Error, match="configuration 0 needs 2 ports of node 0, which has 1"):
        run_schedules([({**asdict(instance), "k": 1}, schedule)], 1, place, LIMIT_S)
    with pytest.raises(Error, match="run 0: p is 5; accepted: 1 to 4"):
        run_schedules([({**asdict(instance), "p": 5}, schedule)], 1, place, LIMIT_S)


@pytest.mark.one_of_each_family
def test_a_rank_that_is_killed_ends_the_run(place: TestbedRunner, runner: MpiRunner) -> None:
    library = runner.compile(DIES, "-shared", "-fPIC", name="libdies.so")
    instance = _instance("allgather")
    schedule = (asdict(instance), schedule_of(instance, "ring").schedule)
    with pytest.raises(Error) as failed:
        run_schedules([schedule], 1, place, LIMIT_S, libraries=[library])
    assert str(failed.value).count("rank 1 has ended within a run") == 1
    assert run_schedules([schedule], 1, place, LIMIT_S)  # the testbed goes on
