# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The MPIs that the tests run on, and how a test compiles and runs a program with one.

As a script: builds the MPI parts for each of them, so that no test has to wait for that.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from hocket.mpi import launch
from hocket.mpi.discover import Mpi, find_mpis, standard_abi
from hocket.testbed import preload

ROOT = Path(__file__).resolve().parent.parent

# HOCKET_TEST_MPIS="mpich-5.0.2 openmpi-4.1.4" runs only these. The standard ABI of an MPI runs only where it is named,
# as mpich-abi-5.0.2.
_wanted = os.environ.get("HOCKET_TEST_MPIS", "").split()
ALL_MPIS = find_mpis()
ABIS = [abi for mpi in ALL_MPIS if (abi := standard_abi(mpi)) is not None]
MPIS = [mpi for mpi in [*ALL_MPIS, *ABIS] if mpi.label in _wanted] if _wanted else ALL_MPIS
ONE_OF_EACH_FAMILY = list({mpi.family: mpi for mpi in MPIS}.values())
# One of each family, then the next of each: the order in which cases take them.
TURNS = sorted(MPIS, key=lambda mpi: [other for other in MPIS if other.family == mpi.family].index(mpi))

# `make test-long`: as many random calls as a test names, not a third, with all MPIs what is `usually` with one of each
# family, and each case with all that have turns.
LONG = bool(os.environ.get("HOCKET_LONG_TESTS"))


def rounds(count: int) -> int:
    """How often a test makes its random calls, whose seed its program prints: `count` times in `make test-long`."""
    return count if LONG else (count + 2) // 3


# Seen once: Open MPI 5's launcher ends with this before it starts any rank. Why is not known.
_NOT_STARTED = "The PMIx server's listener thread failed to start"


# MPICH's own collectives over shared memory wait without giving the core away: with more ranks than cores most of a
# test is that. Its other algorithms take a third of the time; programs of no more ranks than cores run with these.
MPICH_SHARING_CORES = {
    f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM": "mpir" for name in ("BCAST", "REDUCE", "ALLREDUCE", "BARRIER")
}


# For what ends of itself: many times what it takes, since the machine may be busy with other things.
LIMIT_S = 250.0
NUM_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


