# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Finds the MPIs of this machine by their compiler wrappers, without running a program of theirs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hocket.errors import Error, InvalidInput

# Debian lets several MPIs live in /usr/bin by suffixes; the bare names are links to one of them. Fujitsu and Intel have
# names of their own. Those of the standard ABI (mpicc_abi) are found beside.
WRAPPERS = ("mpicc", "mpicc.openmpi", "mpicc.mpich", "mpifcc", "mpiicx", "mpiicc")
ABI_WRAPPER = "mpicc_abi"
_OF_ABI = " (standard ABI)"
# The library of each: libmpi.so (Open MPI, HPC-X, Fujitsu, MPICH, Intel), libmpich.so (Debian), libmpi_gnu_123.so and
# its like (Cray, for each compiler), libmpi_abi.so (the standard ABI, whichever MPI it is). libmpi_cxx is none.
LIBRARY = r"mpi(?:ch|_abi|_(?:cray|gnu|intel|nvidia|amd|aocc|pgi|crayclang)(?:_\w+)?)?"
LAUNCHERS = {
    "openmpi": ("mpiexec", "mpirun", "orterun", "prterun"),
    "mpich": ("mpiexec", "mpirun", "mpiexec.hydra"),
    "intel": ("mpiexec", "mpirun", "mpiexec.hydra"),
}
TITLES = {
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "intel": "Intel MPI",
    "cray-mpich": "Cray MPICH",
    "fujitsu": "Fujitsu MPI",
    "hpcx": "NVIDIA HPC-X",
}
INSTALL_HINT = (
    "install one: pip install 'hocket[mpi]' (the wheel mpich), "
    "or as root apt-get install libopenmpi-dev or libmpich-dev"
)


@dataclass(frozen=True)
class Mpi:
    """An installed MPI: its compiler wrapper, its launcher and its library."""

    name: str  # as people say it: "Open MPI 4.1.4"
    family: str  # "openmpi", "mpich" or "intel"
    version: str
    mpicc: Path
    mpiexec: Path
    library: Path
    mpifort: Path | None
    source: str  # "debian", "wheel" or "other"
    compile_line: str  # what the wrapper calls: `mpicc -show`
    vendor: str = ""  # where it is not the family itself: a key of TITLES, or FAMILY-abi for the standard ABI

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    @property
    def is_standard_abi(self) -> bool:
        return self.vendor.endswith("-abi")

    @property
    def library_name(self) -> str:
        """As mpi/interpose/library_name.cpp finds it in the library, whose times are those of programs of the standard
        ABI, too."""
        return self.name.removesuffix(_OF_ABI)

    @property
    def label(self) -> str:
        """A short name without spaces, for folders and test ids: "openmpi-4.1.4"."""
        return f"{self.vendor or self.family}-{self.version}"

    @cached_property
    def mpicxx(self) -> Path | None:
        name = self.mpicc.name.replace("mpicc", "mpicxx", 1)
        return _existing(self.mpicc.with_name(name))

    @cached_property
    def launchers(self) -> frozenset[Path]:
        """Every launcher that starts programs of this MPI, links resolved."""
        suffix = _suffix(self.mpicc)
        names = [self.mpiexec, *(self.mpicc.with_name(name + suffix) for name in LAUNCHERS[self.family])]
        return frozenset(path.resolve() for path in names if path.exists())


def find_mpis() -> list[Mpi]:
    """The MPIs of this machine that work, the default one first.

    Looked for in this order: $HOCKET_MPICC, the folders of $HOCKET_MPI_PATH, the folders of $PATH, the environment that
    hocket itself is installed in, and one in that, `openmpi`: file names of the wheels openmpi and mpich are the same.
    """
    return examine_mpis()[0]


def examine_mpis() -> tuple[list[Mpi], list[InvalidInput]]:
    """The MPIs that work, as in `find_mpis`, and for each compiler wrapper that does not, why."""
    unique: dict[Path, Mpi] = {}
    broken: list[InvalidInput] = []
    with ThreadPoolExecutor(max_workers=4) as pool:
        for found in pool.map(_try_inspect, list(_wrappers())):
            if isinstance(found, Mpi):
                unique.setdefault(found.library.resolve(), found)
            else:
                broken.append(found)
    return list(unique.values()), broken


