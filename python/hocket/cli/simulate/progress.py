# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A simulation that is watched: a progress bar with rate and time left, and Ctrl-C that ends it with what is known."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from hocket.cli.common import note

INTERRUPTED = 130  #: the exit status
_SHOWN_AFTER_S = 1.0
_REDRAWN_AFTER_S = 0.1


@contextmanager
def watched(text: str, unit: str) -> Iterator[Callable[[int, int, float], bool]]:
    """Yields `on_progress(done, total, simulated_s)`, which returns False once Ctrl-C was pressed.

    A second Ctrl-C interrupts as usual.
    """
    interrupted = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, remember)
    bar = _Bar(text, unit)

    def on_progress(done: int, total: int, simulated_s: float) -> bool:
        bar.update(done, total, simulated_s)
        return not interrupted

    try:
        yield on_progress
    finally:
        bar.close()
        signal.signal(signal.SIGINT, before)


def note_interrupt(simulated_s: float) -> None:
    from hocket.report.text import seconds

    note(f"interrupted: this is what was known at {seconds(simulated_s)} of simulated time")


class _Bar:
    """On standard error, where that is a terminal, once a second has passed."""

    def __init__(self, text: str, unit: str) -> None:
        self._text, self._unit = text, unit
        self._begin_s = time.monotonic()
        self._next_s = self._begin_s + _SHOWN_AFTER_S if sys.stderr.isatty() else float("inf")
        self._progress: Any = None
        self._task: Any = None

    def update(self, done: int, total: int, simulated_s: float) -> None:
        now_s = time.monotonic()
        if now_s < self._next_s:
            return
        self._next_s = now_s + _REDRAWN_AFTER_S
        if self._progress is None:
            self._open()
        rate = done / (now_s - self._begin_s)
        self._progress.update(
            self._task,
            completed=done,
            total=total,
            rate=f"{rate:,.0f} {self._unit}/s",
            simulated=f"at {_short(simulated_s)}",
            left=_left((total - done) / rate) if rate > 0 else "",
        )
        self._progress.refresh()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TextColumn("{task.fields[simulated]}", markup=False),
            TextColumn("{task.fields[left]}", markup=False),
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,  # a thread that draws would wait for the simulation
        )
        self._progress.start()
        self._task = self._progress.add_task(self._text, total=None, rate="", simulated="", left="")


def _short(simulated_s: float) -> str:
    from hocket.report.text import seconds

    return seconds(simulated_s)


def _left(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left"
