! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.
! The compiler passes a copy of the buffer.

module helpers
  implicit none
  real(8) :: shared(100)
  type pair
    real(8) :: values(100)
  end type
contains
  real(8) function value_of_shared(i)
    integer, intent(in) :: i
    value_of_shared = shared(i)
  end function
end module helpers

module copies
  implicit none
contains

  subroutine expression_is_sent()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: copy-in
    call MPI_Allreduce((x), y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine strided_section()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: copy-in
    call MPI_Allreduce(x(1:n:2), y, n / 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine row_of_a_matrix()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: m(n,n), y(n)
    ! expect: copy-in
    call MPI_Allreduce(m(1,:), y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine part_of_columns()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: m(n,n), y(n)
    ! expect: copy-in
    call MPI_Bcast(m(2:5,1:2), 8, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine vector_subscript()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: list(n)
    list = 1
    ! expect: copy-in
    call MPI_Allreduce(x(list), y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine assumed_shape(x)
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8), intent(inout) :: x(:)
    real(8) :: y(n)
    ! expect: copy-in
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine constant_is_sent()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: y
    ! expect: copy-in
    call MPI_Allreduce(1.0d0, y, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine function_is_sent()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: y
    ! expect: copy-in
    call MPI_Allreduce(value_of_shared(1), y, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine component_is_sent()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    type(pair) :: x
    real(8) :: y(n)
    ! expect: derived-type
    call MPI_Allreduce(x%values, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine
end module copies
