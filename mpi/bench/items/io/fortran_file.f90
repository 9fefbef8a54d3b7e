! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Unformatted stream access, always to the beginning of the file, as the MPI items do. The buffer is the run-time
! library's: with gfortran GFORTRAN_UNFORMATTED_BUFFER_SIZE sets its size. Functions return iostat.
module hocket_bench_fortran
    use, intrinsic :: iso_c_binding
    implicit none
    private
    integer :: unit = -1

contains

    integer(c_int) function open_file(path, length) bind(c, name="hocket_bench_fortran_open") result(status)
        character(kind=c_char), intent(in) :: path(*)
        integer(c_int), value :: length
        character(len=length) :: name
        integer :: i
        do i = 1, length
            name(i:i) = path(i)
        end do
        open (newunit=unit, file=name, access="stream", form="unformatted", action="readwrite", status="replace", &
              iostat=status)
    end function open_file

    integer(c_int) function read_file(data, bytes) bind(c, name="hocket_bench_fortran_read") result(status)
        integer(c_int64_t), value :: bytes
        integer(c_int8_t), intent(out) :: data(bytes)
        read (unit, pos=1, iostat=status) data
    end function read_file

    integer(c_int) function write_file(data, bytes, flushes) bind(c, name="hocket_bench_fortran_write") result(status)
        integer(c_int64_t), value :: bytes
        integer(c_int8_t), intent(in) :: data(bytes)
        integer(c_int), value :: flushes
        write (unit, pos=1, iostat=status) data
        if (status == 0 .and. flushes /= 0) flush (unit, iostat=status)
    end function write_file

    integer(c_int) function close_file() bind(c, name="hocket_bench_fortran_close") result(status)
        close (unit, status="delete", iostat=status)
    end function close_file

end module hocket_bench_fortran
