! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

subroutine error_handler(window)
  use mpi
  implicit none
  integer, parameter :: n = 100
  integer, intent(in) :: window
  real(8) :: x(n), y(n), w(n)
  integer :: i, ierr

  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  ! expect: error-handling
  call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  do i = 1, n
    w(i) = w(i) + 1
  end do
end subroutine
