# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Names that come from elsewhere, or are written under another name: what does not compile alone (see scopes.f90)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hocket.rewrite.rewriter import rewrite
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import Source, read_source

WORK = "do j = 1, n\n  w(j) = w(j) + j\nend do"
FIELDS = """module fields
  implicit none
  integer, parameter :: n = 40
  real(8) :: velocity(n), pressure(n)
end module
"""


def host(use: str, work: str) -> str:
    """A module whose x is the message of its procedure, with `work` behind it."""
    return f"""module m
  implicit none
  real(8) :: x(40)
contains
  subroutine s(w, n)
    use mpi
    {use}
    integer, intent(in) :: n
    real(8), intent(inout) :: w(n)
    integer :: j, ierr
    call MPI_Bcast(x, 40, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    {work}
  end subroutine
end module
"""


def outcome(text: str, more: dict[str, str] | None = None, **options: int) -> tuple[str, set[str]]:
    """The new text of the first file, and the codes of all refusals in it."""
    files = {"m.f90": text, **(more or {})}
    result = rewrite([Source(Path(name), one.encode()) for name, one in files.items()], Options(**options))
    codes = {one.code for call in result.outcomes for one in call.refusals if call.path == Path("m.f90")}
    return result.new[Path("m.f90")].decode(), codes


