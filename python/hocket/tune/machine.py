# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where tune runs commands: on this machine as it is, or on a testbed made from the network file."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import Error
from hocket.mpi.launch import run_command, with_preload

if TYPE_CHECKING:
    from hocket.mpi.discover import Mpi
    from hocket.testbed import Testbed

MOST_OUTPUT = 16 << 20  # characters of a run's output that are kept: all runs are compared in memory


@dataclass(frozen=True)
class Run:
    """A command that ended well."""

    stdout: str  # of what is beyond MOST_OUTPUT only a line with its digest
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
    ) -> Run:
        """Runs the command with the libraries preloaded into its program. Raises Error if it fails or is too slow."""
        changed, needed = with_preload(command, self.mpi, [*libraries, *self.workarounds], environment or {})
        if self.testbed is None:
            local = run_command(changed, env=needed, timeout=timeout_s, capture=True)
            run = Run(_shortened(local.stdout), local.elapsed_s, None)
            status, stderr = local.returncode, local.stderr
        else:
            inside = self.testbed.run(changed, env=needed, mpi=self.mpi, timeout=timeout_s, capture=True)
            run = Run(_shortened(inside.stdout), inside.wall_s, inside.link_bytes)
            status, stderr = inside.returncode, inside.stderr
        if status != 0:
            end = f"exit status {status}" if status > 0 else f"signal {-status}"
            lines = [line for line in (stderr or run.stdout).splitlines() if line.strip()][-8:]
            raise Error(f"{what} failed with {end}: {shlex.join(command)}" + "".join(f"\n  | {line}" for line in lines))
        return run


def _shortened(text: str) -> str:
    kept, rest = text[:MOST_OUTPUT], text[MOST_OUTPUT:]
    if not rest:
        return text
    digest = hashlib.sha256(rest.encode(errors="surrogatepass")).hexdigest()
    return f"{kept}\n[{len(rest)} characters more: {digest}]\n"
