! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! The same calls through each of Fortran's bindings: compiled with -DMPIF_H, -DUSE_MPI or -DUSE_MPI_F08.
program calls
#ifdef USE_MPI
   use mpi
#endif
#ifdef USE_MPI_F08
   use mpi_f08
#endif
   implicit none
#ifdef MPIF_H
   include 'mpif.h'
#endif
#ifdef USE_MPI_F08
   type(MPI_Comm) :: half
   type(MPI_Request) :: requests(2), one
#else
   integer :: half, requests(2), one
#endif
   integer :: rank, ranks, error, values(16), sums(16)
   double precision :: a(100), b(400)

   a = 0
   values = 1
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
   call MPI_Bcast(a, 100, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, error)
   call MPI_Reduce(values, sums, 10, MPI_INTEGER, MPI_SUM, 2, MPI_COMM_WORLD, error)
   call MPI_Allreduce(MPI_IN_PLACE, a, 7, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
   call MPI_Alltoall(a, 6, MPI_DOUBLE_PRECISION, b, 6, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
   call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
   call MPI_Allreduce(values, sums, 8, MPI_INTEGER, MPI_MAX, half, error)
   call MPI_Isend(a, 5, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 7, MPI_COMM_WORLD, requests(1), error)
   call MPI_Irecv(b, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(2), error)
   call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
   call MPI_Ibcast(values, 12, MPI_INTEGER, 3, MPI_COMM_WORLD, one, error)
   call MPI_Wait(one, MPI_STATUS_IGNORE, error)
   if (rank == 0) call MPI_Send(a, 4, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, error)
   if (rank == 1) call MPI_Recv(b, 40, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                                MPI_STATUS_IGNORE, error)
   call MPI_Barrier(MPI_COMM_WORLD, error)
   call MPI_Finalize(error)
end program calls
