# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Reading an mpiexec command line: where its program stands."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from hocket.errors import InvalidInput

# Options of Open MPI's and MPICH's mpiexec that take no value, and two; the others take one.
_WITHOUT_VALUE = frozenset(
    "allow-run-as-root oversubscribe nooversubscribe map-by-node nolocal pernode use-hwthread-cpus display-map "
    "display-allocation report-bindings bind-to-none bind-to-core tag-output timestamp-output verbose v quiet q l "
    "prepend-rank genvall genvnone envall envnone do-not-launch leave-session-attached enable-recovery "
    "disable-hostname-propagation".split()
)
_WITH_TWO_VALUES = frozenset({"mca", "gmca", "omca", "prtemca", "pmixmca", "genv", "env"})
# Options whose one value may be the path of an executable.
_WITH_EXECUTABLE = frozenset({"launcher", "launcher-exec", "bootstrap", "bootstrap-exec", "rmk", "prefix", "debugger"})
_EXAMPLE = "give the whole command, for instance: mpiexec -n 8 ./app"


def program_index(command: Sequence[str]) -> int:
    """Where the program's name stands in the command. Raises InvalidInput if there is no program that can be run."""
    i = 1
    while i < len(command) and command[i].startswith("-"):
        option = command[i].lstrip("-")
        if "=" in option or option in _WITHOUT_VALUE:
            i += 1
        elif option in _WITH_TWO_VALUES:
            i += 3
        else:  # one value; an unknown option may have none
            following = command[i + 1] if i + 1 < len(command) else "-"
            is_program = os.sep in following and shutil.which(following) is not None
            i += 1 if following.startswith("-") or (is_program and option not in _WITH_EXECUTABLE) else 2
    if i >= len(command):
        raise InvalidInput(f"the command names no program: {' '.join(command)}", hint=_EXAMPLE)
    if shutil.which(command[i]) is None:
        raise InvalidInput(f"{command[i]}: no such program, or it is not executable", hint=_EXAMPLE)
    return i


def with_program(command: Sequence[str], program: Sequence[str]) -> list[str]:
    """The same launcher and options with another program."""
    require_one_program(command)
    return [*command[: program_index(command)], *program]


def with_hosts(command: Sequence[str], hosts: str, family: str) -> tuple[str, ...]:
    """The launcher with these hosts to start ranks on, `a,b,c`, by the option of its MPI's family."""
    names = hosts.split(",")
    if not all(names):
        raise InvalidInput(f"--hosts {hosts}: a name is empty", "expected names with commas between them: a,b,c")
    return (command[0], "-hosts" if family == "mpich" else "--host", hosts, *command[1:])


def require_one_program(command: Sequence[str]) -> None:
    if ":" in command:
        raise InvalidInput(
            "the command starts several programs (`:`), whose collectives cannot be measured one by one",
            "`hocket record`, `hocket advise` and `hocket run` serve such commands",
        )
