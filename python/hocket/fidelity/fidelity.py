# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""All settings one after the other; what fails in one is told, and the others go on."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hocket.errors import Error
from hocket.fidelity.measure import Bench, FidelityOptions
from hocket.fidelity.points import Point, summary
from hocket.fidelity.settings import Case, placed, placements, quick_cases

if TYPE_CHECKING:
    from hocket import Network
    from hocket.advise.costs import MessageCosts
    from hocket.calibrate.costs import Fit
    from hocket.mpi.discover import Mpi

FORMAT = "hocket.fidelity/1"
QUICK = FidelityOptions(launches=1, trials=1, repetitions=3, algorithms=1, seconds=0.15, trainings=1)


@dataclass(frozen=True)
class Setting:
    number: int
    network: Network
    placement: str
    mpi: Mpi


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
    """Every network with every placement and MPI; quick: every network with every MPI, the placements in turns."""
    found: list[tuple[Network, str, Mpi]] = []
    for i, network in enumerate(networks):
        possible = [name for name in placements(network) if name in chosen] or placements(network)[:1]
        for j, mpi in enumerate(mpis):
            names = [possible[(i + j) % len(possible)]] if quick else possible
            found += [(network, name, mpi) for name in names]
    found.sort(key=lambda s: (networks.index(s[0]), s[1]))  # a testbed is set up once for a network and placement
    return [Setting(number, *one) for number, one in enumerate(found)]


def num_launches(chosen: Sequence[Setting], options: FidelityOptions) -> int:
    """At most."""
    fits = len({(setting.network.name, setting.mpi.label) for setting in chosen})
    return fits * (1 + options.trainings) + len(chosen) * options.algorithms * (options.trials + options.launches)


def run(
    chosen: Sequence[Setting],
    cases: Sequence[Case] | None,
    options: FidelityOptions,
    told: Callable[[str], None],
    note: Callable[[str], None],
) -> Iterator[Fidelity]:
    """The result after each setting. `cases`: None = a sample that differs from setting to setting."""
    from hocket.mpi.build import build_mpi_parts
    from hocket.testbed import Testbed
    from hocket.tune.machine import Machine

    result = Fidelity()
    known: dict[tuple[str, str], MessageCosts] = {}
    parts = {setting.mpi.label: build_mpi_parts(setting.mpi, notify=note) for setting in chosen}
    for network, placement in dict.fromkeys((setting.network, setting.placement) for setting in chosen):
        here = placed(network, placement)
        with Testbed(here) as bed:
            for setting in (s for s in chosen if (s.network, s.placement) == (network, placement)):
                built = parts[setting.mpi.label]
                bench = Bench(here, placement, Machine(setting.mpi, bed, built.workarounds), built, options, told)
                key = (network.name, setting.mpi.label)
                try:
                    if key not in known:
                        fit = bench.fit()
                        known[key] = fit.costs
                        result.fits.append(_describe(setting, fit))
                    some = quick_cases(setting.number) if cases is None else cases
                    result.points += bench.points(some, known[key])
                except Error as error:
                    what = f"{network.name}, {placement}, {setting.mpi.name}: {error}"
                    result.failures.append(what)
                    note(what)
                yield result


def _describe(setting: Setting, fit: Fit) -> dict[str, Any]:
    import dataclasses

    import numpy as np

    return {
        "network": setting.network.name,
        "mpi": setting.mpi.name,
        **dataclasses.asdict(fit.costs),
        "training_error_median": float(np.median(np.abs(fit.errors))),
        "training": [
            {"name": sample.name, "measured_s": sample.measured_s, "error": float(error)}
            for sample, error in zip(fit.samples, fit.errors, strict=True)
        ],
    }
