# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Small calls in shared memory, rerouted beside native, as a program sees them: launches in turn, with every MPI."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from call_overhead import compile_with, run
from collectives import SMALL

from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.plan import Plan, PlanEntry, write_plan
from mpis import MPIS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2, help="more than cores only with MPIs that are told so")
    parser.add_argument("--bytes", type=int, nargs="+", default=[8], help="multiples of 8, of the message or block")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mpis", nargs="+", help="labels such as mpich-4.0.2 (default: all of this machine)")
    options = parser.parse_args()
    for mpi in MPIS:
        if options.mpis and mpi.label not in options.mpis:
            continue
        parts = build_mpi_parts(mpi, report=lambda text: print(text, file=sys.stderr))
        for size_bytes in options.bytes:
            with tempfile.TemporaryDirectory() as folder:
                found = measure(mpi, parts.interpose, Path(folder), options.ranks, size_bytes, options.rounds)
            for name, times in found.items():
                ratios = sorted(b / a for a, b in times)
                native_ns, rerouted_ns = (statistics.median(column) for column in zip(*times, strict=True))
                print(
                    f"{mpi.label} {name} {size_bytes} B: native {native_ns:.0f} ns, rerouted {rerouted_ns:.0f} ns, "
                    f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})",
                    flush=True,
                )
    return 0


def measure(
    mpi: Mpi, interpose: Path, folder: Path, ranks: int, size_bytes: int, rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """For each collective its times in ns, native and rerouted, of each round."""
    plan = folder / "plan.json"
    members = tuple(range(ranks))
    sizes = {collective: 0 if collective == "barrier" else size_bytes for collective, _ in SMALL}
    entries = tuple(PlanEntry(c, members, sizes[c], sizes[c], algorithm) for c, algorithm in SMALL)
    write_plan(Plan(ranks, "none", entries), plan)
    program = compile_with(mpi, "small_calls", folder)
    found: dict[str, list[tuple[float, float]]] = {}
    for i in range(rounds):
        environment = {"HOCKET_PLAN": str(plan), "HOCKET_SELF_CHECK": "off"}
        order: list[tuple[Sequence[Path], Mapping[str, str]]] = [([], {}), ([interpose], environment)]
        if i % 2 != 0:
            order.reverse()
        texts = [run(mpi, program, libraries, given, ranks, [str(size_bytes)]) for libraries, given in order]
        if i % 2 != 0:
            texts.reverse()
        for native, rerouted in zip(*(text.splitlines() for text in texts), strict=True):
            name, native_ns = native.split()
            found.setdefault(name, []).append((float(native_ns), float(rerouted.split()[1])))
    return found


if __name__ == "__main__":
    sys.exit(main())
