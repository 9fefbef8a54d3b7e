! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! The calls of hocket.h without handles of MPI: what the modules hocket and hocket_f08 have in common. See hocket.inc.
module hocket_handles
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    implicit none
    private

    integer, parameter, public :: HOCKET_OK = 0, HOCKET_ERROR_INVALID = -1, HOCKET_ERROR_MPI = -2, &
        HOCKET_ERROR_MEMORY = -3, HOCKET_ERROR_ORDER = -4, HOCKET_ERROR_INTERNAL = -5, HOCKET_ERROR_THREAD_LEVEL = -6
    integer, parameter, public :: HOCKET_CORE_ANY = -1, HOCKET_CORE_IDLE = -2

    type, bind(c), public :: hocket_communicator
        type(c_ptr) :: handle = c_null_ptr
    end type
    type, bind(c), public :: hocket_operation
        type(c_ptr) :: handle = c_null_ptr
    end type
    type, bind(c), public :: hocket_engine
        type(c_ptr) :: handle = c_null_ptr
    end type
    type, bind(c), public :: hocket_request
        type(c_ptr) :: handle = c_null_ptr
    end type

    public :: hocket_status_string, hocket_last_error, hocket_last_mpi_error, hocket_algorithm_get
    public :: hocket_communicator_free
    public :: hocket_operation_create, hocket_operation_create_from_json, hocket_operation_free, hocket_engine_create
    public :: hocket_engine_free, hocket_engine_get_cpu, hocket_progress, hocket_request_start, hocket_request_start_all
    public :: hocket_request_test, hocket_request_wait, hocket_request_wait_all, hocket_request_free, hocket_finalize
    public :: hocket_conclude, hocket_text ! for the modules above

    type, bind(c) :: schedule_parameters
        integer(c_size_t) :: struct_size
        type(c_ptr) :: collective, algorithm
        integer(c_int) :: root, segments
        type(c_ptr) :: order, starts
        integer(c_int) :: num_starts
    end type
    type, bind(c) :: engine_parameters
        integer(c_size_t) :: struct_size
        type(c_ptr) :: kind
        integer(c_int) :: core, capacity
    end type

    interface
        function c_status_string(status) bind(c, name='hocket_status_string') result(text)
            import
            integer(c_int), value :: status
            type(c_ptr) :: text
        end function
        function c_algorithm_get(index, collective) bind(c, name='hocket_algorithm_get') result(name)
            import
            integer(c_size_t), value :: index
            type(c_ptr), intent(inout) :: collective
            type(c_ptr) :: name
        end function
        function c_last_error() bind(c, name='hocket_last_error') result(text)
            import
            type(c_ptr) :: text
        end function
        integer(c_int) function c_last_mpi_error() bind(c, name='hocket_last_mpi_error')
            import
        end function
        integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
            import
            type(c_ptr), value :: text
        end function
        integer(c_int) function c_communicator_free(communicator) bind(c, name='hocket_communicator_free')
            import
            type(c_ptr), value :: communicator
        end function
        integer(c_int) function c_operation_create(communicator, parameters, order_size, operation) &
            bind(c, name='hocket_fortran_operation_create')
            import
            type(c_ptr), value :: communicator
            type(schedule_parameters), intent(in) :: parameters
            integer(c_int), value :: order_size
            type(hocket_operation), intent(out) :: operation
        end function
        integer(c_int) function c_operation_create_from_json(communicator, text, length, operation) &
            bind(c, name='hocket_operation_create_from_json')
            import
            type(c_ptr), value :: communicator
            character(kind=c_char), intent(in) :: text(*)
            integer(c_size_t), value :: length
            type(hocket_operation), intent(out) :: operation
        end function
        integer(c_int) function c_operation_free(operation) bind(c, name='hocket_operation_free')
            import
            type(c_ptr), value :: operation
        end function
        integer(c_int) function c_engine_create(parameters, engine) bind(c, name='hocket_engine_create')
            import
            type(engine_parameters), intent(in) :: parameters
            type(hocket_engine), intent(out) :: engine
        end function
        integer(c_int) function c_engine_free(engine) bind(c, name='hocket_engine_free')
            import
            type(c_ptr), value :: engine
        end function
        integer(c_int) function c_engine_get_cpu(engine, seconds) bind(c, name='hocket_engine_get_cpu')
            import
            type(c_ptr), value :: engine
            real(c_double), intent(out) :: seconds
        end function
        integer(c_int) function c_progress(engine) bind(c, name='hocket_progress')
            import
            type(c_ptr), value :: engine
        end function
        integer(c_int) function c_request_start(request) bind(c, name='hocket_request_start')
            import
            type(c_ptr), value :: request
        end function
        integer(c_int) function c_request_start_all(count, requests) bind(c, name='hocket_request_start_all')
            import
            integer(c_int), value :: count
            type(hocket_request), intent(in) :: requests(*)
        end function
        integer(c_int) function c_request_test(request, done) bind(c, name='hocket_request_test')
            import
            type(c_ptr), value :: request
            integer(c_int), intent(out) :: done
        end function
        integer(c_int) function c_request_wait(request) bind(c, name='hocket_request_wait')
            import
            type(c_ptr), value :: request
        end function
        integer(c_int) function c_request_wait_all(count, requests) bind(c, name='hocket_request_wait_all')
            import
            integer(c_int), value :: count
            type(hocket_request), intent(in) :: requests(*)
        end function
        integer(c_int) function c_request_free(request) bind(c, name='hocket_request_free')
            import
            type(c_ptr), value :: request
        end function
        integer(c_int) function c_finalize() bind(c, name='hocket_finalize')
            import
        end function
    end interface
