! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! Times of collective subroutines in ns, the median over calls of the slowest image's: coarrays ELEMENTS CALLS. For
! coarrays.py.
program coarrays
    use, intrinsic :: iso_fortran_env, only: int64, real64
    implicit none
    integer :: n, calls, i
    integer(int64) :: started, ended, rate
    real(real64), allocatable :: whole(:), apart(:), times(:)
    character(20) :: argument
    call get_command_argument(1, argument)
    read (argument, *) n
    call get_command_argument(2, argument)
    read (argument, *) calls
    allocate (whole(n), apart(2*n), times(calls))
    call system_clock(count_rate=rate)
    whole = 0
    apart = 0
    do i = 1, calls
        call begin()
        call co_broadcast(whole, 1)
        call finish()
    end do
    call tell('co_broadcast')
    do i = 1, calls
        call begin()
        call co_broadcast(apart(::2), 1)
        call finish()
    end do
    call tell('co_broadcast-strided')
    do i = 1, calls
        call begin()
        call co_sum(whole)
        call finish()
    end do
    call tell('co_sum')
    do i = 1, calls
        call begin()
        call co_sum(apart(::2))
        call finish()
    end do
    call tell('co_sum-strided')
contains
    subroutine begin()
        sync all
        call system_clock(started)
    end subroutine

    subroutine finish()
        call system_clock(ended)
        times(i) = real(ended - started, real64)/rate*1e9_real64
    end subroutine

    subroutine tell(name)
        character(*), intent(in) :: name
        integer :: k, least
        real(real64) :: swapped
        do k = 1, calls
            call co_max(times(k))
        end do
        do k = 1, calls/2 + 1
            least = k - 1 + minloc(times(k:), 1)
            swapped = times(k)
            times(k) = times(least)
            times(least) = swapped
        end do
        if (this_image() == 1) print '(a,1x,f0.0)', name, times(calls/2 + 1)
    end subroutine
end program
