! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.
! The order of calls, of additions or of readings of the clock would change.

module order
  implicit none
contains

  subroutine sum_of_reals()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: rounding
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine time_is_measured()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    real(8) :: t
    t = MPI_Wtime()
    ! expect: clock
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    t = MPI_Wtime() - t
    do i = 1, n
      w(i) = w(i) + 1
    end do
    w(1) = t
  end subroutine

  subroutine another_communication(f)
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: f
    ! expect: communication
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call MPI_File_close(f, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine barrier_behind()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: order
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine
end module order
