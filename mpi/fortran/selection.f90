! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! The selection among several ways to carry out a call, but for its start, which takes handles of MPI. See hocket.inc.
module hocket_selections
    use, intrinsic :: iso_c_binding
    use hocket_handles
    implicit none
    private
    public :: hocket_arm, hocket_selection, hocket_selection_create, hocket_selection_get_report, hocket_selection_free

    type, bind(c) :: hocket_selection
        type(c_ptr) :: handle = c_null_ptr
    end type

    ! An engine that was not created stands for none: the call is carried out in its start.
    type :: hocket_arm
        character(:), allocatable :: name
        type(hocket_operation) :: operation
        type(hocket_engine) :: engine
        real(c_double) :: expected_s = 0
    end type

    type, bind(c) :: arm
        type(c_ptr) :: name, operation, engine
        real(c_double) :: expected_s
    end type

    interface
        integer(c_int) function c_create(communicator, count, arms, max_in_flight, selection) &
            bind(c, name='hocket_selection_create')
            import
            type(c_ptr), value :: communicator
            integer(c_int), value :: count, max_in_flight
            type(arm), intent(in) :: arms(*)
            type(hocket_selection), intent(out) :: selection
        end function
        function c_get_report(selection) bind(c, name='hocket_selection_get_report') result(text)
            import
            type(c_ptr), value :: selection
            type(c_ptr) :: text
        end function
        integer(c_int) function c_free(selection) bind(c, name='hocket_selection_free')
            import
            type(c_ptr), value :: selection
        end function
    end interface
contains
    subroutine hocket_selection_create(communicator, arms, selection, max_in_flight, status)
        type(hocket_communicator), intent(in) :: communicator
        type(hocket_arm), intent(in) :: arms(:)
        type(hocket_selection), intent(out) :: selection
        integer, optional, intent(in) :: max_in_flight
        integer, optional, intent(out) :: status
        type(arm) :: arms_c(size(arms))
        character(longest_name(arms) + 1, c_char), target :: names(size(arms))
        integer(c_int) :: in_flight
        integer :: i
        do i = 1, size(arms)
            arms_c(i) = arm(c_null_ptr, arms(i)%operation%handle, arms(i)%engine%handle, arms(i)%expected_s)
            if (.not. allocated(arms(i)%name)) cycle
            names(i) = arms(i)%name//c_null_char
            arms_c(i)%name = c_loc(names(i))
        end do
        in_flight = 1
        if (present(max_in_flight)) in_flight = int(max_in_flight, c_int)
        call hocket_conclude(c_create(communicator%handle, size(arms, kind=c_int), arms_c, in_flight, selection), &
                             status)
    end subroutine

    pure integer function longest_name(arms)
        type(hocket_arm), intent(in) :: arms(:)
        integer :: i
        longest_name = 0
        do i = 1, size(arms)
            if (allocated(arms(i)%name)) longest_name = max(longest_name, len(arms(i)%name))
        end do
    end function

    ! What was chosen and why, as JSON text.
    function hocket_selection_get_report(selection) result(text)
        type(hocket_selection), intent(in) :: selection
        character(:), allocatable :: text
        text = hocket_text(c_get_report(selection%handle))
    end function

    subroutine hocket_selection_free(selection, status)
        type(hocket_selection), intent(inout) :: selection
        integer, optional, intent(out) :: status
        integer(c_int) :: code
        code = c_free(selection%handle)
        if (code == HOCKET_OK) selection%handle = c_null_ptr
        call hocket_conclude(code, status)
    end subroutine
end module