def no_mpi(broken: Sequence[InvalidInput]) -> Error:
    """Why there is none to use, where `examine_mpis` found these only."""
    if not broken:
        return Error("no MPI was found on this machine", INSTALL_HINT)
    return Error(f"no MPI of this machine can be used: {broken[0].message}", broken[0].hint)


def usable_mpis() -> list[Mpi]:
    """As `find_mpis`. Raises Error if there is none."""
    found, broken = examine_mpis()
    if not found:
        raise no_mpi(broken)
    return found


def default_mpi() -> Mpi:
    """The first of `find_mpis`, which is the one that $HOCKET_MPICC names if it is set."""
    if named := os.environ.get("HOCKET_MPICC"):
        return inspect_mpi(Path(named))
    return usable_mpis()[0]


def inspect_mpi(mpicc: Path) -> Mpi:
    """What the compiler wrapper `mpicc` belongs to.

    Raises InvalidInput if it is not a working wrapper, or if its library or launcher is missing.
    """
    path = shutil.which(mpicc)
    if path is None:
        raise InvalidInput(f"{mpicc}: no such compiler wrapper", INSTALL_HINT)
    wrapper = Path(os.path.abspath(path))
    compile_line = _output([str(wrapper), "-show"])
    macros = _macros(wrapper, compile_line)
    family, version = _identify(wrapper, macros)
    library = _library(wrapper, compile_line)
    suffix = _suffix(wrapper)
    vendor = _vendor(wrapper, family, macros)
    return Mpi(
        name=f"{TITLES.get(vendor, TITLES[family])} {version}" + (_OF_ABI if wrapper.name == ABI_WRAPPER else ""),
        family=family,
        version=version,
        mpicc=wrapper,
        mpiexec=_launcher(wrapper, family),
        library=library,
        mpifort=None if wrapper.name == ABI_WRAPPER else _existing(wrapper.with_name("mpifort" + suffix)),
        source=_source(wrapper),
        compile_line=compile_line,
        vendor=vendor,
    )


def standard_abi(mpi: Mpi) -> Mpi | None:
    """The same MPI for programs of the standard ABI; None where it has none, or none that works."""
    wrapper = _existing(mpi.mpicc.with_name(ABI_WRAPPER))
    found = _try_inspect(wrapper) if wrapper else None
    # Several MPIs may share a folder.
    return found if isinstance(found, Mpi) and (found.family, found.version) == (mpi.family, mpi.version) else None


def _suffix(wrapper: Path) -> str:
    """Of an MPI's programs, as Debian adds it: mpicc.mpich, mpiexec.mpich."""
    return wrapper.name.removeprefix("mpicc") if wrapper.name in WRAPPERS and wrapper.name.startswith("mpicc") else ""


def _vendor(wrapper: Path, family: str, macros: str) -> str:
    if wrapper.name == ABI_WRAPPER:
        return f"{family}-abi"
    if re.search(r"^#define CRAY_MPICH_VERSION\b", macros, re.MULTILINE):
        return "cray-mpich"
    if wrapper.name.startswith("mpifcc"):
        return "fujitsu"
    return "hpcx" if family == "openmpi" and any("hpcx" in part.lower() for part in wrapper.resolve().parts) else ""


def _launcher(wrapper: Path, family: str) -> Path:
    """Beside the wrapper; where none is, as on Cray, one of the path that is of no other MPI, or the batch system's."""
    beside = next((p for n in LAUNCHERS[family] if (p := _existing(wrapper.with_name(n + _suffix(wrapper))))), None)
    if beside is not None:
        return beside
    found = shutil.which("mpiexec")
    if found and not any(Path(found).resolve().with_name(other).exists() for other in WRAPPERS):
        return Path(found)
    if found := shutil.which("srun"):
        return Path(found)
    raise InvalidInput(
        f"{wrapper}: its launcher mpiexec{_suffix(wrapper)} is not beside it, and neither mpiexec nor srun is in PATH",
        "install the MPI's run-time part, or put the launcher's folder into PATH",
    )


