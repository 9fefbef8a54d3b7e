# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""All cases with all MPIs; what fails in one is reported, and the others go on."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hocket.bench.overlap.measure import Case, OverlapOptions, measure_case
from hocket.bench.overlap.modes import MODES
from hocket.bench.overlap.rows import rows
from hocket.errors import Error
from hocket.measure.local import LocalRunner
from hocket.measure.runner import Runner
from hocket.mpi.build import MpiParts, build_mpi_parts, build_probe

if TYPE_CHECKING:
    from hocket import Network
    from hocket.mpi.discover import Mpi

FORMAT = "hocket.overlap/1"


def num_launches(cases: Sequence[Case], mpis: Sequence[Mpi], options: OverlapOptions) -> int:
    return len(cases) * len(mpis) * options.launches


def measure_all(
    cases: Sequence[Case],
    mpis: Sequence[Mpi],
    network: Network | None,
    options: OverlapOptions,
    following: Callable[[str], None],
    message: Callable[[str], None],
) -> dict[str, Any]:
    """The result. `network`: to emulate; None = this machine as it is."""
    from hocket import __version__

    found: list[dict[str, Any]] = []
    failures: list[str] = []
    notes: list[str] = []
    threads: set[int] = set()
    with _place(network) as runner_of:
        for mpi in mpis:
            parts = build_mpi_parts(mpi, report=message)
            build_probe(mpi, "hocket-overlap", report=message)
            runner = runner_of(mpi, parts)
            notes = list(runner.notes)  # such as that latencies are not emulated: results are of another network then
            for case in cases:
                try:
                    launches = measure_case(case, options, runner, following)
                except Error as error:
                    failures.append(f"{mpi.name}, {case}: {error}")
                    message(failures[-1])
                    continue
                if not launches[0]["thread_multiple"]:
                    message(f"{mpi.name} has no MPI_THREAD_MULTIPLE: modes with a thread are left out")
                threads.add(launches[0]["compute_threads"])
                name = None if network is None else network.name
                found += [row.to_dict() for row in rows(case, mpi.name, name, options.ranks, launches)]
    return {
        "format": FORMAT,
        "hocket": __version__,
        "machine": f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores",
        "compute_threads": max(threads, default=1),
        "cables": [] if network is None else _cables(network),
        "options": asdict(options),
        "modes": {name: MODES[name] for name in dict.fromkeys(row["mode"] for row in found)},
        "rows": found,
        "notes": notes,
        "failures": failures,
    }


@contextmanager
def _place(network: Network | None) -> Iterator[Callable[[Mpi, MpiParts], Runner]]:
    if network is None:
        yield lambda mpi, parts: LocalRunner(mpi)
        return
    from hocket.measure.testbed import TestbedRunner
    from hocket.testbed import Testbed

    with Testbed(network) as bed:
        yield lambda mpi, parts: TestbedRunner(mpi, bed, parts.workarounds)


def _cables(network: Network) -> list[str]:
    """Their bandwidths, each once."""
    from hocket import print_bandwidth

    rates = sorted({link.bandwidth_bytes_per_s for link in network.links})
    return [print_bandwidth(rate) if math.isfinite(rate) else "unlimited" for rate in rates]