def compiles(tmp_path: Path, *texts: str) -> bool:
    """With an implicit interface where mpif.h is included, as Open MPI's wrapper does it."""
    compiler = next((name for name in ("mpifort.openmpi", "mpifort") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("no Fortran compiler for MPI was found")
    path = tmp_path / "m.f90"
    path.write_text("".join(texts))
    done = subprocess.run(
        [compiler, "-fsyntax-only", str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    return done.returncode == 0


def test_a_name_may_come_from_a_module_that_is_not_given() -> None:
    text = host("USE", WORK)
    assert outcome(text.replace("USE", ""))[1] == set()
    assert outcome(text.replace("USE", "use other"))[1] == {"unseen"}
    assert outcome(text.replace("USE", "use other, only: y"))[1] == set()
    assert outcome(text.replace("USE", "use other, only: x => y"))[1] == {"unseen"}
    assert "syntax" in outcome(text.replace("USE", "include 'missing.inc'"))[1]


def test_an_intrinsic_function_may_be_one_of_a_module_that_is_not_given() -> None:
    text = f"""subroutine s(x, w, n)
  use mpi
  USE
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), w(n)
  integer :: j, ierr
  call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  {WORK.replace("+ j", "+ scale(0.5d0, j)")}
  x = x + w
end subroutine
"""
    options = {"trusts_compiler": True}
    assert "MPI_Ibcast" in outcome(text.replace("USE", ""), **options)[0]
    assert "unknown-call" in outcome(text.replace("USE", "use special"), **options)[1]
    assert "MPI_Ibcast" in outcome(text.replace("USE", "use special, only: y"), **options)[0]


def test_a_message_in_parts_has_the_name_that_its_procedure_knows(tmp_path: Path) -> None:
    text = """module m
contains
  subroutine s(w)
    use mpi
    use fields, only: u => velocity, velocity => pressure, n
    real(8), intent(inout) :: w(n)
    integer :: j, ierr
    call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, n
      w(j) = 2 * u(j) + velocity(j)
    end do
  end subroutine
end module
"""
    new, _ = outcome(text, {"fields.f90": FIELDS}, part_bytes=8)
    assert "MPI_Ibcast(u(hocket_first:hocket_last)" in new
    assert compiles(tmp_path, FIELDS, new)


def test_long_names_are_folded(tmp_path: Path) -> None:
    name = "number_of_planes_of_the_local_part_of_the_whole_grid"
    text = f"""module m
contains
  subroutine s(x, w, {name})
    use mpi
    integer, intent(in) :: {name}
    real(8), intent(inout) :: x({name})
    real(8), intent(inout) :: w({name})
    integer :: j, ierr
    call MPI_Bcast(x, {name}, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, {name}
      w(j) = 2 * x(j)
    end do
  end subroutine
end module
"""
    new, _ = outcome(text, part_bytes=8)
    assert "MPI_Ibcast" in new
    assert max(map(len, new.splitlines())) <= 132
    assert compiles(tmp_path, new)


def test_without_an_interface_calls_of_one_name_have_one_type(tmp_path: Path) -> None:
    text = """subroutine s(a, b, w, n)
  include 'mpif.h'
  integer n, ierr, j, m(n)
  double precision a(n), b(n), w(n)
  call MPI_Send(m, n, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierr)
  do j = 1, n
    w(j) = w(j) + j
  end do
  call MPI_Sendrecv(a, n, MPI_DOUBLE_PRECISION, 1, 2, b, n, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD,
     & MPI_STATUS_IGNORE, ierr)
  do j = 1, n
    w(j) = w(j) + j
  end do
end
""".replace("MPI_COMM_WORLD,\n     &", "MPI_COMM_WORLD, &\n     ")
    new, codes = outcome(text, trusts_compiler=True)
    assert "interface" in codes
    assert compiles(tmp_path, new)
    assert "interface" not in outcome(text.replace("m(n)", "k").replace("Send(m", "Send(a"), trusts_compiler=True)[1]


def test_a_main_program_may_begin_without_its_statement() -> None:
    body = f"use mpi\ninteger, parameter :: n = 40\nreal(8) :: x(n), w(n)\ninteger :: j, ierr\n{WORK}\n"
    call = "call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)"
    new, _ = outcome(f"{body}{call}\n{WORK}\nprint *, x, w\nend\n")
    assert "MPI_Ibcast" in new


def test_a_call_behind_an_if_in_one_line_is_listed() -> None:
    text = """subroutine s(x, n, k)
  use mpi
  integer, intent(in) :: n, k
  real(8), intent(inout) :: x(n)
  integer :: ierr
  if (k == 2) call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
end subroutine
"""
    assert outcome(text)[1] == {"layout"}


def test_an_error_code_of_a_contained_procedure_is_another_one() -> None:
    text = f"""program p
  use mpi
  integer, parameter :: n = 40
  real(8) :: x(n), w(n)
  integer :: j, ierr
  call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  {WORK}
  print *, x, w
contains
  subroutine s
    integer :: ierr
    ierr = 2
    print *, ierr
  end subroutine
end program
"""
    assert outcome(text)[1] == set()
    assert outcome(text.replace("    integer :: ierr\n    ierr", "    ierr"))[1] == {"error-handling"}


def test_included_files_may_stand_in_folders_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "sizes.inc").write_text("integer, parameter :: n = 40\n")
    path = tmp_path / "m.f90"
    path.write_text(f"""module m
contains
  subroutine s(x, w)
    use mpi
    include 'sizes.inc'
    real(8), intent(inout) :: x(n), w(n)
    integer :: j, ierr
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    {WORK}
  end subroutine
end module
""")
    refused = rewrite([read_source(path)]).outcomes[0].refusals
    assert [one.reason for one in refused] == ["line 5: sizes.inc is not found beside the file or by --compile -I"]
    found = rewrite([read_source(path, (tmp_path / "include",))])
    assert found.outcomes[0].is_rewritten
    assert b"MPI_Ibcast" in found.new[path]


USES = """module hidden
  implicit none
  private
  public :: visible
  real(8) :: x(40) = 0
contains
  subroutine visible()
    x(1) = 1
  end subroutine
  real(8) function act(j)
    integer, intent(in) :: j
    act = j
  end function
end module
module shown
  implicit none
  real(8) :: x(40)
contains
  real(8) function act(j)
    integer, intent(in) :: j
    act = x(j)
  end function
end module
module api
  use shown, only: act, field => x
end module
"""


@pytest.mark.parametrize(
    "use", ["use hidden\n    use shown", "use api, x => field", "use hidden\n    use api, x => field"]
)
def test_private_names_hide_nothing_and_others_are_passed_on(use: str) -> None:
    text = f"""module m
  implicit none
contains
  real(8) function act(j)
    integer, intent(in) :: j
    act = j
  end function
  subroutine s(w)
    use mpi
    {use}
    real(8), intent(inout) :: w(40)
    integer :: j, ierr
    call MPI_Bcast(x, 40, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do j = 1, 40
      w(j) = act(41 - j)
    end do
  end subroutine
end module
"""
    new, codes = outcome(text, {"uses.f90": USES})
    assert "MPI_Ibcast" not in new
    assert "dependence" in codes


def test_what_is_renamed_has_its_old_name_no_longer() -> None:
    text = host("use shown, bx => x", WORK.replace("+ j", "+ bx(j)"))
    assert "MPI_Ibcast" in outcome(text, {"uses.f90": USES})[0]
    assert "dependence" in outcome(text.replace("+ bx(j)", "+ x(41 - j)"), {"uses.f90": USES})[1]


def test_mpi_comes_through_modules_that_pass_it_on(tmp_path: Path) -> None:
    old = "module old\n  use mpi\n  private\n  public :: total\n  integer :: total\nend module\n"
    text = f"""module m
  use mpi_f08
contains
  subroutine s(x, w, n)
    use old
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n), w(n)
    integer :: j
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    {WORK}
  end subroutine
end module
"""
    new, _ = outcome(text, {"old.f90": old})
    assert "type(MPI_Request) :: hocket_request" in new
    assert compiles(tmp_path, old, new)


def test_macros_and_procedures_of_included_files_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "m.F90"
    text = host("", WORK.replace("+ j", "+ FIRST")).replace("end module", "MORE\nend module")
    (tmp_path / "macros.h").write_text("#define FIRST x(1)\n")
    (tmp_path / "constants.h").write_text("#define SECOND 2\n")
    (tmp_path / "more.inc").write_text("subroutine t(w)\n  real(8) :: w(40)\n  call s(w, 40)\nend subroutine\n")

    def codes(header: str, more: str = "", first: str = "FIRST") -> set[str]:
        path.write_text(f"{header}\n{text}".replace("MORE", more).replace("FIRST", first))
        return {one.code for call in rewrite([read_source(path)]).outcomes for one in call.refusals}

    assert codes('#include "constants.h"', first="j") == set()
    assert "preprocessor" in codes('#include "macros.h"')
    assert "unseen" in codes("")  # -DFIRST=x(1)
    assert codes('#include "missing.h"', first="j") == {"syntax"}
    assert codes("", '#include "more.inc"', "j") >= {"divergence"}
    assert codes("", "include 'more.inc'", "j") >= {"divergence"}


def test_a_name_of_the_programs_own_that_begins_like_mpis_is_no_macro_of_mpi(tmp_path: Path) -> None:
    for macro, codes in (("MPI_T", set()), ("MPI_COMM_WORLD", {"preprocessor"}), ("PMPI_BCAST", {"preprocessor"})):
        (tmp_path / "m.F90").write_text(f"#define {macro} 3\n{host('', WORK)}")
        (found,) = rewrite([read_source(tmp_path / "m.F90")]).outcomes
        assert {one.code for one in found.refusals} >= codes
        assert found.is_rewritten == (not codes)


def test_where_procedures_have_to_be_declared_mpif_h_is_not_enough() -> None:
    text = host("", WORK).replace("  implicit none\n", "  implicit none (type, external)\n", 1)
    assert outcome(text)[1] == set()
    assert "no-mpi-module" in outcome(text.replace("use mpi", "include 'mpif.h'"))[1]
