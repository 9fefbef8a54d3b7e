! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Expressions that call a procedure of the program which reads the message, and do not look like it.

module functions_of_types
  implicit none
  integer, parameter :: n = 100
  real(8) :: message(n), w(n)
  character(8) :: tags(n)
  abstract interface
    real(8) function term_of(i)
      integer, intent(in) :: i
    end function
    real(8) function any_term()
    end function
  end interface
  type term
    procedure(term_of), pointer, nopass :: f => null()
    procedure(any_term), pointer, nopass :: g => null()
  end type
  type vector
    real(8) :: x = 0
  contains
    procedure, private :: times, to_real
    procedure, private, pass(from) :: into_real
    generic :: operator(*) => times
    generic :: assignment(=) => into_real
  end type
  type(term) :: terms(3)
contains
  function times(a, b) result(product)
    class(vector), intent(in) :: a, b
    type(vector) :: product
    product%x = a%x * b%x * message(3)
  end function
  real(8) function to_real(a)
    class(vector), intent(in) :: a
    to_real = a%x
  end function
  subroutine into_real(to, from)
    real(8), intent(out) :: to
    class(vector), intent(in) :: from
    to = from%x * message(3)
  end subroutine
  function vector_of(i) result(v)
    integer, intent(in) :: i
    type(vector) :: v
    v%x = i
  end function

  subroutine a_component_that_is_a_procedure(k)
    use mpi
    integer, intent(in) :: k
    integer :: i, ierr
    ! expect: unknown-call
    call MPI_Bcast(message, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + terms(k)%f(i)
    end do
  end subroutine

  subroutine without_arguments(one)
    use mpi
    type(term), intent(in) :: one
    integer :: i, ierr
    ! expect: unknown-call
    call MPI_Bcast(message, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + one%g()
    end do
  end subroutine

  subroutine an_assignment_to_a_number(from)
    use mpi
    type(vector), intent(in) :: from
    integer :: i, ierr
    ! expect: derived-type
    call MPI_Bcast(message, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = from
    end do
  end subroutine

  subroutine an_operator_of_results(v)
    use mpi
    type(vector), intent(inout) :: v(n)
    integer :: i, ierr
    real(8) :: s
    ! expect: unknown-call
    call MPI_Bcast(message, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    s = 0
    do i = 1, n - 1
      v(i) = vector_of(i) * vector_of(i + 1)
    end do
    w(1) = s
  end subroutine

  subroutine an_operator_in_parentheses(a, b)
    use mpi
    type(vector), intent(in) :: a, b
    type(vector) :: v
    integer :: ierr
    ! expect: unknown-call
    call MPI_Bcast(message, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    v = (a) * (b)
    w(1) = v%x
  end subroutine

  subroutine a_function_of_texts()
    use mpi
    character(8) :: tag
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(tags, 8 * n, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      if (tag(i) == 'b') w(i) = w(i) + i
    end do
  end subroutine

  subroutine a_statement_function()
    use mpi
    integer :: i, ierr
    real(8) :: scale, x
    scale(x) = x * message(3)
    ! expect: unknown-call
    call MPI_Bcast(message, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + scale(2d0)
    end do
  end subroutine

  subroutine a_dummy_with_the_name_of_an_intrinsic(gamma)
    use mpi
    real(8) :: gamma
    integer :: i, ierr
    ! expect: unknown-call
    call MPI_Bcast(message, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + gamma(2d0)
    end do
  end subroutine

  integer function where_to()
    use mpi
    tags(1) = 'called'
    where_to = MPI_COMM_WORLD
  end function

  subroutine a_function_that_would_be_called_twice(other)
    use mpi
    integer, intent(in) :: other
    integer :: i, ierr
    real(8) :: got(n)
    ! expect: unknown-call
    call MPI_Sendrecv(message, n, MPI_DOUBLE_PRECISION, other, 1, got, n, MPI_DOUBLE_PRECISION, other, 1, where_to(), &
                      MPI_STATUS_IGNORE, ierr)
    do i = 1, n
      w(i) = w(i) + i
    end do
    w(1) = w(1) + got(1)
  end subroutine
end module

character(8) function tag(i)
  use functions_of_types
  integer, intent(in) :: i
  tag = tags(i)
end function
