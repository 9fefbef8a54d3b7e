# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs a compilation: its output goes to a log, its steps to a progress bar (plain lines where there is no terminal).

`python -m hocket.mpi.build_progress LOG TITLE COMMAND...` does the same for the build of hocket itself.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from hocket.mpi.launch import start_process, stop_process_group

# What ninja ("[12/48] Building ...") and make ("[ 25%] Building ...") print.
_STEP = re.compile(r"\[\s*(\d+)(?:/(\d+)|%)\]")
_SECONDS_BETWEEN_LINES = 10.0

Steps = Callable[[int, int], None]


def run_build(
    command: Sequence[str],
    log: Path,
    steps: Steps,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> int:
    """Appends what `command` prints to `log`, and calls `steps(done, total)` for each step that it reports.

    The exit status; negative: the signal that ended it, SIGKILL after `timeout_s`. Leaves no process behind.
    """
    process = start_process(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    timer = threading.Timer(timeout_s, os.killpg, (process.pid, signal.SIGKILL)) if timeout_s is not None else None
    try:
        if timer is not None:
            timer.start()
        assert process.stdout is not None
        with log.open("a", encoding="utf-8") as stream:
            for line in process.stdout:
                stream.write(line)
                if step := _STEP.search(line):
                    steps(int(step[1]), int(step[2] or 100))
        process.wait()
    finally:
        if timer is not None:
            timer.cancel()
        stop_process_group(process)
    return process.returncode


@contextmanager
def shown_steps(title: str) -> Iterator[Steps]:
    """A progress bar with the elapsed time on standard error; a line every few seconds where that is not a terminal."""
    if not sys.stderr.isatty():
        yield _lines(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(title: str) -> Steps:
    started = last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES or (done == total and total > 0):
            last = now
            print(f"{title}: {done} of {total} steps, {now - started:.0f} s", file=sys.stderr, flush=True)

    return show


def main() -> int:
    log, title, *command = sys.argv[1:]
    Path(log).write_text("", encoding="utf-8")
    with shown_steps(f"hocket: {title}") as steps:
        return run_build(command, Path(log), steps, os.environ)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
