# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-compare: what tune measures with."""

from __future__ import annotations

import json
import random
import socket
import sys
from pathlib import Path

import pytest
from mpi_parts import entry, write_plan

from hocket import Network, algorithms
from hocket.mpi.build import MpiParts, build_mpi_parts
from hocket.search.optimal import optimal_schedule
from mpis import MpiRunner

# A program of ours over the runtime, which tests/mpi/test_runtime.py runs with all.
pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


def test_every_algorithm_gives_the_native_data(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    members = ([0, 1, 2, 3], [3, 1], [2, 0, 1])
    entries = []
    for i, algorithm in enumerate(algorithms()):
        most = 0 if algorithm.collective == "barrier" else 4097 * i
        entries.append(
            entry(
                algorithm.collective, members[i % 3], algorithm.name, 1 + i % 3, bytes_min=min(i, most), bytes_max=most
            )
        )
    plan = write_plan(tmp_path, 4, entries)
    result = runner.run(4, parts.compare, "--plan", plan, "--repetitions", 2, "--seconds", 0.1)
    compared = json.loads(result.stdout)
    assert compared["format"] == "hocket.comparison/1"
    assert compared["ranks"] == 4
    for planned, measured in zip(entries, compared["entries"], strict=True):
        assert measured["collective"] == planned["collective"]
        assert measured["members"] == planned["members"]
        assert measured["bytes"] == planned["bytes_max"]
        assert measured["equal"] is True, measured
        assert 2 <= len(measured["native_s"]) == len(measured["tuned_s"]) <= 40  # more of short calls
        assert all(seconds > 0 for seconds in measured["native_s"] + measured["tuned_s"])
        # What is timed is what a program calls: all of it went through the interposed function.
        assert measured["rerouted_calls"] >= 2 + len(measured["tuned_s"])  # data are compared before and after


def test_schedules_of_the_search_give_the_native_data(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    # In these, messages without chunks tell when a link is free again.
    network = Network.generate("two-clusters:3+3")
    entries = []
    for collective in ("bcast", "reduce"):
        schedule = optimal_schedule(network, collective, 50_000, 1).schedule
        assert any(not op.chunks for rank in range(6) for op in schedule.ops(rank))
        planned = entry(collective, [5, 1, 2, 0, 4, 3], "linear", bytes_min=50_000, bytes_max=50_000)
        entries.append({**planned, "root": 1, "schedule": {"custom": json.loads(schedule.to_json())}})
    plan = write_plan(tmp_path, 6, entries)
    result = runner.run(6, parts.compare, "--plan", plan, "--repetitions", 3)
    assert [measured["equal"] for measured in json.loads(result.stdout)["entries"]] == [True, True]


def test_rings_with_starts_give_the_native_data(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    seed = 2112
    print(f"seed {seed}")
    drawn = random.Random(seed)
    entries = []
    for i in range(8):
        members = drawn.sample(range(6), drawn.randint(2, 6))
        order = drawn.sample(range(len(members)), len(members))
        starts = sorted(drawn.sample(range(len(members)), drawn.randint(1, len(members))))
        size = drawn.randrange(100_000)
        planned = entry("allreduce" if i % 2 else "allgather", members, "uneven_ring", bytes_min=size, bytes_max=size)
        schedule = {"algorithm": "uneven_ring", "segment_bytes": 4096, "order": order, "starts": starts}
        entries.append({**planned, "schedule": schedule})
    plan = write_plan(tmp_path, 6, entries)
    result = runner.run(6, parts.compare, "--plan", plan, "--repetitions", 2, "--seconds", 0.05)
    for planned, measured in zip(entries, json.loads(result.stdout)["entries"], strict=True):
        assert measured["equal"] is True, planned
        assert measured["rerouted_calls"] >= 2, planned


def test_messages_that_end_out_of_turn(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    # Receives are posted from piece 0 on. Each piece but the first waits for the answer to another one.
    segments = 50
    sent, received = segments, 2 * segments  # first chunk of the block that rank 0 sends, that it receives
    entries = []
    for after in (-1, 1):  # segments go from first to last, from last to first
        asks = [["recv", 1, [received + k, 1], []] for k in range(segments)]
        asks += [["send", 1, [sent + k, 1], [k + after] if 0 <= k + after < segments else []] for k in range(segments)]
        answers = [["recv", 0, [sent + k, 1], []] for k in range(segments)]
        answers += [["send", 0, [received + k, 1], [k]] for k in range(segments)]
        custom = {
            "format": "hocket.schedule/1",
            "collective": "alltoall",
            "algorithm": "ask and answer",
            "num_ranks": 2,
            "root": 0,
            "segments": segments,
            "ranks": [asks, answers],
        }
        planned = entry("alltoall", [0, 1], "linear", bytes_max=800)
        entries.append({**planned, "schedule": {"custom": custom}})
    plan = write_plan(tmp_path, 2, entries)
    result = runner.run(2, parts.compare, "--plan", plan, "--repetitions", 30)
    in_turn, out_of_turn = json.loads(result.stdout)["entries"]
    assert in_turn["equal"]
    assert out_of_turn["equal"]
    # One pause of 0.5 ms; with one for each message it was 580 times.
    assert min(out_of_turn["tuned_s"]) < 100 * min(in_turn["tuned_s"])


def test_only_schedules(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path,
        3,
        [entry("bcast", [0, 1, 2], "binomial", bytes_max=8), entry("reduce", [2, 1], "linear", bytes_max=8)],
    )
    result = runner.run(3, parts.compare, "--plan", plan, "--repetitions", 2, "--only", "schedules")
    for measured in json.loads(result.stdout)["entries"]:
        assert measured["native_s"] == []
        assert len(measured["tuned_s"]) >= 2
        assert measured["equal"] is None


def test_all_entries_within_a_time(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 3, [entry("bcast", [0, 1, 2], "binomial", bytes_max=size) for size in range(8)])
    few = ("--repetitions", 5, "--least", 2)
    compared = json.loads(runner.run(3, parts.compare, "--plan", plan, *few, "--within", 1e-9).stdout)
    # The time is over before the first entry begins.
    assert [(one["native_s"], one["tuned_s"], one["equal"]) for one in compared["entries"]] == [([], [], None)] * 8
    compared = json.loads(runner.run(3, parts.compare, "--plan", plan, *few, "--within", 60, "--seconds", 1e-9).stdout)
    assert compared["seconds"] > 0
    for one in compared["entries"]:  # each gets the least, and its data are compared
        assert len(one["native_s"]) == len(one["tuned_s"]) == 2
        assert one["equal"] is True


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no plan given"),
        (("--plan",), "option --plan needs a value"),
        (("--plan", "missing.json"), "missing.json: cannot read the plan"),
        (("--repetitions", "0"), '--repetitions is "0"'),
        (("--within", "-1"), '--within is "-1"'),
        (("--speed", "9"), "unknown option --speed"),
        (("--only", "natives"), '--only is "natives"; accepted: schedules'),
    ],
)
def test_bad_input(runner: MpiRunner, parts: MpiParts, arguments: tuple[str, ...], said: str) -> None:
    result = runner.run(1, parts.compare, *arguments, check=False)
    assert result.returncode == 2
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert said in errors[0]
    assert result.stdout == ""


# On the first core that the launcher leaves to the rank.
ON_ONE_CORE = (
    "import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); os.execv(sys.argv[1], sys.argv[1:])"
)


def test_ranks_that_share_cores(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 1, [entry("barrier", [0], "dissemination", bytes_max=0)])
    command = [parts.compare, "--plan", plan, "--repetitions", 1]
    assert json.loads(runner.run(1, *command).stdout)["shared_cores"] is None
    # Open MPI binds ranks to cores of their own where there are enough.
    unbound = {"OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_hwloc_default_binding_policy": "none"}
    plan = write_plan(tmp_path, 2, [entry("barrier", [0, 1], "dissemination", bytes_max=0)])
    command = [sys.executable, "-c", ON_ONE_CORE, parts.compare, "--plan", plan, "--repetitions", 1]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in unbound.items():
            patch.setenv(name, value)
        shared = json.loads(runner.run(2, *command).stdout)["shared_cores"]
    assert (shared["host"], shared["ranks"], shared["cores"]) == (socket.gethostname(), 2, 1)
    assert shared["turn_s"] > 0
