# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Builds and runs the original and the rewritten program, and compares all that they write, bit for bit."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket.errors import Error, InvalidInput
from hocket.mpi.command_line import count_options
from hocket.mpi.launch import Completed, launch_environment, run_command
from hocket.mpi.of_command import mpi_of_launcher
from hocket.rewrite.c_source import CXX_SUFFIXES

PLACE = "{}"
DEFAULT_BUILD = "{compiler} -O2 {files} -o {program}"
C_BUILD = f"{DEFAULT_BUILD} -lm"


@dataclass(frozen=True)
class VerifyRequest:
    """How both programs are built and run."""

    command: tuple[str, ...]  # with PLACE where the program's name goes
    ranks: tuple[int, ...] = ()  # empty: as the command has it, and 2
    build: str = DEFAULT_BUILD
    inputs: tuple[Path, ...] = ()  # files and folders that the program reads, copied to where it runs
    timeout_s: float = 600.0


@dataclass(frozen=True)
class Comparison:
    """Both programs with one number of ranks."""

    ranks: int
    is_equal: bool
    difference: str  # what differs, or why nothing can be compared; empty if they are equal
    original_s: float
    rewritten_s: float


def check_request(request: VerifyRequest) -> None:
    """Raises InvalidInput for a command without a place for the program, or with an unknown number of ranks."""
    if PLACE not in request.command:
        raise InvalidInput(
            f"`{shlex.join(request.command)}` has no {{}}", "write {} for the program: --verify -- mpiexec -n 4 {}"
        )
    for path in request.inputs:
        if not path.exists():
            raise InvalidInput(f"{path}: does not exist", "--input names a file or folder that the program reads")
    _build_words(request)
    if 0 in _rank_counts(request):
        raise InvalidInput(f"`{shlex.join(request.command)}` starts no rank", "give one or more: mpiexec -n 4 {}")


def _build_words(request: VerifyRequest) -> list[str]:
    try:
        return shlex.split(request.build)
    except ValueError as error:
        raise InvalidInput(
            f"--build {request.build!r}: {error}", f"write it as for a shell: '{DEFAULT_BUILD}'"
        ) from None


def verify(
    request: VerifyRequest,
    old: Mapping[Path, bytes],
    new: Mapping[Path, bytes],
    report: Callable[[str], None] = lambda _: None,
) -> list[Comparison]:
    """Everything is built and run in a temporary folder, which is removed."""
    check_request(request)
    with tempfile.TemporaryDirectory(prefix="hocket-rewrite-") as name:
        programs = {}
        for title, texts in (("original", old), ("rewritten", new)):
            report(f"building the {title} program")
            programs[title] = _build(request, Path(name) / title, texts)
        found = []
        for ranks in _rank_counts(request):
            report(f"running both with {ranks} ranks")
            found.append(_compare(request, Path(name), programs, ranks))
        return found


def _rank_counts(request: VerifyRequest) -> list[int]:
    at = _count_index(request.command)
    given = int(request.command[at])
    return list(dict.fromkeys(request.ranks or (given, min(2, given))))


def _count_index(command: Sequence[str]) -> int:
    options = count_options(command)
    for i, word in enumerate(command[:-1]):
        if word in options and command[i + 1].isdigit():
            return i + 1
    raise InvalidInput(
        f"`{shlex.join(command)}` does not tell the number of ranks", f"accepted: one of {', '.join(options)}"
    )


