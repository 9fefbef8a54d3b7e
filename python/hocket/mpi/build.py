# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Builds hocket's MPI parts for one MPI, once, into the user's cache folder."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from hocket.errors import Error, InvalidInput
from hocket.mpi.build_inputs import (
    COMPILERS,
    CORE,
    Sources,
    bench_sources,
    build_key,
    core_name,
    origin,
    parts_name,
    parts_sources,
    source_folder,
)
from hocket.mpi.build_progress import Steps, run_build, shown_steps
from hocket.mpi.cache import cache_folder, make_cache_folder, remove_unused, use
from hocket.mpi.discover import Mpi

_ORIGIN = "made-from"  # a file of each build: the digest of what it was made from, compilers apart
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
    def coarrays(self) -> Path:
        """The library with the collective subroutines of coarray programs that need libcaf as a shared library."""
        return self.folder / "lib/libhocket_coarrays.so"

    @property
    def coarrays_archive(self) -> Path:
        """The same to be linked into programs: `hocket.mpi.coarrays.link_flags`."""
        return self.folder / "lib/libhocket_coarrays.a"

    @property
    def workarounds(self) -> tuple[Path, ...]:
        """Libraries to preload last into every program over several hosts, also a native one: they mend this MPI
        (mpi/workaround)."""
        library = self.folder / "lib/libhocket_workaround.so"
        return (library,) if library.exists() else ()

    @property
    def fortran(self) -> Path | None:
        """The library behind the modules hocket and hocket_f08, where this MPI has a Fortran compiler."""
        library = self.folder / "lib/libhocket_fortran.a"
        return library if library.exists() else None

    @property
    def compare(self) -> Path:
        """The MPI program that measures native and rerouted collectives, interleaved."""
        return self.folder / "bin/hocket-compare"

    @property
    def eager(self) -> Path:
        """The MPI program that finds the largest message that is sent without asking its receiver first."""
        return self.folder / "bin/hocket-eager"

    @property
    def transfers(self) -> Path:
        """The MPI program that measures transfers between ranks, alone and together."""
        return self.folder / "bin/hocket-transfers"

    @property
    def include(self) -> Path:
        """The folder of hocket.h and of the Fortran modules."""
        return self.folder / "include"


def workarounds_for(mpi: Mpi, report: Callable[[str], None] | None = None) -> tuple[Path, ...]:
    """`MpiParts.workarounds` of an MPI that needs them with its own launcher; builds the parts for no other."""
    if mpi.family != "mpich" or tuple(map(int, re.findall(r"\d+", mpi.version)[:2])) >= (4, 2):
        return ()
    return build_mpi_parts(mpi, report=report).workarounds


def build_mpi_parts(mpi: Mpi, force: bool = False, report: Callable[[str], None] | None = None) -> MpiParts:
    """The MPI parts for `mpi`, built now if this is the first time (or with `force`).

    `report` is called with a sentence when something takes long; with it, the progress is shown on standard error. Safe
    to call from many processes at once. Raises Error if a tool is missing or the compiler fails.
    """
    target = make_cache_folder() / parts_name(mpi)
    if not force and use(target):
        return MpiParts(target)
    if not force and (found := _made_elsewhere(mpi, mpi.label, parts_sources)) is not None:
        return MpiParts(found)
    _require_tools()
    report_it = report or (lambda text: None)
    with _locked(mpi.label, f"builds the MPI parts for {mpi.name}", report_it):
        if force or not use(target):
            report_it(f"building the MPI parts for {mpi.name}, once, into {target.parent}; takes about a minute")
            with shown_steps("hocket: building") if report else nullcontext(lambda done, total: None) as steps:
                _build(mpi, target, _built_core(mpi, steps, report_it), steps)
            (target / _ORIGIN).write_text(origin(mpi, parts_sources))
            use(target)
            remove_unused(target.parent, mpi.label)
    return MpiParts(target)


