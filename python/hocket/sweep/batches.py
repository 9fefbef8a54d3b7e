# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tasks in batches that take about as long as each other, by what tasks of their kind have taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket.sweep.campaign import Task

LONGEST_S = 1.0  #: of a batch: what a kill can cost
SHORTEST_S = 0.05
MOST_TASKS = 2000  #: of a batch
_WEIGHT = 0.3  #: of the newest time in a group's mean


class Batches:
    def __init__(self, tasks: Iterable[Task], workers: int) -> None:
        self._left = deque(sorted(tasks, key=lambda task: (str(getattr(task.request, "network", "")), task.index)))
        self._alone: deque[Task] = deque()
        self._workers = workers
        self._mean_s: dict[tuple[str, ...], float] = {}
        self._all_s, self._ran = 0.0, 0

    def __len__(self) -> int:
        return len(self._left) + len(self._alone)

    @property
    def task_s(self) -> float | None:
        """The mean of all tasks so far; None = none has ended."""
        return self._all_s / self._ran if self._ran else None

    def expected_s(self, task: Task) -> float:
        return self._mean_s.get(task.group, self.task_s or LONGEST_S)

    def take(self) -> list[Task]:
        """The next batch; with several workers shorter ones near the end, so that all end together."""
        if self._alone and not self._left:
            return [self._alone.popleft()]
        longest_s = LONGEST_S
        if self._workers > 1:
            rest_s = len(self._left) * (self.task_s or LONGEST_S)
            longest_s = min(LONGEST_S, max(SHORTEST_S, rest_s / (2 * self._workers)))
        batch: list[Task] = []
        batch_s = 0.0
        while self._left and len(batch) < MOST_TASKS:
            batch_s += self.expected_s(self._left[0])
            if batch and batch_s > longest_s:
                break
            batch.append(self._left.popleft())
        return batch

    def ended(self, task: Task, seconds: float) -> None:
        self._all_s += seconds
        self._ran += 1
        before = self._mean_s.get(task.group, seconds)
        self._mean_s[task.group] = (1 - _WEIGHT) * before + _WEIGHT * seconds

    def put_back(self, tasks: Iterable[Task]) -> None:
        """Tasks of a batch whose worker was ended: each in a batch of its own, behind all others."""
        self._alone.extend(tasks)
