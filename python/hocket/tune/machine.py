# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where tune runs commands: on this machine as it is, or on a testbed made from the network file."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import Error
from hocket.files import end_of
from hocket.mpi.launch import run_command, with_preload

if TYPE_CHECKING:
    from hocket.mpi.discover import Mpi
    from hocket.testbed import Testbed

_LAST_BYTES = 1 << 16  # of what a failed run printed, where its last lines are looked for


@dataclass(frozen=True)
class Run:
    """A command that ended well."""

    stdout: str  # empty where it went to a file
    wall_s: float
    link_bytes: list[int] | None  # by link of the network; None where there is no testbed


@dataclass(frozen=True)
class Machine:
    mpi: Mpi
    testbed: Testbed | None = None
    workarounds: tuple[Path, ...] = ()  # preloaded into every run, native ones too

    def run(
        self,
        command: Sequence[str],
        libraries: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        what: str = "the program",
        standard_input: Path | None = None,
        output: Path | None = None,
    ) -> Run:
        """Runs the command with the libraries preloaded into its program. Raises Error if it fails or is too slow.

        It reads the file `standard_input`, or nothing. What it prints goes to the file `output`, whatever its size, or
        is kept in memory.
        """
        # On a testbed programs find its library preloaded, which hocket's own replace: native runs name it as well.
        common = self.workarounds if self.testbed is None else (*self.workarounds, self.testbed.preloaded)
        changed, needed = with_preload(command, self.mpi, [*libraries, *common], environment or {})
        with ExitStack() as stack:
            files = (
                stack.enter_context(open(standard_input or os.devnull, "rb")),
                stack.enter_context(open(output, "w+b")) if output else stack.enter_context(tempfile.TemporaryFile()),
                stack.enter_context(tempfile.TemporaryFile(dir=output.parent if output else None)),
            )
            if self.testbed is None:
                local = run_command(changed, env=needed, timeout=timeout_s, files=files)
                status, wall_s, link_bytes = local.returncode, local.elapsed_s, None
            else:
                inside = self.testbed.run(changed, env=needed, mpi=self.mpi, timeout=timeout_s, files=files)
                status, wall_s, link_bytes = inside.returncode, inside.wall_s, inside.link_bytes
            if status != 0:
                end = f"exit status {status}" if status > 0 else f"signal {-status}"
                text = end_of(files[2], _LAST_BYTES) or end_of(files[1], _LAST_BYTES)
                lines = [line for line in text.splitlines() if line.strip()][-8:]
                shown = "".join(f"\n  | {line}" for line in lines)
                raise Error(f"{what} failed with {end}: {shlex.join(command)}{shown}")
            files[1].seek(0)
            stdout = "" if output else files[1].read().decode(errors="replace")
            return Run(stdout, wall_s, link_bytes)
