! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Solvers: dot products, panels, distributed matrices.
module linear_algebra
  use mpi_f08
  implicit none
  integer, parameter :: n = 96
contains

  ! A dot product of conjugate gradients, and an update that does not need it.
  subroutine dot_product_and_update(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: r(n), p(n), x(n), rho, own
    integer :: i, step
    do i = 1, n
      r(i) = mod(i + rank, 8)
      p(i) = mod(i * 3, 8)
      x(i) = size
    end do
    rho = 1
    do step = 1, 3
      own = 0
      do i = 1, n
        own = own + r(i) * r(i)
      end do
      !$hocket reassociate
      call MPI_Allreduce(own, rho, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
      do i = 1, n
        x(i) = x(i) + 0.5d0 * p(i)
      end do
      do i = 1, n
        r(i) = mod(rho, 8d0) + i
      end do
    end do
    answer = rho + sum(x)
  end subroutine

  ! The panel of a factorisation is broadcast while the rest of the matrix is updated with the last one.
  subroutine panel(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: a(n, n), now(n), last(n)
    integer :: i, j, k
    do j = 1, n
      last(j) = 1
      do i = 1, n
        a(i, j) = mod(i + j + rank, 8)
      end do
    end do
    do k = 1, 4
      do i = 1, n
        now(i) = a(i, k)
      end do
      call MPI_Bcast(now, n, MPI_DOUBLE_PRECISION, mod(k, size), MPI_COMM_WORLD)
      do j = k + 1, n
        do i = 1, n
          a(i, j) = a(i, j) + 0.5d0 * last(i)
        end do
      end do
      do i = 1, n
        last(i) = now(i)
      end do
    end do
    answer = sum(a) + sum(last)
  end subroutine

  ! A matrix times a distributed vector: the own columns do not need the others' values.
  subroutine gathered_vector(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer, parameter :: m = 12
    real(8) :: own(m), whole(m * 16), y(m), z(m)
    integer :: i, j
    do i = 1, m
      own(i) = mod(i * 5 + rank, 8)
      y(i) = 0
    end do
    call MPI_Allgather(own, m, MPI_DOUBLE_PRECISION, whole, m, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    do i = 1, m
      do j = 1, m
        y(i) = y(i) + own(j) * mod(i + j, 3)
      end do
    end do
    do i = 1, m
      z(i) = 0
      do j = 1, m * size
        z(i) = z(i) + whole(j) * mod(i * j, 3)
      end do
    end do
    answer = sum(y) + sum(z)
  end subroutine

  ! Blocks of different lengths. The lengths are needed until the operation is complete.
  subroutine uneven_blocks(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer :: counts(16), starts(16)
    real(8) :: own(16), whole(256), y(n)
    integer :: i
    do i = 1, size
      counts(i) = i
      starts(i) = (i * (i - 1)) / 2
    end do
    own = rank
    call MPI_Allgatherv(own, rank + 1, MPI_DOUBLE_PRECISION, whole, counts, starts, MPI_DOUBLE_PRECISION, &
                        MPI_COMM_WORLD)
    do i = 1, n
      y(i) = mod(i * i, 32)
    end do
    answer = sum(whole(1:(size * (size + 1)) / 2)) + sum(y)
  end subroutine

  ! The result of the reduction scales the vector at once; the matrix is assembled before the call.
  subroutine assemble_before(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: norm, x(n), a(n, n)
    integer :: i, j
    norm = rank + 1
    do j = 1, n
      do i = 1, n
        a(i, j) = mod(i + 2 * j, 5)
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, norm, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    do i = 1, n
      x(i) = a(i, i) * norm
    end do
    answer = sum(x) + size
  end subroutine

  ! The answer of one call is the argument of the next.
  subroutine power_method(rank, size, answer)
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: x(n), most, all
    integer :: i, step
    do i = 1, n
      x(i) = mod(i + rank, 16) + 1
    end do
    do step = 1, 3
      most = maxval(x)
      call MPI_Allreduce(most, all, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
      do i = 1, n
        x(i) = x(i) * all
      end do
    end do
    answer = x(1) + size
  end subroutine
end module linear_algebra
