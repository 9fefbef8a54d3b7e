# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Files in fixed form: what is not rewritten comes back byte for byte, what is new is in fixed form."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hocket.rewrite.fixed_form import is_fixed, to_fixed, to_free
from hocket.rewrite.rewriter import rewrite
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import read_source

FAKE = Path(__file__).resolve().parent / "early_and_late"
PROGRAM = """\
C     A program of the old kind.
      PROGRAM OLD
      INTEGER N, I, IERR
      PARAMETER (N = 50)
      INCLUDE 'mpif.h'
      DOUBLE PRECISION X(N), Y(N), Z(N)
      DO 10 I = 1, N
        X(I) = I
        Z(I) = N -
     1    I
   10 CONTINUE
*     The largest values of all ranks
      CALL MPI_ALLREDUCE(X, Y, N, MPI_DOUBLE_PRECISION, MPI_MAX,
     &                   MPI_COMM_WORLD, IERR)                          IGNORED
C     Another array
      DO I = 2, N
        Z(I) = 0.5D0*Z(I) + Z(I-1)   ! behind
      END DO
      CALL MPI_SENDRECV(Y(N), 1, MPI_DOUBLE_PRECISION, 0, 1, Y(1), 1,
     1 MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE,
     2 IERR)
      DO I = 1, N - 1
        Z(I) = Z(I) + Y(I)
      END DO
      PRINT *, 'it''s ! ', Z
      END
"""


def test_lines_come_back_as_they_were() -> None:
    text = PROGRAM.encode().replace(b"\n", b"\r\n")
    for one in (PROGRAM.encode(), text):
        free = to_free(one)
        assert free.count(b"\n") == one.count(b"\n")
        assert b"IGNORED" not in free
        assert to_fixed(free, list(range(one.count(b"\n"))), one) == one


def test_the_form_is_seen() -> None:
    path = Path("old.f")
    assert is_fixed(path, PROGRAM.encode())
    assert not is_fixed(Path("old.f90"), PROGRAM.encode())
    assert not is_fixed(path, b"module m\n  integer :: i\nend module\n")
    assert not is_fixed(path, b"      x = 1 + &\n      2\n")
    assert is_fixed(path, b"!     x &\n      x = 1\n     !+ 2\n")
    assert to_free(b"      x = 1\n     !+ 2\n") == b"      x = 1 &\n     &+ 2\n"


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="no gfortran was found")
def test_a_program_in_fixed_form_keeps_its_results(tmp_path: Path) -> None:
    path = tmp_path / "old.f"
    path.write_text(PROGRAM)
    result = rewrite([read_source(path)], Options())
    assert [one.is_rewritten for one in result.outcomes] == [False, True]  # the loop is taken
    new = result.new[path].decode()
    gone = ("MPI_", "DO I", " 1 ", " IERR)")
    kept = [line for line in PROGRAM.splitlines() if not any(word in line for word in gone)]
    assert [line for line in kept if line not in new.splitlines()] == []
    assert [line for line in new.splitlines() if len(line) > 72 and line not in PROGRAM.splitlines()] == []
    again = rewrite([_read(tmp_path / "again.f", new)], Options())
    assert again.changed == []
    subprocess.run(["gcc", "-c", "-O1", str(FAKE / "early_and_late.c"), "-o", "fake.o"], cwd=tmp_path, check=True)
    outputs = set()
    for name, text in (("old", PROGRAM), ("new", new)):
        (tmp_path / f"{name}.f").write_text(text)
        flags = ["-O0", "-w", "-fallow-argument-mismatch", f"-I{FAKE}"]
        subprocess.run(["gfortran", *flags, f"{name}.f", "fake.o", "-o", name], cwd=tmp_path, check=True)
        for mode in ("early", "late"):
            env = {**os.environ, "EARLY_AND_LATE": mode}
            done = subprocess.run([str(tmp_path / name)], env=env, capture_output=True, text=True, check=True)
            outputs.add(done.stdout)
    assert len(outputs) == 1


def _read(path: Path, text: str):  # type: ignore[no-untyped-def]
    path.write_text(text)
    return read_source(path)
