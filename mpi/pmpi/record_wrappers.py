# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors
"""The recorder's wrappers: `record_wrappers.c` and `record_functions.h`.

Nearly every function gets one. Both names get a wrapper, for Open MPI's Fortran bindings call PMPI_X where MPICH's call
MPI_X. Each passes on to its own name: another tool that is loaded behind the recorder wraps MPI_X and calls PMPI_X.
"""

from __future__ import annotations

import re
from pathlib import Path

from mpi_header import Function, parameter_name
from recorded import ALWAYS, DETAILS

# Tools of the tool interface may run before MPI_Init and do not communicate; the rest are mere conversions, some of
# them called for every argument by Fortran bindings.
SKIPPED = re.compile(
    r"MPIX?_(T_\w+|\w+_[cf]2[cf]|\w+_f082[cf]|\w+_[cf]2f08|\w+_(from|to)int|Wtime|Wtick|Aint_add|Aint_diff)$"
)
# Written by hand in lifecycle.c.
BY_HAND = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Session_init", "MPI_Session_finalize"}


# What a filter may name, by the functions without MPI_ and _c in lower case.
GROUPS = {
    "p2p": r"i?[bsr]?send|i?recv|i?m?probe|i?mrecv|i?sendrecv(_replace)?|[bsr]?send_init|recv_init|start(all)?|"
    r"(wait|test)(all|any|some)?|request_\w+|cancel|psend_init|precv_init|pready\w*|parrived",
    "collective": r"i?(barrier|bcast|reduce|allreduce|scan|exscan|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|"
    r"reduce_scatter(_block)?|neighbor_allgatherv?|neighbor_alltoall[vw]?)(_init)?",
    "rma": r"r?put|r?get|r?accumulate|r?get_accumulate|fetch_and_op|compare_and_swap|win_\w+",
    "io": r"file_\w+|register_datarep",
    "communicator": r"(comm|group|cart|graph|dist_graph|intercomm|topo|session)_\w+",
}


def generic_details(parameters: list[str]) -> str:
    """The first communicator, window or file that is passed by value."""
    for kind, statement in (("MPI_Comm", "hocket_comm"), ("MPI_Win", "hocket_window"), ("MPI_File", "hocket_file")):
        for parameter in parameters:
            if re.fullmatch(rf"(const\s+)?{kind}\s+\w+", parameter):
                return f"{statement}(&call, {parameter_name(parameter)});"
    return ""


def wrapper(name: str, function: Function, index: int) -> str:
    names = function.argument_names()
    signature = function.signature()
    # The entries are for standard functions: an extension, MPIX_X, may mean something else by the same name.
    key = name.removeprefix("MPI_").removesuffix("_c")
    before, after = (text.format(*names) for text in DETAILS.get(key, ("", generic_details(function.parameters))))
    always = ALWAYS.get(key, "").format(*names)
    arguments = ", ".join(names)
    after_line = f"\n    if (outcome == MPI_SUCCESS) {{ {after} }}" if after else ""
    # MPI libraries ignore the further arguments of MPI_Pcontrol, and nobody can pass them on.
    if function.is_variadic() and names != ["level"]:
        return ""
    entries = "".join(
        f"""int {entry}({signature}) {{
    static int (*next)({signature});
    if (!next) next = hocket_resolve("{entry}");
    return record_{name}({", ".join(["next", *names])});
}}
"""
        for entry in (name, f"P{name}")
    )
    return f"""#undef {name}
#undef P{name}
static int record_{name}({", ".join([f"int (*next)({signature})", *([] if signature == "void" else [signature])])}) {{
    struct call call;
    if (!hocket_enter(&call, {index})) return next({arguments});
    {before}
    const int outcome = next({arguments});
    hocket_exit(&call, outcome);{after_line}
    hocket_write(&call);
    {always}
    return outcome;
}}
{entries}"""


def group_of(name: str) -> str:
    short = name.removeprefix("MPI_").removesuffix("_c").lower()
    return next((group for group, pattern in GROUPS.items() if re.fullmatch(pattern, short)), "other")


def write(declared: dict[str, Function], folder: Path) -> None:
    wrapped = {name: function for name, function in declared.items() if not SKIPPED.match(name)}
    indices = {name: i for i, name in enumerate(wrapped)}
    lines = ["/* Made by mpi/pmpi from the mpi.h of this MPI. */", '#include "record.h"', ""]
    lines += ["const char* const hocket_function_names[] = {", *(f'    "{name}",' for name in wrapped), "};", ""]
    lines += ["const char* const hocket_function_groups[] = {"]
    lines += [*(f'    "{group_of(name)}",' for name in wrapped), "};", ""]
    lines += [wrapper(name, f, indices[name]) for name, f in wrapped.items() if name not in BY_HAND]
    (folder / "record_wrappers.c").write_text("\n".join(lines))
    header = [f"#define FUNCTION_{name} {indices[name]}" for name in sorted(BY_HAND & indices.keys())]
    header += [f'#define FUNCTION_GROUPS "{", ".join([*GROUPS, "other"])}"']
    header.append(f"#define NUM_FUNCTIONS {len(wrapped)}")
    (folder / "record_functions.h").write_text("\n".join(header) + "\n")
