# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Messages and progress of a request on standard error."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from hocket.cli.common import message, progress, progress_in_time
from hocket.reporter import Following, Reporter

if TYPE_CHECKING:
    from hocket.cli.watch import Watch


class TerminalReporter(Reporter):
    def __init__(self, watch: Watch | None = None) -> None:
        self._watch = watch

    def message(self, text: str) -> None:
        message(text)

    def progress(self, *values: object) -> bool:
        return self._watch is None or self._watch(*values)

    def steps(self, text: str, total: int | None) -> AbstractContextManager[Following]:
        return progress(text, total)

    def stage(self, text: str, at_most_s: float) -> AbstractContextManager[Following]:
        return progress_in_time(text, at_most_s)
