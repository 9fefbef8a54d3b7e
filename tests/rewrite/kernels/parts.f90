! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Collectives whose message is made, or needed, by the loop beside them: they can go in parts.
module parts
  use mpi
  implicit none
  integer, parameter :: rows = 90, columns = 12
contains

  ! The loop before makes the elements in their order, the loop behind needs them in their order.
  subroutine made_and_needed(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: mine(rows), largest(rows)
    integer :: i, ierr
    do i = 1, rows
      mine(i) = mod(i * (rank + 1), 16)
    end do
    call MPI_Allreduce(mine, largest, rows, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    answer = size
    do i = 1, rows
      answer = 0.5d0 * answer + largest(i)
    end do
  end subroutine

  ! A matrix goes column by column; a column needs the one behind it too.
  subroutine columns_of_a_matrix(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: matrix(rows, columns), means(columns)
    integer :: i, j, ierr
    matrix = rank
    if (rank == size - 1) then
      do j = 1, columns
        do i = 1, rows
          matrix(i, j) = mod(i * j, 8)
        end do
      end do
    end if
    call MPI_Bcast(matrix, rows * columns, MPI_DOUBLE_PRECISION, size - 1, MPI_COMM_WORLD, ierr)
    do j = 1, columns - 1
      means(j) = 0
      do i = 1, rows
        means(j) = means(j) + matrix(i, j) - 0.5d0 * matrix(i, j+1)
      end do
    end do
    means(columns) = j
    answer = sum(means)
  end subroutine

  ! The running sums of integers are exact in any order.
  subroutine running_sums(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer :: counts(0:rows), before(0:rows), i, ierr
    counts(0) = size
    do i = 1, rows
      counts(i) = mod(i + rank, 5)
    end do
    call MPI_Scan(counts(1), before(1), rows, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    answer = 0
    do i = 1, rows
      answer = answer + before(i) * counts(i)
    end do
  end subroutine

  ! The first iteration needs the last element: nothing can be done.
  subroutine from_the_end(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: field(rows)
    integer :: i, ierr
    do i = 1, rows
      field(rows + 1 - i) = i + rank
    end do
    call MPI_Bcast(field, rows, MPI_DOUBLE_PRECISION, size - 1, MPI_COMM_WORLD, ierr)
    answer = 0
    do i = 1, rows
      answer = 0.5d0 * answer + field(rows + 1 - i)
    end do
  end subroutine
end module parts