contains
    function hocket_status_string(status) result(text)
        integer, intent(in) :: status
        character(:), allocatable :: text
        text = hocket_text(c_status_string(int(status, c_int)))
    end function

    ! What the last failure in this thread was.
    function hocket_last_error() result(text)
        character(:), allocatable :: text
        text = hocket_text(c_last_error())
    end function

    ! A copy of a text of C; empty for NULL.
    function hocket_text(found) result(text)
        type(c_ptr), intent(in) :: found
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        text = ''
        if (.not. c_associated(found)) return
        call c_f_pointer(found, letters, [c_strlen(found)])
        text = repeat(' ', size(letters))
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function

    integer function hocket_last_mpi_error()
        hocket_last_mpi_error = c_last_mpi_error()
    end function

    ! As MPI's ierror: who does not ask for the status wants the program to end.
    subroutine hocket_conclude(code, status)
        integer(c_int), intent(in) :: code
        integer, optional, intent(out) :: status
        if (present(status)) then
            status = code
        else if (code /= HOCKET_OK) then
            write (error_unit, '(2a)') 'hocket: ', hocket_last_error()
            error stop 1
        end if
    end subroutine

    ! The name of algorithm 0, 1, ... and of its collective; both empty behind the last.
    subroutine hocket_algorithm_get(index, name, collective)
        integer, intent(in) :: index
        character(:), allocatable, intent(out) :: name, collective
        type(c_ptr) :: collective_c
        collective_c = c_null_ptr
        name = hocket_text(c_algorithm_get(int(index, c_size_t), collective_c))
        collective = hocket_text(collective_c)
    end subroutine

    subroutine hocket_communicator_free(communicator, status)
        type(hocket_communicator), intent(inout) :: communicator
        integer, optional, intent(out) :: status
        integer(c_int) :: code
        code = c_communicator_free(communicator%handle)
        if (code == HOCKET_OK) communicator%handle = c_null_ptr
        call hocket_conclude(code, status)
    end subroutine

    subroutine hocket_operation_create(communicator, collective, algorithm, operation, root, segments, order, status, &
                                       pieces, starts)
        type(hocket_communicator), intent(in) :: communicator
        character(*), intent(in) :: collective, algorithm
        type(hocket_operation), intent(out) :: operation
        integer, optional, intent(in) :: root, segments, order(:)
        integer, optional, intent(in) :: starts(:) ! positions in the order, from 0
        integer, optional, intent(in) :: pieces ! the name of `segments` in earlier versions
        integer, optional, intent(out) :: status
        type(schedule_parameters) :: parameters
        character(len_trim(collective) + 1, c_char), target :: collective_c
        character(len_trim(algorithm) + 1, c_char), target :: algorithm_c
        integer(c_int), allocatable, target :: order_c(:), starts_c(:)
        integer(c_int) :: order_size
        collective_c = trim(collective)//c_null_char
        algorithm_c = trim(algorithm)//c_null_char
        parameters = schedule_parameters(c_sizeof(parameters), c_loc(collective_c), c_loc(algorithm_c), 0, 1, &
                                         c_null_ptr, c_null_ptr, 0)
        order_size = 0
        if (present(root)) parameters%root = int(root, c_int)
        if (present(pieces)) parameters%segments = int(pieces, c_int)
        if (present(segments)) parameters%segments = int(segments, c_int)
        if (present(order)) then
            allocate (order_c(max(size(order), 1)))
            order_size = size(order, kind=c_int)
            order_c(:order_size) = int(order, c_int)
            parameters%order = c_loc(order_c)
        end if
        if (present(starts)) then
            allocate (starts_c(max(size(starts), 1)))
            parameters%num_starts = size(starts, kind=c_int)
            starts_c(:parameters%num_starts) = int(starts, c_int)
            parameters%starts = c_loc(starts_c)
        end if
        call hocket_conclude(c_operation_create(communicator%handle, parameters, order_size, operation), status)
    end subroutine

    subroutine hocket_operation_create_from_json(communicator, text, operation, status)
        type(hocket_communicator), intent(in) :: communicator
        character(*), intent(in) :: text
        type(hocket_operation), intent(out) :: operation
        integer, optional, intent(out) :: status
        call hocket_conclude(c_operation_create_from_json(communicator%handle, text, len(text, c_size_t), operation), &
                             status)
    end subroutine

    subroutine hocket_operation_free(operation, status)
        type(hocket_operation), intent(inout) :: operation
        integer, optional, intent(out) :: status
        integer(c_int) :: code
        code = c_operation_free(operation%handle)
        if (code == HOCKET_OK) operation%handle = c_null_ptr
        call hocket_conclude(code, status)
    end subroutine

    subroutine hocket_engine_create(kind, engine, core, capacity, status)
        character(*), intent(in) :: kind
        type(hocket_engine), intent(out) :: engine
        integer, optional, intent(in) :: core, capacity
        integer, optional, intent(out) :: status
        type(engine_parameters) :: parameters
        character(len_trim(kind) + 1, c_char), target :: kind_c
        kind_c = trim(kind)//c_null_char
        parameters = engine_parameters(c_sizeof(parameters), c_loc(kind_c), HOCKET_CORE_ANY, 0)
        if (present(core)) parameters%core = int(core, c_int)
        if (present(capacity)) parameters%capacity = int(capacity, c_int)
        call hocket_conclude(c_engine_create(parameters, engine), status)
    end subroutine

    subroutine hocket_engine_free(engine, status)
        type(hocket_engine), intent(inout) :: engine
        integer, optional, intent(out) :: status
        integer(c_int) :: code
        code = c_engine_free(engine%handle)
        if (code == HOCKET_OK) engine%handle = c_null_ptr
        call hocket_conclude(code, status)
    end subroutine

    subroutine hocket_engine_get_cpu(engine, seconds, status)
        type(hocket_engine), intent(in) :: engine
        real(c_double), intent(out) :: seconds
        integer, optional, intent(out) :: status
        call hocket_conclude(c_engine_get_cpu(engine%handle, seconds), status)
    end subroutine

    subroutine hocket_progress(engine, status)
        type(hocket_engine), intent(in) :: engine
        integer, optional, intent(out) :: status
        call hocket_conclude(c_progress(engine%handle), status)
    end subroutine

    subroutine hocket_request_start(request, status)
        type(hocket_request), intent(in) :: request
        integer, optional, intent(out) :: status
        call hocket_conclude(c_request_start(request%handle), status)
    end subroutine

    subroutine hocket_request_start_all(requests, status)
        type(hocket_request), intent(in) :: requests(:)
        integer, optional, intent(out) :: status
        call hocket_conclude(c_request_start_all(size(requests, kind=c_int), requests), status)
    end subroutine

    subroutine hocket_request_test(request, done, status)
        type(hocket_request), intent(in) :: request
        logical, intent(out) :: done
        integer, optional, intent(out) :: status
        integer(c_int) :: found
        found = 0
        call hocket_conclude(c_request_test(request%handle, found), status)
        done = found /= 0
    end subroutine

    subroutine hocket_request_wait(request, status)
        type(hocket_request), intent(in) :: request
        integer, optional, intent(out) :: status
        call hocket_conclude(c_request_wait(request%handle), status)
    end subroutine

    subroutine hocket_request_wait_all(requests, status)
        type(hocket_request), intent(in) :: requests(:)
        integer, optional, intent(out) :: status
        call hocket_conclude(c_request_wait_all(size(requests, kind=c_int), requests), status)
    end subroutine

    subroutine hocket_request_free(request, status)
        type(hocket_request), intent(inout) :: request
        integer, optional, intent(out) :: status
        integer(c_int) :: code
        code = c_request_free(request%handle)
        if (code == HOCKET_OK) request%handle = c_null_ptr
        call hocket_conclude(code, status)
    end subroutine

    subroutine hocket_finalize(status)
        integer, optional, intent(out) :: status
        call hocket_conclude(c_finalize(), status)
    end subroutine
end module
