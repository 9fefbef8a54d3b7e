#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-bench beside IMB and the OSU Micro-Benchmarks: what they share, interleaved launch by launch.

CHECKOUTS=FOLDER perf/bench_peers.py [--mpi NAME] [--launches N]

FOLDER holds clones of github.com/intel/mpi-benchmarks and of the OSU Micro-Benchmarks (github.com/forresti/
osu-micro-benchmarks, version 5.3). They are built in a temporary folder; nothing is written to FOLDER. IMB and OSU
print means over many calls one after the other, so a sample of hocket-bench is as many calls here, and its mean over a
launch is compared. Intervals are between the least and the largest launch.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hocket.bench.mpi.results import Results, read_results
from hocket.mpi.build import build_bench
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import launch_environment
from mpis import MPIS

RUNS = 200  # calls of a sample, and of IMB and OSU in a launch
RANKS = 2


@dataclass(frozen=True)
class Shared:
    """What several programs measure."""

    item: str
    bytes: int
    imb: str | None  # its name there
    osu: str | None  # its program
    options: str = ""
    per_run: float = 1.0  # a run of ours / what the others count as one


SHARED = (
    Shared("p2p.pingpong.send", 8, "PingPong", "pt2pt/osu_latency", per_run=2),
    Shared("p2p.pingpong.send", 65536, "PingPong", "pt2pt/osu_latency", per_run=2),
    Shared("p2p.pingping", 1024, "PingPing", None),
    Shared("p2p.sendrecv", 1024, "Sendrecv", None, 'partners = "shift"'),
    Shared("coll.barrier", 0, "Barrier", "collective/osu_barrier"),
    Shared("coll.bcast", 65536, "Bcast", "collective/osu_bcast"),
    Shared("coll.allreduce", 1024, "Allreduce", "collective/osu_allreduce"),
    Shared("coll.allreduce", 65536, "Allreduce", "collective/osu_allreduce"),
    Shared("coll.reduce", 65536, "Reduce", "collective/osu_reduce"),
    Shared("coll.allgather", 1024, "Allgather", "collective/osu_allgather"),
    Shared("coll.alltoall", 1024, "Alltoall", "collective/osu_alltoall"),
    Shared("coll.alltoall", 65536, "Alltoall", "collective/osu_alltoall"),
)
SIZES = sorted({shared.bytes for shared in SHARED})


def suite_text() -> str:
    head = f'format = "hocket.suite/1"\nname = "peers"\nlaunches = 1000\nrounds = 3\nruns = {RUNS}\nsamples = 5\n'
    items = []
    for shared in SHARED:
        size = f'bytes = "{shared.bytes} B"\n' if shared.item != "coll.barrier" else ""
        items.append(f'[[items]]\nuse = "{shared.item}"\n{size}{shared.options}\n')
    # No further rounds: an interval is never wider than this target.
    return head + "target = 1e9\nbudget_s = 1e6\n" + "".join(items)


def built(mpi: Mpi, checkouts: Path, folder: Path) -> tuple[Path, Path]:
    """IMB-MPI1, and the folder of OSU's programs."""
    shutil.copytree(checkouts / "mpi-benchmarks/src_c", folder / "imb")
    words = ["make", "-C", folder / "imb", "TARGET=MPI1", f"CC={mpi.mpicc}", "CFLAGS=-O2 -w"]
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
    source = checkouts / "osu-micro-benchmarks/mpi"
    for program in sorted({shared.osu for shared in SHARED if shared.osu}):
        target = folder / "osu" / program
        target.parent.mkdir(parents=True, exist_ok=True)
        common = next((source / program).parent.glob("osu_coll.c" if "collective" in program else "osu_pt2pt.c"))
        words = [mpi.mpicc, "-O2", "-w", "-I", common.parent, "-DFIELD_WIDTH=20", "-DFLOAT_PRECISION=3",
                 source / f"{program}.c", common, "-o", target, "-lm"]  # fmt: skip
        subprocess.run([str(word) for word in words], check=True)
    return folder / "imb/IMB-MPI1", folder / "osu"


