! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! A pattern for hocket-bench: each rank sends a message to the next one and receives one from the one before.

module hocket_bench
    use, intrinsic :: iso_c_binding
    implicit none

    integer(c_int32_t), parameter :: ok = 0, unsupported = 1, error = 2, wrong_data = 3

    ! The structures of hocket_bench.h.
    type, bind(c) :: setting_type
        integer(c_size_t) :: struct_size
        integer(c_int32_t) :: comm, rank, ranks
        integer(c_int64_t) :: bytes
        type(c_ptr) :: folder
        type(c_funptr) :: report
    end type setting_type

    type, bind(c) :: item_type
        integer(c_size_t) :: struct_size
        type(c_ptr) :: name, what
        integer(c_int64_t) :: min_bytes
        integer(c_int32_t) :: min_ranks, is_batched
        type(c_funptr) :: setup, prepare, run, verify, finish, bytes_moved
    end type item_type
end module hocket_bench

module pattern
    use hocket_bench
    use mpi
    implicit none
    private

    integer :: comm, rank, next, before, count
    integer(c_int64_t) :: seed
    ! One byte more than the message has, so that there is one.
    integer(c_int8_t), allocatable :: sent(:), received(:)

    character(kind=c_char, len=5), target :: name = "ring" // c_null_char
    character(kind=c_char, len=27), target :: what = "a message to the next rank" // c_null_char

contains

    ! Once, before all: the buffers.
    integer(c_int32_t) function setup(setting, state) bind(c, name="") result(status)
        type(setting_type), intent(in) :: setting
        type(c_ptr), intent(out) :: state
        integer :: failed
        state = c_null_ptr  ! all is in this module: there is one pattern at a time
        comm = setting%comm
        rank = setting%rank
        next = mod(rank + 1, setting%ranks)
        before = mod(rank + setting%ranks - 1, setting%ranks)
        count = int(setting%bytes)
        status = ok
        allocate (sent(count + 1), received(count + 1), stat=failed)
        if (failed /= 0) status = error
    end function setup

    ! Byte `j` of what `from` sends.
    pure integer(c_int8_t) function byte_of(from, j)
        integer, intent(in) :: from, j
        byte_of = int(mod(seed + 31 * from + 7 * j, 128_c_int64_t), c_int8_t)
    end function byte_of

    ! Before a run that is checked: other data with each seed, and nothing right in what is received.
    integer(c_int32_t) function prepare(state, new_seed) bind(c, name="") result(status)
        type(c_ptr), value :: state
        integer(c_int64_t), value :: new_seed
        integer :: j
        seed = mod(new_seed, 1000000_c_int64_t)
        do j = 1, count
            sent(j) = byte_of(rank, j)
            received(j) = -1_c_int8_t
        end do
        status = merge(ok, error, .not. c_associated(state))
    end function prepare

    ! What is measured.
    integer(c_int32_t) function run(state) bind(c, name="") result(status)
        type(c_ptr), value :: state
        integer :: requests(2), codes(3)
        call MPI_Irecv(received, count, MPI_INTEGER1, before, 0, comm, requests(1), codes(1))
        call MPI_Isend(sent, count, MPI_INTEGER1, next, 0, comm, requests(2), codes(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, codes(3))
        status = merge(ok, error, all(codes == MPI_SUCCESS) .and. .not. c_associated(state))
    end function run

    ! After a run that is checked.
    integer(c_int32_t) function verify_data(state) bind(c, name="") result(status)
        type(c_ptr), value :: state
        integer :: j
        status = merge(ok, error, .not. c_associated(state))
        do j = 1, count
            if (received(j) /= byte_of(before, j)) status = wrong_data
        end do
    end function verify_data

    integer(c_int32_t) function finish(state) bind(c, name="") result(status)
        type(c_ptr), value :: state
        deallocate (sent, received)
        status = merge(ok, error, .not. c_associated(state))
    end function finish

    integer(c_int64_t) function bytes_moved(state) bind(c, name="") result(bytes)
        type(c_ptr), value :: state
        bytes = merge(count, 0, .not. c_associated(state))
    end function bytes_moved

    integer(c_int32_t) function hocket_bench_plugin(item) bind(c, name="hocket_bench_plugin") result(status)
        type(item_type), intent(inout) :: item
        status = unsupported
        if (item%struct_size < c_sizeof(item)) return
        item%name = c_loc(name)
        item%what = c_loc(what)
        item%min_ranks = 2
        item%is_batched = 1
        item%setup = c_funloc(setup)
        item%prepare = c_funloc(prepare)
        item%run = c_funloc(run)
        item%verify = c_funloc(verify_data)
        item%finish = c_funloc(finish)
        item%bytes_moved = c_funloc(bytes_moved)
        status = ok
    end function hocket_bench_plugin
end module pattern
