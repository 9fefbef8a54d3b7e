# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Every algorithm executed on every MPI against the MPI's own collective: see runtime_check.cpp."""

from __future__ import annotations

import os
import re

import pytest
from mpi_parts import RANKS, compile_check

from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner, rounds

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.one_of_each_family(usually=True)  # the schedules are the same code; test_interpose.py has all MPIs
def test_every_algorithm(runner: MpiRunner, ranks: int) -> None:
    program = compile_check(runner, build_mpi_parts(runner.mpi), "runtime_check", "-lhocket")
    seed = 100 + ranks
    result = runner.run(ranks, program, seed, rounds(2) if ranks < 5 else 1, timeout=300)
    found = re.search(r"seed \d+: (\d+) calls, (\d+) refused, (\d+) wrong", result.stdout)
    assert found, result.stdout + result.stderr
    calls, refused, wrong = map(int, found.groups())
    assert wrong == 0, result.stdout
    assert calls > 100 * ranks
    assert refused < calls / 10  # non-commutative operators on schedules that do not keep the order


@pytest.mark.skipif("HOCKET_SANITIZE" in os.environ, reason="the sanitizer has the memory functions")
def test_memory_that_fails_in_the_middle(runner: MpiRunner) -> None:
    program = compile_check(runner, build_mpi_parts(runner.mpi), "memory_check", "-lhocket", "-rdynamic")
    result = runner.run(2, program)
    found = re.search(r"(\d+) failed, (\d+) wrong", result.stdout)
    assert found, result.stdout + result.stderr
    failed, wrong = map(int, found.groups())
    assert wrong == 0
    assert failed > 20
