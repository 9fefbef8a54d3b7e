# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Links coarray programs, which gfortran compiles for OpenCoarrays, with libhocket_coarrays: see mpi/coarrays."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from hocket.errors import InvalidInput
from hocket.mpi.build import MpiParts, build_mpi_parts
from hocket.mpi.command_line import program_index
from hocket.mpi.discover import Mpi, find_mpis

# The collective subroutines, as gfortran calls them.
COLLECTIVES = ("co_broadcast", "co_sum", "co_min", "co_max", "co_reduce")
_INSTALL = "as root: apt-get install libcoarrays-openmpi-dev or libcoarrays-mpich-dev; or give its full path"


def link_flags(parts: MpiParts) -> list[str]:
    """What links a coarray program with hocket's collectives, at any place before OpenCoarrays' own library.

    All begin with -Wl, so that a compiler that does not link passes over them in silence.
    """
    archive = str(parts.coarrays_archive)
    if "," in archive:
        raise InvalidInput(
            f"{archive}: the compiler cannot pass a path with a comma to the linker",
            "put the cache somewhere else: HOCKET_CACHE_DIR=/some/other/folder",
        )
    wrapped = [f"-Wl,--wrap=_gfortran_caf_{name}" for name in COLLECTIVES]
    # The linker takes what it misses from an archive in passing: objects that come after it must find it there too.
    return [*wrapped, "-Wl,-u,__wrap__gfortran_caf_co_sum", f"-Wl,{archive}"]


def compile_command(command: Sequence[str], report: Callable[[str], None] | None = None) -> list[str]:
    """The compiler wrapper's command with what links hocket's collectives in."""
    mpi = mpi_of_wrapper(command[0])
    if len(command) == 1:  # it prints its usage
        return list(command)
    return [*command, *link_flags(build_mpi_parts(mpi, report=report))]


def mpi_of_wrapper(wrapper: str) -> Mpi:
    """The MPI that OpenCoarrays' compiler wrapper, such as caf, compiles for.

    Raises InvalidInput if it is no such wrapper, or one for an MPI that hocket has not found.
    """
    if shutil.which(wrapper) is None:
        raise InvalidInput(f"{wrapper}: command not found", f"it is OpenCoarrays' compiler wrapper; {_INSTALL}")
    try:
        shown = subprocess.run([wrapper, "--show"], capture_output=True, text=True, check=False, timeout=30)
        words = shlex.split(shown.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise InvalidInput(f"`{wrapper} --show` failed: {error}", "give OpenCoarrays' compiler wrapper") from error
    if shown.returncode != 0 or "-fcoarray=lib" not in words:
        raise InvalidInput(
            f"{wrapper} is not OpenCoarrays' compiler wrapper: `{wrapper} --show` has no -fcoarray=lib",
            "for another compiler command take the flags: `hocket coarrays --flags`, before OpenCoarrays' library",
        )
    # It calls the MPI's Fortran wrapper, or a bare compiler with the MPI's library.
    named = {Path(found).resolve() for word in words if (found := shutil.which(word) or word).startswith("/")}
    for mpi in find_mpis():
        if named & {mpi.library.resolve(), *_fortran_wrappers(mpi)}:
            return mpi
    raise InvalidInput(
        f"{wrapper} compiles for an MPI that hocket has not found: `{words[0]}`",
        "`hocket doctor` lists those found; name the MPI's compiler wrapper: HOCKET_MPICC=/path/to/mpicc",
    )


def _fortran_wrappers(mpi: Mpi) -> set[Path]:
    suffix = mpi.mpicc.name.removeprefix("mpicc")
    paths = [mpi.mpicc.with_name(name + suffix) for name in ("mpifort", "mpif90", "mpif77")]
    return {path.resolve() for path in paths if path.exists()}


def coarray_libraries(command: Sequence[str], parts: MpiParts) -> list[Path]:
    """What to preload so that the program of `command` has hocket's collectives: nothing, unless it needs libcaf."""
    try:
        program = shutil.which(command[program_index(command)])
    except InvalidInput:  # a program that cannot be found; starting it reports that
        program = None
    if program is None:
        return []
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return [parts.coarrays] if re.search(r"^\s*libcaf_\w+\.so", needed, re.MULTILINE) else []
