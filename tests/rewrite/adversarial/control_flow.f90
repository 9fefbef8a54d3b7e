! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.
! The statements between may not all run, or the error code is read.

module helpers
  implicit none
contains
  subroutine prints_code(code)
    integer, intent(in) :: code
    if (code /= 0) print *, code
  end subroutine
end module helpers

module control_flow
  implicit none
contains

  subroutine return_between()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: early-exit
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (w(1) > 2) return
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine stop_between()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: early-exit
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (w(1) > 2) stop
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine cycle_between()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: step
    do step = 1, 3
      ! expect: early-exit
      call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      if (step > 2) cycle
      do i = 1, n
        w(i) = w(i) + 1
      end do
    end do
  end subroutine

  subroutine exit_between()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: step
    do step = 1, 3
      ! expect: early-exit
      call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      if (step > 2) exit
      do i = 1, n
        w(i) = w(i) + 1
      end do
    end do
  end subroutine

  subroutine goto_between()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: early-exit
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (w(1) > 2) goto 10
    do i = 1, n
      w(i) = w(i) + 1
    end do
 10 continue
  end subroutine

  subroutine error_code_is_read()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: error-handling
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
    if (ierr /= MPI_SUCCESS) w = 0
  end subroutine

  subroutine error_code_is_passed_on()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: error-handling
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
    call prints_code(ierr)
  end subroutine
end module control_flow
