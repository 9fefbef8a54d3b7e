# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Measures a suite with one command or with several in turns.

hocket-bench is started again for each launch, and after each item that ended one. With several commands the one with
the fewest complete launches is next, so that what disturbs the machine for minutes meets all alike, and an interrupted
run goes on where it was. The order changes from turn to turn: what comes first is not always the same command.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence

from hocket.bench.mpi.launcher import AGAIN, INVALID, Launcher, error_of
from hocket.bench.mpi.progress import Progress
from hocket.bench.mpi.results import Results, read_results
from hocket.errors import Error, InvalidInput
from hocket.reporter import Reporter

MOST_IDLE_STARTS = 2  # in a row that leave no record: then it is the launcher's fault
SECONDS_BETWEEN_LINES = 10.0


def measure(launchers: Sequence[Launcher], reporter: Reporter) -> list[Results]:
    """Goes on until the last launch of each is complete; results in the same order. Raises Error, InvalidInput."""
    with reporter.steps("bench", None) as following:
        lines = _Lines(following)
        turns = [_Turns(launcher, lines) for launcher in launchers]
        lines.followed = [one.progress for one in turns]
        while left := [one for one in turns if not one.is_complete]:
            fewest = min(one.progress.ended for one in left)
            next_ones = [one for one in left if one.progress.ended == fewest]
            next_ones[0 if fewest % 2 == 0 else -1].run_launch()
    return [read_results(launcher.output) for launcher in launchers]


class _Lines:
    """Reports what is under way, now and then."""

    def __init__(self, following: Callable[[str], None]) -> None:
        self._following = following
        self._shown_s = -SECONDS_BETWEEN_LINES
        self.followed: list[Progress] = []

    def show(self, name: str, progress: Progress) -> None:
        now_s = time.monotonic()
        if now_s - self._shown_s < SECONDS_BETWEEN_LINES:
            return
        self._shown_s = now_s
        known = [one.left_s for one in self.followed if one.left_s is not None]
        unknown = len(self.followed) - len(known)
        left_s = sum(known) * (1 + unknown / len(known)) if known else None  # the suite is the same
        left = "" if left_s is None else f", at most {left_s:.0f} s left" if left_s > 0 else ", over its time"
        name = f"{name}: " if len(self.followed) > 1 else ""
        self._following(f"{name}{progress.text}{left}")


class _Turns:
    """The launches of one command."""

    def __init__(self, launcher: Launcher, lines: _Lines) -> None:
        self._launcher = launcher
        self._lines = lines
        self._idle = 0
        self.progress = Progress(launcher.output, launcher.launches, launcher.budget_s)
        self.is_complete = False

    def run_launch(self) -> None:
        """Starts hocket-bench until one more launch is complete, or all are."""
        ended = self.progress.ended
        while not self.is_complete and self.progress.ended == ended:
            place, before = self.progress.place, self.progress.ended
            status, message = self._launcher.start(self._follow)
            self._idle = 0 if self.progress.place > place else self._idle + 1
            # An item that ends the program may do so with status 0 too.
            has_ended = self.progress.ended > before or self.progress.place == place > 0
            self.is_complete = status == 0 and has_ended
            if status == INVALID:
                raise InvalidInput(*error_of(message))
            if status not in (0, AGAIN) and (self._idle >= MOST_IDLE_STARTS or "error: " in message):
                raise Error(*self._launcher.explained(message))
            if not self.is_complete and self._idle >= MOST_IDLE_STARTS:
                command = shlex.join(self._launcher.words())
                raise Error(f"`{command}` ended {self._idle} times without a result", error_of(message)[0])

    def _follow(self) -> bool:
        has_grown = self.progress.follow()
        if has_grown:
            self._lines.show(self._launcher.mpi.name, self.progress)
        return has_grown
