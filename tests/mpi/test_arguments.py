# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Calls with wrong arguments: a rerouted one ends as the MPI's own does, and the communicator works afterwards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from mpi_parts import compile_check, entry, write_plan

from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner

RANKS = 4
ALGORITHMS = {
    "bcast": "pipelined_chain",
    "reduce": "binomial",
    "allreduce": "recursive_doubling",
    "allgather": "ring",
    "alltoall": "pairwise",
    "reduce_scatter_block": "ring",
    "scatter": "binomial",
    "gather": "binomial",
}

# What the arguments of one rank do not show is found while messages arrive, and there the MPIs and their algorithms differ
# in which rank finds it. MPI says nothing of these. Here somebody must get an error, or nobody where no message is too large.
FOUND_LATE = {
    "bcast: the root sends twice as much": "TRUNCATE",
    "bcast: the last rank receives half": "TRUNCATE",
    "gather: the last rank sends twice as much": "TRUNCATE",
    "gather: receives nothing": "",
    "reduce: the last rank sends twice as much": "TRUNCATE",
    "scatter: sends half": "",
    "scatter: receives nothing": "",
}


@dataclass
class Outcome:
    """Of one call: the error classes of the ranks, empty if the call did not end, and whether later calls were right."""

    classes: tuple[str, ...] = ()
    right: bool = False


def outcomes(runner: MpiRunner, program: Path, interpose: Path, plan: Path) -> dict[str, dict[str, Outcome]]:
    """By call, then "native" and "rerouted"."""
    found: dict[str, dict[str, Outcome]] = {}
    first = 0
    while True:
        # UCX would print a backtrace of each crash, which takes seconds.
        env = {"HOCKET_PLAN": str(plan), "UCX_HANDLE_ERRORS": "none"}
        result = runner.run(RANKS, program, first, libraries=[interpose], env=env, check=False)
        for line in result.stdout.splitlines():
            if match := re.fullmatch(r"(\d+) (\w+: .*)", line):
                first, name = int(match[1]) + 1, match[2]
                found[name] = {}
            elif match := re.fullmatch(r"  (native|rerouted)((?: [A-Z]+)*)(?: then (right|wrong))?", line):
                found[name][match[1]] = Outcome(tuple(match[2].split()), match[3] == "right")
        if result.stdout.endswith("done\n"):
            return found
        assert found, result.stdout + result.stderr


@pytest.mark.timeout(300)
def test_wrong_calls_end_as_the_native_ones(runner: MpiRunner, tmp_path: Path) -> None:
    parts = build_mpi_parts(runner.mpi)
    program = compile_check(runner, parts, "arguments_check")
    world = list(range(RANKS))
    entries = [entry(collective, world, name, pieces=2) for collective, name in ALGORITHMS.items()]
    found = outcomes(runner, program, parts.interpose, write_plan(tmp_path, RANKS, entries))
    assert len(found) > 80
    wrong = []
    num_compared = 0
    for name, outcome in found.items():
        native, rerouted = outcome.get("native", Outcome()), outcome.get("rerouted", Outcome())
        if len(native.classes) < RANKS or (not native.right and "rerouted" not in outcome):
            continue  # the MPI itself crashes or hangs, in this call or in the next
        num_compared += 1
        expected = FOUND_LATE.get(name)
        if expected is None:
            same = native.classes == rerouted.classes
        else:
            same = len(rerouted.classes) == RANKS and set(rerouted.classes) - {"SUCCESS"} == {expected} - {""}
        if not same or not rerouted.right:
            wrong.append(f"{name}: native {native}, rerouted {rerouted}")
    assert num_compared > 60
    assert not wrong, "\n".join(wrong)
