! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Kernels for rewrite_gain.py. Each communicates about as long as it computes, if `work` is chosen so.
!
! rewrite_gain NUMBER WORK REPETITIONS: prints the seconds of each repetition, those of the slowest rank. The rank naps
! for `work` microseconds in place of a computation, so that others may use the core: as if it had a core of its own.
! Kernels 9 to 11 compute instead: as many terms for each element as take `work` microseconds together on an idle core.
module gain_kernels
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  integer, parameter :: m = 125000, columns = 10, pieces = 8, piece = m / pieces
  real(8) :: a(m), b(m), w(m), u(m, 0:columns+1), v(m, 0:columns+1), p(piece, pieces)
  integer :: terms  ! of kernels that compute
contains

  real(8) function series(x)
    real(8), intent(in) :: x
    integer :: k
    series = x
    do k = 1, terms
      series = 0.5d0 * series + 1 / (1 + series * series)
    end do
  end function

  ! So that `series` of all elements takes `work` microseconds.
  subroutine choose_terms(work)
    integer, intent(in) :: work
    real(8) :: began, x
    integer :: i
    terms = 1000
    x = 1
    began = MPI_Wtime()
    do i = 1, 200
      x = series(x + i)
    end do
    terms = nint(work * 1d-6 / m / ((MPI_Wtime() - began) / (200 * 1000)))
    w(1) = x
  end subroutine

  subroutine spend(x, work)
    real(8), intent(inout) :: x(m)
    integer, intent(in) :: work
    integer(c_int) :: status
    status = usleep(int(work, c_int))
    x(1) = x(1) + 1
  end subroutine

  subroutine alltoall_and_work(ranks, work)
    integer, intent(in) :: ranks, work
    integer :: ierr
    call MPI_Alltoall(a, m / ranks, MPI_DOUBLE_PRECISION, b, m / ranks, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    !$hocket pure
    call spend(w, work)
    a = b
  end subroutine

  subroutine broadcast_and_work(work)
    integer, intent(in) :: work
    integer :: ierr
    call MPI_Bcast(a, m, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    !$hocket pure
    call spend(w, work)
    b = a
  end subroutine

  subroutine reduction_after_work(work)
    integer, intent(in) :: work
    integer :: ierr
    !$hocket pure
    call spend(w, work)
    call MPI_Allreduce(a, b, m, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    a = 0.5d0 * b
  end subroutine

  subroutine gather_and_work(ranks, work)
    integer, intent(in) :: ranks, work
    integer :: ierr
    call MPI_Allgather(a, m / ranks, MPI_DOUBLE_PRECISION, b, m / ranks, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    !$hocket pure
    call spend(w, work)
    a = b
  end subroutine

  subroutine halo(left, right, work)
    integer, intent(in) :: left, right, work
    integer :: j, ierr
    call MPI_Sendrecv(u(1, columns), m, MPI_DOUBLE_PRECISION, right, 1, u(1, 0), m, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do j = 1, columns
      !$hocket pure
      call spend(v(:, j), work / columns)
      v(:, j) = 0.5d0 * (u(:, j-1) + u(:, j+1)) + 0.001d0 * v(:, j)
    end do
  end subroutine

  subroutine edge_first(left, right, work)
    integer, intent(in) :: left, right, work
    integer :: j, ierr
    do j = 1, columns
      !$hocket pure
      call spend(u(:, j), work / columns)
    end do
    call MPI_Sendrecv(u(1, columns), m, MPI_DOUBLE_PRECISION, right, 1, u(1, 0), m, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine fused_loop(work)
    integer, intent(in) :: work
    integer :: j, ierr
    call MPI_Bcast(a, m, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, columns
      !$hocket pure
      call spend(v(:, j), work / columns)
      u(:, j) = a + v(:, j)
    end do
  end subroutine

  subroutine small_reduction_and_work(work)
    integer, intent(in) :: work
    integer :: ierr
    real(8) :: largest, most
    largest = a(1)
    call MPI_Allreduce(largest, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    !$hocket pure
    call spend(w, work)
    a(1) = most
  end subroutine

  ! Each element of the message is computed with, one after the other: the message goes in parts.
  subroutine computed_in_parts()
    integer :: i, ierr
    call MPI_Bcast(a, m, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, m
      w(i) = series(a(i))
    end do
  end subroutine

  ! Four fields are made, and their largest values are used: two stages.
  subroutine computed_in_stages()
    integer, parameter :: steps = 4, n = m / steps
    real(8) :: mine(n), largest(n)
    integer :: step, i, ierr
    do step = 1, steps
      do i = 1, n
        mine(n + 1 - i) = series(w(i) + step)
      end do
      call MPI_Allreduce(mine, largest, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, n
        v(i, step) = largest(n + 1 - i)
      end do
    end do
  end subroutine

  subroutine spend_some(x, work)
    real(8), intent(inout) :: x(piece)
    integer, intent(in) :: work
    integer(c_int) :: status
    status = usleep(int(work, c_int))
    x(1) = x(1) + 1
  end subroutine

  ! The message goes in parts: each piece is worked on, one after the other.
  subroutine parts_and_work(work)
    integer, intent(in) :: work
    integer :: j, ierr
    call MPI_Bcast(p, piece * pieces, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, pieces
      !$hocket pure
      call spend_some(p(:, j), work / pieces)
    end do
  end subroutine

  ! Two stages: a field is made while the one before is on its way.
  subroutine stages_and_work(work)
    integer, intent(in) :: work
    real(8) :: mine(piece), largest(piece)
    integer :: step, i, ierr
    do step = 1, pieces
      do i = 1, piece
        mine(i) = w(i) + step
      end do
      !$hocket pure
      call spend_some(mine, work / pieces)
      call MPI_Allreduce(mine, largest, piece, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      do i = 1, piece
        p(i, step) = largest(piece + 1 - i)
      end do
    end do
  end subroutine

  ! The exchange is a procedure, which is divided.
  subroutine divided_and_work(left, right, work)
    integer, intent(in) :: left, right, work
    call exchange(left, right)
    !$hocket pure
    call spend(w, work)
    u(:, 1) = u(:, 0)
  end subroutine

  subroutine exchange(left, right)
    integer, intent(in) :: left, right
    integer :: ierr
    call MPI_Sendrecv(u(1, columns), m, MPI_DOUBLE_PRECISION, right, 1, u(1, 0), m, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  ! The exchange is a procedure, which is divided.
  subroutine computed_beside_a_call(left, right)
    integer, intent(in) :: left, right
    integer :: i
    call exchange(left, right)
    do i = 1, m
      w(i) = series(w(i))
    end do
    u(:, 1) = u(:, 0)
  end subroutine
end module gain_kernels

program rewrite_gain
  use mpi
  use gain_kernels
  implicit none
  integer :: number, work, repetitions, rank, ranks, left, right, i, ierr
  real(8) :: began, own, slowest
  character(len=20) :: word
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, word)
  read (word, *) number
  call get_command_argument(2, word)
  read (word, *) work
  call get_command_argument(3, word)
  read (word, *) repetitions
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  a = rank
  w = 1
  u = rank
  v = 1
  p = rank
  call choose_terms(work)
  do i = 1, repetitions
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    began = MPI_Wtime()
    select case (number)
    case (1)
      call alltoall_and_work(ranks, work)
    case (2)
      call broadcast_and_work(work)
    case (3)
      call reduction_after_work(work)
    case (4)
      call gather_and_work(ranks, work)
    case (5)
      call halo(left, right, work)
    case (6)
      call edge_first(left, right, work)
    case (7)
      call fused_loop(work)
    case (8)
      call small_reduction_and_work(work)
    case (9)
      call computed_in_parts()
    case (10)
      call computed_in_stages()
    case (11)
      call computed_beside_a_call(left, right)
    case (12)
      call parts_and_work(work)
    case (13)
      call stages_and_work(work)
    case (14)
      call divided_and_work(left, right, work)
    end select
    own = MPI_Wtime() - began
    call MPI_Reduce(own, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(es12.5)', slowest
  end do
  call MPI_Finalize(ierr)
end program rewrite_gain
