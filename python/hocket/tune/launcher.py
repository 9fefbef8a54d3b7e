# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Starts the programs that measure, in the place of the user's program, and counts the time that they take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import Error
from hocket.measure.compare import SECONDS_PER_ENTRY, Measured, SharedCores, measure_within
from hocket.measure.eager import measure_rendezvous_bytes
from hocket.measure.runner import Runner
from hocket.plan import PlanEntry, write_candidates
from hocket.tune.budget import Budget
from hocket.tune.costs import measure_costs, training_members

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.calibrate.costs import Fit
    from hocket.mpi.build import MpiParts

# Of the collectives that show what messages cost: starts of the program that measures them, if there is time for so
# long ones, or else a single one; and in each the time after which no call of one begins, but for the least.
TRAINING_LAUNCHES = 2
TRAINING_LAUNCH_S = 8.0
TRAINING_S = 0.15
LEAST_TRAININGS = 3
TRAINING_TIMEOUT_S = 120.0
# The part of the budget that they may take.
TRAINING_SHARE = 1 / 3


@dataclass
class Launcher:
    command: Sequence[str]
    plan_path: Path  # where each launch finds its entries
    runner: Runner
    parts: MpiParts
    repetitions: int  # of each collective in a launch
    timeout_s: float | None
    budget: Budget
    shared_cores: list[SharedCores] = field(default_factory=list)  # of each launch, where ranks share cores

    def rendezvous_bytes(self) -> int | None:
        with self._spending():
            return measure_rendezvous_bytes(self.command, self.runner, self.parts, self._training_timeout_s)

    def fit_costs(self, network: Network, ranks: int, known: CostModel) -> Fit:
        """What messages cost between the ranks. Raises Error if that fails or takes too long."""
        launches = TRAINING_LAUNCHES
        within_s = self.budget.for_launch(launches, TRAINING_SHARE)
        if within_s < TRAINING_LAUNCH_S:
            launches = 1
            within_s = self.budget.for_launch(launches, TRAINING_SHARE)
        if within_s <= 0:
            raise Error(self.budget.over)

        def measure(entries: Sequence[PlanEntry]) -> list[Measured | None]:
            return self._launch(
                ranks, network, entries, within_s, self._training_timeout_s, TRAINING_S, LEAST_TRAININGS, True
            )

        return measure_costs(network, training_members(network, ranks), known, measure, launches)

    def compare(
        self, ranks: int, network: Network, entries: Sequence[PlanEntry], within_s: float, least: int
    ) -> list[Measured | None]:
        """Native and new calls of each entry, at least so many, in turns."""
        return self._launch(ranks, network, entries, within_s, self.timeout_s, SECONDS_PER_ENTRY, least, False)

    def _launch(
        self,
        ranks: int,
        network: Network,
        entries: Sequence[PlanEntry],
        within_s: float,
        timeout_s: float | None,
        seconds_per_entry: float,
        least: int,
        only_schedules: bool,
    ) -> list[Measured | None]:
        write_candidates(self.plan_path, ranks, network.name, entries)
        with self._spending():
            found = measure_within(
                self.command, self.plan_path, len(entries), self.repetitions, self.runner, self.parts, timeout_s,
                within_s, seconds_per_entry, least, only_schedules,
            )  # fmt: skip
        self.budget.start_s = found.start_s
        if found.shared_cores is not None:
            self.shared_cores.append(found.shared_cores)
        return found.entries

    @contextmanager
    def _spending(self) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.budget.spent_s += time.monotonic() - started

    @property
    def _training_timeout_s(self) -> float:
        return min(TRAINING_TIMEOUT_S, self.timeout_s or TRAINING_TIMEOUT_S)
