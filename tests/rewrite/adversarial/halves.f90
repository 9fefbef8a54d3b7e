! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Procedures that communicate, and that look as if they could be divided where they are called. Each stays as it is.
! The reason in the comment is that of the call inside.

module halves
  use mpi
  implicit none
  integer, parameter :: n = 100
  real(8) :: shared(n)
contains

  ! The buffer is gone when the procedure returns.
  subroutine with_a_local_buffer(x)
    real(8), intent(inout) :: x(n)
    real(8) :: buffer(n)
    integer :: ierr
    buffer = x
    ! expect: dependence
    call MPI_Bcast(buffer, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    x = buffer
  end subroutine

  ! A local variable carries a value over the call.
  subroutine with_a_local_value(x)
    real(8), intent(inout) :: x(n)
    real(8) :: kept
    integer :: ierr
    kept = x(1)
    ! expect: dependence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    x(1) = kept
  end subroutine

  ! A local variable keeps its value between calls of the procedure.
  subroutine with_a_saved_value(x)
    real(8), intent(inout) :: x(n)
    integer, save :: number = 0
    integer :: ierr
    number = number + 1
    ! expect: dependence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    x(1) = x(1) + number
  end subroutine

  subroutine with_an_early_return(x)
    real(8), intent(inout) :: x(n)
    integer :: ierr
    if (n > 200) return
    ! expect: early-exit
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    x(1) = x(1) + 1
  end subroutine

  ! The second message is the first one.
  subroutine one_behind_the_other(x, y)
    real(8), intent(inout) :: x(n), y(n)
    integer :: ierr
    ! expect: order
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    ! expect: order
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine whole(x)
    real(8), intent(inout) :: x(n)
    integer :: ierr
    ! expect: end
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine into_the_module()
    integer :: ierr
    ! expect: end
    call MPI_Bcast(shared, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine calls_all(x, y, w, matrix, other)
    real(8), intent(inout) :: x(n), y(n), w(n), matrix(n, n)
    real(8), intent(inout), target :: other(n)
    call with_a_local_buffer(x)
    w = 2 * w
    call with_a_local_value(x)
    w = 3 * w
    call with_a_saved_value(x)
    w = 4 * w
    call with_an_early_return(x)
    w = 5 * w
    call one_behind_the_other(x, y)
    w = 6 * w
    call whole(matrix(5, :))  ! a copy is passed
    w = 7 * w
    call whole(other)  ! it has other names
    w = 8 * w
    call whole(w)
    w = 9 * w  ! it is the message
    shared(1) = w(1)
    call into_the_module()
    shared = 2 * w
  end subroutine
end module halves
