# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Finding MPIs, building the MPI parts for them, and what the wheel carries for it."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
from filelock import FileLock

from hocket.errors import Error, InvalidInput
from hocket.mpi import build, build_inputs
from hocket.mpi.build_inputs import core_name, parts_name
from hocket.mpi.build_progress import run_build, shown_steps
from hocket.mpi.cache import decisions_folder, make_cache_folder, remove_unused
from hocket.mpi.discover import Mpi, find_mpis, inspect_mpi, no_mpi
from mpis import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]

# A project as small as a CMake project can be, so that the tests of cache and lock take no time.
SMALL_PROJECT = """
cmake_minimum_required(VERSION 3.21)
project(small LANGUAGES C)
find_package(MPI REQUIRED COMPONENTS C)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${HOCKET_OUTPUT}/lib)
add_library(hocket_record SHARED record.c)
target_link_libraries(hocket_record PRIVATE MPI::MPI_C)
"""

SMALL_CORE = """
cmake_minimum_required(VERSION 3.21)
project(small_core LANGUAGES NONE)
file(WRITE ${HOCKET_OUTPUT}/lib/core "made")
file(APPEND ${CMAKE_SOURCE_DIR}/../../made "once\\n")
"""


@pytest.fixture
def small_source(tmp_path, monkeypatch) -> Path:
    source = tmp_path / "source"
    (source / "mpi/core").mkdir(parents=True)
    (source / "mpi/core/CMakeLists.txt").write_text(SMALL_CORE)
    (source / "mpi/CMakeLists.txt").write_text(SMALL_PROJECT)
    (source / "mpi/record.c").write_text("#include <mpi.h>\nint hocket_small(void) { return MPI_VERSION; }\n")
    for module in (build, build_inputs):
        monkeypatch.setattr(module, "source_folder", lambda: source)
    monkeypatch.setenv("HOCKET_CACHE_DIR", str(tmp_path / "cache"))
    return source


