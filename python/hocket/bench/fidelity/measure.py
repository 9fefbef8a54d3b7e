# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Predicts and measures the cases of one setting: a network, a placement of the ranks, an MPI."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket import CostModel
from hocket.advise.advise import advise
from hocket.bench.fidelity.points import Point
from hocket.bench.fidelity.settings import Case
from hocket.io.leftovers import working_folder
from hocket.measure.compare import Launch, measure_once
from hocket.measure.eager import measure_rendezvous_bytes
from hocket.plan import write_candidates
from hocket.search.predict import simulate_call
from hocket.tune.costs import measure_costs
from hocket.tune.evidence import ratio_of

if TYPE_CHECKING:
    from hocket import Network
    from hocket.advise.advise import Choice
    from hocket.calibrate.costs import Fit
    from hocket.measure.runner import Runner
    from hocket.mpi.build import MpiParts
    from hocket.plan import PlanEntry


# One launch does not show how much launches differ: where one decides, a schedule must be faster by this factor.
ONE_LAUNCH_MARGIN = 1.2
# Of fewer the interval says nothing: one launch cannot show how the next differs, two hardly can.
ENOUGH_LAUNCHES = 3

# Calls of less take a few milliseconds at most, and differ from launch to launch.
SHORT_BYTES = 256 << 10


@dataclass(frozen=True)
class FidelityOptions:
    launches: int = 3  # that measure, after some that decide what is kept
    short_launches: int = 6  # those of short messages; the more without native
    trials: int = 3  # those that decide
    repetitions: int = 5  # of each kind in a launch; of short calls up to 20 times as many
    algorithms: int = 2  # the best so many schedules of each case
    seconds: float = 10.0  # no measurement of a case starts later in a launch
    trainings: int = 2  # launches of the training collectives
    timeout_s: float = 300.0  # of a launch


@dataclass
class Bench:
    """Ranks where a runner starts them, and the program hocket-compare of one MPI."""

    network: Network  # with the placement
    placement: str
    runner: Runner
    parts: MpiParts
    options: FidelityOptions
    following: Callable[[str], None]  # what comes next; once for each launch

    def __post_init__(self) -> None:
        self.ranks = self.network.num_ranks
        self.emulated = self.runner.network_here(self.network)
        self.command = [str(self.runner.mpi.mpiexec), "-n", str(self.ranks), "true"]

    def fit(self) -> Fit:
        """The costs of messages, from the training collectives."""
        self.following("the eager limit")
        limit = measure_rendezvous_bytes(self.command, self.runner, self.parts, self.options.timeout_s)
        return measure_costs(
            self.emulated,
            range(self.ranks),
            self.runner.costs_here(CostModel.usual().replace(rendezvous_bytes=limit)),
            lambda entries: self.launch(entries, "what messages cost", only_schedules=True),
            self.options.trainings,
        )

    def points(self, cases: Sequence[Case], costs: CostModel) -> list[Point]:
        groups = [case.group(self.ranks) for case in cases]
        choices = advise(groups, self.emulated, self.ranks, costs).choices
        found: list[Point] = []
        for turn in range(self.options.algorithms):
            tried = [
                (case, one) for case, choice in zip(cases, choices, strict=True) if (one := choice.with_candidate(turn))
            ]
            if tried:
                found += self._measure(tried, turn == 0, costs)
        return found

    def _measure(self, tried: Sequence[tuple[Case, Choice]], first: bool, costs: CostModel) -> list[Point]:
        entries = [choice.entry() for _, choice in tried]
        name = f"{self.network.name} {self.placement}, {self.runner.mpi.name}"
        trials = [self.launch(entries, f"{name}: which schedules are faster") for _ in range(self.options.trials)]
        launches = self._launches(tried, f"{name}: measuring")
        points = []
        for (case, choice), deciding, of_case in zip(tried, zip(*trials, strict=True), launches, strict=True):
            measured = [launch for launch, _ in of_case]
            equal = all(same for _, same in (*deciding, *of_case))
            with_native = [launch for launch in measured if launch.native_s]
            ratio = ratio_of(with_native)
            points.append(
                Point(
                    network=self.network.name,
                    mpi=self.runner.mpi.name,
                    placement=self.placement,
                    collective=case.collective,
                    algorithm=choice.best.algorithm,
                    bytes=case.size_bytes,
                    segments=choice.best.segments,
                    predicted_s=simulate_call(
                        choice.best.schedule(0), choice.group.members, choice.group.bytes_max, self.emulated, costs
                    ),
                    measured_s=_median(launch.tuned_s for launch in measured),
                    measured_launches_s=tuple(statistics.median(launch.tuned_s) for launch in measured),
                    native_s=_median(launch.native_s for launch in with_native),
                    beside_native_s=_median(launch.tuned_s for launch in with_native),
                    wire_limit_s=choice.lower_bound_s,
                    ratio_interval=(ratio.low, ratio.high) if len(with_native) >= ENOUGH_LAUNCHES else None,
                    first=first,
                    kept=equal and _is_faster([launch for launch, _ in deciding]),
                    equal=equal,
                )
            )
        return points

    def _launches(self, tried: Sequence[tuple[Case, Choice]], what: str) -> list[list[tuple[Launch, bool]]]:
        """Those that measure, of each case."""
        found: list[list[tuple[Launch, bool]]] = [[] for _ in tried]
        for turn in range(max(self.options.launches, self.options.short_launches)):
            every = turn < self.options.launches
            some = [i for i, (case, _) in enumerate(tried) if every or case.size_bytes < SHORT_BYTES]
            if some:
                entries = [tried[i][1].entry() for i in some]
                for i, one in zip(some, self.launch(entries, what, only_schedules=not every), strict=True):
                    found[i].append(one)
        return found

    def launch(
        self, entries: Sequence[PlanEntry], what: str, only_schedules: bool = False
    ) -> list[tuple[Launch, bool]]:
        self.following(what)
        with working_folder("hocket-fidelity-", Path(tempfile.gettempdir())) as folder:
            path = folder / "plan.json"
            write_candidates(path, self.ranks, self.network.name, entries)
            options = self.options
            return measure_once(
                self.command, path, len(entries), options.repetitions, self.runner, self.parts, options.timeout_s,
                options.seconds, only_schedules,
            )  # fmt: skip


def _is_faster(launches: Sequence[Launch]) -> bool:
    return ratio_of(launches).low > (ONE_LAUNCH_MARGIN if len(launches) == 1 else 1)


def _median(launches: Iterable[Sequence[float]]) -> float:
    return statistics.median(time for times in launches for time in times)
