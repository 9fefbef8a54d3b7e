! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Communication in procedures of its own: the window is where they are called.
module exchanges
  use mpi
  implicit none
  integer, parameter :: n = 60
  real(8) :: largest(n)
contains

  subroutine exchange_edges(u, left, right)
    real(8), intent(inout) :: u(0:n+1)
    integer, intent(in) :: left, right
    integer :: ierr
    u(n) = u(n) + 1
    call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, u(0), 1, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1), 1, MPI_DOUBLE_PRECISION, left, 2, u(n+1), 1, MPI_DOUBLE_PRECISION, right, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    u(0) = 0.5d0 * u(0)
    return
  end subroutine exchange_edges

  ! Into a variable of the module.
  subroutine find_largest(field)
    real(8), intent(in) :: field(n)
    integer :: ierr
    call MPI_Allreduce(field, largest, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  end subroutine find_largest

  subroutine smooth(v)
    real(8), intent(inout) :: v(0:n+1)
    integer :: i
    do i = 1, n
      v(i) = 0.5d0 * (v(i-1) + v(i))
    end do
  end subroutine smooth

  ! Another field is smoothed beside the exchange, by a procedure too.
  subroutine two_fields_exchanged(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: u(0:n+1), v(0:n+1)
    integer :: i, step, left, right
    left = mod(rank + size - 1, size)
    right = mod(rank + 1, size)
    do i = 0, n + 1
      u(i) = mod(i * (rank + 1), 8)
      v(i) = mod(i + rank, 16)
    end do
    do step = 1, 3
      call exchange_edges(u, left, right)
      call smooth(v)
      do i = 1, n
        u(i) = 0.5d0 * (u(i-1) + u(i)) + v(i)
      end do
      call exchange_edges(v, left, right)
      call smooth(u)
      v(1) = v(1) + v(0) + v(n+1)
    end do
    answer = sum(u) + sum(v)
  end subroutine two_fields_exchanged

  subroutine largest_beside_smoothing(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: field(n), v(0:n+1)
    integer :: i
    do i = 1, n
      field(i) = mod(i * (rank + 3), 32)
    end do
    v = size
    call find_largest(field)
    call smooth(v)
    answer = sum(largest) + sum(v)
  end subroutine largest_beside_smoothing
end module exchanges
