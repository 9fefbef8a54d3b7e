! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Loops whose iterations communicate what they make, and need what they get: they can run in two stages.
module stages
  use mpi
  implicit none
  integer, parameter :: n = 40, steps = 5
contains

  ! Each step makes a field, finds its largest values and adds them up: two steps have nothing to do with each other.
  subroutine largest_of_each_step(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: mine(n), largest(n), sums(steps)
    integer :: step, i, ierr
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = mod(i * step + rank, 16)
      end do
      call MPI_Allreduce(mine, largest, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      sums(step) = size
      do i = 1, n
        sums(step) = 0.5d0 * sums(step) + largest(n + 1 - i)
      end do
      ! the end of a step
    end do
    answer = sum(sums) + step
  end subroutine

  ! One value for each step; the second stage is the work.
  subroutine one_value_each(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: matrix(n, steps)
    integer :: low, lowest, i, j, ierr
    do j = 1, steps
      low = mod(j * (rank + size), 7)
      call MPI_Allreduce(low, lowest, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierr)
      do i = 1, n
        matrix(i, j) = lowest + i
      end do
    end do
    answer = sum(matrix)
  end subroutine

  ! The next step begins with what this one got: nothing can be done.
  subroutine each_step_needs_the_last(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: mine(n), largest(n)
    integer :: step, i, ierr
    largest = 0
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = mod(i * step + rank, 16) + 0.5d0 * largest(n + 1 - i)
      end do
      call MPI_Allreduce(mine, largest, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    end do
    answer = sum(largest) + size
  end subroutine
end module stages