def _wrappers() -> Iterator[Path]:
    named = os.environ.get("HOCKET_MPICC")
    if named:
        yield Path(named)
    own = Path(sys.executable).parent
    folders = [
        *_path_variable("HOCKET_MPI_PATH"), *_path_variable("PATH"), str(own), str(own.parent / "openmpi/bin")
    ]  # fmt: skip
    for folder in dict.fromkeys(folders):
        for name in WRAPPERS:
            path = Path(folder, name)
            if os.access(path, os.X_OK) and not path.is_dir():
                yield path


def _path_variable(name: str) -> list[str]:
    return [folder for folder in os.environ.get(name, "").split(os.pathsep) if folder]


def _try_inspect(mpicc: Path) -> Mpi | InvalidInput:
    try:
        return inspect_mpi(mpicc)
    except InvalidInput as error:
        return error


def _output(command: list[str], text: str = "") -> str:
    try:
        result = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InvalidInput(f"{command[0]}: cannot be run: {error}") from error
    if result.returncode != 0:
        lines = (result.stderr or result.stdout).strip().splitlines()
        raise InvalidInput(
            f"`{shlex.join(command)}` failed: {lines[0] if lines else f'exit status {result.returncode}'}",
            "check that the C compiler behind it is installed (as root: apt-get install gcc libc6-dev)",
        )
    return result.stdout.strip()


def _macros(wrapper: Path, compile_line: str) -> str:
    """Lines of mpi.h with what it defines."""
    words = compile_line.split()
    if words and shutil.which(words[0]) is None:  # many compute nodes have no compiler
        headers = (Path(word[2:], "mpi.h") for word in words if word.startswith("-I"))
        for header in filter(Path.is_file, headers):
            return header.read_text("utf-8", errors="replace")
    return _output([str(wrapper), "-E", "-dM", "-x", "c", "-"], "#include <mpi.h>\n")


def _identify(wrapper: Path, macros: str) -> tuple[str, str]:
    value = dict(re.findall(r"^#define (\w+) +(\S+)$", macros, re.MULTILINE))
    if "OMPI_MAJOR_VERSION" in value:
        return "openmpi", ".".join(value[f"OMPI_{part}_VERSION"] for part in ("MAJOR", "MINOR", "RELEASE"))
    if "I_MPI_VERSION" in value:
        return "intel", value["I_MPI_VERSION"].strip('"').split()[0]
    if "MPICH_VERSION" in value:
        return "mpich", str(value.get("CRAY_MPICH_VERSION", value["MPICH_VERSION"])).strip('"')
    if "MPI_ABI_VERSION" in value and (beside := wrapper.with_name("mpicc")).exists():
        return _identify(beside, _macros(beside, _output([str(beside), "-show"])))
    raise InvalidInput(
        f"{wrapper}: its mpi.h is of no MPI that hocket knows", "known are Open MPI, MPICH and Intel MPI"
    )


def _library(wrapper: Path, compile_line: str) -> Path:
    words = compile_line.split()
    folders = [Path(word[2:]) for word in words if word.startswith("-L")] + [wrapper.parent.parent / "lib"]
    names = [word[2:] for word in words if re.fullmatch(f"-l{LIBRARY}", word)] or ["mpi", "mpich"]
    for name in names:
        for folder in folders:
            linked = folder / f"lib{name}.so"
            if linked.is_symlink() and linked.exists():
                return linked
            # A Python wheel has copies instead of links; programs load the one whose name has a number.
            for path in (*sorted(folder.glob(f"lib{name}.so.*")), linked):
                if path.exists():
                    return path
    raise InvalidInput(
        f"{wrapper}: lib{names[0]}.so is in none of {', '.join(map(str, folders))}",
        "hocket needs the MPI's shared library; install its development package",
    )


def _source(wrapper: Path) -> str:
    if wrapper.parent == Path("/usr/bin") and Path("/etc/debian_version").exists():
        return "debian"
    return "wheel" if (wrapper.parent.parent / "pyvenv.cfg").exists() else "other"


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None
