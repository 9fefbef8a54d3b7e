# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A simulation that is watched: a progress bar with rate and time left, and Ctrl-C that ends it with what is known."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hocket.cli.common import note

INTERRUPTED = 130  #: the exit status
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SETUP_MAY_END_S = 0.5  #: after Ctrl-C
_SHOWN_AFTER_S = 1.0
_REDRAWN_AFTER_S = 0.1


class Watch:
    """Called as `on_progress(done, total, simulated_s)`: draws the bar, and returns False once Ctrl-C was pressed."""

    def __init__(self, bar: _Bar) -> None:
        self.interrupted = False
        self.begun = False  #: the set-up is over: a simulation that is ended has something to tell
        self._bar = bar

    def __call__(self, done: int, total: int, simulated_s: float) -> bool:
        self.begun = True
        self._bar.update(done, total, simulated_s)
        return not self.interrupted


@contextmanager
def watched(text: str, unit: str) -> Iterator[Watch]:
    """Yields what to call for progress. A first Ctrl-C ends the simulation with what is known, as soon as it asks; in
    the set-up, when nothing is known, it ends all, as Python does.

    A thread of its own reads what arrives, and ends the process at a second one, at another signal to end, and if the
    set-up is in the midst of something long that calls no Python. Nothing has been written by then.
    """
    bar = _Bar(text, unit)
    watch = Watch(bar)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def end(number: int) -> None:
        bar.forget()
        reason = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
        os.write(2, f"error: {reason}\n".encode())
        os._exit(INTERRUPTED if number == signal.SIGINT else 128 + number)

    def listen() -> None:
        while numbers := os.read(reader, 16):
            for number in numbers:
                if number not in _ENDING:
                    continue
                if number != signal.SIGINT or watch.interrupted:
                    end(number)
                watch.interrupted = True
                if not watch.begun and not select.select([reader], [], [], _SETUP_MAY_END_S)[0] and not watch.begun:
                    end(number)

    def interrupt(number: int, frame: object) -> None:
        if not watch.begun:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    fd_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        try:
            yield watch
        finally:
            watch.begun = True  # and over
            signal.set_wakeup_fd(fd_before)
            os.close(writer)
            listener.join()
            os.close(reader)
            bar.close()
            signal.signal(signal.SIGINT, before)
    except Exception:
        if watch.interrupted:
            raise KeyboardInterrupt from None
        raise


def ended(watch: Watch, stopped_at_s: float | None) -> int:
    """The exit status; says whether Ctrl-C was pressed. `stopped_at_s`: simulated time, None = it came to its end."""
    from hocket.report.text import seconds

    if stopped_at_s is not None:
        note(f"interrupted: this is what was known at {seconds(stopped_at_s)} of simulated time")
    elif watch.interrupted:
        note("interrupted: the simulation had just come to its end")
    return INTERRUPTED if watch.interrupted or stopped_at_s is not None else 0


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

    def forget(self) -> None:
        """The cursor is back, the bar is not drawn again."""
        if self._progress is not None:
            self._progress.console.show_cursor(True)

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
