# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Compiles MPICH's tests with an MPI, by their own configure and Makefiles, in a folder of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from mpich_lists import SuiteTest, read_tests

from hocket.cli.common import message
from hocket.errors import Error
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import start_process, stop_process_group

# gfortran refuses calls with choice buffers otherwise.
FORTRAN_FLAGS = "-O1 -fallow-argument-mismatch"
CONFIGURED = "configured"


def compile_tests(
    source: Path, build: Path, mpi: Mpi, is_wanted: Callable[[SuiteTest], bool], jobs: int
) -> list[SuiteTest]:
    """The tests that are wanted; what does not compile with this MPI has no program afterwards."""
    if not (build / CONFIGURED).exists():
        message(f"{mpi.label}: configuring MPICH's tests")
        configure(source, build, mpi)
    tests = [test for test in read_tests(source, build) if is_wanted(test)]
    programs: dict[str, set[str]] = {}
    for test in tests:
        if test.words(build) is None:
            programs.setdefault(test.folder, set()).add(test.program)
    if programs:
        message(f"{mpi.label}: compiling MPICH's tests; those of functions that this MPI lacks are left out")
        top = {folder.split("/")[0] for folder in programs}
        for folder in (
            "util",
            "dtpools",
            *(f"{top_folder}/util" for top_folder in sorted(top & {"f77", "f90", "f08"})),
        ):
            if (build / folder / "Makefile").exists():
                run(build, ["make", "-C", folder, f"-j{jobs}"], may_fail=True)
        for folder, names in sorted(programs.items()):
            run(build, ["make", "-k", "-C", folder, f"-j{jobs}", *sorted(names)], may_fail=True)
    return tests


def configure(source: Path, build: Path, mpi: Mpi) -> None:
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    # The thread level that configure assumes otherwise leaves the tests of threads out.
    options = ["--disable-cxx", "--enable-threads=multiple", "--disable-dependency-tracking", f"CC={mpi.mpicc}"]
    variables = {"MPICC": str(mpi.mpicc)}
    if mpi.family == "openmpi":  # its library has the functions of MPI 1 that the tests use, its header only so
        variables["CPPFLAGS"] = "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"
    # The wheels have no Fortran, or no modules.
    if mpi.mpifort is not None and mpi.source != "wheel":
        options += [f"{name}={mpi.mpifort}" for name in ("F77", "FC")]
        variables |= {name: str(mpi.mpifort) for name in ("MPIF77", "MPIFC")}
        variables |= {"FFLAGS": FORTRAN_FLAGS, "FCFLAGS": FORTRAN_FLAGS}
        options.append("--enable-fortran=all")
    else:
        options.append("--disable-fortran")
    script = build / "configure"
    script.write_text(with_fortran_2008((source / "configure").read_text()))
    run(build, ["sh", str(script), f"--srcdir={source}", *options], variables)
    (build / CONFIGURED).touch()


def with_fortran_2008(script: str) -> str:
    """Leaves the tests in Fortran 2008 in, which MPICH's configure tries nowhere but in a build of MPICH itself."""
    changed = script.replace('test "$enable_f08" = "yes" -a "$FROM_MPICH" = "yes"', 'test "$enable_f08" = "yes"')
    if changed == script:
        raise Error("the configure of MPICH's tests asks for Fortran 2008 in another way", "see with_fortran_2008")
    return changed


def run(build: Path, command: list[str], variables: dict[str, str] | None = None, may_fail: bool = False) -> None:
    log = build / "compiling.log"
    with log.open("a", encoding="utf-8") as out:
        process = start_process(
            command,
            cwd=build,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **(variables or {})},
        )
        try:
            status = process.wait()
        finally:
            stop_process_group(process)
    if status != 0 and not may_fail:
        raise Error(f"`{command[0]} ...` failed; see {log}")