@dataclass(frozen=True)
class MpiRunner:
    """Compiles programs with one MPI and runs them."""

    mpi: Mpi
    folder: Path
    compiled: Path  # a folder that keeps programs for the tests that follow

    def compile(self, source: Path | str, *flags: str, name: str = "program", language: str = "c") -> Path:
        """The executable made from `source`, a file or the text of one, in "c", "c++" or "fortran"."""
        wrapper = {"c": self.mpi.mpicc, "c++": self.mpi.mpicxx, "fortran": self.mpi.mpifort}[language]
        if wrapper is None:
            pytest.skip(f"{self.mpi.name} ({self.mpi.source}) has no {language} compiler wrapper")
        if isinstance(source, str):
            text, source = source, self.folder / (name + {"c": ".c", "c++": ".cpp", "fortran": ".f90"}[language])
            source.write_text(text)
        program = self.folder / name
        command = [str(wrapper), "-g", "-O1", str(source), "-o", str(program), *flags]
        key = hashlib.sha256(repr((wrapper, source.read_bytes(), source.suffix, flags)).encode()).hexdigest()
        kept = self.compiled / key[:32]
        with FileLock(kept.with_suffix(".lock"), timeout=LIMIT_S):  # another worker may need it too
            if not kept.exists():
                result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
                assert result.returncode == 0, f"{shlex.join(command)}\n{result.stderr}"
                shutil.copy(program, kept)
        shutil.copy(kept, program)
        return program

    def yielding(self, naps: bool = True) -> list[Path]:
        """Libraries with which ranks that wait leave their cores to others: by naps (naps.c), but in `make test-long`.

        There Open MPI's ranks yield of themselves.
        """
        yields = [preload.library()] if self.mpi.family == "mpich" else []
        if LONG or not naps:
            return yields
        library = self.compiled / "naps.so"
        with FileLock(library.with_suffix(".lock"), timeout=LIMIT_S):
            if not library.exists():
                command = ["cc", "-O1", "-shared", "-fPIC", str(ROOT / "tests/mpi/naps.c"), "-o", str(library)]
                subprocess.run(command, check=True)
        return [*yields, library]

    def command(self, num_ranks: int, *program: str | Path) -> list[str]:
        return [str(self.mpi.mpiexec), "-n", str(num_ranks), *map(str, program)]

    def run(
        self,
        num_ranks: int,
        *program: str | Path,
        libraries: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
        timeout: float = LIMIT_S,
        check: bool = True,
        naps: bool = True,
    ) -> launch.Completed:
        """Runs `program` with its arguments; `env` and the preloaded libraries reach the program's processes only.

        `naps`: see yielding(); not for what depends on the time of a message.
        """
        env = env or {}
        cores = len(os.sched_getaffinity(0))
        if self.mpi.family == "mpich" and num_ranks > cores:
            env = {**MPICH_SHARING_CORES, **env}
        # Tests that run beside this one need cores too.
        if num_ranks * NUM_WORKERS > cores:
            libraries = [*libraries, *self.yielding(naps)]
            env = {"OMPI_MCA_mpi_yield_when_idle": "1", **env}  # where all ranks have cores it does not
        libraries, env = _sanitized(self.mpi, libraries, env)
        command, needed = launch.with_preload(self.command(num_ranks, *program), self.mpi, libraries, env)
        for attempts_left in (1, 0):
            result = launch.run_command(command, env=needed, timeout=timeout, capture=True, cwd=self.folder)
            if not (attempts_left and _NOT_STARTED in result.stderr):
                break
            warnings.warn(f"{self.mpi.name}'s launcher could not start; once more: {result.stderr}", stacklevel=2)
        assert not check or result.returncode == 0, (
            f"{shlex.join(command)}\nexit status {result.returncode}\n{result.stdout}\n{result.stderr}"
        )
        return result


def sessions_program(runner: MpiRunner, ranks: int, how: str = "once", source: str = "sessions.c") -> tuple[Path, str]:
    """A program of tests/mpi/record and what it prints natively; the test is skipped where sessions do not work."""
    program = runner.compile(Path(__file__).parent / "mpi/record" / source, "-pthread")
    native = runner.run(ranks, program, how, check=False)
    if native.returncode != 0 or "no sessions" in native.stdout:
        pytest.skip(f"{runner.mpi.name} has no working sessions here: {how}")
    return program, native.stdout


def _sanitized(mpi: Mpi, libraries: Sequence[Path], env: Mapping[str, str]) -> tuple[list[Path], Mapping[str, str]]:
    """With $HOCKET_SANITIZE (`make asan`) our libraries need the sanitizers' own in front of all others.

    A program may be linked with one of ours, so that every program gets them.
    """
    if not os.environ.get("HOCKET_SANITIZE"):
        return list(libraries), env
    command = ["cc", "-print-file-name=libasan.so", "-print-file-name=libubsan.so"]
    runtime = [Path(subprocess.check_output([command[0], flag], text=True).strip()).resolve() for flag in command[1:]]
    # Of the four MPIs only the wheel mpich ends without leaks of its own.
    leaks = int(mpi.family == "mpich" and mpi.source == "wheel")
    options = f"detect_leaks={leaks}:abort_on_error=0:exitcode=99"
    settings = {
        "ASAN_OPTIONS": options,
        "LSAN_OPTIONS": f"suppressions={ROOT / 'tests/mpi/leaks.txt'}",
        "UBSAN_OPTIONS": "halt_on_error=1",
    }
    return [*runtime, *libraries], {**settings, **env}


if __name__ == "__main__":
    from hocket.mpi.build import build_bench, build_mpi_parts, build_probe

    for found in ABIS:  # of tests/mpi/test_standard_abi.py
        build_mpi_parts(found, report=print)
    for found in MPIS:
        build_mpi_parts(found, report=print)
        build_probe(found, "hocket-circuits", report=print)
        build_probe(found, "hocket-overlap", report=print)
        if not found.is_standard_abi:
            build_bench(found, report=print)
