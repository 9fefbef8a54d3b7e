# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Files that are damaged, nested without end or changed meanwhile, and programs that cannot be compared."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hocket.errors import Error, InvalidInput
from hocket.rewrite.apply import apply
from hocket.rewrite.rewriter import Rewritten, rewrite
from hocket.rewrite.syntax import read_source
from hocket.rewrite.verify import VerifyRequest, check_request, verify

PROGRAM = """program small
  use mpi
  implicit none
  real(8) :: u(100), work(1000)
  integer :: i, rank, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  u = rank
  call MPI_Bcast(u, 100, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  do i = 1, 1000
    work(i) = i
  end do
  print *, u(1) + sum(work)
  call MPI_Finalize(ierr)
end program small
"""
CALL = "call MPI_Bcast"


def _rewrite(folder: Path, **texts: str) -> Rewritten:
    paths = [folder / f"{name}.f90" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_bytes(text.encode())
    return rewrite([read_source(path) for path in paths])


@pytest.mark.parametrize(
    ("old", "new"),
    [("  end do\n", ""), ("end program small\n", ""), ("do i = 1, 1000\n", "do i = 1, 1000\n  if (i > 3) then\n")],
)
def test_calls_in_an_unclosed_construct_are_reported(tmp_path: Path, old: str, new: str) -> None:
    result = _rewrite(tmp_path, a=PROGRAM.replace(old, new))
    assert not result.changed
    (call,) = result.outcomes
    assert (call.line, call.name, [one.code for one in call.refusals]) == (9, "MPI_Bcast", ["syntax"])


def test_a_file_without_a_program_is_reported(tmp_path: Path, hocket_cli) -> None:
    (tmp_path / "empty.f90").write_text("! nothing\n")
    (tmp_path / "junk.f90").write_bytes(bytes(range(128, 256)) * 20)
    done = hocket_cli("rewrite", "empty.f90", "junk.f90", "--check")
    assert done.returncode == 0
    assert "empty.f90: has no statement" in done.stderr
    assert "junk.f90: line 1: the syntax is not understood" in done.stderr


def test_one_sided_communication_is_seen_where_the_syntax_is_not_understood(tmp_path: Path) -> None:
    other = "subroutine other(w)\n  do i = 1, 2\n  call MPI_Win_fence(0, w, ierr)\nend subroutine\n"
    assert _rewrite(tmp_path, a=PROGRAM).changed
    assert not _rewrite(tmp_path, a=PROGRAM, b=other).changed


@pytest.mark.parametrize(
    "deep",
    [
        "u(1) = " + "(" * 9000 + "1" + ")" * 9000,
        "if (rank == 0) then\n" * 2000 + "u(1) = 2\n" + "end if\n" * 2000,
    ],
    ids=["brackets", "branches"],
)
def test_deep_nesting_ends_with_one_message(tmp_path: Path, deep: str) -> None:
    with pytest.raises(InvalidInput, match="small: expressions, blocks or calls are nested more deeply"):
        _rewrite(tmp_path, a=PROGRAM.replace("u = rank", deep))


def test_a_sum_of_many_terms_is_followed(tmp_path: Path) -> None:
    assert _rewrite(tmp_path, a=PROGRAM.replace("work(i) = i", "work(i) = i" + " + 1" * 900)).changed


@pytest.mark.parametrize(
    ("included", "problem"),
    [
        ("  include 'a.f90'\n", "includes itself"),
        ("  integer :: n\n  u = 2\n", "has more than declarations"),
        ("  integer :: = n\n", "has more than declarations"),
    ],
)
def test_an_included_file_that_is_no_list_of_declarations(tmp_path: Path, included: str, problem: str) -> None:
    (tmp_path / "part.inc").write_text(included)
    result = _rewrite(tmp_path, a=PROGRAM.replace("  integer ::", "  include 'part.inc'\n  integer ::"))
    assert not result.changed
    assert problem in result.outcomes[0].refusals[0].reason


def test_modules_that_use_each_other_in_many_ways(tmp_path: Path) -> None:
    # 2^40 ways from the first module to the last.
    layers = [
        f"module m{i}{x}\n" + (f"use m{i + 1}a\nuse m{i + 1}b\n" if i < 39 else "") + "end module\n"
        for i in range(40)
        for x in "ab"
    ]
    assert _rewrite(tmp_path, a="".join(layers) + PROGRAM.replace("use mpi\n", "use mpi\n  use m0a\n")).changed


def test_a_carriage_return_inside_a_line_moves_no_line_number(tmp_path: Path) -> None:
    text = PROGRAM.replace("u = rank", "u = rank ! one\r two\r three")
    second = "  call MPI_Bcast(work, 1000, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)\n"
    result = _rewrite(tmp_path, a=text.replace("  print", second + "  print"))
    assert [(one.line, one.is_rewritten) for one in result.outcomes] == [(9, True), (13, False)]


def test_apply_keeps_permissions_and_loses_no_change_of_others(tmp_path: Path) -> None:
    result = _rewrite(tmp_path, a=PROGRAM, b=PROGRAM.replace("small", "other"))
    first, second = tmp_path / "a.f90", tmp_path / "b.f90"
    first.chmod(0o640)
    second.write_text("! edited meanwhile\n")
    with pytest.raises(Error, match=r"b\.f90: it has changed since it was read; no file was written"):
        apply(result)
    assert (first.read_text(), second.read_text()) == (PROGRAM, "! edited meanwhile\n")
    second.write_bytes(result.old[second])
    apply(result)
    assert "MPI_Ibcast" in first.read_text()
    assert "MPI_Ibcast" in second.read_text()
    assert first.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.f90", "b.f90"]


def test_a_file_named_twice_is_one_file(tmp_path: Path, hocket_cli) -> None:
    (tmp_path / "a.f90").write_text(PROGRAM)
    (tmp_path / "link.f90").symlink_to("a.f90")
    done = hocket_cli("rewrite", "a.f90", "link.f90", "--json")
    assert [one["path"] for one in json.loads(done.stdout)["files"]] == ["a.f90"]


@pytest.mark.parametrize("option", [("--ranks", "3"), ("--build", "x"), ("--input", "x"), ("--timeout", "3")])
def test_options_of_verify_are_refused_without_it(tmp_path: Path, hocket_cli, option: tuple[str, str]) -> None:
    (tmp_path / "a.f90").write_text(PROGRAM)
    done = hocket_cli("rewrite", "a.f90", *option)
    assert done.returncode == 2
    assert f"{option[0]} is an option of --verify" in done.stderr


def test_no_ranks_are_no_comparison() -> None:
    with pytest.raises(InvalidInput, match="starts no rank"):
        check_request(VerifyRequest(("mpiexec", "-n", "0", "{}")))


# What runs is a program like any other: a shell script that `cp` builds needs no compiler and no MPI.
def _verify(folder: Path, old: str, new: str, name: str = "-a.f90") -> str:
    request = VerifyRequest(
        ("env", "-u", "RANKS", "sh", "-c", 'sh "$2"', "-n", "1", "{}"), build="cp {files} {program}", timeout_s=60
    )
    path = folder / name
    (comparison,) = verify(request, {path: old.encode()}, {path: new.encode()})
    assert comparison.is_equal == (not comparison.difference)
    return comparison.difference


def test_programs_that_cannot_be_compared(tmp_path: Path) -> None:
    assert _verify(tmp_path, "echo 1", "echo 1 >&2; echo 1") == ""  # and a name that begins like an option
    assert _verify(tmp_path, "echo 1", "echo 2") == "differs: standard output"
    failing = "echo 'Fortran runtime error: File exists' >&2; echo '#8 0x7f in ???' >&2; exit 2"
    why = "2: Fortran runtime error: File exists"
    assert _verify(tmp_path, failing, "") == f"nothing to compare: the original program ends with status {why}"
    assert _verify(tmp_path, "", failing) == f"differs: exit status 0 and {why}"


def test_a_rewritten_program_that_hangs_differs(tmp_path: Path) -> None:
    request = VerifyRequest(("sh", "-c", 'sh "$2"', "-n", "1", "{}"), build="cp {files} {program}", timeout_s=5)
    path = tmp_path / "a.f90"
    (comparison,) = verify(request, {path: b"exit 0"}, {path: b"while :; do sleep 1; done"})
    assert comparison.difference.startswith("differs: the rewritten program:")
    assert "did not end within 5 s and was stopped" in comparison.difference
