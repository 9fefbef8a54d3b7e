# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The programs of perf/programs: right by themselves, and the same output with a plan for all their collectives."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mpi_parts import entry, write_plan

from hocket import algorithms
from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "perf"))
from mpi_programs import PROGRAMS, MpiProgram, prepare

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

RANKS = 4
# The world, and the rows and columns of a grid of 2 x 2.
COMMUNICATORS = ([0, 1, 2, 3], [0, 1], [2, 3], [0, 2], [1, 3])
# Of the usual sizes: enough for a few calls of each kind.
SMALL = {
    "ft": 0.1,
    "ft-2d": 0.1,
    "is": 0.1,
    "hpl": 0.2,
    "cg": 0.05,
    "sgd": 0.2,
    "spectral": 0.1,
    "nbody": 0.05,
    "bfs": 0.02,
}


def entries() -> list[dict[str, Any]]:
    """For each collective and communicator one; the last algorithms of the list are not those that MPIs use."""
    by_collective = {algorithm.collective: algorithm.name for algorithm in algorithms()}
    return [entry(name, members, how, 2) for members in COMMUNICATORS for name, how in by_collective.items()]


# What the programs call is the same in all versions; whether a plan changes data is for the tests of the run time.
@pytest.mark.one_of_each_family
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_same_output_with_a_plan(runner: MpiRunner, program: MpiProgram) -> None:
    if program.source.endswith(".py") and importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    words = prepare(program, runner.mpi, runner.folder / "programs")
    parts = build_mpi_parts(runner.mpi)
    statistics = runner.folder / "statistics.json"
    plan = write_plan(runner.folder, RANKS, entries())
    settings = {"HOCKET_PLAN": str(plan), "HOCKET_SELF_CHECK": "off", "HOCKET_STATISTICS": str(statistics)}
    outputs = set()
    for other in (False, True):
        command = [*words, *program.arguments(SMALL[program.name], other)]
        native = runner.run(RANKS, *command).stdout
        assert f"ranks {RANKS}" in native or "ranks 2 x 2" in native
        assert "answer: ok" in native
        assert runner.run(RANKS, *command, libraries=[parts.interpose], env=settings).stdout == native
        assert sum(count["rerouted_calls"] for count in json.loads(statistics.read_text())["entries"]) > 0
        outputs.add(native)
    # The other seed gives another answer; the other root of nbody and spectral must not.
    assert len(outputs) == (1 if program.name in ("nbody", "spectral") else 2)


# In common.h, which all of them use.
@pytest.mark.one_of_each_family
def test_a_wrong_size_is_refused(runner: MpiRunner) -> None:
    done = runner.run(2, *prepare(PROGRAMS[0], runner.mpi, runner.folder), "12x", check=False)
    assert done.returncode != 0
    assert done.stderr.count("error: SIZE: found '12x', accepted is a whole number from 1 to") == 1
