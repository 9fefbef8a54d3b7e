# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""All cases with all MPIs; what fails in one is told, and the others go on."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hocket.bench.overlap import Case, OverlapOptions, measure_case
from hocket.bench.overlap_modes import MODES
from hocket.bench.overlap_rows import rows
from hocket.errors import Error
from hocket.mpi.build import build_mpi_parts
from hocket.tune.machine import Machine

if TYPE_CHECKING:
    from hocket import Network
    from hocket.mpi.discover import Mpi

FORMAT = "hocket.overlap/1"


def num_launches(cases: Sequence[Case], mpis: Sequence[Mpi], options: OverlapOptions) -> int:
    return len(cases) * len(mpis) * options.launches


def run(
    cases: Sequence[Case],
    mpis: Sequence[Mpi],
    network: Network | None,
    options: OverlapOptions,
    told: Callable[[str], None],
    note: Callable[[str], None],
) -> dict[str, Any]:
    """The result. `network`: to emulate; None = this machine as it is."""
    from hocket import __version__

    found: list[dict[str, Any]] = []
    failures: list[str] = []
    notes: list[str] = []
    threads: set[int] = set()
    with ExitStack() as stack:
        bed = None
        if network is not None:
            from hocket.testbed import Testbed

            bed = stack.enter_context(Testbed(network))
            notes += bed.notes  # such as that latencies are not emulated: results are of another network then
        for mpi in mpis:
            parts = build_mpi_parts(mpi, notify=note)
            machine = Machine(mpi, bed, parts.workarounds if bed is not None else ())
            for case in cases:
                try:
                    launches = measure_case(case, options, machine, parts, told)
                except Error as error:
                    failures.append(f"{mpi.name}, {case}: {error}")
                    note(failures[-1])
                    continue
                if not launches[0]["thread_multiple"]:
                    note(f"{mpi.name} has no MPI_THREAD_MULTIPLE: modes with a thread are left out")
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


def _cables(network: Network) -> list[str]:
    """Their bandwidths, each once."""
    from hocket import print_bandwidth

    rates = sorted({link.bandwidth_bytes_per_s for link in network.links})
    return [print_bandwidth(rate) if math.isfinite(rate) else "unlimited" for rate in rates]
