! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Scalars that look temporary, names with two values, and storage that other procedures reach under another name. Each
! call stays as it is, for the reason in the comment before it.

module elsewhere
  implicit none
contains

  subroutine last_value_is_printed(a, b, c, d, n)
    use mpi
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n), b(n), c(n), d(n)
    integer :: i, ierr
    real(8) :: t
    ! expect: dependence
    call MPI_Bcast(a, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      t = a(n + 1 - i) + 5
      b(i) = t
    end do
    do i = 1, n
      t = c(i) * i
      d(i) = t
    end do
    print *, t
  end subroutine

  subroutine last_value_is_associated(a, b, c, d, n)
    use mpi
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n), b(n), c(n), d(n)
    integer :: i, ierr
    real(8) :: t
    ! expect: dependence
    call MPI_Bcast(a, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      t = a(n + 1 - i) + 5
      b(i) = t
    end do
    do i = 1, n
      t = c(i) * i
      d(i) = t
    end do
    associate (last => t)
      d(1) = last
    end associate
  end subroutine

  subroutine last_value_is_of_a_group(a, b, c, d, n, text)
    use mpi
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n), b(n), c(n), d(n)
    character(*), intent(inout) :: text
    integer :: i, ierr
    real(8) :: t
    namelist /group/ t
    ! expect: dependence
    call MPI_Bcast(a, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      t = a(n + 1 - i) + 5
      b(i) = t
    end do
    do i = 1, n
      t = c(i) * i
      d(i) = t
    end do
    write (text, nml=group)
  end subroutine

  subroutine last_value_is_the_exit_code(a, b, c, n)
    use mpi
    integer, intent(in) :: n
    integer, intent(inout) :: a(n), b(n), c(n)
    integer :: i, m, ierr
    ! expect: dependence
    call MPI_Bcast(a, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      m = a(n + 1 - i) + 1
      b(i) = m
    end do
    do i = 1, n
      m = c(i) + i
      c(i) = m
    end do
    if (n > 7) stop m
  end subroutine

  subroutine prints(m)
    integer, intent(in) :: m
    print *, m
  end subroutine

  subroutine last_value_is_passed(a, b, c, n)
    use mpi
    integer, intent(in) :: n
    integer, intent(inout) :: a(n), b(n), c(n)
    integer :: i, m, ierr
    ! expect: dependence
    call MPI_Bcast(a, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      m = a(n + 1 - i) + 1
      b(i) = m
    end do
    do i = 1, n
      m = c(i) + i
      c(i) = m
    end do
    call prints(m)
  end subroutine

  subroutine threads_by_the_message(a, c, n)
    use mpi
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n), c(n)
    integer :: i, j, ierr
    ! expect: dependence
    call MPI_Bcast(a, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    j = int(a(3)) + 1
    !$omp parallel do num_threads(j)
    do i = 1, n
      c(i) = c(i) + i
    end do
    !$omp end parallel do
  end subroutine

  subroutine constant_of_a_branch(a, b)
    use mpi
#ifdef SHIFTED
    integer, parameter :: shift = 500
#else
    integer, parameter :: shift = 0
#endif
    real(8), intent(inout) :: a(1000), b(1000)
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(a(1), 400, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, 400
      b(i) = a(i + shift) + 1
    end do
  end subroutine

  subroutine adds()
    real(8) :: z(1000)
    common /block/ z
    integer :: i
    do i = 1, 1000
      z(i) = z(i) + i
    end do
  end subroutine

  subroutine common_by_equivalence(a, b)
    use mpi
    real(8), intent(inout) :: a(1000), b(1000)
    real(8) :: x(1000), y(1000)
    common /block/ y
    equivalence (x, y)
    integer :: i, ierr
    ! expect: dependence
    call MPI_Bcast(a, 1000, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, 1000
      b(i) = a(1001 - i) + x(i)
    end do
    call adds()
  end subroutine
end module elsewhere
