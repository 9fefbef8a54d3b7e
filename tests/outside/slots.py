# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs several programs at once, those of one case one after another; nothing is left of them, whatever happens."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from hocket.mpi.launch import start_process, stop_process_group

LOOK_S = 0.01
KEPT_BYTES = 100_000  # of the output, from its end


@dataclass(frozen=True)
class Command:
    words: list[str]
    environment: Mapping[str, str]
    folder: Path
    time_limit_s: float


@dataclass(frozen=True)
class Ended:
    status: int | None  # None: stopped at the time limit
    output: str
    wall_s: float


Case = Generator[Command, Ended, None]


@dataclass
class Slot:
    """A case and its process."""

    case: Case
    command: Command
    output: IO[bytes] = field(init=False)
    process: subprocess.Popen[Any] = field(init=False)
    began: float = field(init=False)

    def start(self) -> None:
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process has ended
        self.process = start_process(
            self.command.words,
            env={**os.environ, **self.command.environment},
            cwd=self.command.folder,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
        )
        self.began = time.monotonic()

    def ended(self) -> Ended | None:
        wall_s = time.monotonic() - self.began
        status = self.process.poll()
        if status is None and wall_s < self.command.time_limit_s:
            return None
        self.stop()
        size = self.output.seek(0, os.SEEK_END)
        self.output.seek(max(0, size - KEPT_BYTES))
        text = self.output.read().decode(errors="replace")
        self.output.close()
        return Ended(status, text, wall_s)

    def stop(self) -> None:
        stop_process_group(self.process)


def run_cases(cases: Iterable[Case], jobs: int, done: Callable[[], None]) -> None:
    """Runs the commands that the cases ask for, `jobs` at a time; `done` is called after each case."""
    waiting = iter(cases)
    slots: list[Slot] = []

    def take() -> bool:
        """Starts a case whose first command is there at once; false if there is none left."""
        for case in waiting:
            try:
                slot = Slot(case, next(case))
            except StopIteration:
                done()
                continue
            slot.start()
            slots.append(slot)
            return True
        return False

    try:
        while True:
            while len(slots) < jobs and take():
                pass
            if not slots:
                return
            time.sleep(LOOK_S)
            for slot in list(slots):
                if (ended := slot.ended()) is None:
                    continue
                try:
                    slot.command = slot.case.send(ended)
                    slot.start()
                except StopIteration:
                    slots.remove(slot)
                    done()
    finally:
        for slot in slots:
            with suppress(OSError):
                slot.stop()
            slot.case.close()
