! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Collectives that not all ranks run at the same place: another rank may meet them with another call, which stays
! blocking. A blocking collective never matches a non-blocking one (MPI 4.1, 6.12).

module some_ranks
  use mpi
  implicit none
  integer, parameter :: n = 100
  integer :: my_rank
contains

  subroutine two_branches(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (rank == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  subroutine a_role_of_the_rank(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, role, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    role = mod(rank, 2)
    select case (role)
    case (0)
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    case default
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end select
  end subroutine

  subroutine set_up()
    integer :: ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, my_rank, ierr)
  end subroutine

  logical function is_first()
    is_first = my_rank == 0
  end function

  subroutine root_part(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
  end subroutine

  subroutine called_by_some(x, w)
    real(8), intent(inout) :: x(n), w(n)
    if (is_first()) call root_part(x, w)
  end subroutine

  ! The first rank runs another broadcast, and leaves.
  subroutine some_leave(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (rank == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      return
    end if
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
  end subroutine

  ! As above, with the other broadcast behind a label.
  subroutine some_jump(x, w)
    real(8), intent(inout) :: x(n), w(n)
    real(8) :: received
    integer :: ierr
    ! expect: early-exit
    call MPI_Recv(received, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    if (received > 2) goto 10
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
    return
 10 continue
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine
end module some_ranks
