# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The Fortran modules hocket and hocket_f08: see fortran_check.F90."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_parts import HERE

from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import MpiRunner

ENGINES = ("function", "thread", "spin", "queue")


def compiled(runner: MpiRunner, source: Path | str, *flags: str) -> Path:
    parts = parts_with_modules(runner)
    library = parts.runtime.parent
    flags = (*flags, f"-I{parts.include}", f"-J{runner.folder}", f"-L{library}", f"-Wl,-rpath,{library}")
    return runner.compile(source, *flags, "-lhocket_fortran", "-lhocket", language="fortran")


def parts_with_modules(runner: MpiRunner) -> MpiParts:
    if runner.mpi.mpifort is None:
        pytest.skip(f"{runner.mpi.name} ({runner.mpi.source}) has no Fortran compiler")
    parts = build_mpi_parts(runner.mpi)
    assert parts.fortran is not None, "the modules do not compile"
    return parts


@pytest.mark.parametrize("flags", [("-Wall", "-Werror"), ("-Wall", "-Werror", "-DF08", "-O2")], ids=["mpi", "mpi_f08"])
def test_many_requests_in_flight(runner: MpiRunner, flags: tuple[str, ...]) -> None:
    program = compiled(runner, HERE / "fortran_check.F90", *flags)
    for engine in ENGINES:
        # A thread that always looks takes the cores from the ranks.
        for ranks in (1, 2) if engine == "spin" else (1, 2, 3):
            result = runner.run(ranks, program, engine)
            assert result.stdout.endswith("113 checks, 0 wrong\n"), result.stdout + result.stderr


WITHOUT_STATUS = """
program without_status
    use mpi
    use hocket
    type(hocket_engine) :: engine
    integer :: code
    call MPI_Init(code)
    call hocket_engine_create('magic', engine)
    call MPI_Finalize(code)
end program
"""


def test_who_does_not_ask_for_the_status_is_ended_by_a_failure(runner: MpiRunner) -> None:
    result = runner.run(1, compiled(runner, WITHOUT_STATUS), check=False)
    assert result.returncode != 0
    assert "hocket: " in result.stderr
    assert "magic" in result.stderr


def test_modules_are_in_the_folder_of_the_header(runner: MpiRunner) -> None:
    parts = parts_with_modules(runner)
    names = {path.name for path in parts.include.iterdir()}
    assert {"hocket.h", "hocket.mod", "hocket_f08.mod", "hocket_handles.mod"} <= names
    assert not list(Path.cwd().glob("*.mod"))