def test_an_mpi_compiles_and_its_library_is_the_one_that_the_program_uses(mpi: Mpi, runner):
    text = """
    #include <mpi.h>
    #include <stdio.h>
    int main(int argc, char** argv) {
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Init(&argc, &argv);
        MPI_Get_library_version(version, &length);
        puts(version);
        MPI_Finalize();
    }
    """
    program = runner.compile(text)
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert str(mpi.library.resolve()) in {os.path.realpath(word) for word in linked.split() if word.startswith("/")}
    version = runner.run(1, program).stdout
    assert mpi.version in version
    assert {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel"}[mpi.family] in version


@pytest.mark.timeout(1800)
def test_the_mpi_parts_build_for_every_mpi(mpi: Mpi):
    parts = build.build_mpi_parts(mpi)
    assert build.built_mpi_parts(mpi) == parts
    for path in (parts.record, parts.interpose, parts.runtime):
        assert path.is_file(), path
    assert os.access(parts.compare, os.X_OK)
    assert (parts.include / "hocket.h").is_file()
    needed = subprocess.run(["ldd", parts.record], capture_output=True, text=True, check=True).stdout
    assert "not found" not in needed
    assert mpi.library.resolve().name in needed or str(mpi.library.resolve()) in {
        os.path.realpath(word) for word in needed.split() if word.startswith("/")
    }


def test_the_second_time_is_served_from_the_cache(mpi: Mpi, small_source):
    said: list[str] = []
    first = build.build_mpi_parts(mpi, report=said.append)
    assert len(said) == 1
    assert mpi.name in said[0]
    before = first.record.stat().st_mtime_ns
    assert build.build_mpi_parts(mpi, report=said.append) == first
    assert len(said) == 1
    assert first.record.stat().st_mtime_ns == before
    left = {path.name for path in first.folder.parent.iterdir() if path.suffix != ".lock"}
    assert left == {first.folder.name, core_name()}


@pytest.fixture
def any_mpi() -> Mpi:
    mpis = find_mpis()
    if not mpis:
        pytest.skip("no MPI was found on this machine")
    return mpis[0]


def test_a_changed_source_makes_a_new_build(any_mpi, small_source):
    first = build.build_mpi_parts(any_mpi)
    (small_source / "mpi/record.c").write_text("int hocket_small(void) { return 4711; }\n")
    second = build.build_mpi_parts(any_mpi)
    assert second.folder != first.folder
    assert ctypes.CDLL(str(second.record)).hocket_small() == 4711


def test_the_core_is_made_once_for_all_mpis(small_source):
    """And anew for what it is made of, not for the rest of the MPI parts."""
    mpis = find_mpis()
    if len(mpis) < 2:
        pytest.skip("two MPIs are needed")
    for mpi in mpis[:2]:
        build.build_mpi_parts(mpi)
    assert (small_source / "made").read_text() == "once\n"
    before = core_name()
    (small_source / "mpi/record.c").write_text("int hocket_small(void) { return 0; }\n")
    assert core_name() == before
    (small_source / "mpi/core/setup.txt").write_text("src/hocket/base/*.cpp\n")
    (small_source / "src/hocket/base").mkdir(parents=True)
    (small_source / "src/hocket/base/names.cpp").write_text("")
    build.build_mpi_parts(mpis[0])
    assert core_name() != before
    assert (small_source / "made").read_text() == "once\nonce\n"


def test_only_sources_that_are_compiled_or_included_make_a_new_build(any_mpi, small_source):
    (small_source / "mpi/core/setup.txt").write_text("src/hocket/base/*.cpp\n")
    core = small_source / "src/hocket"
    texts = {
        "base/names.cpp": '#include "hocket/base/names.hpp"\n',
        "base/names.hpp": '#include "hocket/program/included.hpp"\n',
        "program/included.hpp": "",
        "program/program.cpp": "",
        "program/program.hpp": "",
    }
    for name, text in texts.items():
        (core / name).parent.mkdir(parents=True, exist_ok=True)
        (core / name).write_text(text)
    before = parts_name(any_mpi)
    for name, text in texts.items():
        (core / name).write_text(text + "// changed\n")
        assert (parts_name(any_mpi) == before) == (name in ("program/program.cpp", "program/program.hpp")), name
        (core / name).write_text(text)
    assert parts_name(any_mpi) == before


def test_a_changed_compiler_makes_a_new_build(any_mpi, small_source, tmp_path, monkeypatch):
    first = build.build_mpi_parts(any_mpi)
    other = tmp_path / "other-cc"
    other.write_text('#!/bin/sh\n[ "$1" = --version ] && echo other 1.0 && exit\nexec cc "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("CC", str(other))
    assert build.built_mpi_parts(any_mpi) is None
    assert build.build_mpi_parts(any_mpi).folder != first.folder


def test_a_failed_build_is_one_message_and_leaves_only_the_log(any_mpi, small_source, tmp_path):
    names = [f"error{number}.c" for number in range(20)]  # that are no errors
    for name in names:
        (small_source / "mpi" / name).write_text("typedef int nothing;\n")
    (small_source / "mpi/last.c").write_text("int hocket_small(void) { return missing_name; }\n")
    with (small_source / "mpi/CMakeLists.txt").open("a") as file:
        file.write(f"add_library(more SHARED {' '.join(names)} last.c)\n")
    with pytest.raises(Error) as caught:
        build.build_mpi_parts(any_mpi)
    assert any_mpi.name in caught.value.message
    assert "missing_name" in caught.value.message
    log = Path(caught.value.hint.split()[5].rstrip(";"))
    assert "missing_name" in log.read_text()
    left = {path.suffix for path in log.parent.iterdir() if path.name != core_name()}
    assert left == {".log", ".lock"}


def test_many_callers_at_once_build_once(any_mpi, small_source):
    said: list[str] = []
    results: list[build.MpiParts] = []
    threads = [
        threading.Thread(target=lambda: results.append(build.build_mpi_parts(any_mpi, report=said.append)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 1
    assert len([text for text in said if text.startswith("building")]) == 1, said


def test_what_interrupted_builds_left_is_removed_by_the_next_but_not_of_one_that_goes_on(any_mpi, small_source):
    folder = make_cache_folder()
    dead = folder / f".{any_mpi.label}-0123456789abcdef"
    other = folder / ".lam-7.0-0123456789abcdef"
    going_on = folder / ".lam-6.0-0123456789abcdef"
    for path in (dead, other, going_on):
        (path / "build").mkdir(parents=True)
    with FileLock(folder / "lam-6.0.lock"):
        build.build_mpi_parts(any_mpi)
    assert not dead.exists()
    assert not other.exists()
    assert going_on.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_goes_on_where_it_stopped(any_mpi, small_source, number):
    lists = small_source / "mpi/CMakeLists.txt"
    steps = """
set(top ${CMAKE_SOURCE_DIR}/..)
add_custom_command(OUTPUT first VERBATIM COMMAND sh -c "echo done >> ${top}/first && touch first")
add_custom_command(OUTPUT last DEPENDS first VERBATIM
                   COMMAND sh -c "echo $$ >> ${top}/last && (test -e ${top}/go || exec sleep 1000) && touch last")
add_custom_target(steps ALL DEPENDS last)
"""
    lists.write_text(lists.read_text() + steps)
    script = "import sys; from pathlib import Path; from hocket.mpi import build, build_inputs, discover\n"
    script += "build.source_folder = build_inputs.source_folder = lambda: Path(sys.argv[2])\n"
    script += "build.build_mpi_parts(discover.inspect_mpi(Path(sys.argv[1])))"
    process = subprocess.Popen([sys.executable, "-c", script, any_mpi.mpicc, small_source], stderr=subprocess.DEVNULL)
    while not (small_source / "last").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    process.wait(LIMIT_S)
    compiler = Path("/proc", (small_source / "last").read_text().strip())
    while compiler.exists():  # the test's time limit tells if it never ends
        time.sleep(0.05)
    (small_source / "go").touch()
    assert build.build_mpi_parts(any_mpi).record.exists()
    assert (small_source / "first").read_text() == "done\n"
    assert {path.suffix for path in make_cache_folder().iterdir() if not path.is_dir()} == {".lock"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_told(any_mpi, small_source, tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed").chmod(stat.S_IREAD | stat.S_IEXEC)
    monkeypatch.setenv("HOCKET_CACHE_DIR", str(tmp_path / "closed"))
    with pytest.raises(Error, match="cannot be written") as caught:
        build.build_mpi_parts(any_mpi)
    assert "HOCKET_CACHE_DIR" in caught.value.hint


def test_what_another_copy_of_the_sources_began_is_begun_anew(any_mpi, small_source):
    unfinished = build.cache_folder() / f".{parts_name(any_mpi)}" / "build"
    unfinished.mkdir(parents=True)
    (unfinished / "CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere/mpi\n")
    assert build.build_mpi_parts(any_mpi).folder.is_dir()
    assert not unfinished.exists()


def test_a_cache_that_is_a_file_is_told(any_mpi, small_source, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOCKET_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(Error, match="cannot be written"):
        build.build_mpi_parts(any_mpi)


def test_missing_tools_are_told(any_mpi, small_source, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(Error, match=r"no-such-compiler, a C\+\+ compiler, is not installed"):
        build.build_mpi_parts(any_mpi)
    monkeypatch.setattr(build, "_program", lambda name: None)
    with pytest.raises(Error, match="cmake is not installed"):
        build.build_mpi_parts(any_mpi)


def test_only_unused_builds_of_ours_are_removed(tmp_path):
    """Those that are old or too many, if no process uses them."""
    names = [f"mpich-5.0.2-{i:016x}" for i in range(8)]
    for i, name in enumerate([*names, "mpich-4.0.2-0123456789abcdef", "photos"]):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - i,) * 2)
    os.utime(tmp_path / names[1], (0, 0))
    os.utime(tmp_path / "photos", (0, 0))
    script = "import sys; from pathlib import Path; from hocket.mpi.cache import use\n"
    script += "use(Path(sys.argv[1])); Path(sys.argv[1], 'x').touch(); import os; os.utime(sys.argv[1], (0, 0))\n"
    script += "print(flush=True); input()"
    user = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / names[7]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    user.stdout.readline()
    remove_unused(tmp_path, "mpich-5.0.2")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([names[0], *names[2:5], names[7], "mpich-4.0.2-0123456789abcdef", "photos"])
    user.communicate(b"\n")
    remove_unused(tmp_path, "mpich-5.0.2")
    assert not (tmp_path / names[7]).exists()


def test_the_steps_of_a_compilation_are_told_and_its_output_is_kept(tmp_path, capsys, monkeypatch):
    seen = []
    script = "echo '[1/3] one'; echo words; echo '[ 50%] two'; exit 5"
    assert run_build(["sh", "-c", script], tmp_path / "log", lambda *step: seen.append(step)) == 5
    assert seen == [(1, 3), (50, 100)]
    assert (tmp_path / "log").read_text().splitlines() == ["[1/3] one", "words", "[ 50%] two"]
    assert run_build(["sleep", "60"], tmp_path / "log", print, timeout_s=0.2) == -signal.SIGKILL
    with shown_steps("building") as steps:
        steps(1, 3)
        steps(3, 3)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "building: 3 of 3 steps, 0 s\n"


def test_a_wrapper_that_is_none_is_told(tmp_path):
    with pytest.raises(InvalidInput, match="no such compiler wrapper"):
        inspect_mpi(Path("no-such-mpicc"))
    with pytest.raises(InvalidInput, match=r"`\S*true -E|mpi.h is of no MPI"):
        inspect_mpi(Path("true"))


@pytest.mark.begins_early
def test_a_wheel_carries_the_sources_of_the_mpi_parts(tmp_path):
    # From a copy: a wheel must not be made from what the working folder happens to contain.
    copy = tmp_path / "copy"
    ignored = shutil.ignore_patterns("build", ".venv", ".git", "__pycache__", "*.so", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, copy, ignore=ignored)
    for source in (copy / "src/hocket").rglob("*.cpp"):
        source.write_text("")  # the content of the core is not what is tested; an empty one compiles in a second
    for path in copy.glob("python/bindings/*.cpp"):
        path.write_text(
            '#include <nanobind/nanobind.h>\nNB_MODULE(_core, module) { module.doc() = "empty"; }\n'
            if path.name == "module.cpp"
            else ""
        )
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    unoptimised = {"cmake.build-type": "Debug"}  # compiles in half the time
    build = f"from scikit_build_core.build import build_wheel; build_wheel({str(tmp_path)!r}, {unoptimised})"
    command = [sys.executable, "-c", build]
    result = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    (wheel,) = tmp_path.glob("hocket-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, source in (("hocket/_src/mpi", ROOT / "mpi"), ("hocket/_src/src/hocket", ROOT / "src/hocket")):
        expected = {
            f"{folder}/{p.relative_to(source)}"
            for p in source.rglob("*")
            if p.is_file() and "__pycache__" not in p.parts
        }
        assert expected <= names, expected - names
    assert "hocket/_src/third_party/nlohmann_json/nlohmann/json.hpp" in names
    assert {"hocket/py.typed", "hocket/_src/networks/two-clusters.toml"} <= names
    assert any(name.startswith("hocket/_core.") and name.endswith(".so") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if "__pycache__" in name]
    # Nothing of an MPI is in it.
    zipfile.ZipFile(wheel).extractall(tmp_path / "wheel")
    (module,) = (tmp_path / "wheel/hocket").glob("_core.*.so")
    assert "libmpi" not in subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout


def test_an_mpi_without_its_compiler_is_not_called_missing() -> None:
    assert no_mpi([]).message == "no MPI was found on this machine"
    broken = InvalidInput("`/opt/mpicc -E` failed: cc: command not found", "check that the C compiler is installed")
    error = no_mpi([broken, broken])
    assert error.message == f"no MPI of this machine can be used: {broken.message}"
    assert error.hint == broken.hint


def test_what_jobs_have_left_goes_after_a_month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOCKET_CACHE_DIR", str(tmp_path))
    folder = decisions_folder(tmp_path / "mpi/some-1.0-key")
    assert folder == tmp_path / "decisions/some-1.0-key"
    old, new = folder / "old.found", folder / "new.found"
    other = folder.with_name("other-1.0-key")
    other.mkdir()
    for path in (old, new, other / "old.plan"):
        path.write_text("")
    long_ago = time.time() - 31 * 86400
    for path in (old, other / "old.plan"):
        os.utime(path, (long_ago, long_ago))
    assert decisions_folder(tmp_path / "mpi/some-1.0-key") == folder
    assert [path.name for path in folder.iterdir()] == ["new.found"]
    assert list(other.iterdir()) == []
    os.utime(other, (long_ago, long_ago))
    decisions_folder(tmp_path / "mpi/some-1.0-key")
    assert not other.exists()
    monkeypatch.setenv("HOCKET_CACHE_DIR", str(new))
    assert decisions_folder(tmp_path / "mpi/some-1.0-key") is None
