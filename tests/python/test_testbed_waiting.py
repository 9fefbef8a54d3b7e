# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""On a testbed ranks share cores: a rank that waits gives its core away, and to ranks of other hosts too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hocket import Network
from hocket.mpi.build import workarounds_for
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import with_preload
from hocket.testbed import Testbed, available
from hocket.testbed.preload import library
from mpis import LIMIT_S

AVAILABLE, REASON = available()
on_testbed = pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")

# Preloaded behind the testbed's library: counts what reaches the system.
COUNTER = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
static const char *path;
long yields;
void show_yields_at(const char *file) { path = file; yields = 0; }
int sched_yield(void) {
    if (++yields == 100 && path) close(open(path, O_CREAT | O_WRONLY, 0600));
    return (int)syscall(SYS_sched_yield);
}
"""

# Rank 1 waits for a message that is sent when it has yielded 100 times.
WAITING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, word = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        void (*show_yields_at)(const char *) = 0;
        *(void **)&show_yields_at = dlsym(RTLD_DEFAULT, "show_yields_at");
        show_yields_at(argv[1]);
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("received %d\\n", word);
    } else if (rank == 0) {
        while (access(argv[1], F_OK) != 0) usleep(1000);
        MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""

POLLING = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>
extern long yields;
static long between_us(long us) {
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
    return us;
}
int main(void) {
    struct epoll_event event;
    int epoll = epoll_create1(0), i;
    for (i = 0; i < 1000; ++i) epoll_wait(epoll, &event, 1, 0);
    printf("at once: %s\\n", yields > 0 ? "yields" : "never");
    for (yields = 0, i = 0; i < 1000; ++i) between_us(20), epoll_wait(epoll, &event, 1, 0);
    printf("after computing: %ld\\n", yields);
    for (yields = 0, i = 0; i < 1000; ++i) sched_yield(), epoll_wait(epoll, &event, 1, 0);
    printf("beside its own: %ld\\n", yields);
    for (yields = 0, i = 0; i < 10; ++i) epoll_wait(epoll, &event, 1, 1);
    printf("blocking: %ld\\n", yields);
    return 0;
}
"""


def network(ranks_of_a_host: int) -> Network:
    hosts = "".join(f'[[node]]\nname = "h{i}"\nkind = "host"\nranks = {ranks_of_a_host}\n' for i in range(2))
    links = "".join(f'[[link]]\nbetween = ["h{i}", "s"]\nbandwidth = "1 Gbit/s"\n' for i in range(2))
    switch = '[[node]]\nname = "s"\nkind = "switch"\n'
    return Network.from_text(f'format = "hocket.network/1"\nname = "pair"\n{hosts}{switch}{links}', "pair.toml")


def counter(folder: Path) -> Path:
    source, made = folder / "counter.c", folder / "libcounter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(made), str(source)], check=True, timeout=LIMIT_S)
    return made


@on_testbed
@pytest.mark.parametrize("ranks_of_a_host", [1, 2])
def test_a_rank_that_waits_yields(mpi: Mpi, runner: Any, tmp_path: Path, ranks_of_a_host: int) -> None:
    """With two ranks on a host the message comes through shared memory."""
    yielded = tmp_path / "yielded"
    with Testbed(network(ranks_of_a_host)) as bed:
        command, needed = with_preload(
            runner.command(2 * ranks_of_a_host, runner.compile(WAITING, "-ldl"), yielded),
            mpi,
            [*workarounds_for(mpi), bed.preloaded, counter(tmp_path)],
            {},
        )
        result = bed.run(command, env=needed, mpi=mpi, timeout=LIMIT_S)
    assert (result.returncode, result.stdout) == (0, "received 7\n"), result.stderr


def test_a_rank_that_waits_on_one_host_yields(mpi: Mpi, runner: Any, tmp_path: Path) -> None:
    """Here MPICH 4.0 asks no connection of the system's while it waits."""
    if mpi.family != "mpich":
        pytest.skip("Open MPI has an option for this")
    program, yielded = runner.compile(WAITING, "-ldl"), tmp_path / "yielded"
    result = runner.run(2, program, yielded, libraries=[library(), counter(tmp_path)])
    assert result.stdout == "received 7\n"


