! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! To be used with the module mpi_f08.
module hocket_f08
    use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Op, MPI_IN_PLACE, MPI_DATATYPE_NULL, MPI_OP_NULL
#define HANDLE(of) type(of)
#define VALUE_OF(handle) handle%MPI_VAL
#include "hocket.inc"
