# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a dummy argument can become asynchronous. Where it cannot: adversarial/interfaces.f90."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hocket.rewrite.rewriter import rewrite
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import Source

START = "call MPI_Ibcast(u"
EXCHANGE = """  subroutine exchange(u)
    real(8), intent(inout){attribute} :: u(n)
    integer :: i, ierr
    !$hocket uniform
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine
"""


def module(declarations: str = "", more: str = "", attribute: str = "") -> str:
    return f"""module m
  use mpi
  implicit none
  integer, parameter :: n = 100
  real(8) :: w(n)
{declarations}
contains
{EXCHANGE.format(attribute=attribute)}{more}end module
"""


def rewritten(text: str, tmp_path: Path, options: Options | None = None) -> str:
    """The new text, which compiles."""
    path = tmp_path / "m.f90"
    new = rewrite([Source(path, text.encode())], options or Options()).new[path].decode()
    compiler = next((name for name in ("mpifort", "mpifort.mpich", "mpif90") if shutil.which(name)), None)
    if compiler is not None:
        path.write_text(new)
        command = [compiler, "-fsyntax-only", str(path)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
    return new


PASSES = """  subroutine runs(u, f)
    real(8), intent(inout) :: u(n)
    procedure(of_others) :: f
    call f(u)
  end subroutine
  subroutine passes(u)
    real(8), intent(inout) :: u(n)
    call runs(u, exchange)
  end subroutine
"""


def of_others(attribute: str = "") -> str:
    return f"""  abstract interface
    subroutine of_others(u)
      import n
      real(8), intent(inout){attribute} :: u(n)
    end subroutine
  end interface"""


@pytest.mark.parametrize(
    "declarations",
    [
        "  private\n  public :: exchange",
        "  interface generic\n    module procedure exchange\n  end interface",
        "  type t\n    real(8) :: exchange\n  end type  ! exchange: passed, run(exchange)",
    ],
    ids=["public", "generic", "component"],
)
def test_names_that_do_not_need_the_interface(declarations: str, tmp_path: Path) -> None:
    new = rewritten(module(declarations), tmp_path)
    assert START in new
    assert "asynchronous :: u" in new


def test_an_interface_that_is_asynchronous_everywhere(tmp_path: Path) -> None:
    text = module(of_others(", asynchronous"), PASSES, ", asynchronous")
    assert START in rewritten(text, tmp_path)


def test_the_compiler_may_be_trusted(tmp_path: Path) -> None:
    text = module(of_others(), PASSES)
    assert START not in rewritten(text, tmp_path)
    new = rewritten(text, tmp_path, Options(trusts_compiler=True))
    assert START in new
    assert "asynchronous" not in new


def test_a_section_with_gaps_of_what_is_not_asynchronous(tmp_path: Path) -> None:
    """One of the two becomes asynchronous: both are not allowed to be."""
    more = """  subroutine passes(v)
    real(8), intent(inout) :: v(2 * n)
    integer :: i, ierr
    call exchange(v(1:2 * n:2))
    call MPI_Bcast(v, 2 * n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
  end subroutine
"""
    new = rewritten(module(more=more), tmp_path)
    assert new.count("asynchronous") == new.count("MPI_Ibcast") == 1


def test_the_result_of_a_function_is_no_other_use_of_its_name(tmp_path: Path) -> None:
    more = """  real(8) function total(x)
    real(8), intent(in) :: x(n)
    integer :: i, ierr
    total = 0
    call MPI_Send(x, n, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierr)
    do i = 1, n
      w(i) = w(i) * 2 + i
    end do
    total = abs(total)
  end function
"""
    assert "call MPI_Isend(x" in rewritten(module(more=more), tmp_path)
