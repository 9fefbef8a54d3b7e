# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Every MPI of this machine on the emulated cluster: ranks on their hosts, messages over the links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hocket import Network
from hocket.errors import Error
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import with_preload
from hocket.testbed import Testbed, available
from mpis import LIMIT_S

AVAILABLE, REASON = available()
pytestmark = [pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}"), pytest.mark.in_turns]

MESSAGE_BYTES = 1_000_000

# MPI_Finalize of MPICH before 4.2 over UCX and TCP waits for an answer of each peer, which a peer that is already in
# the final barrier of the launcher never gives (pmodels/mpich pull request 6596). After a barrier nothing is on its
# way, and the connections need no farewell.
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
void *ucp_disconnect_nb(void *endpoint) { return endpoint ? NULL : NULL; }
#endif

int main(int argc, char **argv) {
    int rank, size, wrong = 0;
    char host[64] = "", hosts[16 * 64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host);
    MPI_Gather(host, 64, MPI_CHAR, hosts, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
    char *data = malloc(BYTES);
    for (int i = 0; i < BYTES; ++i) data[i] = rank == 0 ? (char)(i * 7) : 0;
    if (argc > 1 && rank == size - 1) {
        if (strcmp(argv[1], "exit") == 0) exit(4);
        if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 4);
        abort();
    }
    MPI_Bcast(data, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BYTES; ++i) wrong += data[i] != (char)(i * 7);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < size; ++i) printf("%s ", hosts + 64 * i);
        printf("wrong=%d\\n", wrong);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
""".replace("BYTES", str(MESSAGE_BYTES))


def two_groups(placement: list[str], ranks: int = 1) -> Network:
    hosts = ["a0", "a1", "b0", "b1"]
    nodes = [f'{{ name = "{host}", kind = "host", ranks = {ranks} }}' for host in hosts]
    nodes += ['{ name = "s0", kind = "switch" }', '{ name = "s1", kind = "switch" }']
    ends = [("a0", "s0"), ("a1", "s0"), ("b0", "s1"), ("b1", "s1"), ("s0", "s1")]
    links = [f'{{ between = ["{a}", "{b}"], bandwidth = "200 Mbit/s" }}' for a, b in ends]
    text = (
        f'format = "hocket.network/1"\nname = "groups"\nplacement = {placement}\n'
        f"node = [{', '.join(nodes)}]\nlink = [{', '.join(links)}]\n"
    )
    return Network.from_text(text.replace("'", '"'), "groups.toml")


def program_for(runner: Any) -> Path:
    program: Path = runner.compile(PROGRAM)
    return program


def trunk_bytes(network: Network, link_bytes: list[int]) -> list[int]:
    kinds = [node.kind for node in network.nodes]
    return [
        sent
        for link, sent in zip(network.links, link_bytes, strict=True)
        if kinds[link.source] == kinds[link.target] == "switch"
    ]


@pytest.mark.parametrize(
    ("placement", "ranks"),
    [
        (["a0", "b0", "a1", "b1"], 1),
        (["b1", "a1", "a0", "b0"], 1),
        (["a0", "b0", "a1", "b1", "b1", "a0", "b0", "a1"], 2),
        (["b0", "b0", "a1", "a1", "a0", "b1", "a0", "b1"], 2),
    ],
)
def test_each_rank_is_on_its_host_and_the_message_crosses_the_trunk(
    mpi: Mpi, runner: Any, placement: list[str], ranks: int
) -> None:
    network = two_groups(placement, ranks)
    with Testbed(network) as bed:
        result = bed.run(runner.command(len(placement), program_for(runner)), timeout=LIMIT_S)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [*placement, "wrong=0"]
    assert max(trunk_bytes(network, result.link_bytes)) >= MESSAGE_BYTES


def test_fewer_ranks_than_the_network_has(mpi: Mpi, runner: Any) -> None:
    with Testbed(two_groups(["a0", "b0", "a1", "b1"])) as bed:
        result = bed.run(runner.command(2, program_for(runner)), timeout=LIMIT_S)
    assert result.stdout.split() == ["a0", "b0", "wrong=0"], result.stderr


def test_preloading_and_the_testbed_work_together(mpi: Mpi, runner: Any) -> None:
    show = ["sh", "-c", "echo $(hostname) $HOCKET_TEST"]
    command, needed = with_preload(runner.command(4, *show), mpi, [], {"HOCKET_TEST": "set"})
    with Testbed(two_groups(["a0", "b0", "a1", "b1"])) as bed:
        result = bed.run(command, env=needed, timeout=LIMIT_S)
    assert sorted(result.stdout.splitlines()) == ["a0 set", "a1 set", "b0 set", "b1 set"], result.stderr


def test_a_rank_that_crashes_leaves_nothing_behind(mpi: Mpi, runner: Any) -> None:
    with Testbed(two_groups(["a0", "b0", "a1", "b1"])) as bed:
        try:
            assert bed.run(runner.command(4, program_for(runner), "crash"), timeout=LIMIT_S).returncode != 0
        except Error as error:  # on a busy machine Open MPI 5's launcher was seen to wait for ever
            if mpi.family != "openmpi" or "did not end within 30 s and was killed" not in str(error):
                raise
        assert bed.run(["pgrep", "program"]).stdout == ""


@pytest.mark.parametrize("how", ["exit", "abort"])
def test_a_rank_that_ends_early_ends_the_others_with_its_status(mpi: Mpi, runner: Any, how: str) -> None:
    """MPICH's launcher would wait for ranks on other hosts, which wait for the one that has gone."""
    if mpi.family != "mpich":
        pytest.skip("its launcher ends them of itself")
    with Testbed(two_groups(["a0", "b0", "a1", "b1"])) as bed:
        result = bed.run(runner.command(4, program_for(runner), how), timeout=60.0)
    assert result.returncode == 4, result.stderr
