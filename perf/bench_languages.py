#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The pattern of `hocket bench new` in C, C++, Fortran and in steps, as points of one suite: do their times agree?

perf/bench_languages.py [--mpi NAME] [--launches N]

`ring_mpifh` is the pattern in C whose calls go to the functions behind MPI's Fortran interface, such as `mpi_isend_`.
If it takes as long as Fortran, that interface costs the time, not the language.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from hocket.bench.mpi.results import read_results
from hocket.bench.mpi.statistics import summarize
from hocket.bench.template.request import TemplateRequest, run
from hocket.mpi.build import build_bench
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import launch_environment, run_command
from mpis import MPIS

LANGUAGES = {"c": "ring_c", "c++": "ring_cxx", "fortran": "ring_fortran"}
STEPS = '[{ do = "irecv", from = "left" }, { do = "isend", to = "right" }, { do = "wait" }]'

CALLS = """
void mpi_irecv_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_isend_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_waitall_(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);

/* What is measured. */
static int32_t run(void* state) {
    pattern* p = state;
    MPI_Fint requests[2], codes[3], two = 2, zero = 0, count = p->count, before = p->before, next = p->next;
    MPI_Fint comm = p->setting.comm;
    static MPI_Fint type = 0;
    if (type == 0) type = MPI_Type_c2f(MPI_INT8_T);
    mpi_irecv_(p->received, &count, &type, &before, &zero, &comm, &requests[0], &codes[0]);
    mpi_isend_(p->sent, &count, &type, &next, &zero, &comm, &requests[1], &codes[1]);
    mpi_waitall_(&two, requests, MPI_F_STATUSES_IGNORE, &codes[2]);
    return codes[0] || codes[1] || codes[2] ? HOCKET_BENCH_ERROR : HOCKET_BENCH_OK;
}

/* After a run that is checked. */
"""


def make_by_fortran_interface(mpi: Mpi, folder: Path) -> None:
    """The template in C with another `run`; the driver of the Fortran compiler links what it calls."""
    made = run(TemplateRequest("ring_mpifh", "c", folder)).folder
    source = made / "ring_mpifh.c"
    before, rest = source.read_text().split("/* What is measured. */")
    source.write_text(before + CALLS + rest.split("/* After a run that is checked. */")[1])
    words = [mpi.mpifort, "-O2", "-shared", "-fPIC", source, "-o", made / "libring_mpifh.so"]
    subprocess.run([str(word) for word in words], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="", help="with this in its name")
    parser.add_argument("--launches", type=int, default=6)
    arguments = parser.parse_args()
    mpi = next((one for one in MPIS if arguments.mpi in one.label and one.mpifort is not None), None)
    if mpi is None:
        sys.exit("no such MPI with a Fortran compiler was found")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = f'format = "hocket.suite/1"\nname = "languages"\nlaunches = {arguments.launches}\nrounds = 6\n'
        suite += 'bytes = ["8 B", "64 KiB"]\nbudget_s = 100\n'
        for language, pattern in LANGUAGES.items():
            made = run(TemplateRequest(pattern, language, folder)).folder
            wrappers = [f"MPICC={mpi.mpicc}", f"MPICXX={mpi.mpicxx}", f"MPIFORT={mpi.mpifort}"]
            subprocess.run(["make", "-s", "-C", str(made), *wrappers], check=True)
            suite += f'[[plugins]]\nfile = "{pattern}/lib{pattern}.so"\n'
        make_by_fortran_interface(mpi, folder)
        suite += '[[plugins]]\nfile = "ring_mpifh/libring_mpifh.so"\n'
        suite += f'[[patterns]]\nname = "ring_steps"\nsteps = {STEPS}\n[[items]]\nuse = ["plugin.*", "pattern.*"]\n'
        (folder / "suite.toml").write_text(suite)
        words = [mpi.mpiexec, "-n", "2", build_bench(mpi), "--quiet", "-o", folder / "r.jsonl", folder / "suite.toml"]
        command = [str(word) for word in words]
        for _ in range(arguments.launches):
            # Status 75: there is more to do. Launchers print many lines about it, which do not belong to the table.
            done = run_command(command, env=launch_environment(command, mpi), capture=True)
            if done.returncode not in (0, 75):
                sys.exit(done.stderr or f"hocket-bench ended with status {done.returncode}")
        results = read_results(folder / "r.jsonl")
    print(f"{mpi.label}, 2 ranks: median and 95 % interval, us\n")
    print("| pattern | bytes | median | interval |\n|---|---|---|---|")
    for point in results.points:
        summary = summarize(results.launches(point))
        low, high = summary.interval_s or (float("nan"), float("nan"))
        times = f"{1e6 * summary.median_s:.3f} | {1e6 * low:.3f} to {1e6 * high:.3f}"
        print(f"| `{point.item}` | {point.size_bytes} | {times} |")


if __name__ == "__main__":
    main()
