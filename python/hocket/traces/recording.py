# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs an MPI program with the recorder preloaded."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket import __version__
from hocket.errors import Error, InvalidInput
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.coarrays import coarray_libraries
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import run_command, with_preload
from hocket.mpi.of_command import mpi_of_command
from hocket.reporter import SILENT, Reporter
from hocket.traces.trace import Trace

LEAST_LIMIT_BYTES = 4096  # what stands in each trace before the program's first call is less
GROUPS = ("p2p", "collective", "rma", "io", "communicator", "other")  # of functions, as mpi/pmpi divides them
LEAST_FREE_BYTES = 1 << 20  # less than the first piece of a trace: the file system is full


@dataclass(frozen=True)
class RecordRequest:
    command: tuple[str, ...]  #: that starts the MPI program
    output: Path = Path("hocket-trace")  #: the folder for the trace
    force: bool = False  #: replace an earlier one
    limit_bytes: int | None = None  #: of the trace of each rank; None = as HOCKET_TRACE_LIMIT says
    only: tuple[str, ...] = ()  #: groups and names of functions to record; empty = as HOCKET_TRACE_ONLY says, or all
    without: tuple[str, ...] = ()  #: those of them to leave out; empty = as HOCKET_TRACE_WITHOUT says, or none


@dataclass(frozen=True)
class Recording:
    trace: Trace
    elapsed_s: float  # of the whole command, its launcher included

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.trace.folder.glob("rank-*.bin"))


def trace_environment(folder: Path, limit_bytes: int | None = None) -> dict[str, str]:
    """What the recorder needs in the program's environment.

    `limit_bytes`: of the trace of each rank; None = as HOCKET_TRACE_LIMIT says. Raises InvalidInput where that is no
    size.
    """
    from hocket import parse_bytes

    text = os.environ.get("HOCKET_TRACE_LIMIT")
    if limit_bytes is None and text:
        limit_bytes = parse_bytes(text, "HOCKET_TRACE_LIMIT")
    if limit_bytes is not None and limit_bytes < LEAST_LIMIT_BYTES:
        raise InvalidInput(
            f"a limit of {limit_bytes} bytes for the trace of a rank; accepted: {LEAST_LIMIT_BYTES} and more",
            "a call takes 4 to 20 bytes, as a rule",
        )
    limit = {} if limit_bytes is None else {"HOCKET_TRACE_LIMIT": str(limit_bytes)}
    return {"HOCKET_TRACE": str(folder), **limit}


def run(request: RecordRequest, reporter: Reporter = SILENT) -> Recording:
    """Runs the command and writes its trace.

    Raises InvalidInput if the folder is taken or the command cannot be started, Error if the program fails (what was
    recorded until then stays) or recorded nothing.
    """
    command, folder = request.command, request.output.absolute()
    mpi = mpi_of_command(command)
    parts = build_mpi_parts(mpi, report=reporter.message)
    environment = trace_environment(folder, request.limit_bytes)
    for variable, words in (("HOCKET_TRACE_ONLY", request.only), ("HOCKET_TRACE_WITHOUT", request.without)):
        words = words or tuple(os.environ.get(variable, "").replace(",", " ").split())
        _check_filter(variable, words)
        environment[variable] = ",".join(words)
    _make_folder(folder, request.force)
    libraries = [parts.record, *coarray_libraries(command, parts), *parts.workarounds]
    changed, needed = with_preload(command, mpi, libraries, environment)
    try:
        done = run_command(changed, env=needed)
    except BaseException:
        _remove_if_empty(folder)
        raise
    recorded = _complete_meta(folder, command)
    if done.returncode != 0:
        _remove_if_empty(folder)
        raise _failure(command, done.returncode, folder if recorded else None)
    if not recorded:
        error = nothing_recorded(command, mpi, folder)
        _remove_if_empty(folder)
        raise error
    return Recording(Trace.open(folder), done.elapsed_s)


def _check_filter(what: str, words: Sequence[str]) -> None:
    for word in words:
        if word not in GROUPS and not re.fullmatch(r"MPIX?_[A-Za-z0-9_*?]+", word):
            raise InvalidInput(
                f"{what}: found {word!r}; accepted: {', '.join(GROUPS)}, and names such as MPI_Send or MPI_I*"
            )


def _make_folder(folder: Path, force: bool) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        if not force:
            raise InvalidInput(
                f"{folder}: the folder exists and is not empty", "name another one with -o, or replace it with --force"
            )
        strange = [path.name for path in folder.iterdir() if not _is_ours(path)]
        if strange:
            raise InvalidInput(
                f"{folder}: not a trace folder, found {strange[0]} in it; accepted with --force: a trace folder",
                "name another folder with -o",
            )
        shutil.rmtree(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot be made: {error.strerror}", "name another folder with -o") from error


def _is_ours(path: Path) -> bool:
    return path.name in ("meta.json", "meta.json.part") or (path.name.startswith("rank-") and path.suffix == ".bin")


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _complete_meta(folder: Path, command: Sequence[str]) -> bool:
    """Adds to meta.json what the recorder inside the program cannot know. False if nothing was recorded."""
    path = folder / "meta.json"
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    meta |= {"command": list(command), "created_by": f"hocket {__version__}"}
    path.write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")
    return True


def _failure(command: Sequence[str], status: int, folder: Path | None) -> Error:
    message = f"`{shlex.join(command)}` {_ending(status)}"
    if folder is None:
        return Error(message + "; nothing was recorded", "check whether the command works without hocket")
    try:
        trace = Trace.open(folder)
    except InvalidInput as error:
        return Error(
            f"{message}; the trace up to there is damaged: {error}", "check whether the command works without hocket"
        )
    calls = trace.num_calls()
    stopped = [trace.summary(rank) for rank in range(trace.ranks)]
    inside = [f"rank {rank.rank} in {rank.stopped_in}" for rank in stopped if rank.stopped_in]
    where = f"; at the end {', '.join(inside[:4])}{' and others' if len(inside) > 4 else ''}" if inside else ""
    return Error(
        f"{message}; the trace up to there is kept: {folder}, {calls} calls of {trace.ranks} rank(s){where}",
        f"hocket trace show {shlex.quote(str(folder))}",
    )


def _ending(status: int) -> str:
    """Launchers report a rank's signal as 128 + its number."""
    number = -status if status < 0 else status - 128
    try:
        return f"was ended by {signal.Signals(number).name}"
    except ValueError:
        return f"ended with exit status {status}"


def nothing_recorded(command: Sequence[str], mpi: Mpi, folder: Path) -> Error:
    """Why there is no trace in `folder` after the command has run."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return Error(f"{folder}: the trace was not written: the folder is gone, or nothing can be written there now")
    if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
        return Error(
            f"{folder}: the trace was not written: the file system is full", "name a folder of another one: -o"
        )
    return Error(
        f"`{shlex.join(command)}` made no MPI calls that could be recorded",
        f"a line above may give the reason; the program must call MPI_Init or MPI_Session_init of {mpi.name}, and not "
        "be linked statically with it",
    )
