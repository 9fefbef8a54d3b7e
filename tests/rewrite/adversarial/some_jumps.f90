! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Loops and jumps that take ranks to different calls of the same collective.

module some_jumps
  use mpi
  implicit none
  integer, parameter :: n = 100
contains

  ! As many iterations as the rank says; the others follow in the second loop.
  subroutine more_iterations(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: k
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    do k = 1, rank + 1
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    end do
    do k = rank + 2, 4
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end do
  end subroutine

  ! Only the first rank stays in the loop.
  subroutine leaving_a_loop(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: k
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    do k = 1, 3
      if (rank > 0) exit
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    end do
    do while (k < 4)
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      k = k + 1
    end do
  end subroutine

  ! Only the first rank runs the end of an iteration.
  subroutine next_iteration(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: k
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    do k = 1, 3
      if (rank == 0) then
        ! expect: divergence
        call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
        cycle
      end if
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    end do
  end subroutine

  ! A computed go to.
  subroutine computed(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    go to (10, 20), min(rank, 1) + 1
 10 continue
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
    return
 20 continue
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  ! An arithmetic if.
  subroutine arithmetic(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (rank) 10, 10, 20
 10 continue
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
    return
 20 continue
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  ! The end of the file that only one rank has.
  subroutine end_of_a_file(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    read (*, *, end=10) rank
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
    return
 10 continue
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine
end module some_jumps
