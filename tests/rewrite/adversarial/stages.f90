! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Loops that look as if they could run in two stages. Each stays as it is, for the reason in the comment before it.

module stages
  use mpi
  implicit none
  integer, parameter :: n = 100, steps = 9
  real(8) :: shared(n)
contains

  subroutine the_next_step_needs_it(x, w)
    real(8), intent(inout) :: x(n), w(n)
    real(8) :: mine(n), all(n)
    integer :: step, i, ierr
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = x(i) + w(n + 1 - i)
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, all, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        w(i) = all(n + 1 - i)
      end do
    end do
  end subroutine

  ! An element keeps its value from the step before.
  subroutine one_element_stays(x, w)
    real(8), intent(inout) :: x(n), w(n, steps)
    real(8) :: mine(n), all(n)
    integer :: step, i, ierr
    do step = 1, steps
      if (step == 1) mine(1) = 7
      do i = 2, n
        mine(n + 1 - i) = x(i) + step
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, all, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        w(i, step) = all(n + 1 - i)
      end do
    end do
  end subroutine

  ! Only half of what is needed comes with the message.
  subroutine a_short_message(x, w)
    real(8), intent(inout) :: x(n), w(n, steps)
    real(8) :: mine(n), all(n)
    integer :: step, i, ierr
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = x(i) + step
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, all, n / 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        w(i, step) = all(n + 1 - i)
      end do
    end do
  end subroutine

  subroutine used_behind_the_loop(x, w)
    real(8), intent(inout) :: x(n), w(n, steps)
    real(8) :: mine(n), all(n)
    integer :: step, i, ierr
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = x(i) + step
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, all, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        w(i, step) = all(n + 1 - i)
      end do
    end do
    x = mine
  end subroutine

  subroutine of_the_module(x, w)
    real(8), intent(inout) :: x(n), w(n, steps)
    real(8) :: mine(n)
    integer :: step, i, ierr
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = x(i) + step
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, shared, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        w(i, step) = shared(n + 1 - i)
      end do
    end do
  end subroutine

  ! The second stage reads what it writes in the step behind the next one; the first stage writes it in the next step.
  subroutine a_flow_between_steps(x, w)
    real(8), intent(inout) :: x(n, 0:steps+1), w(n, steps)
    real(8) :: mine(n), all(n)
    integer :: step, i, ierr
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = x(i, step) + step
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, all, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        x(i, step + 1) = all(n + 1 - i)
      end do
    end do
  end subroutine

  ! The bound of the loop changes in its body: Fortran computes it once.
  subroutine a_bound_that_changes(x, w, last)
    real(8), intent(inout) :: x(n), w(n, steps)
    integer, intent(out) :: last
    real(8) :: mine(n), all(n)
    integer :: step, i, ierr
    last = 2
    do step = 1, last
      do i = 1, n
        mine(n + 1 - i) = x(i) + step
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, all, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      last = 3
      do i = 1, n
        w(i, step) = all(n + 1 - i)
      end do
    end do
  end subroutine

  subroutine left_early(x, w)
    real(8), intent(inout) :: x(n), w(n, steps)
    real(8) :: mine(n), all(n)
    integer :: step, i, ierr
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = x(i) + step
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, all, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        w(i, step) = all(n + 1 - i)
      end do
      if (all(1) > 3) exit
    end do
  end subroutine
end module stages
