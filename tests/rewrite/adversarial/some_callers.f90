! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Procedures that only some ranks call, in ways that a plain `call` with their name does not show.

module some_callers
  use mpi
  implicit none
  integer, parameter :: n = 100
  real(8) :: x(n), w(n)
  integer :: rank, flag
  type role
    integer :: k = 0
  contains
    procedure :: leads
    procedure :: follows
  end type
  interface go
    module procedure go_by_integer, go_by_real
  end interface
contains

  ! Bound to a type.
  subroutine leads(this)
    class(role), intent(in) :: this
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
  end subroutine

  subroutine follows(this)
    class(role), intent(in) :: this
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  ! Behind a generic name.
  subroutine go_by_integer(k)
    integer, intent(in) :: k
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
  end subroutine

  subroutine go_by_real(k)
    real, intent(in) :: k
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  ! Behind a pointer.
  subroutine pointed_first()
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
  end subroutine

  subroutine pointed_second()
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  ! Passed as an argument.
  subroutine passed_first()
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
  end subroutine

  subroutine passed_second()
    integer :: ierr
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine run(procedure_to_run)
    external :: procedure_to_run
    call procedure_to_run()
  end subroutine

  ! One rank returns, and takes part where the procedure was called.
  subroutine early()
    integer :: ierr
    if (rank == 0) return
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
  end subroutine

  ! A procedure that is passed on changes the flag.
  subroutine passed_flag()
    flag = rank
  end subroutine

  subroutine flagged()
    integer :: ierr
    flag = 0
    call run(passed_flag)
    if (flag == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! It calls itself on some ranks.
  recursive subroutine again(k)
    integer, intent(in) :: k
    integer :: ierr
    if (k > rank) return
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    w = 2 * w
    call again(k + 1)
  end subroutine
end module some_callers

program main
  use some_callers
  implicit none
  type(role) :: part
  procedure(pointed_first), pointer :: chosen
  integer :: ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) then
    call part%leads()
    call go(1)
    chosen => pointed_first
    call run(passed_first)
  else
    call part%follows()
    call go(1.0)
    chosen => pointed_second
    call run(passed_second)
  end if
  call chosen()
  call early()
  call flagged()
  if (rank == 0) then
    ! expect: divergence
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end if
  call again(0)
  call MPI_Finalize(ierr)
end program main
