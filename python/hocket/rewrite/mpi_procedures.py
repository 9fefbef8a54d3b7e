# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What MPI procedures read, write and wait for: mpi_procedures.txt as values."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

Role = Literal["blocking", "start", "wait", "local"]


@dataclass(frozen=True)
class Argument:
    name: str
    use: str = "value"  # value, in, out, inout, kept, set, request
    count: str = ""  # the argument that counts the elements of a buffer
    datatype: str = ""

    @property
    def is_buffer(self) -> bool:
        return self.use in ("in", "out", "inout")


@dataclass(frozen=True)
class MpiProcedure:
    name: str
    role: Role
    starts: tuple[str, ...]  # the calls that start it without blocking; empty where there are none
    arguments: tuple[Argument, ...]


@functools.cache
def mpi_procedures() -> dict[str, MpiProcedure]:
    """By name in lower case."""
    found = {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name, role, start, *arguments = line.split()
        found[name.lower()] = MpiProcedure(
            name, cast(Role, role), () if start == "-" else tuple(start.split("+")), tuple(map(_argument, arguments))
        )
    return found


def _argument(word: str) -> Argument:
    name, _, use = word.partition("=")
    parts = use.split(":")
    return Argument(name, parts[0] or "value", *parts[1:])


#: Basic datatypes of MPI: the type of Fortran's variables that they are for, and whether of 8 bytes a number.
DATATYPES = {
    "mpi_integer": ("integer", False),
    "mpi_real": ("real", False),
    "mpi_complex": ("complex", False),
    "mpi_logical": ("logical", False),
    "mpi_double_precision": ("real", True),
    "mpi_double_complex": ("complex", True),
    "mpi_real8": ("real", True),
    "mpi_integer8": ("integer", True),
}
#: Reductions whose result does not depend on the order, whatever the type.
EXACT_OPERATIONS = frozenset("mpi_max mpi_min mpi_land mpi_lor mpi_lxor mpi_band mpi_bor mpi_bxor".split())
ORDERED_OPERATIONS = frozenset({"mpi_sum", "mpi_prod"})
EXACT_DATATYPES = frozenset({"mpi_integer", "mpi_integer4", "mpi_integer8", "mpi_logical"})
