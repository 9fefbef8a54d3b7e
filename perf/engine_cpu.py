# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The part of a core that the thread of an engine takes while a request is pending and while none is: see engine_cpu.c.

In shared memory and on two emulated hosts, with every MPI.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from requests import compiled

from hocket import Network
from hocket.measure.local import LocalRunner
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.testbed import Testbed
from mpis import MPIS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", nargs="+", default=["thread", "spin", "queue"])
    parser.add_argument("--mpis", nargs="+", help="labels such as mpich-4.0.2 (default: all of this machine)")
    options = parser.parse_args()
    os.environ |= dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    for mpi in (mpi for mpi in MPIS if not options.mpis or mpi.label in options.mpis):
        parts = build_mpi_parts(mpi, report=lambda text: print(text, file=sys.stderr))
        with ExitStack() as stack:
            program = compiled("engine_cpu", mpi, parts, Path(stack.enter_context(tempfile.TemporaryDirectory())))
            bed = stack.enter_context(Testbed(Network.generate("star:2", bandwidth="200 Mbit/s", latency="0")))
            for place, runner in (
                ("shared memory", LocalRunner(mpi)),
                ("two hosts", TestbedRunner(mpi, bed, parts.workarounds)),
            ):
                for engine in options.engines:
                    command = [str(mpi.mpiexec), "-n", "2", str(program), engine]
                    print(mpi.label, place, engine, runner.run(command, timeout_s=60).stdout.strip(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