PLUGIN = """
unsigned ucp_worker_progress(void *worker);
unsigned ask(void) { return ucp_worker_progress(0); }
"""
OPENS_PLUGIN = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    unsigned (*ask)(void) = 0;
    *(void **)&ask = dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), "ask");
    printf("%u\\n", ask());
    return 0;
}
"""


def test_a_plug_in_may_bring_the_library_that_is_asked(tmp_path: Path) -> None:
    """As Open MPI's does, which opens what it has of UCX for itself alone."""
    (tmp_path / "ucx.c").write_text("unsigned ucp_worker_progress(void *worker) { return worker ? 1 : 42; }\n")
    (tmp_path / "plugin.c").write_text(PLUGIN)
    (tmp_path / "opens.c").write_text(OPENS_PLUGIN)
    for words in (
        ["-shared", "-fPIC", "-o", "libucx.so", "ucx.c"],
        ["-shared", "-fPIC", "-o", "plugin.so", "plugin.c", "./libucx.so"],
        ["-o", "opens", "opens.c", "-ldl"],
    ):
        subprocess.run(["cc", *words], cwd=tmp_path, check=True, timeout=LIMIT_S)
    preloaded = {"LD_PRELOAD": str(library())}
    command = [str(tmp_path / "opens"), str(tmp_path / "plugin.so")]
    result = subprocess.run(
        command, cwd=tmp_path, env=preloaded, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert (result.stdout, result.returncode) == ("42\n", 0), result.stderr


@on_testbed
def test_all_ranks_are_in_one_session_and_may_have_groups_of_their_own(mpi: Mpi, runner: Any) -> None:
    """Linux may share cores between sessions, so that a yield does not leave them."""
    with Testbed(network(2)) as bed:
        command = runner.command(4, "sh", "-c", "cat /proc/$$/stat; cat /proc/self/autogroup 2> /dev/null || true")
        result = bed.run(command, mpi=mpi, timeout=LIMIT_S)
    lines = result.stdout.splitlines()
    processes = [line.rpartition(")")[2].split() for line in lines if ")" in line]
    assert len(processes) == 4, result.stderr
    assert len({session for _, _, _, session, *_ in processes}) == 1
    assert len({line for line in lines if "autogroup" in line}) <= 1
    if mpi.family == "mpich":  # which ends its ranks by their process groups
        assert len({group for _, _, group, *_ in processes}) == 4


def test_what_is_a_wait(tmp_path: Path) -> None:
    source, program, counting = tmp_path / "polling.c", tmp_path / "polling", counter(tmp_path)
    source.write_text(POLLING)
    subprocess.run(["cc", "-o", str(program), str(source), str(counting)], check=True, timeout=LIMIT_S)
    preloaded = {"LD_PRELOAD": f"{library()} {counting}"}
    result = subprocess.run([program], env=preloaded, capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert result.stdout.splitlines() == [
        "at once: yields",
        "after computing: 0",
        "beside its own: 1000",
        "blocking: 0",
    ]


def test_a_session_is_a_process_group() -> None:
    """As setsid(2) says: a leader of a process group is refused."""
    script = (
        "import os; child = os.fork()\n"
        "if child: print(os.waitpid(child, 0)[1])\n"
        "else:\n"
        "    before = os.getsid(0); os.setsid()\n"
        "    assert (os.getsid(0), os.getpgrp()) == (before, os.getpid())\n"
        "    try: os.setsid()\n"
        "    except PermissionError: os._exit(0)\n"
        "    os._exit(1)\n"
    )
    command, preloaded = [sys.executable, "-c", script], {"LD_PRELOAD": str(library())}
    result = subprocess.run(command, env=preloaded, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert (result.stdout, result.returncode) == ("0\n", 0), result.stderr
