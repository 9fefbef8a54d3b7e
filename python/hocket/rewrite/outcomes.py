# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a rewrite of files gives: their new text, and what became of each call."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hocket.rewrite.buffers import Obligation, Refusal
from hocket.rewrite.c_source import CSource
from hocket.rewrite.call_times import TraceTimes
from hocket.rewrite.costs import Prediction
from hocket.rewrite.syntax import Source


@dataclass(frozen=True)
class Outcome:
    """What became of a blocking call. Lines are those of the original file, from 1."""

    path: Path
    line: int
    procedure: str
    name: str
    is_rewritten: bool
    obligations: tuple[Obligation, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    prediction: Prediction | None = None  # where a trace has the costs
    measured_s: float | None = None  # from start to wait, in a trace of the rewritten program


@dataclass
class Rewritten:
    """All files, with their old and new text."""

    old: dict[Path, bytes]
    new: dict[Path, bytes]
    outcomes: list[Outcome] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # of parts of files that are in no procedure
    times: TraceTimes | None = None  # of the trace, where one was given
    sources: list[Source] = field(default_factory=list)  # the new text, as it was analysed
    c_sources: list[CSource] = field(default_factory=list)  # the same of C and C++
    origins: dict[Path, list[int]] = field(default_factory=dict)  # of each of its lines (from 0) that of the old text

    @property
    def changed(self) -> list[Path]:
        return [path for path in self.old if self.old[path] != self.new[path]]
