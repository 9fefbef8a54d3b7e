# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket rewrite`: what it prints, writes and refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """program small
  use mpi
  implicit none
  real(8) :: sent(8), received(8), work(1000)
  integer :: i, rank, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  sent = rank   ! a comment that stays
  call MPI_Allreduce(sent, received, 8, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  do i = 1, 1000
    work(i) = i
  end do
  print *, received(1) + sum(work)
  call MPI_Finalize(ierr)
end program small
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.f90"
    path.write_text(PROGRAM)
    return path


def test_nothing_is_written_without_apply(small: Path, hocket_cli) -> None:
    done = hocket_cli("rewrite", "small.f90")
    assert done.returncode == 0
    assert "small.f90:9" in done.stdout
    assert "1 of 1 blocking calls can be rewritten" in done.stdout
    assert small.read_text() == PROGRAM


def test_the_diff_is_a_patch_that_gives_what_apply_writes(small: Path, hocket_cli, tmp_path: Path) -> None:
    diff = hocket_cli("rewrite", "small.f90", "--diff").stdout
    subprocess.run(["patch", "-p0", "-s", "-o", "patched.f90"], input=diff, text=True, cwd=tmp_path, check=True)
    assert hocket_cli("rewrite", "small.f90", "--apply").returncode == 0
    assert small.read_text() == (tmp_path / "patched.f90").read_text()
    assert "call MPI_Iallreduce(" in small.read_text()
    assert "sent = rank   ! a comment that stays\n" in small.read_text()
    assert hocket_cli("rewrite", "small.f90", "--check").returncode == 0  # nothing is left to rewrite
    again = hocket_cli("rewrite", "small.f90", "--diff")
    assert (again.stdout, again.returncode) == ("", 0)
    assert "nothing can be rewritten" in again.stderr


def test_check_ends_with_a_status_of_its_own(small: Path, hocket_cli) -> None:
    assert hocket_cli("rewrite", "small.f90", "--check").returncode == 3
    assert small.read_text() == PROGRAM


def test_json_and_proofs(small: Path, hocket_cli) -> None:
    values = json.loads(hocket_cli("rewrite", "small.f90", "--json").stdout)
    assert values["format"] == "hocket.rewrite/1"
    (call,) = values["calls"]
    assert (call["line"], call["name"], call["is_rewritten"]) == (9, "MPI_Allreduce", True)
    assert any(one["claim"].startswith("between start and wait") for one in call["obligations"])
    explained = hocket_cli("rewrite", "small.f90", "--explain").stdout
    assert "proved by: MPI_MAX is exact" in explained


def test_the_page_has_both_sides(small: Path, hocket_cli, tmp_path: Path) -> None:
    assert hocket_cli("rewrite", "small.f90", "--report", "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    assert page.count('<tr class="changed">') + page.count('<tr class="added">') > 2
    assert "MPI_Iallreduce" in page
    assert "http://" not in page.split("<main>")[1].split("</main>")[0]


def test_a_dependence_and_a_hint_are_explained(tmp_path: Path, hocket_cli) -> None:
    (tmp_path / "a.f90").write_text(PROGRAM.replace("MPI_MAX", "MPI_SUM"))
    done = hocket_cli("rewrite", "a.f90", "--explain")
    assert "refused (rounding): MPI_SUM of MPI_DOUBLE_PRECISION may round differently" in done.stdout
    assert "hint: accept that with --reassociate" in done.stdout
    assert "1 of 1 blocking calls" in hocket_cli("rewrite", "a.f90", "--reassociate").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.f90"], "missing.f90: cannot be read"),
        (["solver.txt"], "solver.txt: its name ends with '.txt'; accepted: .f90"),
        (["small.f90", "--verify"], "--verify needs a command behind the files"),
        (["small.f90", "--verify", "--", "mpiexec", "-n", "2", "./small"], "has no {}"),
        (["small.f90", "--verify", "--", "mpiexec", "{}"], "does not tell the number of ranks"),
        (["small.f90", "--verify", "--build", "gfortran '", "--", "mpiexec", "-n", "2", "{}"], "No closing quotation"),
        (["small.f90", "--report", "no/page.html"], "no/page.html: cannot be written"),
    ],
)
def test_wrong_input_ends_with_one_message(small: Path, hocket_cli, arguments: list[str], message: str) -> None:
    done = hocket_cli("rewrite", *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_package_is_named(small: Path, tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['tree_sitter_fortran'] = None; sys.argv = ['hocket', 'rewrite', 'small.f90']; "
        "from hocket.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error: rewriting needs the Python package tree_sitter_fortran" in done.stderr
    assert "hint: pip install 'hocket[rewrite]'" in done.stderr


def test_a_file_with_wrong_syntax_is_left_alone(tmp_path: Path, hocket_cli) -> None:
    text = PROGRAM.replace("do i = 1, 1000", "do i = = 1")
    (tmp_path / "wrong.f90").write_text(text)
    done = hocket_cli("rewrite", "wrong.f90", "--apply")
    assert done.returncode == 0
    assert "the syntax is not understood" in done.stdout
    assert (tmp_path / "wrong.f90").read_text() == text
