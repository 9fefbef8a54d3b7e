# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Wrong calls of hocket.h and wrong settings are told of, and nothing that follows suffers."""

from __future__ import annotations

import pytest
from mpi_parts import compile_check

from hocket.mpi.build import build_mpi_parts
from mpis import ROOT, MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own


@pytest.mark.parametrize("engine", ["function", "thread", "queue"])
def test_wrong_calls(runner: MpiRunner, engine: str) -> None:
    program = compile_check(runner, build_mpi_parts(runner.mpi), "misuse_check", "-lhocket")
    for ranks in (2, 3):
        result = runner.run(ranks, program, engine)
        assert f"{engine}: wrong 0" in result.stdout, result.stdout + result.stderr


def test_counts_whose_bytes_no_number_holds_are_not_small(runner: MpiRunner) -> None:
    program = compile_check(runner, build_mpi_parts(runner.mpi), "fused_check", f"-I{ROOT}/mpi", f"-I{ROOT}/src")
    assert runner.run(1, program).stdout == "right\n"


PROGRAM = r"""
#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


def test_a_core_that_is_not_there(runner: MpiRunner) -> None:
    """It is told once, and the thread runs elsewhere."""
    env = {"HOCKET_PROGRESS": "on", "HOCKET_PROGRESS_CORE": "1000000"}
    parts = build_mpi_parts(runner.mpi)
    result = runner.run(2, runner.compile(PROGRAM), libraries=[parts.interpose], env=env)
    (said,) = (line for line in result.stderr.splitlines() if line.startswith("hocket: "))
    assert said.startswith("hocket: HOCKET_PROGRESS_CORE: core 1000000 cannot be used; accepted: 0"), said
    assert said.endswith("; it stays any on 2 of 2 ranks")
