# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""All processes that came from one with a session of its own, and how they are ended.

As a script, `python process_family.py PID`, it is a guard: it waits until its input ends, as it does when the process
that holds the other end of the pipe has ended in whatever way, and then ends what came from process PID. A signal at
the parent's death (prctl(2)) would not do: Open MPI 4.1's launcher has been seen to survive SIGTERM, and once a
launcher has ended nothing leads to its helpers, which have sessions of their own. The script needs the standard
library alone, so that it starts fast.
"""

import os
import signal
import sys
import time

# How long a launcher may take to end its ranks before everything is killed. Open MPI itself waits 1 s for them.
GRACE_S = 4.0
# And what it has started, once it has ended itself.
HELPERS_GRACE_S = 1.0
LOOK_S = 0.005


def end_family(leader: int) -> None:
    """Ends process `leader`, which has a session or a process group of its own, and all that came from it.

    The leader is asked to by SIGTERM. What is left after a while, or when this is interrupted, is killed.
    """
    left = family_of(leader)
    try:
        if is_alive(leader):
            _signal_group(leader, signal.SIGTERM)
            _wait_for_end({leader}, GRACE_S)
        # MPICH's launcher does not wait for its helpers, and these remove files of theirs at their end.
        if not is_alive(leader):
            _wait_for_end(left, HELPERS_GRACE_S)
    finally:
        for pid in left | family_of(leader):
            _signal(pid, signal.SIGKILL)


def family_of(leader: int) -> set[int]:
    """The living processes of the leader's session and their descendants, which may have left it.

    On a testbed the leader has a process group, and no session (python/preload/sessions.cpp).
    """
    parents: dict[int, int] = {}
    family: set[int] = set()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or not (fields := _stat(int(entry.name))):
            continue
        parents[int(entry.name)] = int(fields[1])
        if leader in (int(entry.name), int(fields[3])):
            family.add(int(entry.name))
    while children := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= children
    return family


def is_alive(pid: int) -> bool:
    """False for a zombie: it only waits for its parent to ask for its status."""
    return bool(_stat(pid))


def _wait_for_end(pids: set[int], longest_s: float) -> None:
    end = time.monotonic() + longest_s
    while any(map(is_alive, pids)) and time.monotonic() < end:
        time.sleep(LOOK_S)


def _stat(pid: int) -> list[str]:
    """State, parent, process group, session, ... of a process; empty if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            # The name, in brackets before these, may contain anything.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return []
    return [] if not fields or fields[0] == "Z" else fields


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


if __name__ == "__main__":
    sys.stdin.buffer.read()
    end_family(int(sys.argv[1]))
