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

    @property
    def is_collective(self) -> bool:
        return not {one.name for one in self.arguments} & {"dest", "source", "tag"}


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
#: Names of MPI's module that programs use (MPI 4.1, A.1.1), in lower case.
CONSTANTS = frozenset(
    (
        "mpi_in_place mpi_bottom mpi_status_ignore mpi_statuses_ignore mpi_errcodes_ignore mpi_argv_null "
        "mpi_argvs_null mpi_comm_world mpi_comm_self mpi_comm_null mpi_group_null mpi_group_empty mpi_request_null "
        "mpi_op_null mpi_datatype_null mpi_info_null mpi_win_null mpi_file_null mpi_errhandler_null "
        "mpi_errors_are_fatal mpi_errors_return mpi_errors_abort mpi_success mpi_undefined mpi_proc_null "
        "mpi_any_source mpi_any_tag mpi_root mpi_source mpi_tag mpi_error mpi_status_size mpi_tag_ub "
        "mpi_unweighted mpi_weights_empty mpi_ident mpi_similar mpi_congruent mpi_unequal mpi_comm_type_shared "
        "mpi_cart mpi_graph mpi_dist_graph mpi_order_fortran mpi_order_c mpi_max_processor_name "
        "mpi_max_error_string mpi_max_library_version_string mpi_bsend_overhead mpi_info_env mpi_thread_single "
        "mpi_thread_funneled mpi_thread_serialized mpi_thread_multiple mpi_version mpi_subversion mpi_address_kind "
        "mpi_offset_kind mpi_count_kind mpi_integer_kind mpi_byte mpi_packed mpi_character mpi_logical mpi_integer "
        "mpi_integer1 mpi_integer2 mpi_integer4 mpi_integer8 mpi_real mpi_real4 mpi_real8 mpi_real16 "
        "mpi_double_precision mpi_complex mpi_complex8 mpi_complex16 mpi_complex32 mpi_double_complex mpi_2integer "
        "mpi_2real mpi_2double_precision mpi_aint mpi_offset mpi_count mpi_char mpi_int mpi_float mpi_double "
        "mpi_sum mpi_prod mpi_max mpi_min mpi_maxloc mpi_minloc mpi_land mpi_lor mpi_lxor mpi_band mpi_bor "
        "mpi_bxor mpi_replace mpi_no_op mpi_mode_rdonly mpi_mode_wronly mpi_mode_rdwr mpi_mode_create "
        "mpi_mode_nocheck mpi_mode_noprecede mpi_mode_nosucceed mpi_lock_shared mpi_lock_exclusive mpi_seek_set "
        "mpi_seek_cur mpi_seek_end"
    ).split()
)


def is_name_of_mpi(name: str) -> bool:
    """Of a procedure or a constant; many programs have an `MPI_T` of their own."""
    lower = name.lower()
    return lower in CONSTANTS or lower.removeprefix("p") in mpi_procedures()


#: Reductions whose result does not depend on the order, whatever the type.
EXACT_OPERATIONS = frozenset(
    "mpi_max mpi_min mpi_maxloc mpi_minloc mpi_land mpi_lor mpi_lxor mpi_band mpi_bor mpi_bxor".split()
)
ORDERED_OPERATIONS = frozenset({"mpi_sum", "mpi_prod"})
EXACT_DATATYPES = frozenset({"mpi_integer", "mpi_integer4", "mpi_integer8", "mpi_logical"})
