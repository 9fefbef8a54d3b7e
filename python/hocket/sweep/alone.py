# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tasks that measure have their host alone: no task of any campaign of the same user runs there beside them."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hocket.errors import Error
from hocket.requests import KINDS

#: Requests that measure on this machine: one at a time.
MEASURES = {
    "bench-run",
    "bench-fidelity",
    "bench-overlap",
    "bench-circuits",
    "calibrate",
    "tune",
    "run",
    "record",
    "demo",
}
_CLASSES = {KINDS[kind] for kind in MEASURES}


def measures(request: Any) -> bool:
    return f"{type(request).__module__}:{type(request).__name__}" in _CLASSES


@contextmanager
def on_host(alone: bool) -> Iterator[None]:
    """Waits until this host is free for a task. Ended processes hold nothing."""
    turn, tasks = _opened("turn"), _opened("tasks")
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)  # nobody begins while one waits that needs the host alone
        fcntl.flock(tasks, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(turn, fcntl.LOCK_UN)
        yield
    finally:
        os.close(tasks)
        os.close(turn)


def is_busy() -> bool:
    """Whether a task runs on this host."""
    tasks = _opened("tasks")
    try:
        fcntl.flock(tasks, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(tasks)
    return False


def _opened(name: str) -> int:
    path = Path(tempfile.gettempdir(), f"hocket-sweep-{os.getuid()}.{name}")
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Error(f"{path}: cannot be opened: {error.strerror}", "remove it, or set TMPDIR") from None
