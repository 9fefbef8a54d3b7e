# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tasks go to an engine in batches, their rows to the disk; what fails is tried again."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket.sweep.batches import LONGEST_S, Batches
from hocket.sweep.store import bytes_to_rows

if TYPE_CHECKING:
    from hocket.sweep.campaign import Task
    from hocket.sweep.engine import Engine
    from hocket.sweep.store import Store
    from hocket.sweep.worker import Ran

_REPORT_EVERY_S = 2.0
_WRITE_EVERY_S = 2.0
_LEAST_ENDED = 2  # tasks a worker, until one knows how long the rest will take


@dataclass(frozen=True)
class FailedTask:
    task: int
    parameters: dict[str, Any]
    message: str
    attempts: int


class Runner:
    def __init__(self, engine: Engine, store: Store, tasks: list[Task], attempts: int, advance: Any) -> None:
        self.engine, self.store, self.attempts, self.advance = engine, store, attempts, advance
        self.by_index = {task.index: task for task in tasks}
        self.batches = Batches(tasks, engine.workers)
        self.tried: dict[int, int] = {}
        self.failed: dict[int, FailedTask] = {}
        self.done, self.running = 0, 0
        self.rows: list[bytes] = []  # that have not been written yet
        self.reported_s = time.monotonic()
        self.first: tuple[float, int] | None = None  # when tasks ended for the first time, and how many
        self.wrote_s = -math.inf

    def run(self) -> None:
        """Rows are on the disk a few seconds after their batch has ended, and all when it returns or raises."""
        try:
            while len(self.batches) or self.running:
                while self.engine.room > 0 and len(self.batches):
                    batch = self.batches.take()
                    self.running += 1
                    self.engine.submit(batch)
                for ended, found in self.engine.ended(LONGEST_S):
                    self.running -= 1
                    if isinstance(found, str):
                        self._died(ended, found)
                    else:
                        self._ended(found)
                if self.rows and time.monotonic() - self.wrote_s >= _WRITE_EVERY_S:
                    self._write()
        finally:
            self._write()

    def _write(self) -> None:
        """A file of many batches costs little more than one of a single batch."""
        rows, self.rows = self.rows, []
        if rows:
            self.store.add([bytes_to_rows(one) for one in rows])
        self.wrote_s = time.monotonic()

    def _ended(self, found: Ran) -> None:
        if found.rows:
            self.rows.append(found.rows)
        for index, seconds in found.seconds:
            self.batches.ended(self.by_index[index], seconds)
            self.done += 1
            self.failed.pop(index, None)
            self.advance(self._progress())
        for failure in found.failures:
            self._failed(self.by_index[failure.index], failure.message, failure.again)

    def _died(self, batch: Any, reason: str) -> None:
        if len(batch) == 1:
            self._failed(batch[0], reason, True)
        else:  # any of them may be the reason
            self.batches.put_back(batch)

    def _failed(self, task: Task, message: str, again: bool) -> None:
        tried = self.tried[task.index] = self.tried.get(task.index, 0) + 1
        if again and tried < self.attempts:
            self.batches.put_back([task])
            return
        self.failed[task.index] = FailedTask(task.index, task.parameters, message, tried)
        self.advance(self._progress())

    def _progress(self) -> str:
        """Now and then how many have ended, and how long the rest will take once that is known; else nothing new."""
        now_s = time.monotonic()
        ended = self.done + len(self.failed)
        if self.first is None:
            self.first = now_s, ended
        if now_s - self.reported_s < _REPORT_EVERY_S:
            return ""
        self.reported_s = now_s
        so_far = f"{ended:,} of {len(self.by_index):,} tasks"
        first_s, first = self.first  # workers prepare themselves and their networks before: that is not repeated
        if ended - first < _LEAST_ENDED * self.engine.workers or now_s - first_s < _REPORT_EVERY_S:
            return so_far
        return f"{so_far}; {_duration((now_s - first_s) / (ended - first) * (len(self.by_index) - ended))} left"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
