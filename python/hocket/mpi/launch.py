# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Starts MPI programs: hocket's libraries and variables reach the program's processes, never the launcher's own."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from hocket.errors import Error, InvalidInput
from hocket.io.terminal_input import input_for_command
from hocket.mpi.command_line import batch_launcher, num_ranks, option_values, parts_of, program_index
from hocket.mpi.discover import Mpi
from hocket.mpi.guard import GRACE_S, HELPERS_GRACE_S, guarded, process_fields

SITE_LIBRARY = "libhocket_site.so"
_LOOK_AFTER_GUARD_S = 1.0


@dataclass(frozen=True)
class Completed:
    """A command that has ended; the texts are empty unless they were captured."""

    command: tuple[str, ...]
    returncode: int  # negative: the signal that ended it
    stdout: str
    stderr: str
    elapsed_s: float


def with_preload(
    command: Sequence[str], mpi: Mpi, libraries: Sequence[Path], environment: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """`command` with options that set LD_PRELOAD and `environment` in the program's processes; what the launcher needs.

    The first library comes first in symbol lookup. The second value is for the launcher's own environment: see
    `launch_environment`. All programs of an MPMD command (`a : b`) are served.
    """
    _refuse_own_preload(command)
    num_ranks(command)  # raises InvalidInput if that is no number
    variables = dict(environment)
    if libraries or "LD_PRELOAD" in os.environ:
        variables["LD_PRELOAD"] = ":".join([*map(_preloadable, libraries), *inherited_preload()])
    if batch_launcher(command) or mpi.vendor == "cray-mpich":
        return _with_variables(command, variables), {}
    launcher, *rest = command
    options: list[str] = []
    for name, value in variables.items():
        options += ["-x", f"{name}={value}"] if mpi.family == "openmpi" else ["-genv", name, value]
    changed = [launcher, *options]
    for word in rest:
        changed.append(word)
        # Open MPI 4 sets -x variables in the programs of one part of `a : b` only; hydra's -genv is for all parts.
        if word == ":" and mpi.family == "openmpi":
            changed += options
    return changed, launch_environment(command, mpi)


def inherited_preload() -> list[str]:
    """What the user preloads, without what a module of `hocket site` has added: calls that hocket measures or records
    must not be served by it, and a rank that hocket serves has the library already."""
    words = re.split("[ :]+", os.environ.get("LD_PRELOAD", ""))
    return [word for word in words if word and Path(word).name != SITE_LIBRARY]


def launch_environment(command: Sequence[str], mpi: Mpi) -> dict[str, str]:
    """What the launcher must find in its environment to run `command` here: only Open MPI needs anything.

    It refuses root, and more ranks than cores; both are allowed only where the command would otherwise be refused.
    """
    variables: dict[str, str] = {}
    if mpi.family != "openmpi":
        return variables
    if os.geteuid() == 0:
        variables |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if (num_ranks(command) or 0) > num_slots():
        if mpi.major < 5:
            variables["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        else:
            variables["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
    return {name: value for name, value in variables.items() if name not in os.environ}


def _with_variables(command: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """srun and flux pass on their own environment, which must stay without our libraries: `env` sets the variables.
    Cray's mpiexec has other options for them than MPICH's.

    So values may have commas, and the command's own --export or --env holds.
    """
    assignments = [f"{name}={value}" for name, value in variables.items()]
    if "multi-prog" in option_values(command):  # the programs are in a file
        broken = next((text for text in assignments if "," in text), None)
        if broken is not None:
            raise InvalidInput(f"srun cannot pass {broken}: it has a comma", "choose a path without a comma")
        if "export" in option_values(command):
            raise InvalidInput("the command has srun's options --export and --multi-prog", "leave --export out")
        return [command[0], "--export=" + ",".join(["ALL", *assignments]), *command[1:]]
    changed = [command[0]]
    for number, part in enumerate(parts_of(command)):
        index = program_index(part)
        changed += [*([":"] if number else []), *part[1:index], "env", *assignments, *part[index:]]
    return changed


def num_slots() -> int:
    """The number of ranks that Open MPI starts here without complaint: one for each physical core."""
    import psutil

    return min(psutil.cpu_count(logical=False) or 1, len(os.sched_getaffinity(0)))


def run_command(
    command: Sequence[str],
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    capture: bool = False,
    cwd: Path | None = None,
    files: tuple[IO[bytes], IO[bytes], IO[bytes]] | None = None,
) -> Completed:
    """Runs `command` with `env` added to the environment, and leaves no process of it behind, whatever happens.

    It has the standard streams of this process, or `files` (input, output, error), or is captured and gets no input.
    Raises InvalidInput if it cannot be started, Error after `timeout` seconds.
    """
    words = [str(word) for word in command]
    started = time.monotonic()
    pipe = subprocess.PIPE
    with ExitStack() as stack:
        streams: tuple[Any, Any, Any] = files or (subprocess.DEVNULL, pipe, pipe)
        if files is None and not capture:
            streams = (stack.enter_context(input_for_command()), None, None)
        try:
            process = start_process(
                words,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
            )
        except OSError as error:
            raise InvalidInput(*_cannot_start(words[0], error)) from error
        try:
            stdout, stderr = _communicate(process, timeout)
        except subprocess.TimeoutExpired as error:
            raise Error(
                f"`{shlex.join(words)}` did not end within {timeout:g} s and was stopped",
                "allow more time, or check whether the program hangs without hocket too",
            ) from error
        finally:
            stop_process_group(process)
    return Completed(tuple(words), process.returncode, stdout or "", stderr or "", time.monotonic() - started)


def _communicate(process: subprocess.Popen[str], timeout: float | None) -> tuple[str, str]:
    """Popen's, which also ends where the guard has been killed, and what it guarded lives on with the pipes open."""
    end_s = float("inf") if timeout is None else time.monotonic() + timeout
    while True:
        try:
            return process.communicate(timeout=max(0.0, min(_LOOK_AFTER_GUARD_S, end_s - time.monotonic())))
        except subprocess.TimeoutExpired:
            if process.poll() is not None:
                stop_process_group(process)
            elif time.monotonic() >= end_s:
                raise


def start_process(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """A process in a session of its own, with its guard, which dies with this one; its pipes carry text.

    Its number is the guard's, and so is its process group's: signals are for the group.
    """
    own = os.getpid()
    # A signal handler that raises while Python forks is lost, and the signal with it: let signals wait until then.
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))

    def in_child() -> None:
        guarded(own)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)

    try:
        return subprocess.Popen(
            command, text=True, errors="replace", start_new_session=True, preexec_fn=in_child, **options
        )
    except subprocess.SubprocessError as error:  # the guard could not fork
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def stop_process_group(process: subprocess.Popen[str]) -> None:
    """Ends what is left of a process that `start_process` has started, and all that came from it."""
    try:
        if process.poll() is None:
            _signal_group(process.pid, signal.SIGTERM)
            process.wait(GRACE_S + HELPERS_GRACE_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # A guard that has ended itself leaves nothing. Looking costs more than it does where there are many processes.
        if process.returncode is None or process.returncode < 0:
            for pid in _family(process.pid):
                _signal(pid, signal.SIGKILL)
            process.wait()


def _family(session: int) -> set[int]:
    """The living processes of a session and their descendants, which may have left it.

    On a testbed the process `session` has a process group, and no session (python/preload/sessions.cpp).
    """
    parents: dict[int, int] = {}
    family: set[int] = set()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or not (fields := process_fields(int(entry.name))):
            continue
        parents[int(entry.name)] = int(fields[1])
        if session in (int(entry.name), int(fields[3])):
            family.add(int(entry.name))
    while children := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= children
    return family


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        _signal(pid, number)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _cannot_start(name: str, error: OSError) -> tuple[str, str]:
    # A folder of PATH that may not be searched gives PermissionError where no other folder has the command.
    is_missing = isinstance(error, FileNotFoundError) or (
        "/" not in name and not any(os.path.lexists(os.path.join(folder, name)) for folder in os.get_exec_path())
    )
    if is_missing and shutil.which(name) is None:
        return f"{name}: command not found", "check the name; `hocket doctor` lists the MPIs and launchers found"
    hint = "check that it is an executable file of this machine"
    if error.errno in (errno.EAGAIN, errno.ENOMEM):
        hint = "end other processes, or allow more (`ulimit -u`, the limits of a container or a job) or more memory"
    return f"{name}: cannot be started: {error.strerror or error}", hint


def _preloadable(library: Path) -> str:
    if re.search(r"[\s:]", str(library)):
        raise InvalidInput(
            f"{library}: the dynamic loader cannot preload a path with a space or a colon",
            "put the cache somewhere else: HOCKET_CACHE_DIR=/some/other/folder",
        )
    return str(library)


def _refuse_own_preload(command: Sequence[str]) -> None:
    for word in command:
        if re.search(r"^LD_PRELOAD$|(?:^|[=,])LD_PRELOAD=", word):
            raise InvalidInput(
                "the command sets LD_PRELOAD itself, which hocket needs to set",
                "set LD_PRELOAD in the environment of hocket instead: hocket adds its own libraries before it",
            )
