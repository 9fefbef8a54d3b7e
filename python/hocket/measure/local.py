# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs commands as they are: on this machine, and on the hosts that their launcher reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.measure.execution import Ended, Files, execute
from hocket.measure.runner import Run
from hocket.mpi.launch import run_command, with_preload

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.mpi.discover import Mpi


@dataclass(frozen=True)
class LocalRunner:
    mpi: Mpi
    workarounds: tuple[Path, ...] = ()  # preloaded into every run, native ones too
    is_emulated = False
    notes: tuple[str, ...] = ()

    def network_here(self, network: Network) -> Network:
        return network

    def costs_here(self, costs: CostModel) -> CostModel:
        return costs

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
        changed, needed = with_preload(command, self.mpi, [*libraries, *self.workarounds], environment or {})

        def start(files: Files) -> Ended:
            done = run_command(changed, env=needed, timeout=timeout_s, files=files)
            return Ended(done.returncode, done.elapsed_s)

        return execute(command, start, what, standard_input, output)
