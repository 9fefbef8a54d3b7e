# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How much of the demo's speed-up with the true network file remains with a calibrated one, by MPI.

On one emulated cluster: calibrate, tune with either file, then run the program natively and with both plans in turns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from hocket import Network
from hocket.cli.common import print_table
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.testbed import Testbed
from hocket.tune.demo import ITERATIONS
from hocket.tune.machine import Machine
from mpis import MPIS

ROOT = Path(__file__).resolve().parent.parent
DRAWS = 2000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", action="append", choices=[mpi.label for mpi in MPIS], help="default: all")
    parser.add_argument("--network", default=str(ROOT / "networks/two-clusters.toml"), metavar="FILE")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="keep files and plans there, and use those that are there")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = []
    for mpi in MPIS:
        if mpi.label in (arguments.mpi or [mpi.label]):
            with tempfile.TemporaryDirectory() as temporary:
                folder = (arguments.folder or Path(temporary)).resolve() / mpi.label
                folder.mkdir(parents=True, exist_ok=True)
                seconds = measure(mpi, arguments.network, arguments.repetitions, folder)
            results.append({"mpi": mpi.label, **summary(seconds)})
    if arguments.json:
        print(json.dumps(results, indent=1))
        return 0
    rows = [
        (
            str(one["mpi"]),
            *(f"{one[f'{kind}_s']:.2f} s" for kind in ("native", "true", "calibrated")),
            f"{one['kept']:.1%} ({one['kept_low']:.1%} .. {one['kept_high']:.1%})",
        )
        for one in results
    ]
    print_table(("MPI", "native", "true file", "calibrated file", "speed-up kept (95 % interval)"), rows)
    return 0


def measure(mpi: Mpi, network: str, repetitions: int, folder: Path) -> dict[str, list[float]]:
    """Seconds of the program in each repetition."""
    hocket = str(Path(sys.executable).with_name("hocket"))
    program, calibrated = folder / "kmeans", folder / "calibrated.toml"
    subprocess.run([str(mpi.mpicc), "-O2", str(ROOT / "examples/kmeans/kmeans.c"), "-o", str(program)], check=True)
    parts = build_mpi_parts(mpi)
    true = Network.from_file(network)
    launcher = [str(mpi.mpiexec), "-n", str(true.num_ranks)]
    command = [*launcher, str(program), str(ITERATIONS)]
    with Testbed(true) as bed:
        # Tuned as a user of this cluster would: inside, with no more than the file.
        inside = Machine(mpi, bed, parts.workarounds)

        def run(words: Sequence[str]) -> None:
            done = bed.run(words, mpi=mpi, timeout=600, capture=True)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr}")

        if not calibrated.exists():
            run([hocket, "calibrate", "-o", str(calibrated), "--", *launcher])
        plans = {"true": folder / "true/plan.json", "calibrated": folder / "calibrated/plan.json"}
        for file, plan in zip((network, str(calibrated)), plans.values(), strict=True):
            if not plan.exists():
                run([hocket, "tune", "--network", file, "-o", str(plan.parent), "--", *command])
        seconds: dict[str, list[float]] = {"native": [], **{kind: [] for kind in plans}}
        for _ in range(repetitions):
            seconds["native"].append(inside.run(command).wall_s)
            for kind, plan in plans.items():
                seconds[kind].append(inside.run(command, [parts.interpose], {"HOCKET_PLAN": str(plan)}).wall_s)
    return seconds


def summary(seconds: dict[str, list[float]]) -> dict[str, float]:
    """`kept`: the speed-up with the calibrated file over that with the true one, and 95 % of its bootstrap."""
    true, calibrated = np.array(seconds["true"]), np.array(seconds["calibrated"])
    draws = np.random.default_rng(1).integers(len(true), size=(DRAWS, len(true)))
    low, high = np.percentile(np.median(true[draws], axis=1) / np.median(calibrated[draws], axis=1), [2.5, 97.5])
    medians = {f"{kind}_s": median(values) for kind, values in seconds.items()}
    kept = medians["true_s"] / medians["calibrated_s"]
    return {**medians, "kept": kept, "kept_low": float(low), "kept_high": float(high)}


if __name__ == "__main__":
    sys.exit(main())
