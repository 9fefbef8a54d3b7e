! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! What decides how much is done, and is read outside of the statements that do it. Each call stays as it is, for the
! reason in the comment before it.

module bounds_and_shapes
  implicit none
contains

  subroutine fill(a, n)
    integer, intent(in) :: n
    integer, intent(inout) :: a(n)
    a = 7
  end subroutine

  subroutine extent_of_a_dummy(a, b)
    use mpi
    integer, intent(inout) :: a(100), b(100)
    integer :: k, ierr
    ! expect: dependence
    call MPI_Bcast(b, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    k = b(100)
    call fill(a, k)
  end subroutine

  subroutine bound_of_the_loop(a, n)
    use mpi
    integer, intent(inout) :: a(1000), n
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      a(i) = i
    end do
  end subroutine

  subroutine bound_by_a_function(a, n)
    use mpi
    integer, intent(inout) :: a(1000), n
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    do i = 1, min(1000, n)
      a(i) = i
    end do
  end subroutine

  subroutine sizes_of_ranks(a, c, n)
    use mpi
    integer, intent(in) :: n
    integer, intent(inout) :: a(100), c(100)
    integer :: i, ierr, rank
    integer, allocatable :: like(:), own(:)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    allocate (own(rank))
    allocate (like, mold=own)
    if (size(like) == 0) then
      ! expect: divergence
      call MPI_Bcast(a, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      do i = 1, n
        c(i) = c(i) + i
      end do
    end if
  end subroutine

  subroutine record_of_a_rank(a, c, n)
    use mpi
    integer, intent(in) :: n
    integer, intent(inout) :: a(100), c(100)
    integer :: i, k, ierr, rank
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    open (10, file="numbers", access="direct", recl=4)
    read (10, rec=rank + 1) k
    if (k == 1) then
      ! expect: divergence
      call MPI_Bcast(a, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      do i = 1, n
        c(i) = c(i) + i
      end do
    end if
  end subroutine

  subroutine waits_past_a_send(a, b, c, n)
    use mpi
    integer, intent(in) :: n
    integer, intent(inout) :: a(100), b(100), c(100)
    integer :: i, ierr, request
    ! expect: order
    call MPI_Recv(a, 100, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Isend(b, 100, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, request, ierr)
    do i = 1, n
      c(i) = c(i) + i
    end do
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end subroutine
end module bounds_and_shapes
