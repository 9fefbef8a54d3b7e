# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Follows a file of results while hocket-bench appends to it."""

from __future__ import annotations

from pathlib import Path

from hocket.bench.mpi.record_schema import read_record
from hocket.bench.mpi.results import Results, add_record
from hocket.errors import InvalidInput


class Progress:
    """Of one file; `follow` reads what is new."""

    def __init__(self, path: Path, launches: int | None = None, budget_s: float | None = None) -> None:
        """`launches`, `budget_s`: instead of the suite's."""
        self._path = path
        self._launches, self._budget_s = launches, budget_s
        self._place = 0
        self._results = Results(path)
        self.follow()

    def follow(self) -> bool:
        """Whether there was something new."""
        if not self._path.exists():
            return False
        with self._path.open("rb") as file:
            file.seek(self._place)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        try:
            for line in whole.splitlines():
                add_record(self._results, read_record(line))
        except ValueError:
            raise InvalidInput(
                f"{self._path}: holds something else than results of hocket-bench",
                "name another folder with -o, or give --force to remove it",
            ) from None
        self._place += len(whole)
        return bool(whole)

    @property
    def place(self) -> int:
        """Bytes that were read; grows with each record."""
        return self._place

    @property
    def ended(self) -> int:
        """Complete launches."""
        return len(self._results.ended)

    @property
    def left_s(self) -> float | None:
        """Of the budget; None before it is known."""
        suite, chunks = self._results.suite, self._results.chunks
        if not suite:
            return None
        took_s = sum(chunk.took_s for of_point in chunks.values() for chunk in of_point)
        return float(self._budget_s or suite["budget_s"]) - took_s

    @property
    def text(self) -> str:
        """What is under way."""
        suite, results = self._results.suite, self._results
        if not suite or not results.chunks:
            tried = len(results.outcomes)
            return f"tried {tried} of {len({point.variant for point in results.points})} items"
        launch = results.runs[-1]["launch"] if results.runs else 1
        launches = self._launches or suite["launches"]
        of_all = f"of {launches}" if launch <= launches else "for points that are not known well"
        return f"launch {launch} {of_all}, {sum(map(len, results.chunks.values()))} chunks"
