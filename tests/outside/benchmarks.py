# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs of others that were compiled elsewhere, and mpi4py's tests: arguments for short runs, and their outcomes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mpi_programs import mpi4py_settings
from outcomes import DOES_NOT_END, FAILS, PASSES, with_details

from hocket.errors import InvalidInput
from hocket.mpi.discover import Mpi

IMB, OSU, MPI4PY = "imb", "osu", "mpi4py"
SUITES = (IMB, OSU, MPI4PY)

# What each program of the Intel MPI Benchmarks has, as its `-list` says.
IMB_BENCHMARKS = {
    "IMB-MPI1": "PingPong PingPing Sendrecv Exchange Bcast Allgather Allgatherv Gather Gatherv Scatter Scatterv"
    " Alltoall Alltoallv Reduce Reduce_scatter Reduce_scatter_block Allreduce Barrier",
    "IMB-NBC": "Ibcast Iallgather Iallgatherv Igather Igatherv Iscatter Iscatterv Ialltoall Ialltoallv Ireduce"
    " Ireduce_scatter Iallreduce Ibarrier",
    "IMB-EXT": "Window Unidir_Get Unidir_Put Bidir_Get Bidir_Put Accumulate",
    "IMB-RMA": "Unidir_put Unidir_get Bidir_put Bidir_get One_put_all One_get_all All_put_all All_get_all"
    " Put_local Put_all_local Exchange_put Exchange_get Accumulate Get_accumulate Fetch_and_op Compare_and_swap"
    " Truly_passive_put Get_local Get_all_local",
}
IMB_ARGUMENTS = "-npmin 2 -iter 5 -msglog 2:16 -time 2".split()
# Of OSU's programs those between two ranks; what starts no MPI, needs GPUs or several hosts is left out.
OSU_PAIRS = re.compile(r"osu_(latency|bw|bibw)(_persistent)?$|osu_(acc|cas|fop|get_acc|get|put)_(latency|bw|bibw)$")
OSU_STARTS = ("osu_hello", "osu_init")
OSU_LEFT_OUT = re.compile(r"osu_latency_m[pt]$|_fan_(in|out)$|nccl|xccl")
OSU_ARGUMENTS = "-m 4:65536 -i 5 -x 1".split()
RANKS, PYTHON_RANKS = 4, 3


@dataclass(frozen=True)
class OutsideTest:
    suite: str
    title: str
    ranks: int
    command: tuple[str, ...]
    judge: Callable[[int, str], str]
    environment: tuple[tuple[str, str], ...] = ()
    launcher_options: tuple[str, ...] = ()
    time_limit_s: float = 0

    @property
    def name(self) -> str:
        return f"{self.suite}/{self.title} {self.ranks}"

    def words(self, build: Path) -> list[str] | None:
        return list(self.command)

    def folder_to_run_in(self, build: Path, own: Path) -> Path:
        return own

    def outcome(self, status: int | None, output: str) -> str:
        return DOES_NOT_END if status is None else self.judge(status, output)


def outside_tests(folder: Path, mpi: Mpi, build: Path) -> list[OutsideTest]:
    """Those that `folder` has: in FOLDER/<label of the MPI> programs of IMB and OSU, in FOLDER/mpi4py its sources.

    Raises InvalidInput if there are none.
    """
    programs = sorted(path for path in (folder / mpi.label).rglob("*") if path.is_file() and os.access(path, os.X_OK))
    programs = [path for path in programs if ".libs" not in path.parts]  # libtool's second copies
    tests = [test for path in programs for test in (*imb_tests(path), *osu_tests(path))]
    scripts = sorted((folder / "mpi4py/test").glob("test_*.py"))
    if scripts:
        settings = tuple(mpi4py_settings(mpi, build).items())
        tests += [mpi4py_test(path, settings) for path in scripts]
    if not tests:
        where = f"{folder}: neither {mpi.label}/ with IMB-... or osu_... in it nor mpi4py/test"
        raise InvalidInput(where, "CONTRIBUTING.md tells what the folder must have")
    return tests


def imb_tests(program: Path) -> list[OutsideTest]:
    return [
        OutsideTest(IMB, f"{program.name} {name}", RANKS, (str(program), name, *IMB_ARGUMENTS), of_imb)
        for name in IMB_BENCHMARKS.get(program.name, "").split()
    ]


def osu_tests(program: Path) -> list[OutsideTest]:
    if not program.name.startswith("osu_") or program.suffix or OSU_LEFT_OUT.search(program.name):
        return []
    ranks = 2 if OSU_PAIRS.match(program.name) else RANKS
    arguments: list[str] = []
    if program.name not in OSU_STARTS:
        arguments += OSU_ARGUMENTS
        can_check = program.parent.name != "one-sided" and "barrier" not in program.name
        if can_check and not re.match("osu_(multi_lat|mbw_mr)$", program.name):
            arguments.append("-c")
        if "reduce" in program.name:
            arguments += ["-T", "mpi_int"]  # the default, MPI_CHAR, gives wrong data natively too
    return [OutsideTest(OSU, program.name, ranks, (str(program), *arguments), of_osu)]


def mpi4py_test(script: Path, settings: tuple[tuple[str, str], ...]) -> OutsideTest:
    words = (sys.executable, str(script.parent / "main.py"), "-i", rf"^{script.stem}\.py$")
    settings = (*settings, ("PYTHONDONTWRITEBYTECODE", "1"))
    return OutsideTest(MPI4PY, script.stem, PYTHON_RANKS, words, of_mpi4py, settings)


def of_imb(status: int, output: str) -> str:
    """Compiled with -DCHECK it counts what is wrong in a last column, `defects`."""
    rows = [line.split() for line in output.splitlines() if re.fullmatch(r"\s*[\d.]+(\s+[\d.]+)+\s*", line)]
    defects = "defects" in output and any(float(row[-1]) != 0 for row in rows)
    # Lines that begin with [HOST:PID] are Open MPI's, which calls a way that it does not take an error, too.
    errors = re.search(r"(?im)^(?!\[).*\berror\b(?! code)", output)
    return results(status, len(rows), defects or errors is not None)


def of_osu(status: int, output: str) -> str:
    rows = [line for line in output.splitlines() if re.match(r"\d", line)]
    wrong = [row.split()[0] for row in rows if row.split()[-1] == "Fail"]
    if wrong:
        return with_details(FAILS, f"wrong data of {', '.join(wrong)} bytes")
    return results(status, len(rows), "ERROR" in output)


def results(status: int, rows: int, is_wrong: bool) -> str:
    return FAILS if status != 0 or is_wrong else with_details(PASSES, f"{rows} results")


def of_mpi4py(status: int, output: str) -> str:
    """What each rank's unittest says; ranks write at once, so that lines may be in one another's way."""
    failing = sorted(set(re.findall(r"(?:FAIL|ERROR): \w+ \((\S+)\)", output)))
    if failing:
        return with_details(FAILS, ", ".join(failing))
    counts = sorted(set(re.findall(r"Ran (\d+) tests?", output)), key=int)
    return FAILS if status != 0 or not counts else with_details(PASSES, f"{' or '.join(counts)} tests")
