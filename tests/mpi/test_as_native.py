# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs in the corners of MPI end as they do without hocket."""

from __future__ import annotations

import pytest

from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import MpiRunner


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
