# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How often `hocket bench run --against` errs on this machine: the same MPI on both sides, and one made slower.

A preloaded library makes each round trip longer by a part of its own time, on rank 0 alone, while the other rank has
nothing to do: so the delay hides behind nothing. Messages of 1 KiB and more: the library reads the clock twice, which
is more than a tenth of the shortest ones.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from mpis import MPIS

SUITE = """
format = "hocket.suite/1"
name = "verdicts"
bytes = ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB", "512 KiB"]
rounds = 2
budget_s = {budget_s}
target = 1e9
[[items]]
use = "p2p.pingpong.send"
"""

DELAY = """
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
static int rank = -1;
static long begin;
static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (rank < 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin = now();
    return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    const int code = PMPI_Recv(data, count, type, from, tag, comm, status);
    if (rank == 0) {
        const long end = now(), until = end + (long)(atof(getenv("DELAY_PART")) * (end - begin));
        while (now() < until) {}
    }
    return code;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich", help="a label such as mpich-4.0.2, or the first of this family")
    parser.add_argument("--launches", type=int, default=10, help="of each side; with --find at first")
    parser.add_argument("--find", type=float, help="go on until this part would be found")
    parser.add_argument("--delay", type=float, default=0.1, help="part of the time of a round trip")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for all launches of a command")
    arguments = parser.parse_args()
    mpi = next(one for one in MPIS if arguments.mpi in (one.family, one.label))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "suite.toml").write_text(SUITE.format(budget_s=arguments.budget))
        (folder / "delay.c").write_text(DELAY)
        library = folder / "delay.so"
        subprocess.run(
            [str(mpi.mpicc), "-O2", "-shared", "-fPIC", str(folder / "delay.c"), "-o", str(library)], check=True
        )
        for part in (0.0, arguments.delay):
            counts: Counter[str] = Counter()
            sides = [_command(mpi, library, 0.0), _command(mpi, library, part)]
            command = [Path(sys.executable).with_name("hocket"), "bench", "run", folder / "suite.toml"]
            command += ["--launches", arguments.launches, "-o", folder / f"found-{part}", "--json"]
            if arguments.find is not None:
                command += ["--find", arguments.find]
            command += ["--against", shlex.join(sides[0]), "--", *sides[1]]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
            (comparison,) = json.loads(done.stdout)["comparisons"]
            for one in comparison["differences"]:
                counts[one["verdict"]] += 1
            ratios = ", ".join(f"{one['ratio']:.3f}" for one in comparison["differences"])
            launches = json.loads(done.stdout)["result"]["launches"]
            print(f"{mpi.name}, delay {part:.0%}, {launches} launches: {dict(counts)}; ratios {ratios}", flush=True)


def _command(mpi: object, library: Path, part: float) -> list[str]:
    values = {"LD_PRELOAD": str(library), "DELAY_PART": str(part)}
    options = []
    for name, value in values.items():
        options += ["-x", f"{name}={value}"] if mpi.family == "openmpi" else ["-genv", name, value]
    return [str(mpi.mpiexec), *options, "-n", "2"]


if __name__ == "__main__":
    main()
