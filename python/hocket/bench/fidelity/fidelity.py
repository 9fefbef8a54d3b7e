# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""All settings one after the other; what fails in one is reported, and the others go on."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hocket.bench.fidelity.measure import Bench, FidelityOptions
from hocket.bench.fidelity.points import Point, summary
from hocket.bench.fidelity.settings import Case, placed, placements, quick_cases
from hocket.errors import Error
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.testbed import Testbed

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.calibrate.costs import Fit
    from hocket.mpi.discover import Mpi

FORMAT = "hocket.fidelity/1"
QUICK = FidelityOptions(launches=1, short_launches=7, trials=1, repetitions=2, algorithms=1, seconds=0.06, trainings=3)


@dataclass(frozen=True)
class Setting:
    network: Network
    placement: str
    mpi: Mpi
    numbers: tuple[int, int]  # of the network and of the MPI


@dataclass
class Fidelity:
    """The result, which grows."""

    points: list[Point] = field(default_factory=list)
    fits: list[dict[str, Any]] = field(default_factory=list)  # of each network and MPI
    failures: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        from hocket import __version__

        return {
            "format": FORMAT,
            "hocket": __version__,
            "machine": f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores",
            "summary": summary(self.points),
            "points": [point.to_dict() for point in self.points],
            "costs": self.fits,
            "failures": self.failures,
        }


def settings(networks: Sequence[Network], mpis: Sequence[Mpi], quick: bool, chosen: Sequence[str]) -> list[Setting]:
    """Every network with every placement and MPI; quick: every network with every MPI, the placements in turns.

    Settings of one network and placement come after one another: they share a testbed.
    """
    found = []
    for i, network in enumerate(networks):
        possible = [name for name in placements(network) if name in chosen]
        for k, placement in enumerate(possible):
            for j, mpi in enumerate(mpis):
                if not quick or (i + j) % len(possible) == k:
                    found.append(Setting(network, placement, mpi, (i, j)))
    return found


def num_launches(chosen: Sequence[Setting], options: FidelityOptions) -> int:
    """At most."""
    fits = len({setting.numbers for setting in chosen})
    measuring = max(options.launches, options.short_launches)
    return fits * (1 + options.trainings) + len(chosen) * options.algorithms * (options.trials + measuring)


def measure_all(
    chosen: Sequence[Setting],
    cases: Sequence[Case] | None,
    options: FidelityOptions,
    following: Callable[[str], None],
    message: Callable[[str], None],
) -> Iterator[Fidelity]:
    """The result after each setting. `cases`: None = a sample that differs from setting to setting."""
    result = Fidelity()
    known: dict[tuple[int, int], CostModel] = {}

    def failed(what: str, error: Error) -> None:
        result.failures.append(f"{what}: {error}")
        message(result.failures[-1])

    for (_, placement), group in groupby(chosen, lambda setting: (setting.numbers[0], setting.placement)):
        some = list(group)
        try:
            here = placed(some[0].network, placement)
            with Testbed(here) as bed:
                for setting in some:
                    try:
                        _measure(setting, here, bed, cases, options, known, result, following, message)
                    except Error as error:
                        failed(f"{here.name}, {placement}, {setting.mpi.name}", error)
                    yield result
        except Error as error:
            failed(f"{some[0].network.name}, {placement}", error)
            yield result


def _measure(
    setting: Setting,
    here: Network,
    bed: Testbed,
    cases: Sequence[Case] | None,
    options: FidelityOptions,
    known: dict[tuple[int, int], CostModel],
    result: Fidelity,
    following: Callable[[str], None],
    message: Callable[[str], None],
) -> None:
    parts = build_mpi_parts(setting.mpi, report=message)
    bench = Bench(
        here, setting.placement, TestbedRunner(setting.mpi, bed, parts.workarounds), parts, options, following
    )
    if setting.numbers not in known:
        fit = bench.fit()
        known[setting.numbers] = fit.costs
        result.fits.append(_describe(setting, fit))
    result.points += bench.points(quick_cases(*setting.numbers) if cases is None else cases, known[setting.numbers])


def _describe(setting: Setting, fit: Fit) -> dict[str, Any]:

    import numpy as np

    return {
        "network": setting.network.name,
        "mpi": setting.mpi.name,
        **fit.costs.to_dict(),
        "training_error_median": float(np.median(np.abs(fit.errors))),
        "training": [
            {"name": sample.name, "measured_s": sample.measured_s, "error": float(error)}
            for sample, error in zip(fit.samples, fit.errors, strict=True)
        ],
    }
