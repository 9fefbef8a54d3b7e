#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-bench beside IMB and the OSU Micro-Benchmarks: what they share, interleaved launch by launch.

CHECKOUTS=FOLDER perf/bench_peers.py [--mpi NAME] [--launches N]

FOLDER holds clones of github.com/intel/mpi-benchmarks and of the OSU Micro-Benchmarks (github.com/forresti/
osu-micro-benchmarks, version 5.3). They are built in a temporary folder; nothing is written to FOLDER.

IMB and OSU print the mean of RUNS calls. So one observation is such a mean here, of hocket-bench as well. On a machine
that others use, a mean over a longer time takes in more of what disturbs, so only means over as many calls compare.
What a launch says is the median of its observations; OSU has one in a launch. The ratio is of launches in turns.

Collectives come in two ways. IMB and OSU leave a barrier off the clock after each call, and so does hocket-bench where
a sample is one call ("one by one"), as of 10 us and more. Calls directly one after another ("in a row") overlap: a
root may be many calls ahead. So IMB measures them with `-sync 0`; OSU cannot.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket.bench.mpi.results import Chunk, Results, read_results
from hocket.bench.mpi.statistics import interval
from hocket.mpi.build import build_bench
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import launch_environment
from mpis import MPIS

RUNS = 200  # calls of an observation
OBSERVATIONS = 6  # of a launch
RANKS = 2
WITHIN = 0.05  # programs that differ by no more agree


@dataclass(frozen=True)
class Shared:
    """What several programs measure."""

    item: str
    bytes: int
    imb: str | None  # its name there
    osu: str | None  # its program
    options: str = ""
    per_run: float = 1.0  # a run of ours / what the others count as one
    alone: bool = False  # each call begins together and is a sample; else calls follow each other

    @property
    def way(self) -> str:
        return "one by one" if self.alone else "in a row"


SHARED = (
    Shared("p2p.pingpong.send", 8, "PingPong", "pt2pt/osu_latency", per_run=2),
    Shared("p2p.pingpong.send", 65536, "PingPong", "pt2pt/osu_latency", per_run=2),
    Shared("p2p.pingping", 1024, "PingPing", None),
    Shared("p2p.sendrecv", 1024, "Sendrecv", None, 'partners = "shift"'),
    Shared("coll.barrier", 0, "Barrier", None),
    Shared("coll.allreduce", 1024, "Allreduce", None),
    Shared("coll.allgather", 1024, "Allgather", None),
    Shared("coll.alltoall", 1024, "Alltoall", None),
    Shared("coll.alltoall", 65536, "Alltoall", None),
    Shared("coll.bcast", 262144, "Bcast", "collective/osu_bcast", alone=True),
    Shared("coll.allreduce", 262144, "Allreduce", "collective/osu_allreduce", alone=True),
    Shared("coll.reduce", 262144, "Reduce", "collective/osu_reduce", alone=True),
    Shared("coll.allgather", 262144, "Allgather", "collective/osu_allgather", alone=True),
    Shared("coll.alltoall", 262144, "Alltoall", "collective/osu_alltoall", alone=True),
)
SIZES = sorted({shared.bytes for shared in SHARED})


def suite_text(alone: bool) -> str:
    """A launch has OBSERVATIONS of each item: chunks of RUNS samples of one call, or samples of RUNS calls."""
    head = f'format = "hocket.suite/1"\nname = "peers"\nlaunches = 1000\nrounds = {OBSERVATIONS if alone else 2}\n'
    head += f"samples = {RUNS if alone else OBSERVATIONS // 2}\nruns = {1 if alone else RUNS}\n"
    items = []
    for shared in SHARED:
        if shared.alone != alone:
            continue
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


Times = dict[tuple[str, int], list[float]]  # observations by name and bytes, us


def imb_times(run: Callable[..., str], program: Path, folder: Path, alone: bool) -> Times:
    """The times of the slowest rank."""
    (folder / "sizes").write_text("".join(f"{size}\n" * OBSERVATIONS for size in SIZES))
    names = sorted({shared.imb for shared in SHARED if shared.imb and shared.alone == alone})
    names = [again for name in names for again in [name] * (OBSERVATIONS if name == "Barrier" else 1)]
    options = ["-npmin", RANKS, "-iter", RUNS, "-iter_policy", "off", "-sync", int(alone), "-msglen", folder / "sizes"]
    times: Times = defaultdict(list)
    name = ""
    for line in run(program, *options, *names).splitlines():
        if found := re.match(r"# Benchmarking (\w+)", line):
            name = found[1]
        words = line.split()
        if name == "Barrier" and re.fullmatch(r"\s*\d+(\s+\d+\.\d+){3}\s*", line):
            times[name, 0].append(float(words[2]))
        elif re.match(r"\s*\d+\s+\d+\s+\d+\.\d+", line):
            # bytes, repetitions, and the time; or its least, largest and mean of all ranks
            times[name, int(words[0])].append(float(words[2] if name in ("PingPong", "PingPing") else words[3]))
    return times


