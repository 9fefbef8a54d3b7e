! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Names of intrinsic functions that the rewritten code would call, for variables of the program.

module statistics
  implicit none
  integer, parameter :: n = 90
  integer :: min(0:n,0:3), max, mod
  real(8) :: u(0:n+1), v(n), a(n), b(n)
contains
  subroutine a_loop_in_two_parts(left, right)
    use mpi
    integer, intent(in) :: left, right
    integer :: i, ierr
    ! expect: names
    call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, u(0), 1, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do i = 1, n
      v(i) = u(i - 1) + u(i)
    end do
  end subroutine

  subroutine a_message_in_parts()
    use mpi
    integer :: i, ierr
    ! expect: names
    call MPI_Bcast(a, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      b(i) = 2 * a(i)
    end do
  end subroutine

  subroutine a_loop_in_stages()
    use mpi
    real(8) :: sent(n), got(n)
    integer :: i, k, ierr
    do k = 1, n
      do i = 1, n
        sent(i) = a(i) * k
      end do
      ! expect: names
      call MPI_Allreduce(sent, got, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        b(i) = b(i) + got(i)
      end do
    end do
  end subroutine
end module
