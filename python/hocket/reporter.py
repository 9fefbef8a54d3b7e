# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a request that runs reports what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Following = Callable[[str], None]  # called with what comes next


class Reporter:
    """Reports to nobody. The command line's shows messages and bars on standard error."""

    def message(self, text: str) -> None:
        """A sentence for the user."""

    def progress(self, *values: object) -> bool:
        """How far the core is, in numbers of its own. False: it ends soon with what is known by then."""
        return True

    def steps(self, text: str, total: int | None) -> AbstractContextManager[Following]:
        """For what has `total` steps, if that is known: yields what is to be called after each."""
        return _silent()

    def stage(self, text: str, at_most_s: float) -> AbstractContextManager[Following]:
        """For what ends after `at_most_s` seconds: yields what is to be called now and then."""
        return _silent()


class Messages(Reporter):
    """Calls a function with each message and with what comes next."""

    def __init__(self, message: Callable[[str], None]) -> None:
        self._message = message

    def message(self, text: str) -> None:
        self._message(text)

    @contextmanager
    def stage(self, text: str, at_most_s: float) -> Iterator[Following]:
        yield lambda following: self._message(f"{text}: {following}")


SILENT = Reporter()


@contextmanager
def _silent() -> Iterator[Following]:
    yield lambda following: None
