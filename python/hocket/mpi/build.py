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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from hocket.errors import Error
from hocket.mpi.build_progress import Steps, run_build, shown_steps
from hocket.mpi.cache import cache_folder, make_cache_folder, remove_unused, use
from hocket.mpi.discover import Mpi

_CORE = "mpi-core"  # what mpi/core makes for all MPIs, in the cache folder
_ORIGIN = "made-from"  # a file of each build: the digest of what it was made from, compilers apart
_COMPILERS = (("CC", "cc", "C"), ("CXX", "c++", "C++"))  # variable, usual name, language
_OWN_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
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
    target = make_cache_folder() / _name(mpi)
    if not force and use(target):
        return MpiParts(target)
    if not force and (found := _made_elsewhere(mpi, mpi.label, _sources)) is not None:
        return MpiParts(found)
    _require_tools()
    report_it = report or (lambda text: None)
    with _locked(mpi.label, f"builds the MPI parts for {mpi.name}", report_it):
        if force or not use(target):
            report_it(f"building the MPI parts for {mpi.name}, once, into {target.parent}; takes about a minute")
            with shown_steps("hocket: building") if report else nullcontext(lambda done, total: None) as steps:
                _build(mpi, target, _built_core(mpi, steps, report_it), steps)
            (target / _ORIGIN).write_text(_origin(mpi, _sources))
            use(target)
            remove_unused(target.parent, mpi.label)
    return MpiParts(target)


def build_bench(mpi: Mpi, report: Callable[[str], None] | None = None) -> Path:
    """The program hocket-bench for `mpi`, as `build_mpi_parts`; apart from these, since few need it."""

    def build(target: Path, steps: Steps, report_it: Callable[[str], None]) -> None:
        _run_cmake("mpi/bench", target, [f"-DMPI_C_COMPILER={mpi.mpicc}"], mpi, steps)

    return _built_apart("hocket-bench", mpi, _bench_sources, build, report)


def build_probe(
    mpi: Mpi, name: Literal["hocket-circuits", "hocket-overlap"], report: Callable[[str], None] | None = None
) -> Path:
    """A program of mpi/probes that few need: runs schedules on a circuit switch, or overlaps collectives."""

    def build(target: Path, steps: Steps, report_it: Callable[[str], None]) -> None:
        _build(replace(mpi, mpifort=None), target, _built_core(mpi, steps, report_it), steps, [name])

    return _built_apart(name, mpi, _sources, build, report)


def _built_apart(
    name: str,
    mpi: Mpi,
    sources: Callable[[Path], set[Path]],
    build: Callable[[Path, Steps, Callable[[str], None]], None],
    report: Callable[[str], None] | None,
) -> Path:
    label = f"{name.removeprefix('hocket-')}_{mpi.label}"
    target = make_cache_folder() / f"{label}-{_key(mpi, sources)}"
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
                (target / _ORIGIN).write_text(_origin(mpi, sources))
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
    target = cache_folder() / _name(mpi)
    if target.exists():
        return MpiParts(target)
    found = _made_elsewhere(mpi, mpi.label, _sources)
    return None if found is None else MpiParts(found)


def _made_elsewhere(mpi: Mpi, label: str, sources: Callable[[Path], set[Path]]) -> Path | None:
    """Where a compiler is missing, as on many compute nodes: a build of the same sources for the same MPI, which a
    machine that has one left in the cache folder."""
    if all(shutil.which(os.environ.get(variable, usual)) for variable, usual, _ in _COMPILERS):
        return None
    origin = _origin(mpi, sources)
    builds: list[tuple[float, Path]] = []
    for path in cache_folder().glob(f"{label}-*/{_ORIGIN}"):
        with suppress(OSError):  # removed by another process, or no file
            if path.read_bytes() == origin.encode():
                builds.append((path.stat().st_mtime, path.parent))
    return next((build for _, build in sorted(builds, reverse=True) if use(build)), None)


def source_folder() -> Path:
    """The folder with mpi/, src/ and third_party/: the repository if hocket is used from it, else the wheel's copy."""
    package = Path(__file__).resolve().parent.parent
    repository = package.parent.parent
    return repository if (repository / "mpi/CMakeLists.txt").exists() else package / "_src"


def _name(mpi: Mpi) -> str:
    return f"{mpi.label}-{_key(mpi, _sources)}"


def _key(mpi: Mpi, sources: Callable[[Path], set[Path]]) -> str:
    """Changes when anything that the result depends on changes."""
    return _digest(
        _origin(mpi, sources),
        _compiler_version(os.environ.get("CC", "cc")),
        _compiler_version(os.environ.get("CXX", "c++")),
        f"{mpi.mpifort} {_compiler_version(str(mpi.mpifort))}" if mpi.mpifort else "",
    )


def _origin(mpi: Mpi, sources: Callable[[Path], set[Path]]) -> str:
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


def _core_name() -> str:
    """Changes when anything changes that the core is made of."""
    variables = [os.environ.get(name, "") for name in ("CXXFLAGS", "HOCKET_SANITIZE")]
    compiler = os.environ.get("CXX", "c++")
    key = _digest(compiler, _compiler_version(compiler), *variables, sources=_core_sources(source_folder()))
    return f"{_CORE}-{key}"


def _digest(*texts: str, sources: Iterable[Path] = ()) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    source = source_folder()
    for path in sorted(sources):
        digest.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(source: Path) -> set[Path]:
    """What the MPI parts are made of: their own files, those of the core, and what these include of src/hocket."""
    own = {path for path in (source / "mpi").rglob("*") if path.parent.name != "__pycache__"}
    own -= {*(source / "mpi/bench").rglob("*")}
    return _with_includes(source, own) | _core_sources(source)


def _bench_sources(source: Path) -> set[Path]:
    """What hocket-bench is made of; its suites are read when it runs, and its templates by `hocket bench new`."""
    own = {*(source / "mpi/bench").rglob("*")}
    for read_later in ("suites", "templates"):
        own -= {*(source / "mpi/bench" / read_later).rglob("*")}
    own |= {*(source / "mpi/common").glob("*.cpp"), *(source / "src/hocket/base").glob("*.cpp")}
    own |= {source / "mpi/options.cmake", *(source / "third_party/nlohmann_json").rglob("*")}
    return _with_includes(source, own | {*(source / "third_party/tomlplusplus").rglob("*")})


def _core_sources(source: Path) -> set[Path]:
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
    for variable, usual, language in _COMPILERS:
        name = os.environ.get(variable, usual)
        if shutil.which(name) is None:
            raise Error(
                f"{name}, a {language} compiler, is not installed; hocket needs it to build its MPI parts",
                f"as root: apt-get install gcc g++; or name another one: {variable}=/path/to/compiler",
            )


def _built_core(mpi: Mpi, steps: Steps, report: Callable[[str], None]) -> Path:
    """The folder of what all MPIs share (mpi/core), built now if it is not there."""
    target = cache_folder() / _core_name()
    if not use(target):
        with _locked(_CORE, "builds what the MPI parts share", report):
            if not use(target):
                _run_cmake("mpi/core", target, [], mpi, steps)
                use(target)
                remove_unused(target.parent, _CORE)
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
