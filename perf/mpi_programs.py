# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The programs of perf/programs: small ones of the kinds that users have, compiled or started with any MPI."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from hocket.errors import Error
from hocket.mpi.discover import Mpi

FOLDER = Path(__file__).resolve().parent / "programs"


@dataclass(frozen=True)
class MpiProgram:
    name: str
    source: str
    size: int  # natively a few seconds on eight hosts of networks/two-clusters.toml
    before: tuple[str, ...] = ()  # arguments between the size and the choice
    choice: str = "seed"  # what the argument after those chooses: "seed" or "root"
    choices: tuple[int, int] = (1, 2)  # the usual one, and another
    held_out: bool = False  # for a last check: nothing is to be chosen or corrected by what it shows

    def arguments(self, factor: float = 1, other: bool = False) -> list[str]:
        """Of a run with `factor` times the size, with the usual choice or the other one."""
        return [str(max(1, round(self.size * factor))), *self.before, str(self.choices[other])]


PROGRAMS = (
    MpiProgram("ft", "ft.c", 80, ("1d",)),
    MpiProgram("ft-2d", "ft.c", 80, ("2d",)),
    MpiProgram("is", "is.c", 100),
    MpiProgram("hpl", "hpl.c", 1024),
    MpiProgram("cg", "cg.c", 80),
    MpiProgram("sgd", "sgd.py", 192, choice="root", choices=(0, 3)),
    MpiProgram("spectral", "spectral.c", 160, choice="root", choices=(0, 3), held_out=True),
    MpiProgram("nbody", "nbody.c", 24, choice="root", choices=(0, 3), held_out=True),
    MpiProgram("bfs", "bfs.c", 1000, held_out=True),
)


def prepare(program: MpiProgram, mpi: Mpi, folder: Path) -> list[str]:
    """The words that start it, without arguments; what is compiled or linked for it lies in `folder`, if not yet there.

    Raises Error where it cannot be compiled, or mpi4py is missing.
    """
    source = FOLDER / program.source
    folder.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".py":
        settings = [f"{name}={value}" for name, value in mpi4py_settings(mpi, folder).items()]
        return ["env", *settings, sys.executable, str(source)]
    executable = folder / source.stem
    newest = max(path.stat().st_mtime for path in (source, FOLDER / "common.h"))
    if not executable.exists() or executable.stat().st_mtime < newest:
        command = [str(mpi.mpicc), "-O3", str(source), "-o", str(executable), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Error(f"{mpi.mpicc} cannot compile {source}:\n{done.stderr}", "`hocket doctor` checks the compilers")
    return [str(executable)]


def mpi4py_settings(mpi: Mpi, folder: Path) -> dict[str, str]:
    """Environment variables with which mpi4py's wheel loads this MPI. Raises Error where mpi4py is not installed.

    The wheel asks the dynamic loader for its family's file name. Debian's MPICH has another one, and gets a link.
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise Error("mpi4py is not installed", "install it for this Python: pip install mpi4py")
    name = "libmpi.so.40" if mpi.family == "openmpi" else "libmpi.so.12"
    libraries = mpi.library.parent
    if not (libraries / name).exists() or (libraries / name).resolve() != mpi.library.resolve():
        libraries = folder / "mpi4py"
        libraries.mkdir(exist_ok=True)
        if not (libraries / name).exists():
            (libraries / name).symlink_to(mpi.library.resolve())
    folders = os.pathsep.join(filter(None, [str(libraries), os.environ.get("LD_LIBRARY_PATH")]))
    return {"LD_LIBRARY_PATH": folders, "MPI4PY_MPIABI": "openmpi" if mpi.family == "openmpi" else "mpich"}
