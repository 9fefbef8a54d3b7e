! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Calls that look as if they could be moved. Each stays as it is, for the reason in the comment before it.

#define RECEIVED y

module helpers
  implicit none
  real(8) :: shared(100)
  type pair
    real(8) :: values(100)
  end type
  type chain
    real(8), pointer :: values(:)
  end type
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
  subroutine prints_code(code)
    integer, intent(in) :: code
    if (code /= 0) print *, code
  end subroutine
  subroutine adds(x, y, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n), y(n)
    x = x + y
  end subroutine
  subroutine advance(self)
    class(counter), intent(inout) :: self
    self%count = self%count + 1
  end subroutine
end module helpers

module adversarial
  implicit none
contains

  subroutine buffer_is_target()
    use mpi
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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

  subroutine unknown_call_between()
    use mpi
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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

  subroutine return_between()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: early-exit
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (w(1) > 2) return
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine stop_between()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: early-exit
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (w(1) > 2) stop
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine cycle_between()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: step
    do step = 1, 3
      ! expect: early-exit
      call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      if (w(1) > 2) cycle
      do i = 1, n
        w(i) = w(i) + 1
      end do
    end do
  end subroutine

  subroutine exit_between()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: step
    do step = 1, 3
      ! expect: early-exit
      call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      if (w(1) > 2) exit
      do i = 1, n
        w(i) = w(i) + 1
      end do
    end do
  end subroutine

  subroutine goto_between()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: early-exit
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (w(1) > 2) goto 10
    do i = 1, n
      w(i) = w(i) + 1
    end do
 10 continue
  end subroutine

  subroutine label_behind_the_call()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    if (w(1) > 2) goto 10
    ! expect: layout
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
 10 w(1) = 2
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine error_code_is_read()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: error-handling
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
    if (ierr /= MPI_SUCCESS) w = 0
  end subroutine

  subroutine error_code_is_passed_on()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: error-handling
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
    call prints_code(ierr)
  end subroutine

  subroutine expression_is_sent()
    use mpi
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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

  subroutine sum_of_reals()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: rounding
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine own_operation(own)
    use mpi
    use helpers
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

  subroutine reads_all_that_is_received()
    use mpi
    use helpers
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
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: dependence
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      x(i) = w(i)
    end do
  end subroutine

  subroutine indirect_read(list)
    use mpi
    use helpers
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
    use helpers
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
    use helpers
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
    use helpers
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

  subroutine time_is_measured()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    real(8) :: t
    t = MPI_Wtime()
    ! expect: clock
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    t = MPI_Wtime() - t
    do i = 1, n
      w(i) = w(i) + 1
    end do
    w(1) = t
  end subroutine

  subroutine another_communication(f)
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    integer :: f
    ! expect: communication
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call MPI_File_close(f, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine barrier_behind()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: order
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine in_a_parallel_region()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    !$omp parallel
    !$omp single
    ! expect: directive
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    !$omp end single
    !$omp end parallel
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

  subroutine associate_hides_a_name()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: unknown
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    associate (z => y)
      w = z
    end associate
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine block_hides_a_name()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: unknown
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    block
      real(8) :: z(n)
      z = y
      w = z
    end block
    do i = 1, n
      w(i) = w(i) + 1
    end do
  end subroutine

  subroutine macro_between()
    use mpi
    use helpers
    integer, parameter :: n = 100
    real(8) :: w(n)
    integer :: i, ierr
    real(8) :: x(n), y(n)
    ! expect: preprocessor
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = RECEIVED(i)
    end do
  end subroutine
end module adversarial
