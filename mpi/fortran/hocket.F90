! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! To be used with the module mpi.
module hocket
    use mpi, only: MPI_IN_PLACE, MPI_DATATYPE_NULL, MPI_OP_NULL
#define HANDLE(of) integer
#define VALUE_OF(handle) handle
#include "hocket.inc"
