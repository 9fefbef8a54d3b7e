# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Starts hocket-bench once: its command, its environment, and what becomes of it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hocket.errors import Error, InvalidInput
from hocket.io.files import end_of
from hocket.mpi.command_line import has_program
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import inherited_preload, launch_environment, run_command, start_process, stop_process_group

POLL_S = 0.1
# After an item has hung, hocket-bench ends itself. Where it cannot, as when its first rank is stopped, we do.
GRACE_S = 30.0
AGAIN, INVALID = 75, 2  # exit statuses of hocket-bench
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
    network: str | None = None  # to emulate for each start; None: the hosts are the launcher's
    launches: int | None = None  # None: as the suite says
    budget_s: float | None = None
    rounds: int | None = None

    def print_plan(self) -> str:
        """What `--dry-run` prints."""
        return self._printed([*self.words(), "--dry-run"])

    def print_items(self) -> str:
        """What `--list-json` prints."""
        return self._printed([*self.command, str(self.program), "--list-json"])

    def _printed(self, words: Sequence[str]) -> str:
        files = tempfile.TemporaryFile
        with open(os.devnull, "rb") as nothing, files() as output, files() as errors:
            done = run_command(
                words,
                env=launch_environment(self.command, self.mpi),
                timeout=self.timeout_s + GRACE_S,
                files=(nothing, output, errors),
            )
            if done.returncode != 0:
                raise (InvalidInput if done.returncode == INVALID else Error)(*error_of(end_of(errors, _LAST_BYTES)))
            output.seek(0)
            return output.read().decode(errors="replace")

    def explained(self, text: str) -> tuple[str, str]:
        """As `error_of`, with what is wrong with the command if it has a program."""
        message, hint = error_of(text)
        if has_program(self.command):
            hint = "hocket starts a program of its own: leave yours out of the command"
        return message, hint

    def words(self) -> list[str]:
        # A testbed of its own for each start, which ends with it, whatever happens.
        on_testbed = (
            [sys.executable, "-P", "-m", "hocket", "testbed", "run", self.network, "--"] if self.network else []
        )
        extent = {"--launches": self.launches, "--rounds": self.rounds, "--budget": self.budget_s}
        options = [word for name, value in extent.items() if value is not None for word in (name, str(value))]
        program = [str(self.program), *self.arguments, *options, "--timeout", f"{self.timeout_s:g}"]
        return [*on_testbed, *self.command, *program]

    def _process(self, words: Sequence[str], output: IO[bytes], errors: IO[bytes]) -> subprocess.Popen[str]:
        environment = {**os.environ, **launch_environment(self.command, self.mpi)}
        if "LD_PRELOAD" in environment:
            environment["LD_PRELOAD"] = ":".join(inherited_preload())
        with open(os.devnull, "rb") as nothing:
            return start_process(words, env=environment, stdin=nothing, stdout=output, stderr=errors)

    def start(self, has_grown: Callable[[], bool]) -> tuple[int, str]:
        """Starts hocket-bench once; its exit status and the end of what it printed on standard error.

        `has_grown`: whether the file of results has, since this was asked last.
        """
        words = [*self.words(), "--quiet", "-o", str(self.output)]
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            try:
                process = self._process(words, output, errors)
            except OSError as error:
                raise InvalidInput(f"{words[0]}: cannot be started: {error.strerror}") from error
            try:
                life_s = time.monotonic()
                while process.poll() is None:
                    time.sleep(POLL_S)
                    if has_grown():
                        life_s = time.monotonic()
                    if time.monotonic() - life_s > self.timeout_s + GRACE_S:
                        break
            except BaseException:
                stop_process_group(process)
                self._forgive()
                raise
            stop_process_group(process)
            has_grown()
            return process.returncode, end_of(errors, _LAST_BYTES)

    def _forgive(self) -> None:
        """What was under way has not ended the launch: the user has."""
        if self.output.exists():
            with self.output.open("rb+") as file:
                content = file.read()
                file.truncate(content.rfind(b"\n") + 1)  # a record that was cut off
                file.seek(0, os.SEEK_END)
                file.write(b'{"type": "interrupted"}\n')


def error_of(text: str) -> tuple[str, str]:
    """The message and the hint that hocket-bench printed, or the last lines of the launcher."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("error: "):
            hint = (
                lines[i + 1].removeprefix("hint: ") if i + 1 < len(lines) and lines[i + 1].startswith("hint: ") else ""
            )
            return line.removeprefix("error: "), hint
    shown = "".join(f"\n  | {line}" for line in [line for line in lines if line.strip()][-8:])
    hint = "`hocket doctor` reports what is installed; a plug-in of the suite may have ended or stopped the program"
    return f"hocket-bench could not be run:{shown or ' it printed nothing'}", hint
