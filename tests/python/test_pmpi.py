# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""mpi/pmpi makes wrappers of what the mpi.h at hand declares, and of nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hocket.traces.recording import GROUPS

PMPI = Path(__file__).resolve().parents[2] / "mpi/pmpi"
SEND = "const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm"
ISEND = f"{SEND}, MPI_Request *request"
SOME = ", ".join(f"int p{i}" for i in range(12))


def header(*functions: str, without: str = "") -> str:
    """Declares, as an mpi.h does, `functions`, and all that every MPI must have, except one."""
    table = (line.split() for line in (PMPI / "interposed.txt").read_text().splitlines())
    needed = {"Abort", *(line[1] for line in table if line and line[0] != "#")}
    needed -= {without, *(function.partition("(")[0] for function in functions)}
    functions += tuple(f"{name}({SOME})" for name in sorted(needed))
    return "".join(f"int {prefix}MPI_{function};\n" for function in functions for prefix in ("", "P"))


def generate(folder: Path, mpi_h: str, generator: Path = PMPI) -> subprocess.CompletedProcess[str]:
    (folder / "mpi.h.i").write_text(mpi_h)
    command = [sys.executable, "-B", generator / "generate.py", folder / "mpi.h.i", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def wrapped(folder: Path, name: str) -> list[str]:
    return [line for line in (folder / name).read_text().splitlines() if line.startswith("HOCKET_")]


def test_parameters_are_those_of_the_header(tmp_path):
    large = ISEND.replace("int count", "MPI_Count count")
    attribute = "__attribute__((checked(1, (2))))"
    done = generate(tmp_path, header(f"Send({SEND})", f"Isend({ISEND}) {attribute}", f"Isend_c({large})"))
    assert done.returncode == 0, done.stderr
    names = "(buf, count, datatype, dest, tag, comm, request), Block<1, 2>)"
    assert wrapped(tmp_path, "message.inc")[:2] == [
        f"HOCKET_FUNCTION(Isend, Isend, ({ISEND}), {names}",
        f"HOCKET_LARGE_FUNCTION(Isend_c, Isend, ({large}), {names}",
    ]
    assert wrapped(tmp_path, "persistent.inc") == []
    recorded = (tmp_path / "record_wrappers.c").read_text()
    assert f"int MPI_Send({SEND}) {{" in recorded
    assert "return next(buf, count, datatype, dest, tag, comm)" in recorded


def test_hocket_record_knows_the_groups_of_functions(tmp_path):
    assert generate(tmp_path, header(f"Send({SEND})")).returncode == 0
    groups = f'#define FUNCTION_GROUPS "{", ".join(GROUPS)}"'
    assert groups in (tmp_path / "record_functions.h").read_text().splitlines()


def test_a_header_that_is_not_understood_is_an_error(tmp_path):
    done = generate(tmp_path, "int f(void);\n")
    assert done.returncode != 0
    assert "no declaration of MPI_Send and PMPI_Send found" in done.stderr


def test_a_function_that_the_mpi_lacks_is_named(tmp_path):
    done = generate(tmp_path, header(f"Send({SEND})", without="Cart_sub"))
    assert done.returncode != 0
    assert done.stderr == "interposed.txt: this mpi.h does not declare MPI_Cart_sub\n"


@pytest.mark.parametrize("line", ["odd Send", "by_hand", "message Isend", "nonblocking Ibcast Bcast_init"])
def test_a_wrong_line_of_the_table_is_shown(tmp_path, line):
    for file in PMPI.glob("*.py"):
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "interposed.txt").write_text(f"# comment\n{line}\n")
    done = generate(tmp_path, header(f"Send({SEND})"), tmp_path)
    assert done.returncode != 0
    assert f"interposed.txt:2: {line!r}: expected a kind and its number of words: by_hand with 1," in done.stderr
