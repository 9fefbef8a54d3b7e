# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How fast programs with dependencies are simulated, and how independent simulations in one process scale."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

from install import Failure, cmake

HERE = Path(__file__).resolve().parent
PROGRAMS = (
    ("fat-tree:8x8x16", "allreduce", "ring"),
    ("fat-tree:8x8x16", "alltoall", "pairwise"),
    ("fat-tree:8x8x16", "bcast", "scatter_allgather"),
)


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    build = Path("build/perf")
    build.mkdir(parents=True, exist_ok=True)
    print("hocket: compiling the core; takes minutes the first time (log: build/perf/simulation.log)", file=sys.stderr)
    try:
        cmake(build, "simulation", HERE, build, [])
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    for network, collective, algorithm in PROGRAMS:
        subprocess.run([build / "replay", network, collective, algorithm, "1000000"], check=True)
    cores = len(os.sched_getaffinity(0))
    subprocess.run([build / "simulations_at_once", "fat-tree:8x8x16", str(cores), str(4 * cores)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
