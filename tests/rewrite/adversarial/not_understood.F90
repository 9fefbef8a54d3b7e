! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.
! The text is not understood well enough.

#define RECEIVED y

module not_understood
  implicit none
contains

  subroutine label_behind_the_call()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    if (n > 200) goto 10
    ! expect: layout
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
 10 w(1) = 2
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine in_a_parallel_region()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    !$omp parallel
    !$omp single
    ! expect: directive
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    !$omp end single
    !$omp end parallel
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine associate_hides_a_name()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: unknown
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    associate (z => y)
      w = z
    end associate
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine block_hides_a_name()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: unknown
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    block
      real(8) :: z(n)
      z = y
      w = z
    end block
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine macro_between()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: preprocessor
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = RECEIVED(i)
    end do
  end subroutine
end module not_understood
