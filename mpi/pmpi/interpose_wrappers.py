# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors
"""The interposer's functions, from the table `interposed.txt`.

`next_functions.inc` has HOCKET_FUNCTION(name) for each. Each other kind than `by_hand` has a file KIND.inc with
    HOCKET_FUNCTION(name, function, (parameters), (arguments), size)
for each function of that kind, and HOCKET_LARGE_FUNCTION(...) for its large-count variant. `function` is the name in
the table without `_c`; for persistent collectives that of the non-blocking one, whose size they have too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from mpi_header import Function

# Number of words in a line of the table behind the kind.
WITH_NAME_ALONE = ("by_hand", "counted", "maker", "later_maker", "session", "window", "file")
KINDS = dict.fromkeys(WITH_NAME_ALONE, 1) | {"nonblocking": 3, "message": 2}
# From the lines of non-blocking ones.
PERSISTENT = "persistent"
# An MPI of an earlier standard has not all of these.
OPTIONAL = (PERSISTENT, "later_maker", "session", "file")


class Line(NamedTuple):
    kind: str
    name: str
    function: str
    size: str


def read_table(path: Path) -> list[Line]:
    table = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        kind, *rest = line.split(maxsplit=KINDS.get(line.split()[0], 0))
        if len(rest) != KINDS.get(kind):
            accepted = ", ".join(f"{kind} with {words}" for kind, words in KINDS.items())
            sys.exit(f"{path.name}:{number}: {line!r}: expected a kind and its number of words: {accepted}")
        name, size = rest[0], rest[-1] if len(rest) > 1 else ""
        table.append(Line(kind, name, name, size))
        if kind == "nonblocking":
            table.append(Line(PERSISTENT, rest[1], name, size))
    return table


def expansions(line: Line, declared: dict[str, Function]) -> list[str]:
    """Of the function and of its large-count variant, as far as the header has them."""
    lines = []
    for macro, name in (("HOCKET_FUNCTION", line.name), ("HOCKET_LARGE_FUNCTION", line.name + "_c")):
        if function := declared.get("MPI_" + name):
            arguments = ", ".join(function.argument_names())
            lines.append(f"{macro}({name}, {line.function}, ({function.signature()}), ({arguments}), {line.size})")
    return lines


HEAD = """// Made by mpi/pmpi from the mpi.h of this MPI.
#ifndef HOCKET_LARGE_FUNCTION
#define HOCKET_LARGE_FUNCTION HOCKET_FUNCTION
#endif
"""
FOOT = """#undef HOCKET_FUNCTION
#undef HOCKET_LARGE_FUNCTION
"""


def write(declared: dict[str, Function], table: list[Line], folder: Path) -> None:
    missing = [line.name for line in table if line.kind not in OPTIONAL and "MPI_" + line.name not in declared]
    if missing:
        sys.exit(f"interposed.txt: this mpi.h does not declare MPI_{', MPI_'.join(missing)}")
    names = [name for line in table for name in (line.name, line.name + "_c") if "MPI_" + name in declared]
    bodies = {"next_functions": [f"HOCKET_FUNCTION({name})" for name in names]}
    for kind in ("counted", "nonblocking", PERSISTENT, "message", "maker", "later_maker", "session", "window", "file"):
        bodies[kind] = [text for line in table if line.kind == kind for text in expansions(line, declared)]
    for name, lines in bodies.items():
        (folder / f"{name}.inc").write_text(HEAD + "".join(line + "\n" for line in lines) + FOOT)
