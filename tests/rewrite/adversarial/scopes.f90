! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! One name for several things. Each call stays as it is, for the reason in the comment before it.

module waves
  implicit none
  integer, parameter :: extent = 40, planes = 3
  integer :: n = extent
  real(8) :: k = 1, i = 2
  real(8) :: grid(extent, planes)
  real(8), volatile :: changing(extent)
  integer, parameter :: wp = 4
  real(wp) :: short(extent)
contains
  real(8) function wave(x)
    real(8), intent(in) :: x
    wave = 0.5d0 * x + k
  end function
  subroutine choose(x)
    real(8), intent(in) :: x
    k = x
  end subroutine
end module

module several
  use mpi
  implicit none
contains

  ! The function reads the module's k, which is no loop variable.
  subroutine wave_number(x, w)
    use waves, only: wave, choose, extent
    real(8), intent(inout) :: x(extent), w(extent)
    integer :: k, ierr
    ! expect: dependence
    call MPI_Bcast(x, extent, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call choose(x(1))
    do k = 1, extent
      w(k) = wave(w(k))
    end do
  end subroutine

  ! The message is k in its module, but the loop's k is another one.
  subroutine renamed(w)
    use waves, only: factor => k, extent
    real(8), intent(inout) :: w(extent)
    integer :: k, ierr
    ! expect: dependence
    call MPI_Bcast(factor, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do k = 1, extent
      w(k) = w(k) * factor + k
    end do
  end subroutine

  subroutine renamed_volatile(w)
    use waves, only: field => changing, extent
    real(8), intent(inout) :: w(extent)
    integer :: j, ierr
    ! expect: volatile
    call MPI_Bcast(field, extent, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, extent
      w(j) = w(j) + j
    end do
  end subroutine

  ! A column has 40 elements, not as many as the dummy argument says.
  subroutine columns(w, extent)
    use waves, only: grid
    integer, intent(in) :: extent
    real(8), intent(inout) :: w(extent)
    integer :: j, ierr
    ! expect: unseen
    call MPI_Bcast(grid(1, 1), extent, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, 40
      w(j) = grid(j, 2)
    end do
  end subroutine

  subroutine kinds(w)
    use waves, only: short, extent
    integer, parameter :: wp = 8
    real(wp), intent(inout) :: w(extent)
    integer :: j, ierr
    ! expect: unseen
    call MPI_Bcast(short, extent / 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, extent
      w(j) = w(j) + j
    end do
  end subroutine

  ! The prefix is reserved for MPI, but many programs use it.
  subroutine own_prefix(w)
    use waves, only: extent
    real(8), intent(inout) :: w(extent)
    real(8) :: mpi_buf(extent)
    integer :: j, mpi_np, ierr
    mpi_buf = w
    ! expect: dependence
    call MPI_Bcast(mpi_buf, extent, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, extent
      w(j) = w(j) + mpi_buf(extent + 1 - j)
    end do
    call MPI_Comm_size(MPI_COMM_WORLD, mpi_np, ierr)
    ! expect: dependence
    call MPI_Bcast(w, extent, MPI_DOUBLE_PRECISION, mpi_np - 1, MPI_COMM_WORLD, ierr)
    w = w + 1
  end subroutine

  ! MPICH fills a status differently where there is no source and the receive is non-blocking.
  subroutine no_source(x, w, left, tag)
    use waves, only: extent
    real(8), intent(inout) :: x(extent), w(extent)
    integer, intent(in) :: left
    integer, intent(out) :: tag
    integer :: j, state(MPI_STATUS_SIZE), ierr
    ! expect: status
    call MPI_Recv(x, extent, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, state, ierr)
    do j = 1, extent
      w(j) = w(j) + j
    end do
    tag = state(MPI_TAG)
  end subroutine

  ! The second call of rank 0 matches the first one of the others.
  subroutine one_ahead(a, b, c, w)
    use waves, only: extent
    real(8), intent(inout) :: a(extent), b(extent), c(extent), w(extent)
    integer :: j, rank, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (rank == 0) then
      ! expect: divergence
      call MPI_Bcast(a, extent, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
    ! expect: divergence
    call MPI_Bcast(b, extent, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, extent
      w(j) = w(j) + j
    end do
    if (rank /= 0) then
      ! expect: divergence
      call MPI_Bcast(c, extent, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  ! A namelist names the array that would have two copies.
  subroutine in_a_namelist(w, total)
    use waves, only: extent
    real(8), intent(inout) :: w(extent), total(extent)
    real(8) :: mine(extent), largest(extent)
    integer :: step, j, ierr
    namelist /state/ largest
    do step = 1, extent
      do j = 1, extent
        mine(extent + 1 - j) = j * step + w(j)
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, largest, extent, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      total(step) = 0
      do j = 1, extent
        total(step) = 0.5d0 * total(step) + largest(extent + 1 - j)
      end do
    end do
    write (*, nml=state)
  end subroutine

  ! A copy would be a section, which begins with 1.
  subroutine asks_for_bounds(w, total)
    use waves, only: extent
    real(8), intent(inout) :: w(0:extent), total(extent)
    real(8) :: mine(0:extent), largest(0:extent)
    integer :: step, j, ierr
    do step = 1, extent
      do j = 0, extent
        mine(extent - j) = j * step + w(j)
      end do
      ! expect: dependence
      call MPI_Allreduce(mine, largest, extent + 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
      total(step) = 0
      do j = lbound(largest, 1), ubound(largest, 1)
        total(step) = 0.5d0 * total(step) + largest(extent - j)
      end do
    end do
  end subroutine

  ! Of a message in parts the later ones would start with another root.
  subroutine root_changes(x, w, last)
    use waves, only: extent
    real(8), intent(inout) :: x(extent), w(extent)
    integer, intent(in) :: last
    integer :: root, j, ierr
    root = last
    ! expect: dependence
    call MPI_Bcast(x, extent, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, ierr)
    do j = 1, extent
      w(j) = 2 * x(j)
      root = j
    end do
    w(1) = root
  end subroutine

  subroutine of_the_host(w, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: w(n)
    real(8) :: z(n, 3)
    z = 1
    call inside(w, 2 * n)
    w(1) = z(1, 2)
  contains
    subroutine inside(v, n)
      integer, intent(in) :: n
      real(8), intent(inout) :: v(:)
      integer :: j, ierr
      ! expect: unseen
      call MPI_Bcast(z(1, 1), n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      do j = 1, n / 2
        v(j) = z(j, 2)
      end do
    end subroutine
  end subroutine
end module
