# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Something long in the core that is watched: a progress bar, and Ctrl-C that ends it with what is known."""

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

INTERRUPTED = 130  #: the exit status
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SETUP_MAY_END_S = 0.5  #: after Ctrl-C
_SHOWN_AFTER_S = 1.0
_REDRAWN_AFTER_S = 0.1


class Bar:
    """On standard error, where that is a terminal, once a second has passed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.begin_s = time.monotonic()
        self._next_s = self.begin_s + _SHOWN_AFTER_S if sys.stderr.isatty() else float("inf")
        self._progress: Any = None
        self._task: Any = None

    def update(self, *progress: Any) -> None:
        """`progress` is what the core reports; `fields` makes of it what is shown."""
        now_s = time.monotonic()
        if now_s < self._next_s:
            return
        self._next_s = now_s + _REDRAWN_AFTER_S
        shown = self.fields(now_s - self.begin_s, *progress)
        if self._progress is None:
            self._open([name for name in shown if name not in ("completed", "total")])
        self._progress.update(self._task, **shown)
        self._progress.refresh()

    def fields(self, elapsed_s: float, *progress: Any) -> dict[str, Any]:
        """`completed` and `total`, and texts by name."""
        raise NotImplementedError

    def forget(self) -> None:
        """The cursor is back, the bar is not drawn again."""
        if self._progress is not None:
            self._progress.console.show_cursor(True)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _open(self, texts: list[str]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            *(TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in texts),
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,  # a thread that draws would wait for the core
        )
        self._progress.start()
        self._task = self._progress.add_task(self.text, total=None, **dict.fromkeys(texts, ""))


class Watch:
    """Called with the progress of the core: draws the bar, and returns False once Ctrl-C was pressed."""

    def __init__(self, bar: Bar) -> None:
        self.interrupted = False
        self.begun = False  #: the set-up is over: what is ended has a result
        self._bar = bar

    def __call__(self, *progress: Any) -> bool:
        self.begun = True
        self._bar.update(*progress)
        return not self.interrupted


@contextmanager
def watched(bar: Bar) -> Iterator[Watch]:
    """Yields what the core calls with its progress. A first Ctrl-C ends it with what is known, as soon as it calls; in
    the set-up, when nothing is known, it ends all, as Python does.

    A thread of its own reads what arrives, and ends the process at a second one, at another signal to end, and if the
    set-up is in the midst of something long that calls no Python. Nothing has been written by then.
    """
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
