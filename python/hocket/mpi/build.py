# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Builds hocket's MPI parts for one MPI, once, into the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hocket.errors import Error
from hocket.mpi.discover import Mpi

# The modules of the core that are compiled into the MPI parts, as in mpi/CMakeLists.txt.
CORE_MODULES = ("base", "schedule", "program", "trace", "collectives")
UNUSED_DAYS = 30
BUILD_TIMEOUT_S = 1800  # it takes half a minute on an idle machine with two cores, and far longer on a busy one


@dataclass(frozen=True)
class MpiParts:
    """What was built for one MPI."""

    folder: Path

    @property
    def record(self) -> Path:
        """The library that records a Trace."""
        return self.folder / "lib/libhocket_record.so"

    @property
    def interpose(self) -> Path:
        """The library that reroutes a program's collectives by a plan."""
        return self.folder / "lib/libhocket_interpose.so"

    @property
    def runtime(self) -> Path:
        """The library behind hocket.h."""
        return self.folder / "lib/libhocket.so"

    @property
    def workarounds(self) -> tuple[Path, ...]:
        """Libraries to preload last into every program over several hosts, also a native one: they mend this MPI."""
        library = self.folder / "lib/libhocket_workaround.so"
        return (library,) if library.exists() else ()

    @property
    def compare(self) -> Path:
        """The MPI program that measures native and rerouted collectives, interleaved."""
        return self.folder / "bin/hocket-compare"

    @property
    def eager(self) -> Path:
        """The MPI program that finds the largest message that is sent without asking its receiver first."""
        return self.folder / "bin/hocket-eager"

    @property
    def include(self) -> Path:
        """The folder of hocket.h."""
        return self.folder / "include"


def workarounds_for(mpi: Mpi, notify: Callable[[str], None] | None = None) -> tuple[Path, ...]:
    """`MpiParts.workarounds` of this MPI; builds the parts only for an MPI that has one (mpi/workaround)."""
    if mpi.family != "mpich" or tuple(map(int, re.findall(r"\d+", mpi.version)[:2])) >= (4, 2):
        return ()
    return build_mpi_parts(mpi, notify=notify).workarounds


