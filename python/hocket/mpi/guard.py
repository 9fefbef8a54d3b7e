# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A process between hocket and a command, which leaves nothing of the command behind, even if hocket is killed.

The kernel gives it whatever the command has started and left (PR_SET_CHILD_SUBREAPER, prctl(2)), daemons too. It ends
as the command ends, once all of that has ended or has been killed.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

# How long a launcher may take to end its ranks before everything is killed. Open MPI itself waits 1 s for them.
GRACE_S = 4.0
# And what it has started, once it has ended itself: MPICH's launcher does not wait for its helpers, and these remove
# files of theirs at their end.
HELPERS_GRACE_S = 1.0
_LOOK_AGAIN_S = 0.01  # once everything is killed
_LONGEST_S = 3600.0
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None)
_WAITED_FOR = (signal.SIGTERM, signal.SIGCHLD)


def guarded(parent: int) -> None:
    """Between fork and exec: forks, and returns in the process that is to become the command alone.

    The other one is its guard. Both are in one process group, whose signals reach the command: the guard heeds none.
    `parent` has forked the guard; its end is the guard's sign to end everything.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED_FOR)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored nobody is told of an end
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _die_with(parent)
    own = os.getpid()
    command = os.fork()
    if command:
        _guard(command, parent)
    _die_with(own)


def _die_with(parent: int) -> None:
    """SIGTERM at the end of the parent's thread that has forked this process, or now if it has ended."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _guard(command: int, parent: int) -> NoReturn:
    try:
        gc.disable()  # finalizers of what hocket has are hocket's
        _close_files()
        _end_as(_wait(command, parent))
    finally:  # hocket looks for what is left
        os.kill(os.getpid(), signal.SIGKILL)


def _close_files() -> None:
    """What is read from the command ends with the command; so does what Popen waits for, its exec."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    # Not all numbers up to the limit: that may be 2^30.
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2:
            with suppress(OSError):  # listdir's own
                os.close(descriptor)


def _wait(command: int, parent: int) -> int:
    """The status of the command, once nothing is left that came from it."""
    status = 0
    kill_at_s = float("inf")
    is_stopping = False
    while True:
        try:
            number, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if number == command:
            status = how
            kill_at_s = min(kill_at_s, time.monotonic() + HELPERS_GRACE_S)
        if number:
            continue
        if os.getppid() != parent and not is_stopping:
            is_stopping = True
            kill_at_s = min(kill_at_s, time.monotonic() + GRACE_S)
            os.killpg(0, signal.SIGTERM)
        left_s = kill_at_s - time.monotonic()
        if left_s <= 0:
            _kill_children()
        signal.sigtimedwait(_WAITED_FOR, min(max(left_s, _LOOK_AGAIN_S), _LONGEST_S))


def _kill_children() -> None:
    """Theirs are children of this process then."""
    own = str(os.getpid())
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := process_fields(int(name))) and fields[1] == own:
            with suppress(OSError):
                os.kill(int(name), signal.SIGKILL)


def process_fields(pid: int) -> list[str]:
    """State, parent, process group, session, ... of a process; empty if it has ended."""
    try:
        # The name, in brackets before these, may contain anything.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
    return [] if fields[0] == "Z" else fields


def _end_as(status: int) -> NoReturn:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        _libc.prctl(_PR_SET_DUMPABLE, 0)  # the command has left a core, if any; no limit holds for one that is piped
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))
