# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A rank whose memory others may reach does not nap in a rerouted call: many MPIs move it only inside calls."""

from __future__ import annotations

from pathlib import Path

from mpi_parts import entry, write_plan

from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner

# How often rank 0 naps while it waits for rank 1 in a barrier. The function that hocket naps with is this program's.
NAPS = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pid_t counts;
static int naps;
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
    if (gettid() == counts) ++naps;
    return (int)syscall(SYS_clock_nanosleep, clock, flags, wanted, left);
}
static void show_naps(const char *when, int rank) {
    const struct timespec late = {.tv_nsec = 100000000};
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) syscall(SYS_nanosleep, &late, NULL);
    naps = 0;
    counts = rank == 0 ? gettid() : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    counts = 0;
    if (rank == 0) printf("%s: %s\n", when, naps > 0 ? "naps" : "none");
}
int main(int argc, char **argv) {
    int rank, memory[4] = {0}, *more;
    MPI_Win windows[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    show_naps("at first", rank);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &more, &windows[0]);
    show_naps("shared", rank);
    MPI_Win_free(&windows[0]);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &windows[1]);
    show_naps("created", rank);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &more, &windows[2]);
    MPI_Win_free(&windows[1]);
    show_naps("allocated", rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &windows[3]);
    MPI_Win_free(&windows[2]);
    show_naps("dynamic", rank);
    MPI_Win_free(&windows[3]);
    show_naps("freed", rank);
    MPI_Finalize();
    return 0;
}
"""
SHOWN = """at first: naps
shared: none
created: none
allocated: none
dynamic: none
freed: naps""".splitlines()


def test_no_naps_while_others_reach_the_memory(runner: MpiRunner, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 2, [entry("barrier", [0, 1], "dissemination")])
    env = {"HOCKET_PLAN": str(plan), "HOCKET_SELF_CHECK": "off"}  # a comparison makes some calls native
    program = runner.compile(NAPS, "-rdynamic")
    result = runner.run(2, program, libraries=[build_mpi_parts(runner.mpi).interpose], env=env, naps=False)
    assert result.stdout.splitlines() == SHOWN
