# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Times of transfers between ranks, alone and together, measured with the program hocket-transfers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hocket.errors import Error

if TYPE_CHECKING:
    from hocket.mpi.build import MpiParts
    from hocket.tune.machine import Machine


class Transfer(NamedTuple):
    """`messages` of `size_bytes` each from one rank to another. It ends when the source has an empty answer."""

    source: int
    target: int
    size_bytes: int
    messages: int = 1


Experiment = tuple[Transfer, ...]  # transfers that start together
Times = list[list[list[float]]]  # seconds, by round, experiment and transfer
Measure = Callable[[Sequence[Experiment]], Times]


@dataclass(frozen=True)
class Place:
    """Where a rank runs. Ranks of one host have the same `first`, the least rank there; names may occur twice."""

    host: str
    first: int


@dataclass(frozen=True)
class Launch:
    """What one start of hocket-transfers measured."""

    places: tuple[Place, ...]  # by rank
    times: Times


def launch(
    command: Sequence[str],
    experiments: Sequence[Experiment],
    rounds: int,
    seconds: float,
    machine: Machine,
    parts: MpiParts,
    timeout_s: float | None,
) -> Launch:
    """Starts hocket-transfers with the launcher `command`: all experiments in this order, in so many rounds.

    No round starts after `seconds`; there is always one.
    """
    with tempfile.TemporaryDirectory(prefix="hocket-calibrate-") as folder:
        campaign = Path(folder) / "campaign.json"
        content = {"format": "hocket.transfers/1", "rounds": rounds, "seconds": seconds, "experiments": experiments}
        campaign.write_text(json.dumps(content))
        run = machine.run(
            [*command, str(parts.transfers), str(campaign)], timeout_s=timeout_s, what="the measurement of transfers"
        )
    try:
        result = json.loads(run.stdout)
        return Launch(tuple(Place(str(host), int(first)) for host, first in result["places"]), result["times_s"])
    except (ValueError, KeyError, TypeError) as error:
        raise Error(f"hocket-transfers gave no result that can be read: {run.stdout[:200]!r}") from error
