# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from __future__ import annotations

import click

from hocket.cli.common import json_option, print_json, print_table


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show what this machine has (MPIs, compilers, cores, privileges) and what will work.

    \b
    Example:
      hocket doctor
    """
    from hocket.doctor import examine

    found = examine()
    if as_json:
        print_json(found)
        return
    machine = found["machine"]
    print(f"hocket {found['hocket']}, Python {machine['python']}, {machine['system']}")
    print(f"{machine['cores']} cores ({machine['hardware_threads']} hardware threads), as {machine['user']}")
    print()
    print_table(
        ["MPI", "from", "compiler wrapper", "Fortran", "hocket's parts"],
        [
            (
                mpi["name"],
                mpi["source"],
                mpi["mpicc"],
                "yes" if mpi["fortran"] else "no",
                "built" if mpi["parts"] else "on first use",
            )
            for mpi in found["mpis"]
        ],
    )
    for message in found["broken_mpis"]:
        print(f"unusable: {message}\n")
    print_table(["tool", "version"], [(name, version or "not found") for name, version in found["tools"].items()])
    print_table(["job", "will work"], found["works"].items())
