# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors
"""The recorder's wrappers: `record_wrappers.c` and `record_functions.h`.

Nearly every function gets one. Both names get the wrapper, for Open MPI's Fortran bindings call PMPI_X where MPICH's
call MPI_X.
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
BY_HAND = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort"}


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
    return (
        f"""#undef {name}
#undef P{name}
int {name}({signature}) {{
    static int (*next)({signature});
    if (!next) next = hocket_resolve("P{name}");
    struct call call;
    if (!hocket_enter(&call, {index})) return next({arguments});
    {before}
    const int outcome = next({arguments});
    hocket_exit(&call, outcome);{after_line}
    hocket_write(&call);
    {always}
    return outcome;
}}
int P{name}({signature}) __attribute__((alias("{name}")));
"""
        if not function.is_variadic() or names == ["level"]
        else ""
    )


def write(declared: dict[str, Function], folder: Path) -> None:
    wrapped = {name: function for name, function in declared.items() if not SKIPPED.match(name)}
    indices = {name: i for i, name in enumerate(wrapped)}
    lines = ["/* Made by mpi/pmpi from the mpi.h of this MPI. */", '#include "record.h"', ""]
    lines += ["const char* const hocket_function_names[] = {", *(f'    "{name}",' for name in wrapped), "};", ""]
    lines += [wrapper(name, f, indices[name]) for name, f in wrapped.items() if name not in BY_HAND]
    (folder / "record_wrappers.c").write_text("\n".join(lines))
    header = [f"#define FUNCTION_{name} {indices[name]}" for name in sorted(BY_HAND)]
    header.append(f"#define NUM_FUNCTIONS {len(wrapped)}")
    (folder / "record_functions.h").write_text("\n".join(header) + "\n")
