! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Particles: rings, gathered positions, counts.
module particles
  implicit none
  integer, parameter :: m = 40
contains

  ! Positions go round the ring; the forces of the block at hand are computed meanwhile.
  subroutine ring(rank, size, answer)
    use mpi, only: MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_STATUS_SIZE
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8) :: block(m), arriving(m), own(m), force(m)
    integer :: i, j, step, ierr, status(MPI_STATUS_SIZE)
    do i = 1, m
      own(i) = mod(i * 3 + rank, 16)
      block(i) = own(i)
      force(i) = 0
    end do
    do step = 1, size
      call MPI_Sendrecv(block, m, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 1, arriving, m, MPI_DOUBLE_PRECISION, &
                        mod(rank + size - 1, size), 1, MPI_COMM_WORLD, status, ierr)
      do i = 1, m
        do j = 1, m
          force(i) = force(i) + 0.5d0 * (block(j) - own(i))
        end do
      end do
      do i = 1, m
        block(i) = arriving(i)
      end do
    end do
    answer = sum(force)
  end subroutine

  ! Short-range forces need own particles only; the others' positions arrive meanwhile.
  subroutine own_first(rank, size, answer)
    use mpi
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    real(8), allocatable :: everybody(:)
    real(8) :: own(m), near(m), far(m)
    integer :: i, j, ierr
    allocate(everybody(m * size))
    do i = 1, m
      own(i) = mod(i * 7 + rank, 16)
    end do
    call MPI_Allgather(own, m, MPI_DOUBLE_PRECISION, everybody, m, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    do i = 1, m
      near(i) = 0
      do j = 1, m
        near(i) = near(i) + abs(own(i) - own(j))
      end do
    end do
    do i = 1, m
      far(i) = maxval(everybody) - own(i)
    end do
    answer = sum(near) + sum(far)
  end subroutine

  ! Centres of clusters: counts are integers, sums are of integers too.
  subroutine clusters(rank, size, answer)
    use mpi
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer :: counts(4), all_counts(4), nearest(m), i, c, ierr
    real(8) :: x(m), spread(m)
    do i = 1, m
      x(i) = mod(i * 5 + rank, 12)
      nearest(i) = 1 + mod(i + rank, 4)
    end do
    counts = 0
    do i = 1, m
      c = nearest(i)
      counts(c) = counts(c) + 1
    end do
    call MPI_Allreduce(counts, all_counts, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    do i = 1, m
      spread(i) = x(i) * x(i) + nearest(i)
    end do
    answer = sum(spread) + sum(all_counts * [1, 2, 3, 4]) + size
  end subroutine

  ! Samples are drawn by a generator with a state: the reduction at the end has nothing beside it.
  subroutine sampling(rank, size, answer)
    use mpi
    integer, intent(in) :: rank, size
    real(8), intent(out) :: answer
    integer :: state, hits, all_hits, i, ierr
    state = rank + 1
    hits = 0
    do i = 1, 500
      state = mod(state * 171, 30269)
      if (mod(state, 3) == 0) hits = hits + 1
    end do
    call MPI_Reduce(hits, all_hits, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    answer = size
    if (rank == 0) answer = all_hits
  end subroutine
end module particles