def build_bench(mpi: Mpi, report: Callable[[str], None] | None = None) -> Path:
    """The program hocket-bench for `mpi`, as `build_mpi_parts`; apart from these, since few need it.

    Raises InvalidInput for the standard ABI, whose library is that of the MPI's own header.
    """
    if mpi.is_standard_abi:
        raise InvalidInput(
            f"{mpi.mpicc}: benchmarks are for programs that the MPI's own mpicc compiles, and so is hocket-bench",
            "HOCKET_MPICC names the mpicc beside it, or none",
        )

    def build(target: Path, steps: Steps, report_it: Callable[[str], None]) -> None:
        _run_cmake("mpi/bench", target, [f"-DMPI_C_COMPILER={mpi.mpicc}"], mpi, steps)

    return _built_apart("hocket-bench", mpi, bench_sources, build, report)


def build_probe(
    mpi: Mpi, name: Literal["hocket-circuits", "hocket-overlap"], report: Callable[[str], None] | None = None
) -> Path:
    """A program of mpi/probes that few need: runs schedules on a circuit switch, or overlaps collectives."""

    def build(target: Path, steps: Steps, report_it: Callable[[str], None]) -> None:
        _build(replace(mpi, mpifort=None), target, _built_core(mpi, steps, report_it), steps, [name])

    return _built_apart(name, mpi, parts_sources, build, report)


def _built_apart(
    name: str,
    mpi: Mpi,
    sources: Sources,
    build: Callable[[Path, Steps, Callable[[str], None]], None],
    report: Callable[[str], None] | None,
) -> Path:
    label = f"{name.removeprefix('hocket-')}_{mpi.label}"
    target = make_cache_folder() / f"{label}-{build_key(mpi, sources)}"
    if not use(target):
        if (found := _made_elsewhere(mpi, label, sources)) is not None:
            return found / "bin" / name
        _require_tools()
        report_it = report or (lambda text: None)
        with _locked(label, f"builds {name} for {mpi.name}", report_it):
            if not use(target):
                report_it(f"building {name} for {mpi.name}, once, into {target.parent}; takes about half a minute")
                with shown_steps("hocket: building") if report else nullcontext(lambda done, total: None) as steps:
                    build(target, steps, report_it)
                (target / _ORIGIN).write_text(origin(mpi, sources))
                use(target)
                remove_unused(target.parent, label)
    return target / "bin" / name


