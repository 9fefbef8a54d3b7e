# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs of MPI's standard ABI, which `mpicc_abi` compiles: they run with any MPI that has it.

All other tests run with it as with an MPI: HOCKET_TEST_MPIS=mpich-abi-5.0.2.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mpi_parts import entry, write_plan

from hocket.errors import InvalidInput
from hocket.mpi.discover import Mpi, find_mpis, standard_abi
from hocket.mpi.of_command import linked_mpi_library, mpi_of_command
from mpis import ABIS, ALL_MPIS, MpiRunner

pytestmark = pytest.mark.skipif(not ABIS, reason="no MPI here has the standard ABI (mpicc_abi)")

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, values[5000];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long sum = 0, all = 0, later = 0;
    MPI_Request request;
    MPI_Iallreduce(&(long){rank}, &later, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 5000; ++i) values[i] = rank == 1 ? i : -1;
    MPI_Bcast(values, 5000, MPI_INT, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 5000; ++i) sum += values[i];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%ld\n", all + later);
    MPI_Finalize();
    return 0;
}
"""
PRINTED = f"{4 * 4999 * 5000 // 2 + 6}\n"


@pytest.fixture
def abi() -> Mpi:
    return ABIS[0]


@pytest.fixture
def runner(abi: Mpi, tmp_path: Path, compiled: Path) -> MpiRunner:
    return MpiRunner(abi, tmp_path, compiled)


@pytest.fixture
def native(abi: Mpi) -> Mpi:
    """The same MPI with its own header."""
    return next(mpi for mpi in ALL_MPIS if standard_abi(mpi) == abi)


def test_it_is_found_by_what_a_program_is_linked_with(
    abi: Mpi, native: Mpi, runner: MpiRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (abi.family, abi.version, abi.mpiexec) == (native.family, native.version, native.mpiexec)
    assert (abi.label, abi.mpifort) == (f"{native.family}-abi-{native.version}", None)
    assert abi.library_name == native.library_name == native.name != abi.name
    assert abi not in find_mpis()  # it is the same MPI once more
    program = runner.compile(PROGRAM)
    assert linked_mpi_library(program) == abi.library.resolve()
    (tmp_path / "srun").write_text("#!/bin/sh\nexit 4\n")
    (tmp_path / "srun").chmod(0o755)
    for launcher in (native.mpiexec, tmp_path / "srun"):
        assert mpi_of_command([str(launcher), "-n", "2", str(program)]) == abi
        assert mpi_of_command([str(launcher), "-n", "2", "env", "A=1", str(program)]) == abi
    assert mpi_of_command([str(native.mpiexec), "-n", "2", "true"]) == native
    # The program of the MPI's own header is still its own where HOCKET_MPICC names the other wrapper.
    own = MpiRunner(native, tmp_path, runner.compiled).compile(PROGRAM, name="own")
    monkeypatch.setenv("HOCKET_MPICC", str(abi.mpicc))
    assert mpi_of_command([str(native.mpiexec), "-n", "2", str(own)]) == native


def test_of_an_mpi_without_a_wrapper_for_it(runner: MpiRunner) -> None:
    without = [mpi for mpi in ALL_MPIS if standard_abi(mpi) is None]
    if not without:
        pytest.skip("every MPI here has the standard ABI")
    with pytest.raises(
        InvalidInput, match=f"standard ABI's library, and {without[0].name} has no mpicc_abi that works"
    ):
        mpi_of_command([str(without[0].mpiexec), "-n", "2", str(runner.compile(PROGRAM))])


def test_it_runs_with_a_plan_and_with_progress(runner: MpiRunner, hocket_cli, tmp_path: Path) -> None:
    chain = {"algorithm": "pipelined_chain", "segments": 4}
    plan = write_plan(tmp_path, 4, [{**entry("bcast", [0, 1, 2, 3], "linear"), "schedule": chain}])
    command = runner.command(4, runner.compile(PROGRAM))
    for progress in ("off", "on"):
        done = hocket_cli("run", "--plan", plan, "--progress", progress, "--", *command)
        assert (done.returncode, done.stdout) == (0, PRINTED), done.stderr
        assert "1 collective call(s) of a rank rerouted, by 1 of 1 entries" in done.stderr


def test_behind_a_script_it_is_refused_before_it_crashes(
    abi: Mpi, runner: MpiRunner, hocket_cli, tmp_path: Path
) -> None:
    script = tmp_path / "app.sh"
    script.write_text(f"#!/bin/sh\nexec {runner.compile(PROGRAM)}\n")
    script.chmod(0o755)
    plan = write_plan(tmp_path, 4, [entry("bcast", [0, 1, 2, 3], "linear")])
    for way in (["run", "--plan", plan], ["record", "-o", "run.trace"]):
        command = [*way, "--", *runner.command(4, script)]
        done = hocket_cli(*command)
        assert done.returncode == 1, done.stderr
        assert done.stderr.count("the program is of MPI's standard ABI, which its command does not tell") == 1
        done = hocket_cli(*command, env={"HOCKET_MPICC": str(abi.mpicc)})
        assert (done.returncode, done.stdout) == (0, PRINTED), done.stderr


def test_it_is_recorded(runner: MpiRunner, hocket_cli, tmp_path: Path) -> None:
    done = hocket_cli("record", "-o", "run.trace", "--", *runner.command(4, runner.compile(PROGRAM)))
    assert (done.returncode, done.stdout) == (0, PRINTED), done.stderr
    shown = json.loads(hocket_cli("trace", "show", "--json", "run.trace").stdout)
    calls = {row["function"]: row["calls"] for row in shown["calls"]}
    assert {name: calls[name] for name in ("MPI_Bcast", "MPI_Iallreduce", "MPI_Allreduce")} == {
        "MPI_Bcast": 4, "MPI_Iallreduce": 4, "MPI_Allreduce": 4
    }  # fmt: skip


def test_benchmarks_are_for_the_mpis_own_header(abi: Mpi, native: Mpi, hocket_cli) -> None:
    command = ["bench", "run", "mbl2-rma", "--quick", "--", str(native.mpiexec), "-n", "2"]
    done = hocket_cli(*command, env={"HOCKET_MPICC": str(abi.mpicc)})
    assert done.returncode == 2
    assert "benchmarks are for programs that the MPI's own mpicc compiles" in done.stderr


SHOW = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) puts(getenv("LD_PRELOAD"));
    MPI_Finalize();
    return 0;
}
"""


def test_an_installation_for_a_cluster_serves_both(
    abi: Mpi, native: Mpi, runner: MpiRunner, hocket_cli, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    done = hocket_cli("site", "install", "--prefix", site, "--mpi", abi.label, "--mpi", native.label)
    assert done.returncode == 0, done.stderr
    for mpi in (abi, native):
        program = MpiRunner(mpi, tmp_path, runner.compiled).compile(SHOW, name=mpi.label)
        shown = runner.run(2, program, libraries=[site / "lib/libhocket_site.so"]).stdout
        assert shown.startswith(f"{site}/mpi/{mpi.label}/lib/libhocket_interpose.so")
