# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket run --progress` of programs of which a rank is killed, and on several hosts."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hocket.mpi.build import build_mpi_parts, workarounds_for
from hocket.testbed import available
from mpis import MpiRunner, rounds

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

EMULATED, REASON = available()
HOCKET = str(Path(sys.executable).with_name("hocket"))

DIES = r"""
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, size, bytes = 300000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *from = calloc(size, bytes), *to = calloc(size, bytes);
    for (int i = 0; i < (argc > 1 ? 100000 : 20); ++i) {
        MPI_Request request;
        MPI_Ialltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD, &request);
        if (rank == 1 && i == 5 && argc > 1) raise(SIGKILL);
        usleep(1000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
"""


def living_with(mark: str) -> list[str]:
    """The processes that have inherited a variable of that value."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("where", ["here", "two-hosts"])
def test_a_rank_that_is_killed(runner: MpiRunner, hocket_cli: Any, where: str) -> None:
    """The run ends, the launcher tells why, and nothing is left: a testbed lives as long as its processes."""
    if where == "two-hosts" and not EMULATED:
        pytest.skip(f"no testbed here: {REASON}")
    build_mpi_parts(runner.mpi)
    mark = f"mark-{uuid4()}"
    command = ["run", "--progress", "on", "--", *runner.command(2, runner.compile(DIES), "dies")]
    if where == "two-hosts":
        command = ["testbed", "run", "star:2", "--timeout", "200", "--", HOCKET, *command]
    done = hocket_cli(*command, env={"MARK": mark})
    assert done.returncode not in (0, 2)
    assert "Traceback" not in done.stderr
    assert "did not end within" not in done.stderr
    told = done.stdout + done.stderr
    by_launcher = "signal 9|EXIT CODE: 9|signal: 9|Killed"
    by_other_rank = "unexpectedly disconnected|No such process|Socket closed"
    if runner.mpi.family == "mpich":
        # It may crash when a peer dies, without hocket too, and its launcher may name that rank alone: where UCX
        # refuses a receive, MPIDI_UCX_mpi_irecv (ucx_recv.h) writes into the request that it did not get.
        by_other_rank += "|Segmentation fault|EXIT CODE: 11"
    assert re.search(f"{by_launcher}|{by_other_rank}", told), told
    assert not living_with(mark)


@pytest.mark.skipif(not EMULATED, reason=f"no testbed here: {REASON}")
def test_programs_on_several_hosts_end(runner: MpiRunner, hocket_cli: Any) -> None:
    """MPI_Finalize of MPICH before 4.2 hangs in every second run, if nothing is done about it."""
    program = runner.compile(DIES)
    run = [HOCKET, "run", "--progress", "on", "--", *runner.command(4, program)]
    for _ in range(rounds(6) if workarounds_for(runner.mpi) else 1):
        done = hocket_cli("testbed", "run", "star:4", "--timeout", "200", "--", *run)
        assert done.returncode == 0, done.stderr
