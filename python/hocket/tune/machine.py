# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where tune runs commands: on this machine as it is, or on a testbed made from the network file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import Error
from hocket.mpi.launch import Completed, run_command, with_preload

if TYPE_CHECKING:
    from hocket.mpi.discover import Mpi
    from hocket.testbed import Testbed


@dataclass(frozen=True)
class Machine:
    mpi: Mpi
    testbed: Testbed | None = None

    def run(
        self,
        command: Sequence[str],
        libraries: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        what: str = "the program",
    ) -> Completed:
        """Runs the command with the libraries preloaded into its program. Raises Error if it fails or takes too long."""
        changed, needed = with_preload(command, self.mpi, libraries, environment or {})
        if self.testbed is None:
            done = run_command(changed, env=needed, timeout=timeout_s, capture=True)
        else:
            done = self.testbed.run(changed, env=needed, mpi=self.mpi, timeout=timeout_s, capture=True)
        if done.returncode != 0:
            raise Error(f"{what} failed with {_exit(done.returncode)}: {shlex.join(command)}{_last_lines(done)}")
        return done


def _exit(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {-status}"


def _last_lines(done: Completed, count: int = 8) -> str:
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()][-count:]
    return "".join(f"\n  | {line}" for line in lines)
