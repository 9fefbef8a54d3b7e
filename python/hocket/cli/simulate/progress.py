# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A simulation that is watched: a progress bar with rate and time left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hocket.cli.common import message
from hocket.cli.watch import INTERRUPTED, Bar, Watch
from hocket.cli.watch import watched as watched_with


@contextmanager
def watched(text: str, unit: str) -> Iterator[Watch]:
    """Yields what a simulation calls as `on_progress(done, total, simulated_s)`."""
    with watched_with(_Bar(text, unit)) as watch:
        yield watch


def ended(watch: Watch, stopped_at_s: float | None) -> int:
    """The exit status; says whether Ctrl-C was pressed. `stopped_at_s`: simulated time, None = it came to its end."""
    from hocket.report.text import seconds

    if stopped_at_s is not None:
        message(f"interrupted: this is what was known at {seconds(stopped_at_s)} of simulated time")
    elif watch.interrupted:
        message("interrupted: the simulation had just come to its end")
    return INTERRUPTED if watch.interrupted or stopped_at_s is not None else 0


class _Bar(Bar):
    def __init__(self, text: str, unit: str) -> None:
        super().__init__(text)
        self._unit = unit

    def fields(self, elapsed_s: float, *progress: Any) -> dict[str, Any]:
        done, total, simulated_s = progress
        rate = done / elapsed_s
        return {
            "completed": done,
            "total": total,
            "rate": f"{rate:,.0f} {self._unit}/s",
            "simulated": f"at {_short(simulated_s)}",
            "left": _left((total - done) / rate) if rate > 0 else "",
        }


def _short(simulated_s: float) -> str:
    from hocket.report.text import seconds

    return seconds(simulated_s)


def _left(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left"
