! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.
! Other names reach a buffer, or one variable is passed twice.

module helpers
  implicit none
contains
  subroutine adds(x, y, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n), y(n)
    x = x + y
  end subroutine
end module helpers

module other_names
  implicit none
contains

  subroutine buffer_is_target()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8), target :: x(n)
    real(8) :: y(n)
    real(8), pointer :: z(:)
    z => x
    ! expect: target
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    z(1) = 2
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine buffer_is_pointer()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8), pointer :: x(:)
    real(8) :: y(n)
    allocate(x(n))
    ! expect: pointer
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine received_is_target()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n)
    real(8), target :: y(n)
    real(8), pointer :: z(:)
    z => y
    ! expect: target
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    w = z
  end subroutine

  subroutine equivalenced()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    real(8) :: alias(n)
    equivalence (y, alias)
    ! expect: equivalence
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = alias(i)
    end do
  end subroutine

  subroutine equivalenced_with_sent()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    real(8) :: alias(n)
    equivalence (alias, x)
    ! expect: equivalence
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      alias(i) = 0
    end do
  end subroutine

  subroutine in_common()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    common /block/ x, y
    ! expect: common
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine volatile_buffer()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8), volatile :: x(n)
    real(8) :: y(n)
    ! expect: volatile
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine volatile_by_statement()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    volatile :: y
    ! expect: volatile
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine aliased_call()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: aliasing
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call adds(w, w, n)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine
end module other_names
