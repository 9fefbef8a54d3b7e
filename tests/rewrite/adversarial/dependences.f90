! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.
! What follows needs the message, or changes what is sent.

module helpers
  implicit none
  type chain
    real(8), pointer :: values(:)
  end type
end module helpers

module dependences
  implicit none
contains

  subroutine reads_all_that_is_received()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: dependence
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = y(n + 1 - i)
    end do
  end subroutine

  subroutine overwrites_what_is_sent()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: dependence
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      x(n + 1 - i) = w(i)
    end do
  end subroutine

  subroutine indirect_read(list)
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: list(n)
    ! expect: dependence
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = y(list(i))
    end do
  end subroutine

  subroutine recurrence_over_the_border()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: u(0:n)
    ! expect: dependence
    call MPI_Bcast(u(0), 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      u(i) = u(i-1) + 1
    end do
  end subroutine

  subroutine count_changes()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: k
    k = 5
    ! expect: dependence
    call MPI_Allreduce(x(k), y(k), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    k = 6
    do i = 1, n
      w(i) = w(i) + y(i)
    end do
  end subroutine

  subroutine counts_of_blocks_change()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: counts(4), at(4)
    counts = 1; at = 0
    ! expect: dependence
    call MPI_Allgatherv(x, 1, MPI_DOUBLE_PRECISION, y, counts, at, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    do i = 1, 4
      counts(i) = i
    end do
  end subroutine

  subroutine pointer_component_may_reach()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: y(n)
    type(chain) :: l
    ! expect: dependence
    call MPI_Bcast(y, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    l%values = y
  end subroutine
end module dependences
