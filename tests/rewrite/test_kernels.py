# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Kernels of the usual shapes: which calls are rewritten, and that every answer keeps its bits on real MPIs."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hocket.rewrite.rewriter import Rewritten, rewrite
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import read_source
from hocket.rewrite.text import MAX_COLUMNS
from mpis import LONG, MPIS

FOLDER = Path(__file__).resolve().parent / "kernels"
ORDER = "stencils transforms linear_algebra particles statistics parts stages exchanges external main".split()
FILES = [FOLDER / f"{name}.f90" for name in ORDER]
OPTIONS = Options(trusts_compiler=True, part_bytes=16)
WITH_FORTRAN = [mpi for mpi in MPIS if mpi.mpifort is not None]


@pytest.fixture(scope="module")
def result() -> Rewritten:
    return rewrite([read_source(path) for path in FILES], OPTIONS)


def test_most_windows_that_a_person_finds_are_found(result: Rewritten) -> None:
    windows: dict[str, list[int]] = tomllib.loads((FOLDER / "windows.toml").read_text())
    calls: dict[str, list[bool]] = {}
    for one in result.outcomes:
        calls.setdefault(one.procedure, []).append(one.is_rewritten)
    assert set(calls) == set(windows)
    listed = [(name, number) for name, numbers in windows.items() for number in numbers]
    found = [(name, number) for name, number in listed if calls[name][number - 1]]
    print(f"{len(found)} of {len(listed)} windows found; missed: {sorted(set(listed) - set(found))}")
    assert len(windows) >= 25
    assert len(found) >= 0.9 * len(listed)


def test_every_rewrite_has_proofs(result: Rewritten) -> None:
    rewritten = [one for one in result.outcomes if one.is_rewritten]
    assert len(rewritten) > 20
    assert all(obligation.proof for one in rewritten for obligation in one.obligations)
    claims = [" ".join(part.claim for part in one.obligations) for one in rewritten]
    ways = ("between start and wait", "same parts", "second stage")
    assert all(any(way in one for way in ways) for one in claims)
    assert sum("second stage" in one for one in claims) == 2
    assert sum("same parts" in one for one in claims) == 3
    stated = [one.procedure for one in rewritten for part in one.obligations if "!$hocket reassociate" in part.proof]
    assert stated == ["dot_product_and_update"]


def test_untouched_lines_stay_byte_for_byte(result: Rewritten) -> None:
    for path in FILES:
        old, new = result.old[path].splitlines(), result.new[path].splitlines()
        # What is new: calls, bounds of loops, declarations, names of copies. Every other line of the old file is there.
        gone = [line for line in set(old) if new.count(line) < old.count(line)]
        more = {"stages": (b"mine(", b"largest(", b"lowest", b"low "), "exchanges": (b"call find", b"call exchange")}
        other = more.get(path.stem, ())
        assert all(any(word in line.lower() for word in (b"mpi_", b"do ", b"use ", *other)) for line in gone), gone


def test_no_line_is_longer_than_fortran_allows(result: Rewritten) -> None:
    assert [line for text in result.new.values() for line in text.splitlines() if len(line) > MAX_COLUMNS] == []


def test_a_second_rewrite_changes_nothing(result: Rewritten, tmp_path: Path) -> None:
    for path, text in result.new.items():
        (tmp_path / path.name).write_bytes(text)
    again = rewrite([read_source(tmp_path / path.name) for path in FILES], OPTIONS)
    assert again.changed == []


# One MPI and few ranks in `make test`: the launchers take most of the time.
@pytest.mark.skipif(not WITH_FORTRAN, reason="no MPI with a Fortran compiler was found")
@pytest.mark.parametrize("mpi_with_fortran", WITH_FORTRAN if LONG else WITH_FORTRAN[:1], ids=lambda mpi: mpi.label)
def test_answers_keep_their_bits(mpi_with_fortran, hocket_cli, tmp_path: Path) -> None:
    ranks = "2,3,4" if LONG else "2,3"
    command = [mpi_with_fortran.mpiexec, "-n", "2", "{}"]
    options = ("--trust-compiler", "--part-bytes", "16 B")
    done = hocket_cli("rewrite", *FILES, *options, "--verify", "--ranks", ranks, "--json", "--", *command)
    assert done.returncode == 0, done.stdout + done.stderr
    values = json.loads(done.stdout)
    assert [one["ranks"] for one in values["comparisons"]] == [int(one) for one in ranks.split(",")]
    assert all(one["is_equal"] for one in values["comparisons"])
