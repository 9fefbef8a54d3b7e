! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could go in parts. Each stays as it is, for the reason in the comment before it.

module parts
  use mpi
  implicit none
  integer, parameter :: n = 100
contains

  subroutine the_last_element_first(x, y)
    real(8), intent(inout) :: x(n), y(n)
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      y(i) = x(n + 1 - i)
    end do
  end subroutine

  subroutine each_needs_the_last(x, y)
    real(8), intent(inout) :: x(n), y(n)
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      y(i) = x(i) + x(n)
    end do
  end subroutine

  subroutine the_first_is_made_again(x, y)
    real(8), intent(inout) :: x(n), y(n)
    integer :: i, ierr
    do i = 1, n
      x(i) = y(i)
      x(1) = x(1) + y(i)
    end do
    ! expect: dependence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    y = x
  end subroutine

  ! What is received would be overwritten while the loop still reads the old values.
  subroutine old_values_are_read(x, y)
    real(8), intent(inout) :: x(n), y(n)
    integer :: i, ierr
    do i = 1, n
      x(i) = y(1) + y(i)
    end do
    ! expect: dependence
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    x = y
  end subroutine

  ! The other rank may receive the message by one call.
  subroutine a_message(x, y)
    real(8), intent(inout) :: x(n), y(n)
    integer :: i, ierr
    ! expect: dependence
    call MPI_Recv(x, n, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do i = 1, n
      y(i) = x(i)
    end do
  end subroutine

  ! Two reals of four bytes for each element: rows of the message are not elements of the array.
  subroutine another_datatype(x, y)
    real(8), intent(inout) :: x(n), y(n)
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(x, 2 * n, MPI_REAL, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      y(i) = x(i)
    end do
  end subroutine

  subroutine an_indirect_subscript(x, y, at)
    real(8), intent(inout) :: x(n), y(n)
    integer, intent(in) :: at(n)
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      y(i) = x(at(i))
    end do
  end subroutine

  ! Left before its end, the loop would run on in the next part.
  subroutine left_early(x, y)
    real(8), intent(inout) :: x(n), y(n)
    integer :: i, ierr
    ! expect: early-exit
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      if (x(i) < 0) return
      y(i) = x(i)
    end do
  end subroutine
end module parts
