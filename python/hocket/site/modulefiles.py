# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Modulefiles for Lmod and for Environment Modules, and an Apptainer definition: what they set is the same."""

from __future__ import annotations

from hocket.site.site import Site

_WHAT = "hocket: faster collectives on this cluster's network"


def help_text(site: Site) -> str:
    mpis = ", ".join(mpi.name for mpi in site.mpis)
    return (
        "MPI programs run faster collectives where the network allows it. Start them as ever: mpiexec, mpirun or "
        f"srun. Installed for: {mpis}. HOCKET_SUMMARY=1 prints what was served. Python programs need "
        "HOCKET_SITE_MPI=NAME, one of: " + " ".join(mpi.label for mpi in site.mpis)
    )


def tcl(site: Site) -> str:
    """For Environment Modules, and for Lmod where the other one is missing."""
    variables = site.variables()
    lines = [
        "#%Module1.0",
        f"module-whatis {{{_WHAT}}}",
        "proc ModulesHelp { } {",
        f"    puts stderr {{{help_text(site)}}}",
        "}",
        "conflict hocket",
        *(f"setenv {name} {{{value}}}" for name, value in variables.items()),
        *(f"append-path --delim {{;}} {site.openmpi_list} {name}" for name in _handed_on(site)),
        f"prepend-path LD_PRELOAD {{{site.preloaded}}}",
    ]
    return "\n".join(lines) + "\n"


def lua(site: Site) -> str:
    variables = site.variables()
    lines = [
        f"help([==[{help_text(site)}]==])",
        f'whatis("{_WHAT}")',
        'conflict("hocket")',
        *(f"setenv({_quoted(name)}, {_quoted(value)})" for name, value in variables.items()),
        *(f'append_path{{"{site.openmpi_list}", {_quoted(name)}, delim = ";"}}' for name in _handed_on(site)),
        f'prepend_path("LD_PRELOAD", {_quoted(str(site.preloaded))})',
    ]
    return "\n".join(lines) + "\n"


def apptainer(site: Site) -> str:
    """The image must have its MPI at the path that it has here: that of the same distribution, or the host's, bound."""
    variables = {"LD_PRELOAD": str(site.preloaded), **site.variables()}
    lines = [
        "# apptainer build app.sif hocket.def, with your own base image and program.",
        "# The MPI's library must lie in the image where it lies on this machine, or be bound there by --bind:",
        *(f"#   {mpi.name}: {mpi.library}" for mpi in site.mpis),
        "Bootstrap: docker",
        "From: debian:bookworm",
        "",
        "%files",
        f"    {site.prefix} {site.prefix}",
        "",
        "%environment",
        *(f"    export {name}={_shell(value)}" for name, value in variables.items()),
        "",
        "%help",
        f"    {help_text(site)}",
    ]
    return "\n".join(lines) + "\n"


def _handed_on(site: Site) -> tuple[str, ...]:
    """Only what is always set: Open MPI 4 warns of any other name, mpirun of 5 then starts nothing."""
    return ("LD_PRELOAD", *site.variables()) if site.openmpi_list else ()


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _shell(text: str) -> str:
    import shlex

    return shlex.quote(text)
