# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Finds the MPI that a command starts ranks with: its launcher's, or for a batch system its program's."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hocket.errors import InvalidInput
from hocket.mpi.command_line import batch_launcher, has_program, program_index
from hocket.mpi.discover import ABI_WRAPPER, LIBRARY, Mpi, default_mpi, find_mpis, inspect_mpi, standard_abi


def _where_it_is(launcher: str) -> str:
    # An MPI that was installed with hocket is there also where its environment is not activated.
    beside = Path(sys.executable).parent / launcher
    if "/" not in launcher and os.access(beside, os.X_OK):
        return f"{shlex.quote(str(beside))} was installed with hocket: give this path, or put its folder into PATH"
    return "check the name; `hocket doctor` lists the MPIs found"


def mpi_of_command(command: Sequence[str]) -> Mpi:
    """The MPI whose launcher starts `command`; for srun and flux, the MPI that the program is linked with."""
    if not command:
        raise InvalidInput("the command is empty", "write the command after --, for example: -- mpiexec -n 4 ./app")
    launcher = shutil.which(command[0])
    if launcher is None:
        raise InvalidInput(f"{command[0]}: command not found", _where_it_is(command[0]))
    if batch_launcher(command):
        return _mpi_of_batch_command(command)
    known = mpi_of_launcher(command[0])
    if known is not None:
        return _checked(command, known)
    if not _is_launcher(launcher):
        raise InvalidInput(
            f"{command[0]} is not an MPI launcher",
            "the command must start with mpiexec, mpirun, srun or `flux run`, with its full path or not",
        )
    name = re.sub(r"^(mpiexec\.hydra|mpiexec|mpirun|orterun|prterun)", "mpicc", Path(launcher).name)
    beside = Path(launcher).with_name(name)
    if not beside.exists():
        raise InvalidInput(
            f"{launcher}: the compiler wrapper {beside.name} is not beside it; hocket needs it to build its MPI parts",
            "as root: apt-get install libopenmpi-dev or libmpich-dev; or name the wrapper: HOCKET_MPICC=/path/to/mpicc",
        )
    return _checked(command, inspect_mpi(beside))


def _is_launcher(program: str) -> bool:
    return Path(program).name.startswith(("mpiexec", "mpirun", "orterun", "prterun"))


def mpi_of_launcher(name: str) -> Mpi | None:
    """The MPI of this machine that the launcher belongs to; None if it is of none.

    A program that is not called as launchers are costs no look at the MPIs.
    """
    launcher = shutil.which(name)
    if launcher is None or not _is_launcher(launcher):
        return None
    resolved = Path(launcher).resolve()
    return next((mpi for mpi in find_mpis() if resolved in mpi.launchers), None)


def _checked(command: Sequence[str], mpi: Mpi) -> Mpi:
    """`mpi`, or the one of its launcher that the program is linked with. Started by another MPI's launcher, the ranks
    of a program do not find each other, or crash."""
    program, library = _program_of(command)
    if library is None or library == mpi.library.resolve():
        return mpi
    if _is_abi(library):
        return _of_standard_abi([mpi], program, library)
    for other in find_mpis():
        if other.library.resolve() == library:
            if mpi.launchers & other.launchers:
                return other
            raise InvalidInput(
                f"{program} is linked with {other.name}, but {command[0]} is the launcher of {mpi.name}",
                f"start it with {other.mpiexec}",
            )
    return mpi


def _of_standard_abi(mpis: Sequence[Mpi], program: str | None, library: Path) -> Mpi:
    """The one of `mpis` with the standard ABI for a program that is linked with `library`. Its handles are not those of
    the MPI's own mpi.h: the parts for that would crash the program. What the ABI of one MPI is built for serves the
    program with any other's, too."""
    found = [abi for mpi in mpis if (abi := standard_abi(mpi)) is not None]
    if found:
        return next((mpi for mpi in found if mpi.library.resolve() == library), found[0])
    lacks = f"{mpis[0].name} has no" if len(mpis) == 1 else "no MPI here has an"
    others = [abi for mpi in find_mpis() if (abi := standard_abi(mpi)) is not None]
    raise InvalidInput(
        f"{program} is linked with {library}, the standard ABI's library, and {lacks} {ABI_WRAPPER} that works",
        f"start it with {others[0].mpiexec}"
        if others
        else f"install the MPI's {ABI_WRAPPER}, or compile it with mpicc",
    )


def _is_abi(library: Path) -> bool:
    return library.name.startswith("libmpi_abi.so")


def _program_of(command: Sequence[str]) -> tuple[str | None, Path | None]:
    """The program of an mpiexec command, or the first word behind it that is linked with an MPI, as in `env A=1 ./app`;
    and its MPI library. As far as they are known."""
    try:
        words = command[program_index(command) :]
    except InvalidInput:  # it is the launcher's to complain
        return None, None
    for word in words:
        path = shutil.which(word)
        library = linked_mpi_library(Path(path)) if path else None
        if library is not None:
            return path, library
    return shutil.which(words[0]), None


def linked_mpi_library(program: Path) -> Path | None:
    """The MPI library that the executable `program` is linked with, or None."""
    result = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    match = re.search(rf"\blib{LIBRARY}\.so\.\d+ => (/\S+)", result.stdout)
    return Path(match.group(1)).resolve() if match else None


def _mpi_of_batch_command(command: Sequence[str]) -> Mpi:
    """That of the program, or of the first word behind it that is linked with an MPI, as in `env A=1 ./app`. For a
    program that is not, such as a script, $HOCKET_MPICC says it; for Python, the module mpi4py does."""
    if not has_program(command):
        return default_mpi()
    mpis = find_mpis()
    by_library = {mpi.library.resolve(): mpi for mpi in mpis}
    for argument in command[1:]:
        path = shutil.which(argument)
        library = linked_mpi_library(Path(path)) if path else None
        if library in by_library:
            return by_library[library]
        if library is not None and _is_abi(library):
            return _of_standard_abi(mpis, path, library)
    if os.environ.get("HOCKET_MPICC"):
        return default_mpi()
    for argument in command[1:]:
        path = shutil.which(argument)
        module = _mpi4py_module(path) if path and re.match(r"python[\d.]*$", Path(path).name) else None
        library = linked_mpi_library(module) if module else None
        if library in by_library:
            return by_library[library]
    if len(mpis) == 1:
        return mpis[0]
    raise InvalidInput(
        f"no program in `{shlex.join(command)}` is linked with an MPI that hocket has found",
        "name the MPI's compiler wrapper: HOCKET_MPICC=/path/to/mpicc, or start the program with that MPI's mpiexec",
    )


def _mpi4py_module(python: str) -> Path | None:
    """The file of mpi4py's extension module in that Python; None if it has none, or chooses among several."""
    text = "import importlib.util as u; print(getattr(u.find_spec('mpi4py.MPI'), 'origin', ''))"
    try:
        result = subprocess.run([python, "-c", text], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = Path(result.stdout.strip()) if result.returncode == 0 and result.stdout.strip() else None
    return found if found is not None and found.suffix == ".so" else None
