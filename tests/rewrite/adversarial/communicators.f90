! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! One communicator with two names, and one between two groups, which get different results.

program communicators
  use mpi
  implicit none
  integer :: rank, ierr, i, world, half, between, mine, flag
  integer :: first(10), second(10)
  real(8) :: v(1000)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  world = MPI_COMM_WORLD
  first = rank
  second = rank
  v = 0
  if (rank == 0) then
    ! expect: divergence
    call MPI_Bcast(first, 10, MPI_INTEGER, 0, world, ierr)
  end if
  ! expect: divergence
  call MPI_Bcast(second, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  do i = 1, 1000
    v(i) = v(i) + i
  end do
  if (rank /= 0) then
    ! expect: divergence
    call MPI_Bcast(first, 10, MPI_INTEGER, 0, world, ierr)
  end if

  call of_two_groups()
  print *, sum(v), first(1), second(1)
  call MPI_Finalize(ierr)
contains
  subroutine of_two_groups()
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 7, between, ierr)
    mine = mod(rank, 2)
    ! expect: communication
    call MPI_Allreduce(mine, flag, 1, MPI_INTEGER, MPI_MAX, between, ierr)
    if (flag == 1) then
      ! expect: divergence
      call MPI_Allreduce(mine, i, 1, MPI_INTEGER, MPI_MAX, between, ierr)
      v(1:999) = v(1:999) * 2
    else
      ! expect: divergence
      call MPI_Allreduce(mine, i, 1, MPI_INTEGER, MPI_MAX, between, ierr)
      print *, 'the other group'
    end if
    print *, i
  end subroutine
end program
