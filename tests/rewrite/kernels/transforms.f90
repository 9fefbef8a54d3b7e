! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Transposes by alltoall, and what stands around them.
module transforms
  use mpi
  implicit none
  integer, parameter :: rows = 48
contains

  ! The program of the paper: an alltoall, a matrix times a vector that does not need it, then what was received.
  subroutine alltoall_and_matrix(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: sent(rows), received(rows), matrix(rows, rows), x(rows), y(rows)
    integer :: i, j, ierr
    do j = 1, rows
      x(j) = mod(j + rank, 4)
      sent(j) = j * 2 + rank
      do i = 1, rows
        matrix(i, j) = mod(i * j, 8)
      end do
    end do
    call MPI_Alltoall(sent, rows / size, MPI_DOUBLE_PRECISION, received, rows / size, MPI_DOUBLE_PRECISION, &
                      MPI_COMM_WORLD, ierr)
    do i = 1, rows
      y(i) = 0
      do j = 1, rows
        y(i) = y(i) + matrix(i, j) * x(j)
      end do
    end do
    answer = sum(received) + sum(y)
  end subroutine

  ! As in a Fourier transform: the factors of the next stage are computed after the transpose.
  subroutine transpose_and_factors(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    complex(8) :: field(rows), turned(rows), factors(rows)
    integer :: i, stage, ierr
    do i = 1, rows
      field(i) = cmplx(mod(i + rank, 8), i, kind=8)
    end do
    do stage = 1, 3
      call MPI_Alltoall(field, rows / size, MPI_DOUBLE_COMPLEX, turned, rows / size, MPI_DOUBLE_COMPLEX, &
                        MPI_COMM_WORLD, ierr)
      do i = 1, rows
        factors(i) = cmplx(mod(i * stage, 4), 1, kind=8)
      end do
      do i = 1, rows
        field(i) = turned(i) * factors(i) / 4
      end do
    end do
    answer = real(sum(field), kind=8) + aimag(sum(field))
  end subroutine

  ! Alternating directions: a sweep of another field lies between the transposes.
  subroutine two_fields(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: a(rows), b(rows), ta(rows), tb(rows)
    integer :: i, step, ierr
    do i = 1, rows
      a(i) = mod(i + rank, 16)
      b(i) = mod(3 * i + rank, 16)
    end do
    do step = 1, 2
      call MPI_Alltoall(a, rows / size, MPI_DOUBLE_PRECISION, ta, rows / size, MPI_DOUBLE_PRECISION, &
                        MPI_COMM_WORLD, ierr)
      do i = 2, rows
        b(i) = 0.5d0 * (b(i) + b(i-1))
      end do
      call MPI_Alltoall(b, rows / size, MPI_DOUBLE_PRECISION, tb, rows / size, MPI_DOUBLE_PRECISION, &
                        MPI_COMM_WORLD, ierr)
      do i = 2, rows
        ta(i) = 0.5d0 * (ta(i) + ta(i-1))
      end do
      do i = 1, rows
        a(i) = ta(i)
        b(i) = tb(i)
      end do
    end do
    answer = sum(a) + sum(b)
  end subroutine

  ! What is received is needed at once, and what is sent was computed just before: no window.
  subroutine chain(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: a(rows), b(rows)
    integer :: i, ierr
    do i = 1, rows
      a(i) = i + rank
    end do
    call MPI_Alltoall(a, rows / size, MPI_DOUBLE_PRECISION, b, rows / size, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    do i = 1, rows
      a(i) = b(rows + 1 - i)
    end do
    answer = a(1) + 2 * a(rows)
  end subroutine

  ! Only a block of what is received is needed in the loop: the other iterations can run first.
  subroutine local_block_first(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer, parameter :: m = 60
    real(8) :: x(2 * m), y(2 * m)
    integer :: i, ierr
    do i = 1, 2 * m
      x(i) = mod(i, 16) + rank
    end do
    call MPI_Bcast(x(m+1), m, MPI_DOUBLE_PRECISION, size - 1, MPI_COMM_WORLD, ierr)
    do i = 1, 2 * m
      y(i) = 2 * x(i) + i
    end do
    answer = sum(y)
  end subroutine
end module transforms
