# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What jobs with the network of a cluster leave to later ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_network_decisions import LOOP, RANKS, cluster, counted

from hocket.mpi.build import build_mpi_parts
from mpis import LONG, MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

# Native broadcasts take 50 ms longer than they need.
SLOW = r"""
#include <mpi.h>
#include <time.h>
int PMPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    const struct timespec nap = {0, 50000000};
    MPI_Request request;
    nanosleep(&nap, NULL);
    PMPI_Ibcast(data, count, type, root, comm, &request);
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}
"""


def job(runner: MpiRunner, network: Path, memory: Path, ranks: int = RANKS, program: str = LOOP) -> dict[str, Any]:
    """Counts of its broadcasts by outcome."""
    statistics = runner.folder / "statistics.json"
    slow = runner.compile(SLOW, "-shared", "-fPIC", name="slow.so")
    env = {"HOCKET_NETWORK": str(network), "HOCKET_STATISTICS": str(statistics), "HOCKET_DECISIONS": str(memory)}
    libraries = [build_mpi_parts(runner.mpi).interpose, slow]
    runner.run(ranks, runner.compile(program, name="loop"), libraries=libraries, env=env)
    return counted(json.loads(statistics.read_text()))["bcast"]


def test_what_one_job_has_shown_the_next_one_need_not_try(runner: MpiRunner, tmp_path: Path) -> None:
    network, memory = cluster(tmp_path), tmp_path / "memory"
    memory.mkdir()
    first = job(runner, network, memory)
    assert first["comparison"] == 2 * RANKS  # one at once, and one after 16 calls
    (file,) = memory.iterdir()
    assert file.suffix == ".found"
    assert file.read_text().startswith("hocket.standings/1 ")
    assert job(runner, network, memory) == {"derived": 40 * RANKS}
    # Of another network nothing is known, nor from a file that another program has written.
    network.write_text(network.read_text() + "\n# another one\n")
    assert job(runner, network, memory)["comparison"] == 2 * RANKS
    for found in memory.iterdir():
        found.write_bytes(b"hocket.standings/1 -2 x \xff")
    assert job(runner, network, memory)["comparison"] == 2 * RANKS


def test_what_was_shown_is_shown_again_after_some_jobs(runner: MpiRunner, tmp_path: Path) -> None:
    network, memory = cluster(tmp_path), tmp_path / "memory"
    memory.mkdir()
    job(runner, network, memory)
    (file,) = memory.iterdir()
    known = max(file.read_text().split()[1:], key=len)
    file.write_text(file.read_text().replace(known, "-62"))
    assert job(runner, network, memory) == {"derived": 40 * RANKS}
    assert "-22" in file.read_text().split()  # 40 calls less
    assert job(runner, network, memory)["comparison"] >= RANKS
    file.write_text(file.read_text().replace(max(file.read_text().split()[1:], key=len), "-9999"))
    assert job(runner, network, memory)["comparison"] >= RANKS  # nobody waits so long


def test_a_folder_that_is_not_there_is_no_error(runner: MpiRunner, tmp_path: Path) -> None:
    assert job(runner, cluster(tmp_path), tmp_path / "none")["comparison"] > 0
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(not LONG, reason="256 ranks take long to start: make test-long")
@pytest.mark.one_of_each_family
def test_decisions_for_many_ranks_are_kept(runner: MpiRunner, tmp_path: Path) -> None:
    network, memory = cluster(tmp_path), tmp_path / "memory"
    network.write_text(network.read_text().replace(f"ranks = {RANKS}", "ranks = 256"))
    memory.mkdir()
    few = LOOP.replace("40", "3")
    first = job(runner, network, memory, 256, few)
    (plan,) = (path for path in memory.iterdir() if path.suffix == ".plan")
    decided = plan.read_text()
    assert json.loads(decided)["ranks"] == 256
    # It is taken as it is, so that the next job shows that it was read.
    plan.write_text(json.dumps(json.loads(decided) | {"entries": []}))
    assert job(runner, network, memory, 256, few) == {"predicted": 3 * 256}
    plan.write_text(decided[: len(decided) // 2])
    assert job(runner, network, memory, 256, few).keys() == first.keys()
