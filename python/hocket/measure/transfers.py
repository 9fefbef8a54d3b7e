# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Times of transfers between ranks, alone and together, measured with the program hocket-transfers."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hocket.errors import Error
from hocket.io.leftovers import working_folder
from hocket.mpi.command_line import has_program

if TYPE_CHECKING:
    from hocket.measure.runner import Runner
    from hocket.mpi.build import MpiParts


class Transfer(NamedTuple):
    """`messages` of `size_bytes` each from one rank to another. It ends when the source has an empty answer."""

    source: int
    target: int
    size_bytes: int
    messages: int = 1


Experiment = tuple[Transfer, ...]  # transfers that start together
Times = list[list[list[float]]]  # seconds, by round, experiment and transfer
Measure = Callable[[Sequence[Experiment]], Times]
Report = Callable[[str], None]  # what is measured next


def report_nothing(following: str) -> None:
    pass


@dataclass(frozen=True)
class Place:
    """Where a rank runs. Ranks of one host have the same `first`, the least rank there; names may occur twice."""

    host: str
    first: int


class CoreCosts(NamedTuple):
    """CPU time that messages take from the cores of both ends, and the rate of MPI_Reduce_local on doubles."""

    send_s: float  # of each message
    receive_s: float
    send_s_per_byte: float  # of each byte beside that
    receive_s_per_byte: float
    reduce_bytes_per_s: float

    @property
    def copy_bytes_per_s(self) -> float | None:
        """What either side is busy with the bytes, on the mean; None if that is too little to be measured."""
        both = self.send_s_per_byte + self.receive_s_per_byte
        return 2 / both if both > 0 else None


@dataclass(frozen=True)
class Launch:
    """What one start of hocket-transfers measured."""

    places: tuple[Place, ...]  # by rank
    times: Times
    costs: tuple[CoreCosts, ...]  # by pair


def launch(
    command: Sequence[str],
    experiments: Sequence[Experiment],
    rounds: int,
    seconds: float,
    runner: Runner,
    parts: MpiParts,
    timeout_s: float | None,
    costs: Sequence[tuple[int, int]] = (),
) -> Launch:
    """Starts hocket-transfers with the launcher `command`: all experiments in this order, in so many rounds.

    No round starts after `seconds`; there is always one. After them come the `CoreCosts` of each pair in `costs`.
    """
    # Rank 0 may be on another host, which has the working folder, but temporary files of its own.
    here = Path.cwd() if os.access(Path.cwd(), os.W_OK) else Path(tempfile.gettempdir())
    with working_folder("hocket-calibrate-", here) as folder:
        campaign = folder / "campaign.json"
        content = {
            "format": "hocket.transfers/1",
            "rounds": rounds,
            "seconds": seconds,
            "experiments": experiments,
            "costs": costs,
        }
        campaign.write_text(json.dumps(content))
        run = runner.run(
            [*command, str(parts.transfers), str(campaign)], timeout_s=timeout_s, what="the measurement of transfers"
        )
    try:
        result = json.loads(run.stdout)
        places = tuple(Place(str(host), int(first)) for host, first in result["places"])
        return Launch(places, result["times_s"], tuple(CoreCosts(*values) for values in result["costs"]))
    except (ValueError, KeyError, TypeError) as error:
        # With a program it may be one that starts another, as numactl does.
        hint = "hocket starts a program of its own: leave yours out of the command" if has_program(command) else ""
        raise Error(f"hocket-transfers gave no result that can be read: {run.stdout[:200]!r}", hint) from error
