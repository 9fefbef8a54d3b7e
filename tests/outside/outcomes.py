# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a driver of tests needs to know of a test, and its outcomes: a word, and details after a colon if it has any."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

PASSES, FAILS, DOES_NOT_END, NOT_COMPILED = "passes", "fails", "does not end", "not compiled"


class Test(Protocol):
    """A program of others with its ranks, arguments and environment. `build` is the folder of compiled programs."""

    __test__ = False  # for pytest

    @property
    def name(self) -> str:
        """The suite's or folder's, a slash, and what tells it from the others."""

    @property
    def ranks(self) -> int: ...
    @property
    def environment(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def launcher_options(self) -> tuple[str, ...]:
        """Of MPICH's launcher."""

    @property
    def time_limit_s(self) -> float:
        """That it needs at least; 0 if nothing is known."""

    def words(self, build: Path) -> list[str] | None:
        """The program and its arguments; None if it was not compiled."""

    def folder_to_run_in(self, build: Path, own: Path) -> Path:
        """`own` is empty at first and no other run's."""

    def outcome(self, status: int | None, output: str) -> str:
        """`status` is None where it had to be stopped."""


def passes(outcome: str) -> bool:
    return outcome.partition(":")[0] == PASSES


def with_details(word: str, details: str) -> str:
    return f"{word}: {details}"


def can_be_compared(native: str) -> bool:
    """Whether other runs must have the same outcome. Runs that fail for no known detail need not fail alike."""
    return native == PASSES or ":" in native
