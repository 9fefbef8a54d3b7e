! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Exchanges with neighbours. Values are small integers and halves, so that sums are exact in any order.
module stencils
  use mpi
  implicit none
  integer, parameter :: n = 240
contains

  subroutine neighbours(rank, size, left, right)
    integer, intent(in) :: rank, size
    integer, intent(out) :: left, right
    left = mod(rank + size - 1, size)
    right = mod(rank + 1, size)
  end subroutine

  ! A line of cells with one halo cell on each side.
  subroutine halo_line(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: u(0:n+1), v(n)
    integer :: i, step, left, right, ierr
    call neighbours(rank, size, left, right)
    do i = 0, n + 1
      u(i) = mod(i * 7 + rank, 16)
    end do
    do step = 1, 4
      call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, u(0), 1, MPI_DOUBLE_PRECISION, left, 1, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Sendrecv(u(1), 1, MPI_DOUBLE_PRECISION, left, 2, u(n+1), 1, MPI_DOUBLE_PRECISION, right, 2, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      do i = 1, n
        v(i) = 0.5d0 * (u(i-1) + u(i+1))
      end do
      do i = 1, n
        u(i) = v(i)
      end do
    end do
    answer = sum(v)
  end subroutine

  ! A plane, cut into columns: halos are columns.
  subroutine halo_plane(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer, parameter :: m = 24
    real(8) :: u(m, 0:m+1), v(m, m)
    integer :: i, j, step, left, right, ierr
    call neighbours(rank, size, left, right)
    do j = 0, m + 1
      do i = 1, m
        u(i, j) = mod(i + 3 * j + rank, 8)
      end do
    end do
    do step = 1, 3
      call MPI_Sendrecv(u(1, m), m, MPI_DOUBLE_PRECISION, right, 1, u(1, 0), m, MPI_DOUBLE_PRECISION, left, 1, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Sendrecv(u(1, 1), m, MPI_DOUBLE_PRECISION, left, 2, u(1, m+1), m, MPI_DOUBLE_PRECISION, right, 2, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      do j = 1, m
        do i = 1, m
          v(i, j) = 0.5d0 * (u(i, j-1) + u(i, j+1)) + i
        end do
      end do
      do j = 1, m
        do i = 1, m
          u(i, j) = v(i, j)
        end do
      end do
    end do
    answer = sum(v)
  end subroutine

  ! The halo comes by plain sends and receives, even ranks first.
  subroutine halo_send_receive(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: u(0:n), v(n)
    integer :: i, left, right, ierr
    call neighbours(rank, size, left, right)
    do i = 0, n
      u(i) = mod(i * 5 + rank, 32)
    end do
    if (mod(rank, 2) == 0) then
      call MPI_Send(u(n), 1, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, ierr)
      call MPI_Recv(u(0), 1, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    else
      call MPI_Recv(u(0), 1, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Send(u(n), 1, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, ierr)
    end if
    do i = 1, n
      v(i) = u(i) + u(i-1)
    end do
    answer = sum(v)
  end subroutine

  ! The residual of a step is reduced while the next array is prepared.
  subroutine residual(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: u(n), v(n), largest, most
    integer :: i, step, ierr
    most = 0
    do i = 1, n
      u(i) = mod(i * 11 + rank * 3, 64)
    end do
    do step = 1, 3
      do i = 2, n - 1
        v(i) = 0.5d0 * (u(i-1) + u(i+1))
      end do
      v(1) = u(1)
      v(n) = u(n)
      largest = maxval(abs(u - v))
      call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        u(i) = v(i) + step
      end do
      most = most + largest
    end do
    answer = most + sum(u) + size
  end subroutine

  ! Whether to go on depends on the residual at once: nothing can be hidden.
  subroutine residual_decides(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: u(n), largest, most
    integer :: i, step, ierr
    do i = 1, n
      u(i) = mod(i + rank + size, 64)
    end do
    do step = 1, 10
      largest = maxval(u)
      call MPI_Allreduce(largest, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      if (most < 40) exit
      do i = 1, n
        u(i) = 0.5d0 * u(i)
      end do
    end do
    answer = sum(u) + step
  end subroutine

  ! The exchange stands behind the loop that makes what is sent: its edge can run first.
  subroutine edge_first(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: u(0:n), v(n)
    integer :: i, step, left, right, ierr
    call neighbours(rank, size, left, right)
    u = rank
    do i = 1, n
      v(i) = mod(i * 3 + rank, 8)
    end do
    do step = 1, 3
      do i = 1, n
        u(i) = 0.5d0 * u(i) + v(i)
      end do
      call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 5, u(0), 1, MPI_DOUBLE_PRECISION, left, 5, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
    answer = sum(u)
  end subroutine

  ! One loop does two things: only the second needs what is received.
  subroutine fused_loop(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: a(n), b(n), w(n), u(n), half
    integer :: i, ierr
    do i = 1, n
      a(i) = mod(i * 3 + rank, 8)
    end do
    call MPI_Allreduce(a, b, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = 2 * a(i) + size     ! does not need it
      half = 0.5d0 * w(i)
      u(i) = b(i) + half
    end do
    answer = sum(u) + sum(w)
  end subroutine
end module stencils
