# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Calls that must not be rewritten, each with the reason in a comment of its source: adversarial/."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hocket.rewrite.rewriter import rewrite
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import read_source

FOLDER = Path(__file__).resolve().parent / "adversarial"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix.lower() == ".f90")


def expected_codes(text: str) -> dict[int, str]:
    """By the line of the call, which stands behind the comment."""
    lines = enumerate(text.splitlines(), start=1)
    return {number + 1: found[1] for number, line in lines if (found := re.search(r"! expect: (\S+)$", line))}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_call_is_refused_for_the_right_reason(path: Path) -> None:
    source = read_source(path)
    result = rewrite([source], Options(part_bytes=8))
    expected = expected_codes(source.text.decode())
    found = {one.line: {refusal.code for refusal in one.refusals} for one in result.outcomes}
    assert set(found) == set(expected)
    assert {line: code for line, code in expected.items() if code not in found[line]} == {}
    assert result.new[path] == source.text


def test_there_are_fifty() -> None:
    assert sum(len(expected_codes(path.read_text())) for path in FILES) >= 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_programs_are_valid(path: Path, tmp_path: Path) -> None:
    """Otherwise they would prove nothing."""
    compiler = next((name for name in ("mpifort", "mpifort.mpich", "mpif90") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("no Fortran compiler for MPI was found")
    command = [compiler, "-fopenmp", "-fsyntax-only", str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