@contextmanager
def _locked(label: str, does: str, report: Callable[[str], None]) -> Iterator[None]:
    """Holds LABEL.lock in the cache folder; what the process that has it `does` is reported."""
    from filelock import FileLock, Timeout

    lock = FileLock(cache_folder() / f"{label}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        report(f"waiting for another hocket that {does}")
        try:
            lock.acquire(timeout=BUILD_TIMEOUT_S)
        except Timeout as error:
            raise Error(
                f"another process has held {lock.lock_file} for {BUILD_TIMEOUT_S} s", "end it and try again"
            ) from error
    try:
        yield
    finally:
        lock.release()


def built_mpi_parts(mpi: Mpi) -> MpiParts | None:
    """The MPI parts for `mpi` if they are built and current."""
    target = cache_folder() / parts_name(mpi)
    if target.exists():
        return MpiParts(target)
    found = _made_elsewhere(mpi, mpi.label, parts_sources)
    return None if found is None else MpiParts(found)


def _made_elsewhere(mpi: Mpi, label: str, sources: Sources) -> Path | None:
    """Where a compiler is missing, as on many compute nodes: a build of the same sources for the same MPI, which a
    machine that has one left in the cache folder."""
    if all(shutil.which(os.environ.get(variable, usual)) for variable, usual, _ in COMPILERS):
        return None
    wanted = origin(mpi, sources).encode()
    builds: list[tuple[float, Path]] = []
    for path in cache_folder().glob(f"{label}-*/{_ORIGIN}"):
        with suppress(OSError):  # removed by another process, or no file
            if path.read_bytes() == wanted:
                builds.append((path.stat().st_mtime, path.parent))
    return next((build for _, build in sorted(builds, reverse=True) if use(build)), None)


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
    for variable, usual, language in COMPILERS:
        name = os.environ.get(variable, usual)
        if shutil.which(name) is None:
            raise Error(
                f"{name}, a {language} compiler, is not installed; hocket needs it to build its MPI parts",
                f"as root: apt-get install gcc g++; or name another one: {variable}=/path/to/compiler",
            )


def _built_core(mpi: Mpi, steps: Steps, report: Callable[[str], None]) -> Path:
    """The folder of what all MPIs share (mpi/core), built now if it is not there."""
    target = cache_folder() / core_name()
    if not use(target):
        with _locked(CORE, "builds what the MPI parts share", report):
            if not use(target):
                _run_cmake("mpi/core", target, [], mpi, steps)
                use(target)
                remove_unused(target.parent, CORE)
    return target


def _build(mpi: Mpi, target: Path, core: Path, steps: Steps, programs: Sequence[str] = ()) -> None:
    settings = [
        f"-DMPI_C_COMPILER={mpi.mpicc}",
        f"-DHOCKET_MPIFORT={mpi.mpifort or ''}",
        f"-DPython3_EXECUTABLE={sys.executable}",
        f"-DHOCKET_MPI_CORE={core}",
    ]
    _run_cmake("mpi", target, settings, mpi, steps, programs)


def _run_cmake(
    project: str, target: Path, settings: list[str], mpi: Mpi, steps: Steps, programs: Sequence[str] = ()
) -> None:
    """Builds all, or only these programs, beside `target` and renames at the end: a target that exists is complete.

    An interrupted build leaves that folder, and the next one goes on there: its name shows that nothing has changed.
    """
    folder, log = target.with_name(f".{target.name}"), target.with_name(f"{target.name}.log")
    source, tool = source_folder(), _program("ninja") or _program("make")
    configure = [
        str(cmake_program()),
        *("-S", str(source / project)),
        *("-B", str(folder / "build")),
        *("-G", "Ninja" if _program("ninja") else "Unix Makefiles"),
        f"-DCMAKE_MAKE_PROGRAM={tool}",
        f"-DHOCKET_CORE_SOURCE={source / 'src'}",
        f"-DHOCKET_THIRD_PARTY={source / 'third_party'}",
        f"-DHOCKET_OUTPUT={folder / 'output'}",
        f"-DHOCKET_SANITIZE={os.environ.get('HOCKET_SANITIZE', '')}",
        *settings,
    ]
    # Not `cmake --build`, which would let the tool go on after its own end.
    compile_ = [str(tool), "-C", str(folder / "build"), "-j", str(len(os.sched_getaffinity(0))), *programs]
    cache = folder / "build/CMakeCache.txt"
    begun_from = f"CMAKE_HOME_DIRECTORY:INTERNAL={source / project}\n"
    if cache.exists() and begun_from not in cache.read_text(errors="replace"):
        shutil.rmtree(folder)  # it was begun from another copy of the same sources, which CMake does not go on with
    log.write_text("", encoding="utf-8")
    try:
        _run_logged(configure, log, mpi, lambda done, total: None)
        _run_logged(compile_, log, mpi, steps)
        if target.exists():
            shutil.rmtree(target)
        (folder / "output").rename(target)
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except BaseException:  # an interrupt
        log.unlink(missing_ok=True)
        if _program("ninja") is None:  # make takes half a file for a whole one
            shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    log.unlink()


def _run_logged(command: list[str], log: Path, mpi: Mpi, steps: Steps) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "CMAKE_GENERATOR")}
    returncode = run_build(command, log, steps, environment, BUILD_TIMEOUT_S)
    if returncode == 0:
        return
    status = f"exit status {returncode}" if returncode > 0 else f"ended by signal {-returncode}"
    lines = log.read_text(errors="replace").splitlines()
    at_errors = (i for i, line in enumerate(lines) if re.search(r"(?i)\berror\b(?!\.)", line))  # not base/error.cpp.o
    first = next(at_errors, max(len(lines) - 12, 0))
    extract = "\n".join(f"    {line}" for line in lines[first : first + 12])
    raise Error(
        f"the MPI parts for {mpi.name} ({mpi.mpicc}) could not be built ({status}):\n{extract}",
        f"the whole output is in {log}; `hocket doctor` reports what is installed",
    )
