! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

subroutine one_sided(window)
  use mpi
  implicit none
  integer, parameter :: n = 100
  integer, intent(in) :: window
  real(8) :: x(n), y(n), w(n)
  integer :: i, ierr

  call MPI_Win_fence(0, window, ierr)
  ! expect: one-sided
  call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  do i = 1, n
    w(i) = w(i) + 1
  end do
end subroutine
