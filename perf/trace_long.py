# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A long recording: a rank that makes many calls, then its trace is read block by block.

Prints the time of a call with and without the recorder, the size of the file, and the memory of program and reader.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import with_preload
from mpis import MPIS

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000_000)
    parser.add_argument("--folder", help="for the trace, some 5 bytes a call", default=None)
    arguments = parser.parse_args()
    mpi = MPIS[0]
    parts = build_mpi_parts(mpi)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        program = folder / "many"
        subprocess.run(
            [str(mpi.mpicc), "-O2", str(HERE.parent / "tests/mpi/record/many.c"), "-o", str(program)], check=True
        )
        environment = {"HOCKET_TRACE": name, "HOCKET_TRACE_LIMIT": str(1 << 40)}
        native_s, _ = timed(mpi, program, arguments.calls // 10, [], {})
        recorded_s, peak_kib = timed(mpi, program, arguments.calls, [parts.record], environment)
        size = (folder / "rank-000000.bin").stat().st_size
        print(
            f"{mpi.name}: {arguments.calls} calls, {10e9 * native_s / arguments.calls:.0f} ns each, recorded "
            f"{1e9 * recorded_s / arguments.calls:.0f} ns; {size / arguments.calls:.2f} bytes a call; "
            f"the largest resident set of launcher and rank {peak_kib} KiB",
            flush=True,
        )
        reader = build_reader(folder)
        read = subprocess.run([reader, folder / "rank-000000.bin"], capture_output=True, text=True, check=True).stdout
        print("read:", read, end="")
        found = re.match(r"(\d+) calls, end 0", read)
        # MPI_Init, MPI_Finalize, and a broadcast for each thousand.
        return 0 if found and int(found[1]) == arguments.calls + arguments.calls // 1000 + 2 else 1


def timed(
    mpi: Mpi, program: Path, calls: int, libraries: Sequence[Path], environment: Mapping[str, str]
) -> tuple[float, int]:
    """Seconds, and the largest resident set of any process so far, in KiB."""
    command, needed = with_preload([str(mpi.mpiexec), "-n", "1", str(program), str(calls)], mpi, libraries, environment)
    begin_s = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **needed})
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{program} failed")
    return time.perf_counter() - begin_s, used.ru_maxrss


def build_reader(folder: Path) -> Path:
    """With the core that `make build` compiled."""
    root, reader = HERE.parent, folder / "trace_stream"
    flags = ["-std=c++20", "-O2", "-fopenmp", f"-I{root / 'src'}"]
    subprocess.run(
        ["c++", *flags, HERE / "trace_stream.cpp", root / "build/libhocket_core.a", "-o", reader], check=True
    )
    return reader


if __name__ == "__main__":
    sys.exit(main())