def _build(request: VerifyRequest, folder: Path, texts: Mapping[Path, bytes]) -> Path:
    """In a folder with the files by their names, beside copies of what stands beside the originals."""
    folder.mkdir()
    names = [path.name for path in texts]
    if len(set(names)) < len(names):
        raise InvalidInput("two of the files have the same name", "verify them one by one")
    for parent in {path.parent for path in texts}:
        for beside in parent.iterdir():  # include files
            if beside.is_file() and beside.suffix.lower() in (".inc", ".h", ".hpp", ".fh", ".mod", ".f90", ".f", ".c"):
                shutil.copy(beside, folder / beside.name)
    for path, text in texts.items():
        (folder / path.name).write_bytes(text)
    program = folder / "program.x"
    compiler = compiler_of(request, texts)
    words: list[str] = []
    for word in _build_words(request):
        if word == "{files}":
            words += [f"./{name}" for name in names]  # a name may begin with -
        else:
            words.append(word.replace("{compiler}", compiler).replace("{program}", str(program)))
    done = run_command(words, cwd=folder, capture=True, timeout=request.timeout_s)
    if done.returncode != 0 or not program.exists():
        shown = _reason(done) or "no program was made"
        hint = "give the files in the order of their modules, or another command with --build"
        raise Error(f"{folder.name} program: `{shlex.join(words)}` failed: {shown}", hint)
    return program


def compiler_of(request: VerifyRequest, paths: Iterable[Path]) -> str:
    """The wrapper of the MPI whose launcher starts the program, for the language of the files."""
    mpi, suffixes = mpi_of_launcher(request.command[0]), {path.suffix for path in paths}
    if suffixes == {".c"}:
        return str(mpi.mpicc) if mpi is not None else "mpicc"
    if suffixes <= {".c", *CXX_SUFFIXES}:
        return str(mpi.mpicxx) if mpi is not None and mpi.mpicxx is not None else "mpicxx"
    return str(mpi.mpifort) if mpi is not None and mpi.mpifort is not None else "mpifort"


def _compare(request: VerifyRequest, folder: Path, programs: Mapping[str, Path], ranks: int) -> Comparison:
    original, first = _run(request, folder / f"original-{ranks}", programs["original"], ranks)
    if original.returncode != 0:
        text = f"nothing to compare: the original program ends with status {_status(original)}"
        return Comparison(ranks, False, text, original.elapsed_s, 0.0)
    try:
        rewritten, second = _run(request, folder / f"rewritten-{ranks}", programs["rewritten"], ranks)
    except Error as error:  # above all one that hangs
        return Comparison(ranks, False, f"differs: the rewritten program: {error}", original.elapsed_s, 0.0)
    difference = _difference(original, first, rewritten, second)
    if difference:
        again, third = _run(request, folder / f"again-{ranks}", programs["original"], ranks)
        if _difference(original, first, again, third):
            difference = f"the original differs from itself when it runs again ({difference}): does it print times?"
        difference = f"differs: {difference}"
    return Comparison(ranks, not difference, difference, original.elapsed_s, rewritten.elapsed_s)


def _run(request: VerifyRequest, folder: Path, program: Path, ranks: int) -> tuple[Completed, dict[str, bytes]]:
    folder.mkdir()
    for path in request.inputs:
        if path.is_dir():
            shutil.copytree(path, folder / path.name)
        else:
            shutil.copy(path, folder / path.name)
    command = [str(program) if word == PLACE else word for word in request.command]
    command[_count_index(command)] = str(ranks)
    mpi = mpi_of_launcher(command[0])
    env = launch_environment(command, mpi) if mpi is not None else {}
    done = run_command(command, env=env, cwd=folder, capture=True, timeout=request.timeout_s)
    files = {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}
    return done, files


def _difference(one: Completed, files: dict[str, bytes], two: Completed, others: dict[str, bytes]) -> str:
    if one.returncode != two.returncode:
        return f"exit status {one.returncode} and {_status(two)}"
    # Lines of several ranks come in any order.
    if sorted(one.stdout.splitlines()) != sorted(two.stdout.splitlines()):
        return "standard output"
    if set(files) != set(others):
        return f"the files {', '.join(sorted(set(files) ^ set(others)))}"
    return next((f"the file {name}" for name in files if files[name] != others[name]), "")


def _status(done: Completed) -> str:
    """With the line that says why."""
    reason = _reason(done)
    return f"{done.returncode}: {reason}" if reason else str(done.returncode)


def _reason(done: Completed) -> str:
    """One line of what a command that failed has printed."""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")[:300]
