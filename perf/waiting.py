# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Native calls where ranks share cores: what the testbed's yields give each MPI. See waiting.c,
docs/notebook/shared-cores.md.

`ranks`: no library is preloaded into the ranks, as without python/preload/polls.cpp; they stay in one session.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from hocket import Network
from hocket.cli.common import print_table
from hocket.cli.options import seconds
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import with_preload
from hocket.testbed import Testbed
from mpis import MPIS

HERE = Path(__file__).resolve().parent
NETWORKS = {
    "8 hosts, 1 Gbit/s": lambda: Network.generate("star:8", bandwidth="1 Gbit/s"),
    "4 hosts of 2, 200 Mbit/s": lambda: Network.from_file(str(HERE.parent / "networks/four-by-two.toml")),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpis", nargs="+", help="labels such as mpich-4.0.2 (default: all of this machine)")
    parser.add_argument("--seconds", type=seconds, default=0.3, metavar="TIME", help="for each kind of call")
    options = parser.parse_args()
    rows = []
    for mpi in (mpi for mpi in MPIS if not options.mpis or mpi.label in options.mpis):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "waiting")
            subprocess.run([str(mpi.mpicc), "-O2", str(HERE / "waiting.c"), "-o", str(program)], check=True)
            for place, network in NETWORKS.items():
                with Testbed(network()) as bed:
                    with_it = times_s(mpi, bed, program, options.seconds, yields=True)
                    without = times_s(mpi, bed, program, options.seconds, yields=False)
                rows += [(mpi.name, place, what, ms(without[what]), ms(with_it[what])) for what in with_it]
    print_table(("MPI", "network", "call", "ranks without it, ms", "native on the testbed, ms"), rows)
    return 0


def times_s(mpi: Mpi, bed: Testbed, program: Path, measured_s: float, yields: bool) -> dict[str, float]:
    libraries = [*build_mpi_parts(mpi).workarounds, *([bed.preloaded] if yields else [])]
    command = [str(mpi.mpiexec), "-n", "8", str(program), str(measured_s)]
    changed, needed = with_preload(command, mpi, libraries, {"LD_PRELOAD": ""})
    done = bed.run(changed, env=needed, mpi=mpi, timeout=300)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    lines = (line.split() for line in done.stdout.splitlines())
    return {f"{call} {size} B": float(time) for call, size, time in lines}


def ms(time_s: float) -> str:
    return f"{time_s * 1e3:.3f}"


if __name__ == "__main__":
    sys.exit(main())
