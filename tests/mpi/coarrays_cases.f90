! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! What coarrays_check.F90 has not: derived types, strings, logicals, teams, what is left to OpenCoarrays. Image 1
! prints a line for each case: its name and on how many images it went wrong.
module cases
    implicit none
    type :: point
        integer :: i
        real(8) :: x
        character(3) :: name
    end type
    type :: grid
        integer :: n
        real(8), allocatable :: values(:), matrix(:, :)
    end type
    integer :: me, images, source
contains
    subroutine report(name, good)
        character(*), intent(in) :: name
        logical, intent(in) :: good
        integer :: wrong
        wrong = merge(0, 1, good)
        call co_sum(wrong)
        if (me == 1) print '(a,a,i0,a)', name, ': ', wrong, ' wrong'
    end subroutine

    pure type(point) function at(image, place)
        integer, intent(in) :: image, place
        at = point(10*image + place, 0.5d0*image + place, repeat(achar(64 + image), 3))
    end function

    elemental logical function same(a, b)
        type(point), intent(in) :: a, b
        same = a%i == b%i .and. a%x == b%x .and. a%name == b%name
    end function

    subroutine derived_types()
        type(point) :: scalar, array(6), wanted(6)
        type(point), allocatable :: matrix(:, :)
        integer :: k
        scalar = at(me, 0)
        call co_broadcast(scalar, source)
        call report('derived type', same(scalar, at(source, 0)))
        array = [(at(me, k), k=1, 6)]
        wanted = [(at(source, k), k=1, 6)]
        call co_broadcast(array, source)
        call report('array of derived type', all(same(array, wanted)))
        array = [(at(me, k), k=1, 6)]
        wanted(1::2) = array(1::2)
        call co_broadcast(array(6:1:-2), source)
        call report('section of derived type', all(same(array, wanted)))
        matrix = reshape([(at(me, k), k=1, 6)], [2, 3])
        call co_broadcast(matrix(2, :), source)
        call report('row of derived type', all(same(matrix(2, :), [at(source, 2), at(source, 4), at(source, 6)])) &
                  .and. all(same(matrix(1, :), [at(me, 1), at(me, 3), at(me, 5)])))
    end subroutine

    subroutine allocatable_components()
        type(grid) :: a
        type(grid), allocatable :: several(:)
        integer :: k
        a%n = me
        if (me == source) then
            allocate (a%values(5), a%matrix(2, 3))
            a%values = [(k*1.5d0, k=1, 5)]
            a%matrix = 7
        else
            allocate (a%values(5), a%matrix(2, 3))
            a%values = -1
            a%matrix = -1
        end if
        call co_broadcast(a, source)
        call report('allocatable components', a%n == source .and. all(a%values == [(k*1.5d0, k=1, 5)]) &
                    .and. all(a%matrix == 7))
        allocate (several(3))
        do k = 1, 3
            several(k)%n = me
            several(k)%values = [real(8) :: me, k]
            several(k)%matrix = reshape([real(8) :: me, k], [1, 2])
        end do
        call co_sum(several(2)%values, source)
        if (me == source) then
            call report('component of an element', all(several(2)%values == [images*(images + 1)/2, 2*images]))
        else
            call report('component of an element', .true.)
        end if
    end subroutine

    subroutine strings()
        character(5) :: scalar, array(2, 3)
        character(:), allocatable :: deferred
        character(len=4, kind=4) :: wide
        scalar = repeat(achar(64 + me), 5)
        array = scalar
        call co_broadcast(scalar, source)
        call report('string', scalar == repeat(achar(64 + source), 5))
        call co_broadcast(array(2, :), source)
        call report('strings', all(array(2, :) == scalar) .and. all(array(1, :) == repeat(achar(64 + me), 5)))
        deferred = repeat(achar(64 + me), 7)
        call co_broadcast(deferred, source)
        call report('string of deferred length', deferred == repeat(achar(64 + source), 7))
        wide = 4_'abcd'
        if (me == source) wide = 4_'efgh'
        call co_broadcast(wide, source)
        call report('wide string', wide == 4_'efgh')
    end subroutine

    ! Left to OpenCoarrays, as what follows in long_reals() where it is one element.
    subroutine reduced_strings()
        character(4) :: word
        word = repeat(achar(64 + me), 4)
        call co_reduce(word, later)
        call report('co_reduce of strings', word == repeat(achar(64 + images), 4))
    end subroutine

    pure function later(a, b)
        character(*), intent(in) :: a, b
        character(len(a)) :: later
        later = merge(a, b, a > b)
    end function

    subroutine logicals()
        logical :: flags(4)
        logical(1) :: small(3)
        integer :: k
        flags = [(modulo(k, images) + 1 == me, k=1, 4)]
        call co_reduce(flags, either)
        call report('co_reduce of logicals', all(flags))
        flags = me /= images
        call co_reduce(flags(4:1:-3), both)
        call report('co_reduce of a section of logicals', .not. any(flags(1:4:3)) .and. &
                    all(flags(2:3) .eqv. me /= images))
        small = me == source
        call co_broadcast(small(1:3:2), source)
        call report('logicals', all(small(1:3:2)) .and. (small(2) .eqv. me == source))
    end subroutine

    pure logical function either(a, b)
        logical, intent(in) :: a, b
        either = a .or. b
    end function

    pure logical function both(a, b)
        logical, value, intent(in) :: a, b
        both = a .and. b
    end function

    subroutine long_reals()
        real(10) :: r10(5)
        complex(10) :: c10(2, 2)
        real(16) :: r16
        r10 = me/3.0_10
        call co_broadcast(r10(1:5:2), source)
        call report('real(10)', all(r10(1:5:2) == source/3.0_10) .and. all(r10(2:4:2) == me/3.0_10))
        c10 = (1.0_10, 2.0_10)*me
        call co_broadcast(c10, source)
        call report('complex(10)', all(c10 == (1.0_10, 2.0_10)*source))
        r16 = me/3.0_16
        call co_broadcast(r16, source)
        call report('real(16)', r16 == source/3.0_16)
    end subroutine

    subroutine images_and_messages()
        integer :: status, k
        real(8) :: a(3), none(0), nothing(2, 0, 3)
        character(40) :: message
        message = 'as it was'
        do k = 1, images
            status = -1
            a = [1, 2, 3]*me
            call co_max(a, result_image=k, stat=status, errmsg=message)
            if (k == me .and. any(a /= [1, 2, 3]*images)) exit
            if (status /= 0 .or. message /= 'as it was') exit
            call co_min(none, result_image=k)
            call co_sum(nothing, stat=status)
            call co_broadcast(none, k)
            call co_broadcast(nothing(1, :, :), k)
            call co_broadcast(a(3:2), k)
        end do
        call report('images and messages', k == images + 1)
    end subroutine

    subroutine many_dimensions()
        integer(2) :: a(2, 1, 3, 2, 1, 2, 2), wanted(2, 1, 3, 2, 1, 2, 2)
        integer :: k
        a = reshape([(int(k*me, 2), k=1, 48)], shape(a))
        wanted = a
        wanted(:, :, :, 2, :, :, 2) = a(:, :, :, 2, :, :, 2)/int(me, 2)*int(images*(images + 1)/2, 2)
        call co_sum(a(:, :, 3:1:-1, 2, :, :, 2))
        call report('seven dimensions', all(a == wanted))
    end subroutine
end module

program coarrays_cases
    use cases
    use, intrinsic :: iso_fortran_env, only: team_type
    implicit none
    type(team_type) :: half
    integer :: number, total, first, k
    real(8) :: a(4, 5)
    me = this_image()
    images = num_images()
    source = min(2, images)
    call derived_types()
    call allocatable_components()
    call strings()
    call reduced_strings()
    call logicals()
    call long_reals()
    call images_and_messages()
    call many_dimensions()
    number = 1 + modulo(me, 2)
    form team(number, half)
    total = me
    first = me
    a = me
    change team(half)
        call co_sum(total)
        call co_broadcast(first, 1)
        call co_broadcast(a(::2, :), num_images())
    end team
    call report('team', total == sum([(k, k=2 - modulo(me, 2), images, 2)]) .and. first == 2 - modulo(me, 2) &
              .and. all(a(2::2, :) == me) .and. all(a(1::2, :) == images - modulo(images - me, 2)))
    call co_sum(total)
    call co_sum(first)
    call report('team ended', first == sum([(2 - modulo(k, 2), k=1, images)]))
end program