def imb_times(run: Callable[..., str], program: Path, folder: Path) -> dict[tuple[str, int], float]:
    """The times of the slowest rank, us."""
    (folder / "sizes").write_text("".join(f"{size}\n" for size in SIZES))
    names = sorted({shared.imb for shared in SHARED if shared.imb})
    text = run(program, "-npmin", RANKS, "-iter", RUNS, "-iter_policy", "off", "-msglen", folder / "sizes", *names)
    times, name = {}, ""
    for line in text.splitlines():
        if found := re.match(r"# Benchmarking (\w+)", line):
            name = found[1]
        words = line.split()
        if name == "Barrier" and re.fullmatch(r"\s*\d+(\s+\d+\.\d+){3}\s*", line):
            times[name, 0] = float(words[2])
        elif re.match(r"\s*\d+\s+\d+\s+\d+\.\d+", line):
            # bytes, repetitions, and the time; or its least, largest and mean of all ranks
            times[name, int(words[0])] = float(words[2] if name in ("PingPong", "PingPing") else words[3])
    return times


def osu_times(run: Callable[..., str], folder: Path) -> dict[tuple[str, int], float]:
    """The times of the slowest rank, us; of osu_latency the time that it prints."""
    times = {}
    for program in sorted({shared.osu for shared in SHARED if shared.osu}):
        options = ["-i", RUNS, "-x", 20]
        if "collective" in program:
            options += ["-f"] if program.endswith("barrier") else ["-f", "-m", max(SIZES)]
        for line in run(folder / program, *options).splitlines():
            words = line.split()
            if not words or not re.fullmatch(r"[\d.]+", words[0]):
                continue
            if program.endswith("barrier"):
                times[program, 0] = float(words[2])
            else:
                times[program, int(words[0])] = float(words[3] if "collective" in program else words[1])
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="", help="with this in its name")
    parser.add_argument("--launches", type=int, default=6)
    arguments = parser.parse_args()
    checkouts = os.environ.get("CHECKOUTS")
    if not checkouts or not (Path(checkouts) / "mpi-benchmarks").is_dir():
        sys.exit("CHECKOUTS is to name a folder with clones of mpi-benchmarks and osu-micro-benchmarks")
    mpi = next((one for one in MPIS if arguments.mpi in one.label), None)
    if mpi is None:
        sys.exit(f"no MPI has {arguments.mpi} in its name; found: {', '.join(one.label for one in MPIS)}")
    bench = build_bench(mpi)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        imb, osu = built(mpi, Path(checkouts), folder)
        (folder / "suite.toml").write_text(suite_text())

        def run(program: Path, *options: object) -> str:
            words = [str(mpi.mpiexec), "-n", str(RANKS), str(program), *map(str, options)]
            environment = {**os.environ, **launch_environment(words, mpi)}
            done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 75):
                sys.exit(f"{words}: {done.stderr}")
            return done.stdout

        theirs: dict[str, dict[tuple[str, int], list[float]]] = {"imb": defaultdict(list), "osu": defaultdict(list)}
        for _ in range(arguments.launches):
            run(bench, "--quiet", "-o", folder / "results.jsonl", folder / "suite.toml")
            for key, times in (("imb", imb_times(run, imb, folder)), ("osu", osu_times(run, osu))):
                for place, value in times.items():
                    theirs[key][place].append(value)
        results = read_results(folder / "results.jsonl")
        print_table(mpi, results, theirs)


def print_table(mpi: Mpi, results: Results, theirs: dict[str, dict[tuple[str, int], list[float]]]) -> None:
    print(f"{mpi.label}, {RANKS} ranks, us: median of launches (least to largest)\n")
    print("| item | bytes | hocket-bench | IMB | OSU | agree |\n|---|---|---|---|---|---|")
    for point, shared in zip(results.points, SHARED, strict=True):
        launches = [
            1e6 * statistics.fmean(time for chunk in chunks for time in chunk.run_s) / shared.per_run
            for chunks in results.launches(point)
        ]
        cells = [text_of(launches)]
        agree = []
        for key, name in (("imb", shared.imb), ("osu", shared.osu)):
            values = theirs[key].get((name, shared.bytes), [])
            cells.append(text_of(values) if values else "")
            if values:
                agree.append(f"{key.upper()} {'yes' if overlap(launches, values) else 'no'}")
        print(f"| `{shared.item}` | {shared.bytes} | {' | '.join(cells)} | {', '.join(agree)} |")


def text_of(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def overlap(one: list[float], other: list[float]) -> bool:
    return min(one) <= max(other) and min(other) <= max(one)


if __name__ == "__main__":
    main()
