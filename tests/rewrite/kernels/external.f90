! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Not in a module: its dummy arguments cannot be asynchronous, since callers need not see its interface.
subroutine mix_blocks(a, b, w, n, blocks)
  implicit none
  include 'mpif.h'
  integer n, blocks, i, ierr
  double precision a(n), b(n), w(n)
  CALL MPI_ALLTOALL(a, n / blocks, MPI_DOUBLE_PRECISION, b, n / blocks, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  do i = 1, n
    w(i) = w(i) * 0.5d0
  end do
  do i = 1, n
    a(i) = b(i) + w(i)
  end do
end subroutine

subroutine external_procedure(rank, size, answer)
  implicit none
  integer rank, size, i
  double precision answer, a(144), b(144), w(144)
  do i = 1, 144
    a(i) = mod(i + rank, 8)
    w(i) = i
  end do
  call mix_blocks(a, b, w, 144, size)
  answer = sum(a) + 3 * a(5)
end subroutine
