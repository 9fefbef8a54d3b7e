# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Batches of a campaign: few, and all workers end at about the same time. Time is counted, not waited for."""

from __future__ import annotations

import heapq
import math
import random
from types import SimpleNamespace
from typing import Any

import pytest

from hocket.sweep.batches import LONGEST_S, SHORTEST_S, Batches
from hocket.sweep.campaign import Task
from hocket.sweep.runner import Runner
from hocket.sweep.worker import Ran


def run_on(workers: int, times_s: list[float]) -> tuple[float, list[float]]:
    """When the last worker ends, and how long each batch takes. Tasks take these times."""
    batches = Batches([Task(index, str(index), None, {}) for index in range(len(times_s))], workers)
    left = set(range(len(times_s)))
    busy: list[tuple[float, int, list[Task]]] = []
    now_s, taken_s = 0.0, []
    while len(batches) or busy:
        while len(batches) and len(busy) < workers:
            batch = batches.take()
            left -= {task.index for task in batch}
            taken_s.append(sum(times_s[task.index] for task in batch))
            heapq.heappush(busy, (now_s + taken_s[-1], batch[0].index, batch))
        now_s, _, ended = heapq.heappop(busy)
        for task in ended:
            batches.ended(task, times_s[task.index])
    assert not left
    return now_s, taken_s


@pytest.mark.parametrize("workers", [1, 2, 16])
def test_batches_are_few_and_workers_end_together(workers: int) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    times_s = [0.005 * (0.5 + chance.random()) for _ in range(4000)]
    end_s, taken_s = run_on(workers, times_s)
    assert end_s <= sum(times_s) / workers + 2 * SHORTEST_S + max(times_s)
    assert max(taken_s) <= 3 * LONGEST_S  # the first ones are estimated by one task: times differ by this factor
    # Each batch takes the share 1 / (2 workers) of what is left, until batches are short.
    longest = math.ceil(sum(times_s) / LONGEST_S)
    shrinking = math.ceil(2 * workers * math.log(max(1.0, LONGEST_S / SHORTEST_S)))
    assert len(taken_s) <= workers + 1.5 * longest + (shrinking + 4 * workers if workers > 1 else 0)


def test_a_single_worker_has_no_short_batches_at_the_end() -> None:
    _, taken_s = run_on(1, [0.005] * 100)
    assert len(taken_s) == 2  # one task, for its time, and the rest


def test_the_time_left_is_that_of_tasks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers need 30 s until the first task has ended; then each task takes 1 s."""
    now_s, said = [0.0], list[str]()
    monkeypatch.setattr("hocket.sweep.runner.time", SimpleNamespace(monotonic=lambda: now_s[0]))

    class One:
        workers, room = 1, 1
        batch: Any = ()

        def submit(self, batch: Any) -> None:
            self.batch, self.room = batch, 0

        def ended(self, timeout_s: float) -> list[tuple[Any, Ran]]:
            (task,), self.room = self.batch, 1
            now_s[0] += 30.0 if task.index == 0 else 1.0
            return [(self.batch, Ran(b"", ((task.index, 1.0),), ()))]

        def close(self) -> None: ...

    tasks = [Task(index, str(index), None, {}) for index in range(100)]
    Runner(One(), None, tasks, 1, said.append).run()  # type: ignore[arg-type]  # no rows: nothing is stored
    assert [text for text in said if text][:2] == ["1 of 100 tasks", "3 of 100 tasks; 1 min 37 s left"]