def build_mpi_parts(mpi: Mpi, force: bool = False, notify: Callable[[str], None] | None = None) -> MpiParts:
    """The MPI parts for `mpi`, built now if this is the first time (or with `force`).

    `notify` is told, in a sentence, when something takes long. Safe to call from many processes at once. Raises Error
    if a tool is missing or the compiler fails.
    """
    from filelock import FileLock, Timeout

    target = _target(mpi)
    if target.exists() and not force:
        os.utime(target)
        return MpiParts(target)
    _require_tools()
    say = notify or (lambda text: None)
    lock = FileLock(_beside(target, ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"waiting for another hocket that builds the MPI parts for {mpi.name}")
        try:
            lock.acquire(timeout=BUILD_TIMEOUT_S)
        except Timeout as error:
            raise Error(
                f"another process has held {lock.lock_file} for {BUILD_TIMEOUT_S} s", "end it and try again"
            ) from error
    try:
        if force or not target.exists():
            say(f"building the MPI parts for {mpi.name}, once, into {target.parent}")
            _build(mpi, target)
            _remove_unused(target.parent)
    finally:
        lock.release()
    return MpiParts(target)


def built_mpi_parts(mpi: Mpi) -> MpiParts | None:
    """The MPI parts for `mpi` if they are built and current."""
    target = _target(mpi, create=False)
    return MpiParts(target) if target.exists() else None


def cache_folder() -> Path:
    """Where the built parts lie: mpi/ in $HOCKET_CACHE_DIR, or in hocket/ in the user's cache folder."""
    named = os.environ.get("HOCKET_CACHE_DIR")
    if named:
        return Path(named).absolute() / "mpi"
    from platformdirs import user_cache_path

    return user_cache_path("hocket") / "mpi"


def source_folder() -> Path:
    """The folder with mpi/, src/ and third_party/: the repository if hocket is used from it, else the wheel's copy."""
    package = Path(__file__).resolve().parent.parent
    repository = package.parent.parent
    return repository if (repository / "mpi/CMakeLists.txt").exists() else package / "_src"


def _target(mpi: Mpi, create: bool = True) -> Path:
    folder = cache_folder()
    if create:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(13, "Permission denied")
        except OSError as error:
            raise Error(
                f"{folder}: the cache folder cannot be written: {error.strerror}",
                "name another one: HOCKET_CACHE_DIR=/some/folder",
            ) from error
    return folder / f"{mpi.label}-{_key(mpi)}"


def _key(mpi: Mpi) -> str:
    """Changes when anything that the result depends on changes."""
    digest = hashlib.sha256()
    for text in (
        str(mpi.mpicc.resolve()),
        str(mpi.library.resolve()),
        mpi.version,
        mpi.compile_line,
        _compiler_version("CC", "cc"),
        _compiler_version("CXX", "c++"),
        os.environ.get("CFLAGS", ""),
        os.environ.get("CXXFLAGS", ""),
        os.environ.get("HOCKET_SANITIZE", ""),
    ):
        digest.update(text.encode() + b"\0")
    source = source_folder()
    for path in sorted(_sources(source)):
        digest.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(source: Path) -> Iterator[Path]:
    folders = [
        source / "mpi",
        *(source / "src/hocket" / module for module in CORE_MODULES),
        source / "third_party/nlohmann_json",
    ]
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and path.parent.name != "__pycache__":
                yield path


def _compiler_version(variable: str, default: str) -> str:
    try:
        result = subprocess.run(
            [os.environ.get(variable, default), "--version"], capture_output=True, text=True, check=False
        )
    except OSError:
        return "none"
    return result.stdout


def cmake_program() -> Path | None:
    """The cmake of the environment that hocket is installed in, or else of the machine."""
    return _program("cmake")


def _program(name: str) -> Path | None:
    beside = Path(sys.executable).parent / name
    if beside.exists():
        return beside
    found = shutil.which(name)
    return Path(found) if found else None


def _require_tools() -> None:
    if cmake_program() is None:
        raise Error(
            "cmake is not installed; hocket needs it to build its MPI parts",
            "pip install 'hocket[mpi]', or install cmake",
        )
    if _program("ninja") is None and _program("make") is None:
        raise Error(
            "neither ninja nor make is installed; hocket needs one to build its MPI parts", "pip install 'hocket[mpi]'"
        )
    for variable, default, language in (("CC", "cc", "C"), ("CXX", "c++", "C++")):
        name = os.environ.get(variable, default)
        if shutil.which(name) is None:
            raise Error(
                f"{name}, a {language} compiler, is not installed; hocket needs it to build its MPI parts",
                f"as root: apt-get install gcc g++; or name another one: {variable}=/path/to/compiler",
            )


def _build(mpi: Mpi, target: Path) -> None:
    """Builds in a folder beside `target` and renames at the end: a target that exists is complete."""
    for stale in target.parent.glob(f".{target.name}-*"):  # of a build that was killed; we hold its lock
        shutil.rmtree(stale, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    log = _beside(target, ".log")
    try:
        source = source_folder()
        configure = [
            str(cmake_program()),
            *("-S", str(source / "mpi")),
            *("-B", str(folder / "build")),
            f"-DMPI_C_COMPILER={mpi.mpicc}",
            f"-DPython3_EXECUTABLE={sys.executable}",
            f"-DHOCKET_CORE_SOURCE={source / 'src'}",
            f"-DHOCKET_THIRD_PARTY={source / 'third_party'}",
            f"-DHOCKET_OUTPUT={folder / 'output'}",
            f"-DHOCKET_SANITIZE={os.environ.get('HOCKET_SANITIZE', '')}",
        ]
        ninja = _program("ninja")
        if ninja is not None:
            configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
        compile_ = [
            str(cmake_program()),
            "--build",
            str(folder / "build"),
            "--parallel",
            str(len(os.sched_getaffinity(0))),
        ]
        with log.open("w") as stream:
            _run_logged(configure, stream.name, mpi)
            _run_logged(compile_, stream.name, mpi)
        if target.exists():
            shutil.rmtree(target)
        (folder / "output").rename(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    log.unlink()


def _run_logged(command: list[str], log: str, mpi: Mpi) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "CMAKE_GENERATOR")}
    with open(log, "a") as stream:
        try:
            result = subprocess.run(
                command, stdout=stream, stderr=subprocess.STDOUT, env=environment, check=False, timeout=BUILD_TIMEOUT_S
            )
            status = f"exit status {result.returncode}"
            if result.returncode == 0:
                return
        except subprocess.TimeoutExpired:
            status = f"stopped after {BUILD_TIMEOUT_S} s"
    lines = Path(log).read_text(errors="replace").splitlines()
    first = next((i for i, line in enumerate(lines) if "error" in line.lower()), max(len(lines) - 12, 0))
    extract = "\n".join(f"    {line}" for line in lines[first : first + 12])
    raise Error(
        f"the MPI parts for {mpi.name} ({mpi.mpicc}) could not be built ({status}):\n{extract}",
        f"the whole output is in {log}; `hocket doctor` tells what is installed",
    )


def _beside(target: Path, suffix: str) -> Path:
    return target.with_name(target.name + suffix)


def _remove_unused(folder: Path) -> None:
    for path in folder.iterdir():
        if (
            re.fullmatch(r"\w+-[\w.]+-[0-9a-f]{16}", path.name)
            and path.is_dir()
            and time.time() - path.stat().st_mtime > UNUSED_DAYS * 86400
        ):
            shutil.rmtree(path, ignore_errors=True)
            _beside(path, ".lock").unlink(missing_ok=True)
