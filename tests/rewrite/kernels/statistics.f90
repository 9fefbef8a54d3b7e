! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Diagnostics, histograms and several operations at once.
module statistics
  use mpi
  implicit none
  integer, parameter :: n = 180
  real(8) :: field(n)
contains

  subroutine advance(values, by)
    real(8), intent(inout) :: values(n)
    integer, intent(in) :: by
    integer :: i
    do i = 1, n
      values(i) = 0.5d0 * values(i) + by
    end do
  end subroutine

  ! A copy of the field is gathered while a procedure of the module advances another array.
  subroutine gather_beside_a_call(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: copy(n), whole(n * 16), other(n)
    integer :: i, ierr
    do i = 1, n
      copy(i) = mod(i + rank, 8)
      other(i) = i
    end do
    call MPI_Gather(copy, n, MPI_DOUBLE_PRECISION, whole, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call advance(other, 3)
    answer = sum(other)
    if (rank == 0) answer = answer + sum(whole(1:n*size))
  end subroutine

  ! The module's field is reduced in place; the procedure that is called works on another array.
  subroutine module_field(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: other(n)
    integer :: i, ierr
    do i = 1, n
      field(i) = mod(i * rank, 8)
      other(i) = size
    end do
    call MPI_Allreduce(MPI_IN_PLACE, field, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call advance(other, 1)
    answer = sum(field) + sum(other)
  end subroutine

  ! A histogram; beside its reduction the next one is filled.
  subroutine histograms(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer :: low(8), high(8), all_low(8), all_high(8), i, ierr
    low = 0
    high = size
    do i = 1, n
      low(1 + mod(i + rank, 8)) = low(1 + mod(i + rank, 8)) + 1
    end do
    call MPI_Allreduce(low, all_low, 8, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    do i = 1, n
      high(1 + mod(i * 3 + rank, 8)) = high(1 + mod(i * 3 + rank, 8)) + 1
    end do
    call MPI_Allreduce(high, all_high, 8, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    answer = sum(all_low * [1, 2, 3, 4, 5, 6, 7, 8]) + sum(all_high)
  end subroutine

  ! Two operations on different arrays: both can be on their way beside the loop.
  subroutine two_at_once(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: a(n), b(n), c(n)
    integer :: i, ierr
    do i = 1, n
      a(i) = i + rank
      b(i) = 2 * i - rank
    end do
    call MPI_Bcast(a, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(b, n, MPI_DOUBLE_PRECISION, size - 1, MPI_COMM_WORLD, ierr)
    do i = 1, n
      c(i) = mod(i * i, 7)
    end do
    answer = sum(a) + sum(b) + sum(c)
  end subroutine

  ! Offsets by a prefix sum while the own part is put in order.
  subroutine prefix(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer :: own, before, i, ierr
    real(8) :: a(n), b(n)
    own = rank + 3
    do i = 1, n
      a(i) = mod(i * 13, 32)
    end do
    call MPI_Scan(own, before, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    do i = 1, n
      b(i) = a(n + 1 - i)
    end do
    answer = before + b(1) + 2 * b(2) + size
  end subroutine

  ! A part of the array goes out; the rest is changed meanwhile, which only sections can tell.
  subroutine sections(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: a(n), most(n)
    integer :: i, ierr
    integer, parameter :: half = n / 2
    do i = 1, n
      a(i) = mod(i * (rank + 1), 16)
    end do
    call MPI_Allreduce(a(1:half), most(1:half), half, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = half + 1, n
      a(i) = a(i) + size
      most(i) = a(i)
    end do
    answer = sum(most)
  end subroutine
end module statistics
