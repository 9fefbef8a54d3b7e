! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! The collective subroutines on random sections of random arrays, in every type that MPI can reduce, against values that
! each image computes itself: coarrays_check SEED ROUNDS MODE. In mode "differing" the sections of some images are
! contiguous where those of others are not, which the standard allows. Mode "alone" leaves out what OpenCoarrays 2.10
! does wrong: that, and co_reduce of integers that are not of kind 4 with a function whose arguments are not by value.
module checks
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    implicit none
    integer(int64) :: state = 0
    integer :: wrong = 0, seed = 0
    character(20) :: mode = ''
    character(*), parameter :: unchanged = 'as it was'
    character(20) :: message = unchanged
contains
    ! The same numbers on all images.
    integer function random(low, high)
        integer, intent(in) :: low, high
        state = modulo(state*1103515245_int64 + 12345_int64, 2147483648_int64)
        random = low + int(modulo(state/65536, int(high - low + 1, int64)))
    end function

    subroutine report(text, way, operation, image, n, l, h, s)
        character(*), intent(in) :: text
        integer, intent(in) :: way, operation, image, n(3), l(3), h(3), s(3)
        wrong = wrong + 1
        print '(a,i0,1x,a,3(a,i0),4(a,3(1x,i0)))', 'image ', this_image(), text, ': way ', way, &
            ', operation ', operation, ', image ', image, ', extents', n, ', from', l, ', to', h, ', stride', s
    end subroutine

#define ORDERED
#define REDUCED
#define T integer(int8)
#define NAME(x) x/**/_i1
#define TEXT "integer(1)"
#define OPERATIONS 6
#define cast(x) int(x, int8)
#include "coarrays_check_type.inc"
#define T integer(int16)
#define NAME(x) x/**/_i2
#define TEXT "integer(2)"
#define OPERATIONS 6
#define cast(x) int(x, int16)
#include "coarrays_check_type.inc"
#define T integer(int32)
#define NAME(x) x/**/_i4
#define TEXT "integer(4)"
#define OPERATIONS 6
#define cast(x) int(x, int32)
#include "coarrays_check_type.inc"
#define T integer(int64)
#define NAME(x) x/**/_i8
#define TEXT "integer(8)"
#define OPERATIONS 6
#define cast(x) int(x, int64)
#include "coarrays_check_type.inc"
#define T real(real32)
#define NAME(x) x/**/_r4
#define TEXT "real(4)"
#define OPERATIONS 6
#define cast(x) real(x, real32)
#include "coarrays_check_type.inc"
#define T real(real64)
#define NAME(x) x/**/_r8
#define TEXT "real(8)"
#define OPERATIONS 6
#define cast(x) real(x, real64)
#include "coarrays_check_type.inc"
#undef ORDERED
#undef REDUCED
#define T complex(real32)
#define NAME(x) x/**/_c4
#define TEXT "complex(4)"
#define OPERATIONS 2
#define cast(x) cmplx(x, 2*(x), real32)
#include "coarrays_check_type.inc"
#define T complex(real64)
#define NAME(x) x/**/_c8
#define TEXT "complex(8)"
#define OPERATIONS 2
#define cast(x) cmplx(x, 2*(x), real64)
#include "coarrays_check_type.inc"
end module

program coarrays_check
    use checks
    implicit none
    integer :: round, rounds
    character(20) :: argument
    call get_command_argument(1, argument)
    read (argument, *) seed
    call get_command_argument(2, argument)
    read (argument, *) rounds
    call get_command_argument(3, mode)
    state = seed
    do round = 1, rounds
        call check_i1()
        call check_i2()
        call check_i4()
        call check_i8()
        call check_r4()
        call check_r8()
        call check_c4()
        call check_c8()
    end do
    call co_sum(wrong)
    if (this_image() == 1) print '(a,i0,a,i0,a,i0,a)', 'seed ', seed, ': ', 8*rounds, ' calls, ', wrong, ' wrong'
end program
