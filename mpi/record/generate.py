# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors
"""Writes the wrappers of all functions that an mpi.h declares: `generate.py PREPROCESSED_MPI_H OUTPUT_C`.

A function MPI_X is wrapped if the header declares PMPI_X too and it returns an error code. Both names get the wrapper,
for Open MPI's Fortran bindings call PMPI_X where MPICH's call MPI_X.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from details import ALWAYS, DETAILS

# Tools of the tool interface may run before MPI_Init and do not communicate; the rest are mere conversions, some of
# them called for every argument by Fortran bindings.
SKIPPED = re.compile(
    r"MPIX?_(T_\w+|\w+_[cf]2[cf]|\w+_f082[cf]|\w+_[cf]2f08|\w+_(from|to)int|Wtime|Wtick|Aint_add|Aint_diff)$"
)
# Written by hand in lifecycle.c.
BY_HAND = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort"}
DECLARATION = re.compile(r"([A-Za-z_][\w\s*]*?)\b(P?MPIX?_[A-Z]\w*)\s*\(([^;{}]*?)\)\s*;")


def without_attributes(text: str) -> str:
    """Removes __attribute__((...)) with any nesting, and line markers."""
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    pieces, at = [], 0
    for start in re.finditer(r"__attribute__\s*(?=\()|__extension__", text):
        if start.start() < at:
            continue
        pieces.append(text[at : start.start()])
        at, depth = start.end(), 0
        while at < len(text) and start.group().startswith("__attribute__"):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                break
    return "".join(pieces) + text[at:]


def split_parameters(text: str) -> list[str]:
    text = " ".join(text.split())
    if text in ("void", ""):
        return []
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def parameter_name(parameter: str) -> str:
    pointer_to_function = re.search(r"\(\s*\*\s*(\w+)\s*\)", parameter)
    if pointer_to_function:
        return pointer_to_function[1]
    return re.findall(r"\w+", re.sub(r"\[[^\]]*\]", "", parameter))[-1]


def functions(text: str) -> dict[str, list[str]]:
    """Name -> parameters, of each function to wrap, in alphabetical order."""
    declared = {m[2]: (m[1].split(), split_parameters(m[3])) for m in DECLARATION.finditer(without_attributes(text))}
    return {
        name: parameters
        for name, (result, parameters) in sorted(declared.items())
        if name.startswith("MPI") and "P" + name in declared and "int" in result and not SKIPPED.match(name)
    }


def generic_details(parameters: list[str]) -> str:
    """The first communicator, window or file that is passed by value."""
    for kind, statement in (("MPI_Comm", "hocket_comm"), ("MPI_Win", "hocket_window"), ("MPI_File", "hocket_file")):
        for parameter in parameters:
            if re.fullmatch(rf"(const\s+)?{kind}\s+\w+", parameter):
                return f"{statement}(&call, {parameter_name(parameter)});"
    return ""


def wrapper(name: str, parameters: list[str], index: int) -> str:
    variadic = parameters[-1:] == ["..."]
    named = [p for p in parameters if p != "..."]
    names = [parameter_name(p) for p in named]
    # The entries are for standard functions: an extension, MPIX_X, may mean something else by the same name.
    key = name.removeprefix("MPI_").removesuffix("_c")
    before, after = (text.format(*names) for text in DETAILS.get(key, ("", generic_details(named))))
    always = ALWAYS.get(key, "").format(*names)
    arguments = ", ".join(names)
    # Pcontrol's further arguments are for the profiler alone: MPI libraries ignore them, and nobody can pass them on.
    signature = ", ".join(parameters) or "void"
    after_line = f"\n    if (outcome == MPI_SUCCESS) {{ {after} }}" if after else ""
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
        if not variadic or names == ["level"]
        else ""
    )


def main() -> None:
    source, output = Path(sys.argv[1]), Path(sys.argv[2])
    wrapped = functions(source.read_text())
    if "MPI_Send" not in wrapped:
        sys.exit(
            f"generate.py: {source}: no declaration of MPI_Send and PMPI_Send found; is this a preprocessed mpi.h?"
        )
    indices = {name: i for i, name in enumerate(wrapped)}
    lines = [
        "/* Made by generate.py from the mpi.h of this MPI. */",
        '#include "record.h"',
        '#include "generated.h"',
        "",
    ]
    lines += ["const char* const hocket_function_names[] = {", *(f'    "{name}",' for name in wrapped), "};", ""]
    lines += [wrapper(name, p, indices[name]) for name, p in wrapped.items() if name not in BY_HAND]
    header = [f"#define FUNCTION_{name} {indices[name]}" for name in sorted(BY_HAND)]
    header.append(f"#define NUM_FUNCTIONS {len(wrapped)}")
    output.with_name("generated.h").write_text("\n".join(header) + "\n")
    output.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
