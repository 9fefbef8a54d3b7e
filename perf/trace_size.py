# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Bytes of a trace for each call: of all files of the ranks, definitions included, over all calls of all ranks.

"bytes/record" counts polls in a row that found nothing, which are one record, once.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from mpi_programs import PROGRAMS, prepare

from hocket.mpi.build import build_mpi_parts
from hocket.mpi.launch import run_command, with_preload
from hocket.traces.trace import Trace
from mpis import MPIS

HERE = Path(__file__).resolve().parent
RANKS = 4
STEPS = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="openmpi", help="the first of this family")
    mpi = next(one for one in MPIS if one.family == parser.parse_args().mpi)
    parts = build_mpi_parts(mpi)
    print(f"{mpi.name}, {RANKS} ranks\nprogram   calls  records  bytes/call  bytes/record")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        halo = folder / "halo"
        subprocess.run([str(mpi.mpicc), "-O2", str(HERE / "halo.c"), "-o", str(halo)], check=True)
        commands = {kind: [str(halo), kind, str(STEPS)] for kind in ("halo", "sweep", "vectors")}
        for one in PROGRAMS:
            commands[one.name] = [*prepare(one, mpi, folder / "programs"), *one.arguments(0.5)]
        for kind, command in commands.items():
            trace = folder / f"trace-{kind}"
            trace.mkdir()
            whole, environment = with_preload(
                [
                    str(mpi.mpiexec),
                    *(["--oversubscribe"] if mpi.family == "openmpi" else []),
                    "-n",
                    str(RANKS),
                    *command,
                ],
                mpi,
                [parts.record, *parts.workarounds],
                {"HOCKET_TRACE": str(trace), "HOCKET_TRACE_LIMIT": str(1 << 32)},
            )
            done = run_command(whole, env=environment, timeout=120, capture=True)
            if done.returncode != 0:
                print(f"{kind:9} failed: {done.stderr[-200:]}")
                continue
            found = Trace.open(trace)
            size = sum(path.stat().st_size for path in trace.glob("rank-*.bin"))
            calls, records = found.num_calls(), sum(len(found.calls(rank)) for rank in range(RANKS))
            print(f"{kind:9} {calls:7} {records:7} {size / calls:8.1f} {size / records:8.1f}", flush=True)


if __name__ == "__main__":
    main()
