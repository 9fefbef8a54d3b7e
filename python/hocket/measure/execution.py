# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""One run of a command with files as its standard streams, and what is said of one that fails."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hocket.errors import Error
from hocket.io.files import end_of
from hocket.measure.runner import Run

_LAST_BYTES = 1 << 16  # of what a failed run printed, where its last lines are looked for
_LAST_LINES = 8

Files = tuple[IO[bytes], IO[bytes], IO[bytes]]  # standard input, output and error


@dataclass(frozen=True)
class Ended:
    status: int  # negative: the signal that ended it
    wall_s: float
    link_bytes: list[int] | None = None


def execute(
    command: Sequence[str],
    start: Callable[[Files], Ended],
    what: str,
    standard_input: Path | None,
    output: Path | None,
) -> Run:
    """As `Runner.run` says; `start` runs the command, which is named as the user knows it, and waits for its end."""
    with ExitStack() as stack:
        files = (
            stack.enter_context(open(standard_input or os.devnull, "rb")),
            stack.enter_context(open(output, "w+b")) if output else stack.enter_context(tempfile.TemporaryFile()),
            stack.enter_context(tempfile.TemporaryFile(dir=output.parent if output else None)),
        )
        ended = start(files)
        if ended.status != 0:
            end = f"exit status {ended.status}" if ended.status > 0 else f"signal {-ended.status}"
            text = end_of(files[2], _LAST_BYTES) or end_of(files[1], _LAST_BYTES)
            lines = [line for line in text.splitlines() if line.strip()]
            # Launchers say more after the reason than is shown.
            reason = [line for line in lines[:-_LAST_LINES] if line.startswith("error: ")][:1]
            shown = "".join(f"\n  | {line}" for line in (*reason, *lines[-_LAST_LINES:]))
            raise Error(f"{what} failed with {end}: {shlex.join(command)}{shown}")
        files[1].seek(0)
        stdout = "" if output else files[1].read().decode(errors="replace")
        return Run(stdout, ended.wall_s, ended.link_bytes)
