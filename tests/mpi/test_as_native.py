# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs in the corners of MPI end as they do without hocket."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_parts import entry, write_plan

from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


NO_DATATYPE = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int codes[3];
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    // This one alone returns errors: those of the world and of the process itself end the program.
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    codes[0] = MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, comm, &requests[0]);
    codes[1] = MPI_Isend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, comm, &requests[1]);
    codes[2] = MPI_Ibcast(NULL, 0, MPI_DATATYPE_NULL, 0, comm, &requests[2]);
    for (int i = 0; i < 3; ++i) {
        int error_class;
        MPI_Error_class(codes[i], &error_class);
        if (codes[i] == MPI_SUCCESS) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        printf("%d\n", error_class);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
"""


def test_messages_without_a_datatype(runner: MpiRunner, parts: MpiParts) -> None:
    """MPICH lets them pass where they go nowhere; nobody may ask for the size of no datatype."""
    program = runner.compile(NO_DATATYPE)
    said = [
        runner.run(1, program, libraries=[parts.interpose], env={"HOCKET_PROGRESS": mode}).stdout
        for mode in ("off", "on")
    ]
    assert said[0].count("\n") == 3
    assert said[0] == said[1]


SMALLER_TOPOLOGIES = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, wrong = 0, dimension = 3, periodic = 0, index[3] = {1, 3, 4}, edges[4] = {1, 0, 2, 1};
    MPI_Comm comms[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dimension, &periodic, 0, &comms[0]);
    MPI_Graph_create(MPI_COMM_WORLD, 3, index, edges, 0, &comms[1]);
    for (int i = 0; i < 2; ++i) {
        int sum = 0, later = 0;
        MPI_Request request;
        if (comms[i] == MPI_COMM_NULL) continue;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
        MPI_Iallreduce(&rank, &later, 1, MPI_INT, MPI_SUM, comms[i], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += sum != 3 || later != 3;
        MPI_Comm_free(&comms[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("progress", ["off", "on"])
def test_topologies_smaller_than_their_parent(
    runner: MpiRunner, parts: MpiParts, tmp_path: Path, progress: str
) -> None:
    plan = write_plan(tmp_path, 4, [entry("allreduce", [0, 1, 2], "ring")])
    env = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": progress, "HOCKET_VERBOSE": "1"}
    result = runner.run(4, runner.compile(SMALLER_TOPOLOGIES), libraries=[parts.interpose], env=env)
    assert result.stdout == "wrong 0\n"
    assert f": {2 if progress == 'off' else 4} calls rerouted" in result.stderr


# Everything that happens twice here is refused the first time, on one rank, by every MPI known.
REFUSED_ON_ONE_RANK = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static MPI_Comm comm;
static int nonblocking;
static int done(int code, MPI_Request *request) {
    return code != MPI_SUCCESS ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}
static int allreduce(const int *from, int *to, MPI_Op op) {
    MPI_Request request;
    if (!nonblocking) return MPI_Allreduce(from, to, 2, MPI_INT, op, comm);
    return done(MPI_Iallreduce(from, to, 2, MPI_INT, op, comm, &request), &request);
}
static int gather(const int *from, int *to, int count, int root) {
    MPI_Request request;
    if (!nonblocking) return MPI_Gather(from, 2, MPI_INT, to, count, MPI_INT, root, comm);
    return done(MPI_Igather(from, 2, MPI_INT, to, count, MPI_INT, root, comm, &request), &request);
}
int main(int argc, char **argv) {
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    nonblocking = strcmp(argv[argc - 1], "nonblocking") == 0;
    // One rank alone makes a call on the world, before any other.
    comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 1) wrong += gather(&rank, NULL, -1, 1) == MPI_SUCCESS;
    for (int fresh = 0; fresh < 2; ++fresh) {
        // More calls than lie between two looks of the ranks at what the others have measured.
        for (int i = 0; i < 40; ++i) {
            const int bad = i % size, from[2] = {rank + i, 2 * rank + i};
            int sums[2] = {-1, -1}, all[16];
            if (rank == bad) wrong += allreduce(from, sums, MPI_OP_NULL) == MPI_SUCCESS;
            if (i % 5 == 4 && rank == bad && comm == MPI_COMM_WORLD)
                wrong += MPI_Reduce(sums, sums, 2, MPI_INT, MPI_SUM, rank, comm) == MPI_SUCCESS;
            allreduce(from, sums, MPI_SUM);
            wrong += sums[0] != size * (size - 1) / 2 + i * size || sums[1] != size * (size - 1) + i * size;
            if (rank == bad) wrong += gather(from, all, -1, bad) == MPI_SUCCESS;
            gather(from, all, 2, bad);
            for (int k = 0; k < size && rank == bad; ++k) wrong += all[2 * k] != k + i || all[2 * k + 1] != 2 * k + i;
        }
        if (fresh == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    MPI_Comm_free(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("way", ["native", "blocking", "nonblocking", "unserved"])
def test_a_call_refused_on_one_rank_is_none(runner: MpiRunner, parts: MpiParts, tmp_path: Path, way: str) -> None:
    """Its repeat is the call that the other ranks are in."""
    program = runner.compile(REFUSED_ON_ONE_RANK)
    world = [0, 1, 2]
    largest = 0 if way == "unserved" else 2**40
    entries = [
        entry("allreduce", world, "ring", bytes_max=largest),
        entry("gather", world, "binomial", bytes_max=largest),
        entry("reduce", world, "binomial"),
    ]
    env = {"HOCKET_PLAN": str(write_plan(tmp_path, 3, entries)), "HOCKET_VERBOSE": "1"}
    if way == "nonblocking":
        env["HOCKET_PROGRESS"] = "on"
    libraries = [] if way == "native" else [parts.interpose]
    result = runner.run(3, program, way, libraries=libraries, env=env)
    assert result.stdout == "wrong 0\n"
    if way in ("blocking", "nonblocking"):
        assert "calls rerouted" in result.stderr


STATUSES = r"""
#include <mpi.h>
#include <stdio.h>
enum { num = 3, size = 5000 };
static char from[size], to[2][size];
int main(int argc, char **argv) {
    int rank, num_ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    for (int function = 0; function < 8; ++function) {
        MPI_Request requests[num];
        MPI_Status statuses[num];
        int indices[num], num_done = 0, flag = 0;
        for (int i = 0; i < num; ++i) statuses[i].MPI_ERROR = 100 + i;
        const int next = (rank + 1) % num_ranks, last = (rank + num_ranks - 1) % num_ranks;
        MPI_Irecv(to[0], size, MPI_CHAR, last, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(to[1], size, MPI_CHAR, last, 1, MPI_COMM_WORLD, &requests[1]);
        for (int tag = 0; tag < 2; ++tag) MPI_Send(from, size, MPI_CHAR, next, tag, MPI_COMM_WORLD);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
        if (function == 0) MPI_Waitall(num, requests, statuses);
        while (function == 1 && !flag) MPI_Testall(num, requests, &flag, statuses);
        if (function == 2) MPI_Waitsome(num, requests, &num_done, indices, statuses);
        while (function == 3 && num_done == 0) MPI_Testsome(num, requests, &num_done, indices, statuses);
        if (function == 4) MPI_Wait(&requests[0], &statuses[0]);
        while (function == 5 && !flag) MPI_Test(&requests[0], &flag, &statuses[0]);
        if (function == 6) MPI_Waitany(num, requests, indices, &statuses[0]);
        while (function == 7 && !flag) MPI_Testany(num, requests, indices, &flag, &statuses[0]);
        // How many are done after MPI_Waitsome and MPI_Testsome is not for the program to say: the first always is.
        if (rank == 0) printf("%d: %d", function, statuses[0].MPI_ERROR);
        if (rank == 0 && function < 2) printf(" %d %d", statuses[1].MPI_ERROR, statuses[2].MPI_ERROR);
        if (rank == 0) printf("\n");
        MPI_Waitall(num, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
"""


def test_errors_in_statuses_of_what_succeeds(runner: MpiRunner, parts: MpiParts) -> None:
    """Some MPIs write them and others do not; a program that looks sees what it sees without hocket."""
    program = runner.compile(STATUSES)
    native = runner.run(2, program).stdout
    env = {"HOCKET_PROGRESS": "on"}
    assert native.count("\n") == 8
    assert runner.run(2, program, libraries=[parts.interpose], env=env).stdout == native


NO_PLACE = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; ++i) {
        int error_class;
        const int code = i == 0   ? MPI_Comm_dup(MPI_COMM_WORLD, NULL)
                         : i == 1 ? MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL)
                                  : MPI_Comm_create(MPI_COMM_WORLD, group, NULL);
        MPI_Error_class(code, &error_class);
        printf("%d: %s\n", i, error_class == MPI_SUCCESS ? "success" : "error");
    }
    MPI_Group_free(&group);
    MPI_Finalize();
    return 0;
}
"""


def test_communicators_that_the_program_has_no_place_for(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    program = runner.compile(NO_PLACE)
    plan = write_plan(tmp_path, 1, [entry("allreduce", [0], "ring")])
    env = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": "on"}
    native = runner.run(1, program).stdout
    assert native.count("error") == 3
    assert runner.run(1, program, libraries=[parts.interpose], env=env).stdout == native


TYPES_OF_NOTHING = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, wrong = 0, data[30], all[90];
    MPI_Datatype types[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(0, MPI_INT, &types[0]);
    MPI_Type_create_resized(types[0], 0, sizeof(int), &types[1]);
    for (int i = 0; i < 30; ++i) data[i] = 100 * rank + i;
    for (int i = 0; i < 90; ++i) all[i] = i;
    for (int k = 0; k < 2; ++k) {
        MPI_Type_commit(&types[k]);
        MPI_Bcast(data, 10, types[k], 0, MPI_COMM_WORLD);
        MPI_Allgather(data, 10, types[k], all, 10, types[k], MPI_COMM_WORLD);
        MPI_Gather(data, 10, types[k], all, 10, types[k], 1, MPI_COMM_WORLD);
        MPI_Alltoall(data, 10, types[k], all, 10, types[k], MPI_COMM_WORLD);
        MPI_Type_free(&types[k]);
    }
    for (int i = 0; i < 30; ++i) wrong += data[i] != 100 * rank + i;
    for (int i = 0; i < 90; ++i) wrong += all[i] != i;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("served", [True, False])
def test_datatypes_of_nothing(runner: MpiRunner, parts: MpiParts, tmp_path: Path, served: bool) -> None:
    world = [0, 1, 2]
    algorithms = {"bcast": "pipelined_chain", "allgather": "ring", "gather": "binomial", "alltoall": "pairwise"}
    entries = [
        entry(name, world, algorithm, segments=2, bytes_min=0 if served else 8)
        for name, algorithm in algorithms.items()
    ]
    env = {"HOCKET_PLAN": str(write_plan(tmp_path, 3, entries)), "HOCKET_VERBOSE": "1"}
    result = runner.run(3, runner.compile(TYPES_OF_NOTHING), libraries=[parts.interpose], env=env)
    assert result.stdout == "wrong 0\n"
    assert result.stderr.count(": 2 calls rerouted") == (4 if served else 0)


NO_HANDLES = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int error_class;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const int codes[] = {MPI_Comm_free(NULL), MPI_Op_free(NULL), MPI_Win_free(NULL)};
    for (int i = 0; i < 3; ++i) {
        MPI_Error_class(codes[i], &error_class);
        printf("%d\n", error_class);
    }
    MPI_Finalize();
    return 0;
}
"""


def test_no_place_of_a_handle_to_free(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    if runner.mpi.family == "openmpi":
        pytest.skip("Open MPI looks for a window at the address 0")
    program = runner.compile(NO_HANDLES)
    native = runner.run(1, program).stdout
    env = {"HOCKET_TRACE": str(tmp_path), "HOCKET_PLAN": str(write_plan(tmp_path, 1, []))}
    for library in (parts.record, parts.interpose):
        assert runner.run(1, program, libraries=[library], env=env).stdout == native
