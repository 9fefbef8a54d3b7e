# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How fast a long trace is replayed, and in how much memory: makes one of so many calls, then simulates it.

Prints for each way of sharing links the calls replayed a second and the largest resident set of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

from install import cmake

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--sharing", nargs="+", default=["none", "maxmin"])
    parser.add_argument("--folder", help="for the trace, some 5 bytes a call")
    parser.add_argument("--show", action="store_true", help="run `hocket trace show` too")
    arguments = parser.parse_args()
    build = Path("build/perf")
    build.mkdir(parents=True, exist_ok=True)
    cmake(build, "long_replay", HERE, build, [], "long_trace")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        made = subprocess.run(
            [build / "long_trace", name, str(arguments.ranks), str(arguments.calls)],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        print(f"trace: {arguments.ranks} ranks, {made}", end="", flush=True)
        calls = int(made.split()[0])
        meta = {
            "format": "hocket.trace/3", "ranks": arguments.ranks, "mpi": "none", "thread_level": "single",
            "functions_wrapped": 0, "cost_per_call_ns": 0, "program": [], "command": [], "created_by": "perf",
        }  # fmt: skip
        (Path(name) / "meta.json").write_text(json.dumps(meta))
        network = ["--network", f"star:{arguments.ranks}", "--bandwidth", "10 GB/s", "--latency", "1 us"]
        for sharing in arguments.sharing:
            took_s, memory = hocket("simulate", name, *network, "--sharing", sharing, "--json")
            print(f"simulate --sharing {sharing}: {calls / took_s:,.0f} calls/s, {took_s:.1f} s, {memory:,} KiB")
        if arguments.show:
            took_s, memory = hocket("trace", "show", name, "--json")
            print(f"trace show: {calls / took_s:,.0f} calls/s, {took_s:.1f} s, {memory:,} KiB")
    return 0


def hocket(*arguments: str) -> tuple[float, int]:
    """Seconds of CPU time, and the largest resident set in KiB, of a whole process."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "hocket", *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"hocket {' '.join(arguments)} failed")
    print(f"  ({time.perf_counter() - begin:.1f} s on the clock)", file=sys.stderr)
    return used.ru_utime + used.ru_stime, used.ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
