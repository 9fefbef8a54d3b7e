# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""MPIs of vendors that cannot be had here, by stand-ins: a wrapper, an mpi.h and an empty library with their names."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from hocket.errors import InvalidInput
from hocket.mpi.command_line import with_hosts
from hocket.mpi.discover import find_mpis, inspect_mpi
from hocket.mpi.launch import with_preload
from hocket.mpi.of_command import linked_mpi_library, mpi_of_command

OPENMPI = {"OMPI_MAJOR_VERSION": "4", "OMPI_MINOR_VERSION": "1", "OMPI_RELEASE_VERSION": "7"}


@dataclass(frozen=True)
class StandIn:
    wrapper: str
    macros: dict[str, str]
    library: str  # with its number
    name: str
    label: str
    has_launcher: bool = True
    below: str = "mpi"  # the folder that it is installed in


CRAY = {"MPICH_VERSION": '"3.4a2"', "CRAY_MPICH_VERSION": "8.1.25"}
STAND_INS = [
    StandIn("mpicc", CRAY, "libmpi_gnu_91.so.12", "Cray MPICH 8.1.25", "cray-mpich-8.1.25", has_launcher=False),
    StandIn("mpicc", CRAY, "libmpi_cray.so.12", "Cray MPICH 8.1.25", "cray-mpich-8.1.25", has_launcher=False),
    StandIn("mpicc", CRAY, "libmpi_nvidia.so.12", "Cray MPICH 8.1.25", "cray-mpich-8.1.25"),
    StandIn("mpicc", OPENMPI, "libmpi.so.40", "NVIDIA HPC-X 4.1.7", "hpcx-4.1.7", below="hpcx-v2.20/ompi"),
    StandIn("mpifcc", OPENMPI, "libmpi.so.0", "Fujitsu MPI 4.1.7", "fujitsu-4.1.7"),
    StandIn("mpiicx", {"I_MPI_VERSION": '"2021.11"'}, "libmpi.so.12", "Intel MPI 2021.11", "intel-2021.11"),
]


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def install(stand_in: StandIn, folder: Path) -> tuple[Path, Path]:
    """The compiler wrapper, and a program that is linked with the library."""
    top = folder / stand_in.below
    for name in ("bin", "lib", "include"):
        (top / name).mkdir(parents=True)
    (top / "include/mpi.h").write_text("".join(f"#define {name} {value}\n" for name, value in stand_in.macros.items()))
    bare = stand_in.library.partition(".so")[0]
    link = f"-I{top}/include -L{top}/lib -Wl,-rpath,{top}/lib -Wl,--no-as-needed -l{bare.removeprefix('lib')}"
    wrapper = script(
        top / "bin" / stand_in.wrapper,
        f'case "$1" in -show) echo "cc {link}" ;; -E) exec cc -I{top}/include "$@" ;; *) exec cc "$@" {link} ;; esac',
    )
    library = ["-shared", f"-Wl,-soname,{stand_in.library}", "-o", str(top / "lib" / stand_in.library)]
    subprocess.run(["cc", "-x", "c", "/dev/null", *library], check=True)
    (top / "lib" / f"{bare}.so").symlink_to(stand_in.library)
    source = folder / "program.c"
    source.write_text("#include <mpi.h>\nint main(void) { return 0; }\n")
    subprocess.run([str(wrapper), str(source), "-o", str(folder / "program")], check=True)
    if stand_in.has_launcher:
        script(top / "bin/mpiexec", "exit 3")
    return wrapper, folder / "program"


@pytest.mark.parametrize("stand_in", STAND_INS, ids=lambda one: f"{one.library}-{one.label}")
def test_it_is_known_by_its_names(stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper, program = install(stand_in, tmp_path)
    (tmp_path / "batch").mkdir()
    srun = script(tmp_path / "batch/srun", "exit 4")
    monkeypatch.delenv("HOCKET_MPICC", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'batch'}:{wrapper.parent}:{os.environ['PATH']}")
    found = mpi_of_command(["srun", "-n", "2", str(program)])
    assert (found.name, found.label, found.mpicc) == (stand_in.name, stand_in.label, wrapper)
    assert linked_mpi_library(program) == found.library.resolve() == wrapper.parent.parent / "lib" / stand_in.library
    assert found in find_mpis()
    if stand_in.has_launcher:
        assert found.mpiexec == wrapper.with_name("mpiexec")
        assert mpi_of_command([str(found.mpiexec), "-n", "2", str(program)]) == found
    else:
        assert found.mpiexec in (srun, *(Path(folder, "mpiexec") for folder in os.environ["PATH"].split(":")))
    hosts = with_hosts(["mpiexec", "-n", "2"], "a,b", found.family)
    assert hosts[1] == ("--host" if found.family == "openmpi" else "-hosts")


def test_without_any_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cray's wrapper has none beside it: that of the path which is of no other MPI, or srun, or a clear message."""
    wrapper, _ = install(STAND_INS[0], tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cc", "sh", "ldd", "true"):
        (tools / name).symlink_to(Path("/usr/bin", name) if Path("/usr/bin", name).exists() else Path("/bin", name))
    monkeypatch.setenv("PATH", f"{tools}:/usr/lib/gcc")
    with pytest.raises(InvalidInput, match="not beside it, and neither mpiexec nor srun is in PATH"):
        inspect_mpi(wrapper)
    srun = script(tools / "srun", "exit 4")
    assert inspect_mpi(wrapper).mpiexec == srun
    mpiexec = script(tools / "mpiexec", "exit 5")
    found = inspect_mpi(wrapper)
    assert found.mpiexec == mpiexec
    # Whose options are not MPICH's: the variables stand before the program.
    command, needed = with_preload(["mpiexec", "-n", "2", "true", "-x"], found, [Path("/a.so")], {"A": "1,2"})
    assert (command, needed) == (["mpiexec", "-n", "2", "env", "A=1,2", "LD_PRELOAD=/a.so", "true", "-x"], {})
    (tools / "mpicc").symlink_to("true")  # then it is another MPI's
    assert inspect_mpi(wrapper).mpiexec == srun
