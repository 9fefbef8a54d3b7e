# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Requests: many in flight under every engine, against the MPI's own collectives: see requests_check.cpp."""

from __future__ import annotations

import re

import pytest
from mpi_parts import compile_check

from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner, rounds

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

ROUNDS = {1: 3, 2: 10, 3: 6, 5: 4, 8: 2}
# A thread beside each of many ranks shows nothing that it does not beside few, and one that always looks takes the
# cores from the ranks: it has no business with more ranks than cores.
MOST_RANKS = {"function": 8, "thread": 5, "spin": 3, "queue": 5}


@pytest.mark.parametrize(
    ("engine", "ranks"), [(engine, ranks) for engine, most in MOST_RANKS.items() for ranks in ROUNDS if ranks <= most]
)
def test_many_requests_in_flight(runner: MpiRunner, engine: str, ranks: int) -> None:
    program = compile_check(runner, build_mpi_parts(runner.mpi), "requests_check", "-lhocket")
    seed = 200 + ranks
    result = runner.run(ranks, program, seed, engine, rounds(ROUNDS[ranks]))
    found = re.search(r"seed \d+, \w+: (\d+) calls, (\d+) refused, (\d+) wrong", result.stdout)
    assert found, result.stdout + result.stderr
    calls, refused, wrong = map(int, found.groups())
    assert wrong == 0, result.stdout
    assert calls > 100 * ranks
    assert refused < calls / 10  # non-commutative operators on schedules that do not keep the order
