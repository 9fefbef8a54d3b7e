! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.
! Procedures that are called next access the buffer or print, or what they do is not known.

module helpers
  implicit none
  real(8) :: shared(100)
  type counter
    integer :: count
  contains
    procedure :: advance
  end type
contains
  subroutine reads_shared(x)
    real(8), intent(out) :: x
    x = shared(3)
  end subroutine
  subroutine writes_shared()
    shared(1) = 2
  end subroutine
  real(8) function value_of_shared(i)
    integer, intent(in) :: i
    value_of_shared = shared(i)
  end function
  subroutine prints(x)
    real(8), intent(in) :: x
    print *, x
  end subroutine
  subroutine advance(self)
    class(counter), intent(inout) :: self
    self%count = self%count + 1
  end subroutine
end module helpers

module procedures
  implicit none
contains

  subroutine unknown_call_between()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    external :: outside
    ! expect: unknown-call
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call outside(w, n)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine unknown_function_between()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    real(8), external :: outside_value
    ! expect: unknown-call
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = outside_value(i)
    end do
  end subroutine

  subroutine procedure_argument(sub)
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    external :: sub
    ! expect: unknown-call
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call sub(w)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine hidden_read_by_module_procedure()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: s
    ! expect: dependence
    call MPI_Allreduce(w, shared, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call reads_shared(s)
    w(1) = s
  end subroutine

  subroutine hidden_write_by_module_procedure()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: y(n)
    ! expect: dependence
    call MPI_Allreduce(shared, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call writes_shared()
    w(1) = 2
  end subroutine

  subroutine hidden_in_a_function()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(shared, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = value_of_shared(i)
    end do
  end subroutine

  subroutine input_output()
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: io
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    print *, w(1)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine output_in_a_called_procedure()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: io
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call prints(w(1))
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine own_operation(own)
    use mpi
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: own
    ! expect: unknown-call
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, own, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine type_bound_call()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    type(counter) :: l
    ! expect: unknown-call
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call l%advance()
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine
end module procedures
