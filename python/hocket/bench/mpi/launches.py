# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Launches hocket-bench again and again until a suite is measured: each launch, and after each item that ended one."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hocket.bench.mpi.results import Results, add_record, read_results
from hocket.errors import Error, InvalidInput
from hocket.io.files import end_of
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import launch_environment, start_process, stop_process_group
from hocket.reporter import Reporter

POLL_S = 0.1
# After an item has hung, hocket-bench ends itself. Where it cannot, as when its first rank is stopped, we do.
GRACE_S = 30.0
SECONDS_BETWEEN_LINES = 10.0
MOST_IDLE_STARTS = 2  # in a row that leave no record: then it is the launcher's fault
_AGAIN, _INVALID = 75, 2  # exit statuses of hocket-bench
_LAST_BYTES = 1 << 16


@dataclass(frozen=True)
class Launcher:
    """How hocket-bench is started, and where it writes."""

    command: tuple[str, ...]  # the launcher with its options
    mpi: Mpi
    program: Path
    arguments: tuple[str, ...]  # for the program: its options and the suite
    output: Path
    timeout_s: float  # of an item that shows no life

    def run_all(self, reporter: Reporter) -> Results:
        """Goes on until the last launch of the suite is complete. Raises Error, InvalidInput."""
        idle = 0
        with reporter.steps("bench", None) as following:
            shown = _Progress(following)
            while True:
                status, message = self._start(shown)
                if status == _INVALID:
                    raise InvalidInput(*_error_of(message))
                if status == 0:
                    return read_results(self.output)
                idle = 0 if shown.has_grown() else idle + 1
                if status not in (_AGAIN,) and (idle >= MOST_IDLE_STARTS or "error: " in message):
                    raise Error(*_error_of(message))
                if idle >= MOST_IDLE_STARTS:
                    raise Error(
                        f"`{shlex.join(self._words())}` ended {idle} times without a result", _error_of(message)[0]
                    )

    def print_plan(self) -> str:
        """What `--dry-run` prints."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = self._process([*self._words(), "--dry-run"], output, errors)
            try:
                status = process.wait(self.timeout_s + GRACE_S)
            finally:
                stop_process_group(process)
            if status != 0:
                raise (InvalidInput if status == _INVALID else Error)(*_error_of(end_of(errors, _LAST_BYTES)))
            output.seek(0)
            return output.read().decode(errors="replace")

    def _words(self) -> list[str]:
        return [*self.command, str(self.program), *self.arguments, "--timeout", f"{self.timeout_s:g}"]

    def _process(self, words: Sequence[str], output: IO[bytes], errors: IO[bytes]) -> subprocess.Popen[str]:
        environment = {**os.environ, **launch_environment(self.command, self.mpi)}
        with open(os.devnull, "rb") as nothing:
            return start_process(words, env=environment, stdin=nothing, stdout=output, stderr=errors)

    def _start(self, shown: _Progress) -> tuple[int, str]:
        """Starts it once; its exit status and the end of what it printed on standard error."""
        words = [*self._words(), "--quiet", "-o", str(self.output)]
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            try:
                process = self._process(words, output, errors)
            except OSError as error:
                raise InvalidInput(f"{words[0]}: cannot be started: {error.strerror}") from error
            try:
                life_s = time.monotonic()
                while process.poll() is None:
                    time.sleep(POLL_S)
                    if shown.follow(self.output):
                        life_s = time.monotonic()
                    if time.monotonic() - life_s > self.timeout_s + GRACE_S:
                        break
            except BaseException:
                stop_process_group(process)
                self._forgive()
                raise
            stop_process_group(process)
            shown.follow(self.output)
            return process.returncode, end_of(errors, _LAST_BYTES)

    def _forgive(self) -> None:
        """What was under way has not ended the launch: the user has."""
        if self.output.exists():
            with self.output.open("rb+") as file:
                content = file.read()
                file.truncate(content.rfind(b"\n") + 1)  # a record that was cut off
                file.seek(0, os.SEEK_END)
                file.write(b'{"type": "interrupted"}\n')


class _Progress:
    """Reads what is appended to a file of results, and reports it."""

    def __init__(self, following: Callable[[str], None]) -> None:
        self._following = following
        self._place = 0
        self._before = 0
        self._results = Results(Path())
        self._text = ""
        self._said_s = -SECONDS_BETWEEN_LINES

    def has_grown(self) -> bool:
        """Since this was asked last."""
        before, self._before = self._before, self._place
        return self._place > before

    def follow(self, path: Path) -> bool:
        """Whether there was something new."""
        if not path.exists():
            return False
        with path.open("rb") as file:
            file.seek(self._place)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        for line in whole.splitlines():
            add_record(self._results, json.loads(line))
        self._place += len(whole)
        if whole:
            now_s = time.monotonic()
            if now_s - self._said_s >= SECONDS_BETWEEN_LINES:
                self._text, self._said_s = self._line(), now_s
            self._following(self._text)
        return bool(whole)

    def _line(self) -> str:
        suite, results = self._results.suite, self._results
        if not suite or not results.chunks:
            tried = len(results.outcomes)
            return f"tried {tried} of {len({point.variant for point in results.points})} items"
        used_s = sum(chunk.took_s for chunks in results.chunks.values() for chunk in chunks)
        left_s = suite["budget_s"] - used_s
        left = f"about {left_s:.0f} s left" if left_s > 0 else "over its time, ends after this round"
        launch = results.runs[-1]["launch"] if results.runs else 1
        return f"launch {launch} of {suite['launches']}, {sum(map(len, results.chunks.values()))} chunks, {left}"


def _error_of(text: str) -> tuple[str, str]:
    """The message and the hint that hocket-bench printed, or the last lines of the launcher."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("error: "):
            hint = (
                lines[i + 1].removeprefix("hint: ") if i + 1 < len(lines) and lines[i + 1].startswith("hint: ") else ""
            )
            return line.removeprefix("error: "), hint
    shown = "".join(f"\n  | {line}" for line in [line for line in lines if line.strip()][-8:])
    return f"hocket-bench could not be run:{shown}", "`hocket doctor` reports what is installed"
