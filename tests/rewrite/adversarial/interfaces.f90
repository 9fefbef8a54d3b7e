! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.
! Were the buffer made asynchronous, the interface of its procedure would differ from another one, or a call would break
! a rule: the program would not compile any more.

module interfaces
  use mpi
  implicit none
  integer, parameter :: n = 100
  real(8) :: w(n)

  abstract interface
    subroutine exchange(u)
      import n
      real(8), intent(inout) :: u(n)
    end subroutine
  end interface

  type, abstract :: base
  contains
    procedure(exchange_of), deferred :: first
    procedure :: second
  end type

  abstract interface
    subroutine exchange_of(self, u)
      import base, n
      class(base), intent(inout) :: self
      real(8), intent(inout) :: u(n)
    end subroutine
  end interface

  type, extends(base) :: derived
  contains
    procedure :: first => first_of_derived
    procedure :: second => second_of_derived
  end type

  interface
    module subroutine has_a_body(u)
      real(8), intent(inout) :: u(n)
    end subroutine
  end interface

  interface generic
    module procedure is_in_generic
  end interface

  interface user_declared
    module procedure is_asynchronous
  end interface

contains

  subroutine is_passed(u)
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine is_passed_by_keyword(u)
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine runs(u, f)
    real(8), intent(inout) :: u(n)
    procedure(exchange) :: f
    call f(u)
  end subroutine

  subroutine passes(u)
    real(8), intent(inout) :: u(n)
    call runs(u, is_passed)
    call runs(f=is_passed_by_keyword, u=u)
  end subroutine

  subroutine is_target(u)
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine points(u)
    real(8), intent(inout) :: u(n)
    procedure(exchange), pointer :: p
    p => is_target
    call p(u)
  end subroutine

  subroutine is_interface(u)
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine has_its_interface(u, f)
    real(8), intent(inout) :: u(n)
    procedure(is_interface) :: f
    call f(u)
  end subroutine

  subroutine first_of_derived(self, u)
    class(derived), intent(inout) :: self
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine second(self, u)
    class(base), intent(inout) :: self
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine second_of_derived(self, u)
    class(derived), intent(inout) :: self
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  module subroutine has_a_body(u)
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine gets_a_stride(u)
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine gets_a_vector(u)
    real(8) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Send(u, n, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine is_in_generic(u)
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine passes_sections(v, order)
    real(8), intent(inout), asynchronous :: v(2 * n)
    integer, intent(in) :: order(n)
    call gets_a_stride(v(1:2 * n:2))
    call gets_a_vector(v(order))
    call generic(u=v(1:2 * n:2))
  end subroutine

  subroutine is_kept_elsewhere(u)
    real(8), intent(inout) :: u(n)
    integer :: i, ierr
    ! expect: interface
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine is_asynchronous(u)
    real(8), intent(inout), asynchronous :: u(n)
    u(1) = 1
  end subroutine

  subroutine passes_a_stride(v)
    real(8), intent(inout) :: v(2 * n)
    integer :: i, ierr
    call is_asynchronous(v(1:2 * n:2))
    ! expect: interface
    call MPI_Bcast(v, 2 * n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

  subroutine passes_a_stride_of_its_own(order)
    integer, intent(in) :: order(n)
    real(8) :: v(2 * n)
    integer :: i, ierr
    v = order(1)
    call user_declared(v(1:2 * n:2))
    ! expect: interface
    call MPI_Bcast(v, 2 * n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine

end module interfaces

module elsewhere
  use interfaces, only: kept => is_kept_elsewhere
  implicit none
end module elsewhere
