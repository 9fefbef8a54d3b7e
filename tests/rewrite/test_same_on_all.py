# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Conditions of the usual shapes that all ranks agree on: the collectives behind them are still rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.rewrite.rewriter import rewrite
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import Source

CALL = "call MPI_Allreduce(a, b, n, MPI_DOUBLE_PRECISION, MPI_MAX, {}, ierr)\n  w = 2 * w\n  a = b"
PROGRAM = """module settings
  use mpi
  implicit none
  integer, parameter :: n = 100
  integer :: rank, ranks, steps, every = 5
  real(8) :: limit
  type options
    integer :: order
    integer :: output
  end type
  type(options) :: chosen
  interface start
    module procedure set_up
  end interface
contains
  subroutine set_up()
    integer :: ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    if (rank == 0) then
      open (10, file='settings.txt')
      read (10, *) steps, limit, chosen%order
      close (10)
    end if
    call MPI_Bcast(steps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(limit, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(chosen%order, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    chosen%output = rank
  end subroutine
  subroutine solve(a, b, w, comm, last, counts)
    integer, intent(in) :: comm, last
    integer, intent(in), optional :: counts
    real(8) :: a(n), b(n), w(n), error, own
    integer :: k, ierr
BODY
  end subroutine
end module
program p
  use settings
  implicit none
  real(8) :: a(n), b(n), w(n)
  integer :: grid, sizes(2), ierr
  call MPI_Init(ierr)
  call start()
  sizes = 0
  call MPI_Dims_create(ranks, 2, sizes, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, [.true., .true.], .true., grid, ierr)
  if (steps < 1) then
    if (rank == 0) print *, 'no steps'
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end if
  a = rank; b = 0; w = 1
  call solve(a, b, w, grid, 3)
  if (sizes(1) > 1) call solve(a, b, w, comm=MPI_COMM_WORLD, last=steps, counts=2)
  call MPI_Finalize(ierr)
end program
"""
SAME = [
    "do k = 1, steps\n  {}\nend do",
    "do k = 1, last\n  if (mod(k, every) == 0 .and. ranks > 1) then\n  {}\n  end if\nend do",
    "if (chosen%order == 2) then\n  {}\nend if",
    "if (present(counts)) then\n  {}\nend if",
    "k = 0\ndo while (k < min(steps, 9))\n  k = k + 1\n  {}\nend do",
    "select case (steps)\ncase (1)\n  {}\ncase default\n  k = 1\nend select",
    "if (size(a) > 3) then\n  {}\nend if",
    "do k = 1, 9\n  own = maxval(w)\n"
    "  call MPI_Allreduce(own, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, ierr)\n"
    "  if (error < limit) exit\n  {}\nend do",
    "if (rank == 0) print *, steps\n{}\nif (rank > 0) return\nprint *, 'done'",
    "if (limit < 0) goto 10\n{}\nreturn\n10 continue\nprint *, limit",
]
DIFFERENT = [
    "do k = 1, chosen%output\n  {}\nend do",
    "if (a(1) > 0) then\n  {}\nend if",
    "if (comm == MPI_COMM_NULL) then\n  {}\nend if",
    "call random_number(error)\nif (error > 0.5) then\n  {}\nend if",
    "do k = 1, 9\n  own = maxval(w)\n"
    "  call MPI_Reduce(own, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, comm, ierr)\n"
    "  if (error < limit) exit\n  {}\nend do",
    "if (rank > 0) steps = steps + 1\nif (steps > 2) then\n  {}\nend if",
]


def answers(body: str, comm: str) -> list[tuple[bool, set[str]]]:
    """Of the calls of n elements: whether they are rewritten, and the codes of their refusals."""
    text = PROGRAM.replace("BODY", body.format(CALL.format(comm)))
    result = rewrite([Source(Path("p.f90"), text.encode())], Options())
    lines = text.splitlines()
    calls = [one for one in result.outcomes if "(a, b, n" in lines[one.line - 1]]
    return [(one.is_rewritten, {refusal.code for refusal in one.refusals}) for one in calls]


@pytest.mark.parametrize("comm", ["MPI_COMM_WORLD", "comm"])
@pytest.mark.parametrize("body", SAME)
def test_what_all_ranks_agree_on_is_found(body: str, comm: str) -> None:
    assert answers(body, comm) == [(True, set())]


@pytest.mark.parametrize("body", DIFFERENT)
def test_what_may_differ_is_refused(body: str) -> None:
    assert [codes for _, codes in answers(body, "MPI_COMM_WORLD")] == [{"divergence"}]


def test_the_ranks_of_a_communicator_agree_on_what_it_was_split_by() -> None:
    body = (
        "integer :: color, part\n  color = mod(rank, 2)\n"
        "  call MPI_Comm_split(MPI_COMM_WORLD, color, rank, part, ierr)\n  if (color == 0) then\n  {}\n  end if"
    )
    assert answers(body, "part") == [(True, set())]
    assert [codes for _, codes in answers(body, "MPI_COMM_WORLD")] == [{"divergence"}]


def test_a_procedure_that_an_unknown_call_may_reach_changes_what_is_the_same() -> None:
    bound = PROGRAM.replace("    integer :: output\n", "    integer :: output\n  contains\n    procedure :: spoil\n")
    more = "  subroutine spoil(this)\n    class(options) :: this\n    every = rank\n  end subroutine\nend module\n"
    bound = bound.replace("end module\n", more)
    body = "type(options) :: own_options\n  {}if (every > 1) then\n  " + CALL.format("MPI_COMM_WORLD") + "\n  end if"
    for call, code in (("", set()), ("call own_options%spoil()\n  ", {"divergence"})):
        text = bound.replace("BODY", body.replace("{}", call))
        outcomes = rewrite([Source(Path("p.f90"), text.encode())], Options()).outcomes
        found = [one for one in outcomes if "(a, b, n" in text.splitlines()[one.line - 1]]
        assert [{refusal.code for refusal in one.refusals} for one in found] == [code]
