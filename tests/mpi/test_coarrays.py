# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Coarray programs with hocket's collective subroutines, against values that each image computes: coarrays_*.[fF]90."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from mpi_parts import HERE, entry, write_plan

from hocket.errors import InvalidInput
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.coarrays import coarray_libraries, compile_command, mpi_of_wrapper
from hocket.mpi.discover import Mpi
from mpis import LIMIT_S, MpiRunner, rounds

# What OpenCoarrays 2.10 does wrong by itself: of each element that is of no MPI type it broadcasts the first byte.
WRONG_ALONE = {"array of derived type", "section of derived type", "row of derived type", "real(10)", "complex(10)"}


@functools.cache
def wrappers() -> dict[Path, str]:
    """OpenCoarrays' compiler wrappers by the library of the MPI that each compiles for."""
    found: dict[Path, str] = {}
    for name in ("caf", "caf.openmpi", "caf.mpich"):
        if shutil.which(name) is None:
            continue
        with suppress(InvalidInput):  # for an MPI that is not there any more
            found.setdefault(mpi_of_wrapper(name).library.resolve(), name)
    return found


def wrapper_of(mpi: Mpi) -> str:
    """OpenCoarrays' compiler wrapper for this MPI."""
    if name := wrappers().get(mpi.library.resolve()):
        return name
    pytest.skip(f"no OpenCoarrays (caf) for {mpi.name} ({mpi.source})")


def compiled(runner: MpiRunner, source: str, ours: str) -> Path:
    """The executable of a file of this folder. `ours`: "linked", "preloaded" where the program runs, or "no"."""
    wrapper = wrapper_of(runner.mpi)
    program = runner.compiled / f"{source}-{runner.mpi.label}-{ours}"
    if program.exists():
        return program
    options = ["-g", "-O1", "-ffree-line-length-none", str(HERE / source), "-o", str(program), f"-J{runner.folder}"]
    command = [wrapper, *options]
    if ours == "linked":
        command = compile_command(command)
    elif ours == "preloaded":
        shown = subprocess.run([wrapper, "--show"], capture_output=True, text=True, check=True).stdout.split()
        archive = Path(shown[-1])
        if not archive.with_suffix(".so").exists():
            pytest.skip(f"OpenCoarrays for {runner.mpi.name} has no shared library")
        library = archive.stem.removeprefix("lib")
        command = [shown[0], "-fcoarray=lib", *options, f"-L{archive.parent}", f"-l{library}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    return program


def run(runner: MpiRunner, images: int, program: Path, *arguments: object) -> str:
    command = runner.command(images, program)
    libraries = coarray_libraries(command, build_mpi_parts(runner.mpi)) if "preloaded" in program.name else []
    # Open MPI 4.1 cannot make a window on one rank otherwise, which OpenCoarrays does when it starts.
    env = {"OMPI_MCA_osc": "pt2pt"} if runner.mpi.family == "openmpi" and images == 1 else {}
    if program.name.endswith("mpich-4.0.2-no"):  # otherwise it crashes in MPI_Reduce: see coarrays.c
        env = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none", "MPIR_CVAR_REDUCE_INTRA_ALGORITHM": "binomial"}
    return runner.run(images, program, *map(str, arguments), libraries=libraries, env=env).stdout


@pytest.mark.parametrize(("ours", "mode"), [("linked", "differing"), ("preloaded", "differing"), ("no", "alone")])
def test_random_sections_of_every_type(runner: MpiRunner, ours: str, mode: str) -> None:
    program = compiled(runner, "coarrays_check.F90", ours)
    for images, count in ((1, 20), (2, 60), (3, 30), (4, 20)):
        output = run(runner, images, program, 100 + images, rounds(count), mode)
        assert f"seed {100 + images}: {8 * rounds(count)} calls, 0 wrong" in output, output


@pytest.mark.parametrize("ours", ["linked", "preloaded", "no"])
def test_types_teams_and_what_is_left_to_opencoarrays(runner: MpiRunner, ours: str) -> None:
    program = compiled(runner, "coarrays_cases.f90", ours)
    for images in (1, 2, 3, 4):
        found = re.findall(r"^(.+): (\d+) wrong$", run(runner, images, program), re.MULTILINE)
        assert len(found) == 21
        wrong = {name for name, count in found if int(count) > 0}
        assert wrong == (WRONG_ALONE if ours == "no" and images > 1 else set())


def test_a_plan_serves_coarray_programs(runner: MpiRunner, tmp_path: Path) -> None:
    images = 3
    program = compiled(runner, "coarrays_check.F90", "linked")
    entries = [
        entry("bcast", [0, 1, 2], "pipelined_chain", segments=2),
        entry("allreduce", [0, 1, 2], "recursive_doubling"),
        entry("reduce", [0, 1, 2], "binomial"),
    ]
    parts = build_mpi_parts(runner.mpi)
    env = {"HOCKET_PLAN": str(write_plan(tmp_path, images, entries)), "HOCKET_SUMMARY": "1"}
    done = runner.run(images, program, 7, 40, "differing", libraries=[parts.interpose], env=env)
    assert "seed 7: 320 calls, 0 wrong" in done.stdout
    rerouted = re.search(r"(\d+) collective call\(s\) of a rank rerouted, by 3 of 3 entries", done.stderr)
    assert rerouted, done.stderr
    assert int(rerouted[1]) > 200


def test_hocket_coarrays_compiles_and_runs(runner, hocket_cli, tmp_path) -> None:
    wrapper = wrapper_of(runner.mpi)
    (tmp_path / "a.f90").write_text("integer :: i(9)\ni = 1\ncall co_sum(i)\nprint *, i(9)\nend\n")
    done = hocket_cli("coarrays", "--", wrapper, "-c", "a.f90")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert hocket_cli("coarrays", "--", wrapper, "a.o", "-o", "a").returncode == 0
    flags = hocket_cli("coarrays", "--flags", "--", wrapper).stdout.split()
    # A makefile may have them before the objects.
    subprocess.run([wrapper, *flags, "a.o", "-o", "b"], cwd=tmp_path, check=True, timeout=LIMIT_S)
    for name in ("a", "b"):
        assert b"hocket coarrays" not in (tmp_path / name).read_bytes()  # the text of the library to be preloaded
        symbols = subprocess.run(["nm", name], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert "__wrap__gfortran_caf_co_sum" in symbols
        assert re.findall(r"^ +(\d+)$", run(runner, 2, tmp_path / name), re.MULTILINE) == ["2", "2"]
    failed = hocket_cli("coarrays", "--", wrapper, "missing.f90")
    assert failed.returncode == 1
    assert "Traceback" not in failed.stderr


def test_a_command_that_is_no_wrapper_of_opencoarrays_is_refused(hocket_cli, tmp_path) -> None:
    for command, message in (
        (("cc", "a.c"), "cc is not OpenCoarrays' compiler wrapper"),
        (("no-such-caf", "a.f90"), "no-such-caf: command not found"),
    ):
        done = hocket_cli("coarrays", "--", *command)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {message}")
        assert "hint: " in done.stderr
    strange = tmp_path / "strange"
    strange.write_text("#!/bin/sh\necho /opt/other/bin/mpif90 -fcoarray=lib /opt/other/lib/libcaf_mpi.a\n")
    strange.chmod(0o755)
    done = hocket_cli("coarrays", "--", strange, "a.f90")
    assert done.returncode == 2
    assert "compiles for an MPI that hocket has not found: `/opt/other/bin/mpif90`" in done.stderr
    done = hocket_cli("coarrays")
    assert done.returncode == 2
    assert "Missing argument" in done.stderr
