! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Branches on values that look as if they were the same on all ranks, but may differ. Each branch has a broadcast of
! its own, and one that blocks never matches one that does not (MPI 4.1, 6.12).

module some_values
  use mpi
  implicit none
  integer, parameter :: n = 100
contains

  ! A reduction makes the flag the same, but only behind the branch.
  subroutine reduced_later(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: flag
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    flag = 0
    if (rank == 0) flag = 1
    if (flag > 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
    ! expect: order
    call MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  end subroutine

  ! The same with an array.
  subroutine sent_later(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: flags(2)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    flags = 0
    if (rank == 0) flags(1) = 1
    if (flags(1) == 1) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
    ! expect: order
    call MPI_Bcast(flags, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end subroutine

  ! A broadcast of the first element leaves the second one as it is.
  subroutine partly_sent(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: flags(2)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    flags = 0
    if (rank == 0) flags(2) = 1
    ! expect: order
    call MPI_Bcast(flags, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    if (flags(2) == 1) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! What is the same in a part of the ranks differs between the parts.
  subroutine of_some_ranks(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: part, least
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, part, ierr)
    ! expect: order
    call MPI_Allreduce(rank, least, 1, MPI_INTEGER, MPI_MIN, part, ierr)
    if (least == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! And so does their number.
  subroutine size_of_a_part(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: part, number
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, min(rank, 1), rank, part, ierr)
    call MPI_Comm_size(part, number, ierr)
    if (number == 1) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! Ranks that the grid has no place for.
  subroutine outside_of_the_grid(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: grid, ierr2
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [2], [.true.], .false., grid, ierr2)
    if (grid == MPI_COMM_NULL) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! Only one rank has the array.
  subroutine whether_allocated(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    real(8), allocatable :: q(:)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (rank == 0) allocate(q(10))
    if (allocated(q)) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! The array has another size on each rank.
  subroutine how_large(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    real(8), allocatable :: q(:)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    allocate(q(rank))
    q = 0
    if (size(q) == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! The number goes through a text.
  subroutine through_a_text(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    character(len=20) :: text
    integer :: k
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    write (text, *) rank
    read (text, *) k
    if (k == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! Only one rank has opened the file.
  subroutine whether_open(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    logical :: is_open
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (rank == 0) open (9, file='some_values.txt')
    inquire (unit=9, opened=is_open)
    if (is_open) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! Standard input: usually of one rank.
  subroutine standard_input(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: k
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    read (*, *) k
    if (k == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! The number of iterations depends on the rank.
  subroutine behind_a_loop(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: i, k
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    k = 0
    do i = 1, rank
      k = i
    end do
    if (k > 1) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! So does the value of the loop variable behind it.
  subroutine variable_of_a_loop(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: i
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    do i = 1, 5
      if (i > rank) exit
    end do
    if (i > 2) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! A name of the program that begins like those of MPI.
  subroutine name_like_mpi(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: mpi_rank = 0
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, mpi_rank, ierr)
    if (mpi_rank == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! A function that is not among the files.
  subroutine unknown_function(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer, external :: who_am_i
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (who_am_i() == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! The ranks of a communicator, after another one got its name.
  subroutine renewed(x, w)
    real(8), intent(inout) :: x(n), w(n)
    integer :: rank, ierr
    integer :: part, least
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, part, ierr)
    ! expect: communication
    call MPI_Allreduce(rank, least, 1, MPI_INTEGER, MPI_MIN, part, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, part, ierr)
    if (least == 0) then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, part, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, part, ierr)
    end if
  end subroutine

  ! Launchers tell each rank its number so.
  subroutine environment(x, w)
    real(8), intent(inout) :: x(n), w(n)
    character(len=9) :: word
    integer :: ierr
    call get_environment_variable('OMPI_COMM_WORLD_RANK', word)
    if (word == '0') then
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      w = 2 * w
    else
      ! expect: divergence
      call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine
end module some_values
