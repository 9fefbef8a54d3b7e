! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! What programs for early_and_late.c need of an MPI, right in both source forms.
      integer MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_INTEGER
      integer MPI_MAX, MPI_SUM, MPI_STATUS_SIZE
      parameter (MPI_COMM_WORLD=1, MPI_DOUBLE_PRECISION=8)
      parameter (MPI_INTEGER=4, MPI_MAX=1, MPI_SUM=2)
      parameter (MPI_STATUS_SIZE=6)
      integer MPI_REQUEST_NULL
      parameter (MPI_REQUEST_NULL=-1)
      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      common /mpi_early_and_late/ MPI_STATUS_IGNORE
