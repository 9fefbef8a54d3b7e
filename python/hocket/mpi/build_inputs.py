# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the builds for an MPI are made of, and their names, which change when any of it does."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from hocket.mpi.discover import Mpi

CORE = "mpi-core"  # what mpi/core makes for all MPIs, in the cache folder
COMPILERS = (("CC", "cc", "C"), ("CXX", "c++", "C++"))  # variable, usual name, language
_OWN_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
Sources = Callable[[Path], set[Path]]  # the files of a build in the folder of the sources


def source_folder() -> Path:
    """The folder with mpi/, src/ and third_party/: the repository if hocket is used from it, else the wheel's copy."""
    package = Path(__file__).resolve().parent.parent
    repository = package.parent.parent
    return repository if (repository / "mpi/CMakeLists.txt").exists() else package / "_src"


def parts_name(mpi: Mpi) -> str:
    return f"{mpi.label}-{build_key(mpi, parts_sources)}"


def build_key(mpi: Mpi, sources: Sources) -> str:
    """Changes when anything that the result depends on changes."""
    return _digest(
        origin(mpi, sources),
        _compiler_version(os.environ.get("CC", "cc")),
        _compiler_version(os.environ.get("CXX", "c++")),
        f"{mpi.mpifort} {_compiler_version(str(mpi.mpifort))}" if mpi.mpifort else "",
    )


def origin(mpi: Mpi, sources: Sources) -> str:
    """The same without the compilers."""
    return _digest(
        str(mpi.mpicc.resolve()),
        str(mpi.library.resolve()),
        mpi.version,
        mpi.compile_line,
        os.environ.get("CFLAGS", ""),
        os.environ.get("CXXFLAGS", ""),
        os.environ.get("HOCKET_SANITIZE", ""),
        sources=sources(source_folder()),
    )


def core_name() -> str:
    """Changes when anything changes that the core is made of."""
    variables = [os.environ.get(name, "") for name in ("CXXFLAGS", "HOCKET_SANITIZE")]
    compiler = os.environ.get("CXX", "c++")
    key = _digest(compiler, _compiler_version(compiler), *variables, sources=core_sources(source_folder()))
    return f"{CORE}-{key}"


def _digest(*texts: str, sources: Iterable[Path] = ()) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    source = source_folder()
    for path in sorted(sources):
        digest.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def parts_sources(source: Path) -> set[Path]:
    """What the MPI parts are made of: their own files, those of the core, and what these include of src/hocket."""
    own = {path for path in (source / "mpi").rglob("*") if path.parent.name != "__pycache__"}
    own -= {*(source / "mpi/bench").rglob("*")}
    return _with_includes(source, own) | core_sources(source)


def bench_sources(source: Path) -> set[Path]:
    """What hocket-bench is made of; its suites are read when it runs, and its templates by `hocket bench new`."""
    own = {*(source / "mpi/bench").rglob("*")}
    for read_later in ("suites", "templates"):
        own -= {*(source / "mpi/bench" / read_later).rglob("*")}
    own |= {*(source / "mpi/common").glob("*.cpp"), *(source / "src/hocket/base").glob("*.cpp")}
    own |= {source / "mpi/options.cmake", *(source / "third_party/nlohmann_json").rglob("*")}
    return _with_includes(source, own | {*(source / "third_party/tomlplusplus").rglob("*")})


def core_sources(source: Path) -> set[Path]:
    """What mpi/core makes: the files that its lists name, and what these include."""
    lists = {path for path in (source / "mpi/core").glob("*.txt") if path.name != "CMakeLists.txt"}
    found = {path for names in lists for name in names.read_text("utf-8").split() for path in source.glob(name)}
    found |= lists | {source / "mpi/core/CMakeLists.txt", source / "mpi/options.cmake"}
    headers = {
        path for name in ("nlohmann_json", "tomlplusplus") for path in (source / "third_party" / name).rglob("*")
    }
    return _with_includes(source, found | headers)


def _with_includes(source: Path, paths: set[Path]) -> set[Path]:
    """Those of `paths` that are files, and all that they include by names relative to src/ or mpi/."""
    found = {path for path in paths if path.is_file()}
    looked_into: set[Path] = set()
    while left := {path for path in found if source / "third_party" not in path.parents} - looked_into:
        names = {name.decode() for path in left for name in _OWN_INCLUDE.findall(path.read_bytes())}
        looked_into |= left
        found |= {path for name in names for top in ("src", "mpi") if (path := source / top / name).is_file()}
    return found


def _compiler_version(compiler: str) -> str:
    try:
        result = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return "none"
    return result.stdout
