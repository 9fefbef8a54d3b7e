# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs commands on a testbed, which emulates a network on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.measure.emulation import emulated, emulated_costs
from hocket.measure.execution import Ended, Files, execute
from hocket.measure.runner import Run
from hocket.mpi.launch import with_preload

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.mpi.discover import Mpi
    from hocket.testbed import Testbed


@dataclass(frozen=True)
class TestbedRunner:
    __test__ = False  # pytest: not a test class

    mpi: Mpi
    testbed: Testbed
    workarounds: tuple[Path, ...] = ()  # preloaded into every run, native ones too
    is_emulated = True

    @property
    def notes(self) -> Sequence[str]:
        return self.testbed.notes

    def network_here(self, network: Network) -> Network:
        return emulated(network, self.testbed)

    def costs_here(self, costs: CostModel) -> CostModel:
        return emulated_costs(costs)

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
        # Programs inside find the testbed's library preloaded, which hocket's own replace: native runs name it as well.
        common = (*self.workarounds, self.testbed.preloaded)
        changed, needed = with_preload(command, self.mpi, [*libraries, *common], environment or {})

        def start(files: Files) -> Ended:
            done = self.testbed.run(changed, env=needed, mpi=self.mpi, timeout=timeout_s, files=files)
            return Ended(done.returncode, done.wall_s, done.link_bytes)

        return execute(command, start, what, standard_input, output)
