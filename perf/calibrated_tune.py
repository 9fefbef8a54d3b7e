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
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from hocket import Network
from hocket.cli.common import print_table
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.testbed import Testbed
from hocket.tune.demo import ITERATIONS
from mpis import MPIS

ROOT = Path(__file__).resolve().parent.parent
NETWORKS = ("two-clusters", "three-level-tree")
TUNED_ITERATIONS = 2  # the collectives are the same in each
DRAWS = 2000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", action="append", choices=[mpi.label for mpi in MPIS], help="default: all")
    parser.add_argument("--network", action="append", choices=NETWORKS, help="default: all")
    parser.add_argument("--repetitions", type=int, default=7, help="of each of the three runs")
    parser.add_argument("--folder", type=Path, help="keep files, plans and times there, and go on with those there")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        for network in arguments.network or NETWORKS:
            for mpi in MPIS:
                if mpi.label in (arguments.mpi or [mpi.label]):
                    folder = (arguments.folder or Path(temporary)).resolve() / network / mpi.label
                    case = Case(mpi, ROOT / f"networks/{network}.toml", folder)
                    case.calibrate()
                    for kind in KINDS:
                        case.tune(kind)
                    seconds = case.run(arguments.repetitions)
                    results.append({"network": network, "mpi": mpi.label, **summary(seconds)})
                    print(results[-1], file=sys.stderr, flush=True)
    if arguments.json:
        print(json.dumps(results, indent=1))
        return 0
    rows = [
        (
            str(one["network"]),
            str(one["mpi"]),
            *(f"{one[f'{kind}_s']:.2f} s" for kind in ("native", *KINDS)),
            f"{one['kept']:.1%} ({one['kept_low']:.1%} .. {one['kept_high']:.1%})",
        )
        for one in results
    ]
    columns = ("network", "MPI", "native", "true file", "calibrated file", "speed-up kept (95 % interval)")
    print_table(columns, rows)
    return 0


KINDS = ("true", "calibrated")


@dataclass(frozen=True)
class Case:
    """Tuned as a user of this cluster would: inside, with no more than the file. What is there is not made again."""

    mpi: Mpi
    network: Path
    folder: Path

    def calibrate(self) -> None:
        if not self._file("calibrated").exists():
            self._hocket("calibrate", "-o", str(self._file("calibrated")), "--", *self._launcher)

    def tune(self, kind: str) -> None:
        if not self._plan(kind).exists():
            options = ["--network", str(self._file(kind)), "-o", str(self._plan(kind).parent)]
            self._hocket("tune", *options, "--", *self._program(TUNED_ITERATIONS))

    def run(self, repetitions: int) -> dict[str, list[float]]:
        """Seconds of the program, in turns natively and with both plans; as many in all with those in the folder."""
        path = self.folder / "seconds.json"
        seconds: dict[str, list[float]] = {kind: [] for kind in ("native", *KINDS)}
        if path.exists():
            seconds = json.loads(path.read_text())
        command, parts = self._program(ITERATIONS), build_mpi_parts(self.mpi)
        with Testbed(Network.from_file(str(self.network))) as bed:
            inside = TestbedRunner(self.mpi, bed, parts.workarounds)
            while len(seconds["native"]) < repetitions:
                turn = {"native": inside.run(command).wall_s}
                for kind in KINDS:
                    turn[kind] = inside.run(command, [parts.interpose], {"HOCKET_PLAN": str(self._plan(kind))}).wall_s
                seconds = {kind: [*values, turn[kind]] for kind, values in seconds.items()}
                path.write_text(json.dumps(seconds))
        return seconds

    def _file(self, kind: str) -> Path:
        return self.network if kind == "true" else self.folder / "calibrated.toml"

    def _plan(self, kind: str) -> Path:
        return self.folder / kind / "plan.json"

    @property
    def _launcher(self) -> list[str]:
        return [str(self.mpi.mpiexec), "-n", str(Network.from_file(str(self.network)).num_ranks)]

    def _program(self, iterations: int) -> list[str]:
        program = self.folder / "kmeans"
        if not program.exists():
            source = ROOT / "examples/kmeans/kmeans.c"
            subprocess.run([str(self.mpi.mpicc), "-O2", str(source), "-o", str(program)], check=True)
        return [*self._launcher, str(program), str(iterations)]

    def _hocket(self, *words: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [str(Path(sys.executable).with_name("hocket")), *words]
        # MPICH 4.0 does not end on several hosts (mpi/workaround); on a cluster where it is used, it does.
        preload = ":".join(map(str, build_mpi_parts(self.mpi).workarounds))
        with Testbed(Network.from_file(str(self.network))) as bed:
            done = bed.run(command, mpi=self.mpi, env={"LD_PRELOAD": preload} if preload else {}, timeout=600)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")


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
