# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Standard input for commands that run in a session of their own, where a terminal outside cannot be read.

Open MPI's launchers read a terminal only if it is that of their session and they are in its foreground.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_LOOK_AGAIN_S = 0.2  # whether this process has come back to the foreground


@contextmanager
def input_for_command() -> Iterator[int]:
    """A file descriptor for the command: this process's standard input, or a pipe that gets what is typed."""
    if not os.isatty(0):
        yield 0
        return
    ours, theirs = os.pipe()
    wake, waker = os.pipe()
    thread = threading.Thread(target=_pass_on, args=(theirs, wake), daemon=True)
    thread.start()
    try:
        yield ours
    finally:
        os.close(waker)
        os.close(ours)  # ends a write that waits for room
        thread.join()
        os.close(wake)


def _pass_on(target: int, wake: int) -> None:
    """Until the end of the input, or until the other end of `wake` is closed."""
    try:
        while wake not in select.select([0, wake], [], [])[0]:
            if os.tcgetpgrp(0) != os.getpgrp():  # reading would stop this process
                select.select([wake], [], [], _LOOK_AGAIN_S)
                continue
            typed = os.read(0, 1 << 12)
            if not typed:
                return
            while typed:
                typed = typed[os.write(target, typed) :]
    except OSError:  # the command or the terminal has gone
        return
    finally:
        with suppress(OSError):
            os.close(target)
