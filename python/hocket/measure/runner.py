# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where commands run that are measured: what every such place can do and says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.mpi.discover import Mpi


@dataclass(frozen=True)
class Run:
    """A command that ended well."""

    stdout: str  # empty where it went to a file
    wall_s: float
    link_bytes: list[int] | None  # by link of the network; None where nobody counts them


class Runner(Protocol):
    """One MPI in one place. `local.py` and `testbed.py` have those that there are."""

    @property
    def mpi(self) -> Mpi: ...

    @property
    def is_emulated(self) -> bool:
        """Whether the hosts are emulated on this machine, so that all ranks share its cores."""

    @property
    def notes(self) -> Sequence[str]:
        """For the reader of what was measured: how the place differs from the network that it stands for."""

    def network_here(self, network: Network) -> Network:
        """The network as its ranks find it here."""

    def costs_here(self, costs: CostModel) -> CostModel:
        """What messages cost, completed by what is known of this place."""

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
