! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Unformatted access, as a stream or to the record of a file with direct access, always to the beginning of the file, as
! the MPI items do. The buffer is the run-time library's: with gfortran GFORTRAN_UNFORMATTED_BUFFER_SIZE sets its size.
! Functions return iostat.
module hocket_bench_fortran
    use, intrinsic :: iso_c_binding
    implicit none
    private
    integer :: unit = -1
    logical :: is_direct = .false.

contains

    integer(c_int) function open_file(path, length, record) &
        bind(c, name="hocket_bench_fortran_open") result(status)
        character(kind=c_char), intent(in) :: path(*)
        integer(c_int), value :: length
        integer(c_int64_t), value :: record  ! bytes of a record; 0: a stream
        character(len=length) :: name
        integer :: i
        do i = 1, length
            name(i:i) = path(i)
        end do
        is_direct = record > 0
        if (is_direct) then
            open (newunit=unit, file=name, access="direct", form="unformatted", recl=record, action="readwrite", &
                  status="replace", iostat=status)
        else
            open (newunit=unit, file=name, access="stream", form="unformatted", action="readwrite", &
                  status="replace", iostat=status)
        end if
    end function open_file

    integer(c_int) function read_file(data, bytes) bind(c, name="hocket_bench_fortran_read") result(status)
        integer(c_int64_t), value :: bytes
        integer(c_int8_t), intent(out) :: data(bytes)
        if (is_direct) then
            read (unit, rec=1, iostat=status) data
        else
            read (unit, pos=1, iostat=status) data
        end if
    end function read_file

    integer(c_int) function write_file(data, bytes, flushes) bind(c, name="hocket_bench_fortran_write") result(status)
        integer(c_int64_t), value :: bytes
        integer(c_int8_t), intent(in) :: data(bytes)
        integer(c_int), value :: flushes
        if (is_direct) then
            write (unit, rec=1, iostat=status) data
        else
            write (unit, pos=1, iostat=status) data
        end if
        if (status == 0 .and. flushes /= 0) flush (unit, iostat=status)
    end function write_file

    integer(c_int) function close_file() bind(c, name="hocket_bench_fortran_close") result(status)
        close (unit, status="delete", iostat=status)
    end function close_file

end module hocket_bench_fortran