def osu_times(run: Callable[..., str], folder: Path, alone: bool) -> Times:
    """The times of the slowest rank; of osu_latency the time that it prints."""
    times: Times = defaultdict(list)
    for program in sorted({shared.osu for shared in SHARED if shared.osu and shared.alone == alone}):
        options = ["-i", RUNS, "-x", 20]
        if "collective" in program:
            options += ["-f", "-m", max(SIZES)]
        for line in run(folder / program, *options).splitlines():
            words = line.split()
            if words and re.fullmatch(r"[\d.]+", words[0]):
                times[program, int(words[0])].append(float(words[3] if "collective" in program else words[1]))
    return times


def our_times(shared: Shared, launch: Sequence[Chunk]) -> list[float]:
    """Observations of one launch."""
    if shared.alone:
        means = [statistics.fmean(chunk.run_s) for chunk in launch]
    else:
        means = [time for chunk in launch for time in chunk.run_s]
    return [1e6 * mean / shared.per_run for mean in means]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="", help="with this in its name")
    parser.add_argument("--launches", type=int, default=8, help="of each program; 6 and more give an interval")
    parser.add_argument("--launcher-options", default="", metavar="WORDS", help="such as '-bind-to core'")
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

        def run(program: Path, *options: object) -> str:
            launcher = [str(mpi.mpiexec), *shlex.split(arguments.launcher_options), "-n", str(RANKS)]
            words = [*launcher, str(program), *map(str, options)]
            environment = {**os.environ, **launch_environment(words, mpi)}
            done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 75):
                sys.exit(f"{words}: {done.stderr}")
            return done.stdout

        print(f"{mpi.label}, {RANKS} ranks, {arguments.launches} launches; load {os.getloadavg()[0]:.0f}\n")
        print("us: median of launches (of the ratio: its 95 % interval)\n")
        print("| item | bytes | calls | hocket-bench | IMB | OSU | ratio to IMB | ratio to OSU | agree |")
        print("|---|---|---|---|---|---|---|---|---|")
        for alone in (False, True):
            print_rows(*measured(run, (bench, imb, osu), folder, alone, arguments.launches), alone)


def measured(
    run: Callable[..., str], programs: tuple[Path, Path, Path], folder: Path, alone: bool, launches: int
) -> tuple[Results, list[Times], list[Times]]:
    """What hocket-bench, IMB and OSU found in each of the launches, which take turns."""
    bench, imb, osu = programs
    suite, path = folder / f"suite-{alone}.toml", folder / f"results-{alone}.jsonl"
    suite.write_text(suite_text(alone))
    of_imb, of_osu = [], []
    for _ in range(launches):
        run(bench, "--quiet", "-o", path, suite)
        of_imb.append(imb_times(run, imb, folder, alone))
        of_osu.append(osu_times(run, osu, alone))
    return read_results(path), of_imb, of_osu


def print_rows(results: Results, of_imb: list[Times], of_osu: list[Times], alone: bool) -> None:
    rows = [shared for shared in SHARED if shared.alone == alone]
    for point, shared in zip(results.points, rows, strict=True):
        ours = [statistics.median(our_times(shared, launch)) for launch in results.launches(point)]
        cells, ratios, agree = [f"{statistics.median(ours):.2f}"], [], []
        for launches, name in ((of_imb, shared.imb), (of_osu, shared.osu)):
            if name is None:
                cells.append("")
                ratios.append("")
                continue
            theirs = [statistics.median(times[name, shared.bytes]) for times in launches]
            found = [own / other for own, other in zip(ours, theirs, strict=True)]
            low, high = interval([[ratio] for ratio in found]) or (min(found), max(found))
            cells.append(f"{statistics.median(theirs):.2f}")
            ratios.append(f"{statistics.median(found):.2f} ({low:.2f} to {high:.2f})")
            agree.append(low <= 1 <= high or (low >= 1 - WITHIN and high <= 1 / (1 - WITHIN)))
        verdict = "yes" if all(agree) else "no"
        print(f"| `{shared.item}` | {shared.bytes} | {shared.way} | {' | '.join(cells + ratios)} | {verdict} |")


if __name__ == "__main__":
    main()
