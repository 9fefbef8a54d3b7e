# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Campaigns: what `hocket sweep` costs beside a loop that calls the engine and beside GNU parallel; and kills.

perf/sweep.py speed    simulations of 256 ranks, some times in turns: a loop in one process, a campaign on several
                       numbers of workers, and GNU parallel, which starts `hocket simulate` for each of fewer tasks
perf/sweep.py kills    a campaign of small simulations whose command is killed at random times, then compared with
                       the rows of one that was not
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOCKET = [sys.executable, "-m", "hocket"]
ALGORITHMS = (
    "bcast:binomial",
    "allreduce:recursive_doubling",
    "allreduce:rabenseifner",
    "bcast:scatter_recursive_doubling",
)
LARGE, SMALL = "fat-tree:8x8x4", "star:16"


def campaign(folder: Path, network: str, tasks: int) -> Path:
    path = folder / "perf.toml"
    path.write_text(
        f'format = "hocket.campaign/1"\nrequest = "simulate"\n[fixed]\nnetwork = "{network}"\n'
        f"[product]\nwhat = {json.dumps(ALGORITHMS)}\n"
        f"bytes = {{ from = 1000, to = {1000 * (tasks // len(ALGORITHMS))}, step = 1000 }}\n"
    )
    return path


def loop(network_name: str, tasks: int) -> float:
    """Seconds of a loop that calls the engine and keeps the times."""
    from hocket import CostModel, Network, Schedule, lower, simulate

    begin_s = time.perf_counter()
    network = Network.generate(network_name)
    costs = CostModel.of(network)
    found = []
    for what in ALGORITHMS:
        for number in range(tasks // len(ALGORITHMS)):
            program = lower(Schedule.build(*what.split(":"), network.num_ranks), 1000 * (number + 1))
            found.append(simulate(program, network, costs).makespan_s)
    return time.perf_counter() - begin_s


def sweep(path: Path, workers: int) -> tuple[float, float]:
    """Seconds of the campaign while it runs, and of the whole command."""
    folder = path.with_suffix(".sweep")
    shutil.rmtree(folder, ignore_errors=True)
    begin_s = time.perf_counter()
    command = [*HOCKET, "sweep", "run", str(path), "-o", str(folder), "--workers", str(workers), "--json"]
    done = subprocess.run(command, check=True, capture_output=True)
    return json.loads(done.stdout)["seconds"], time.perf_counter() - begin_s


def parallel(tasks: int) -> float | None:
    if shutil.which("parallel") is None:
        return None
    sizes = [str(1000 * (number + 1)) for number in range(tasks // len(ALGORITHMS))]
    begin_s = time.perf_counter()
    subprocess.run(
        ["parallel", "-j2", *HOCKET, "simulate", "{1}", "--network", LARGE, "--bytes", "{2}B", "--json",
         ":::", *ALGORITHMS, ":::", *sizes],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - begin_s


def speed(tasks: int, rounds: int, workers: list[int], of_parallel: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        few = campaign(Path(name), LARGE, len(ALGORITHMS)).rename(Path(name) / "few.toml")
        path = campaign(Path(name), LARGE, tasks)
        times: dict[str, list[float]] = {}
        for _ in range(rounds):
            times.setdefault("loop", []).append(loop(LARGE, tasks))
            times.setdefault("start", []).append(sweep(few, 1)[0])  # of a worker, and four tasks
            for number in workers:
                run_s, whole_s = sweep(path, number)
                times.setdefault(f"{number} workers", []).append(run_s)
                times.setdefault(f"{number}, whole command", []).append(whole_s)
        loop_s = statistics.median(times["loop"])
        print(f"{tasks} simulations of 256 ranks; medians of {rounds} rounds")
        for key, found in times.items():
            middle = statistics.median(found)
            print(f"{key:>18}: {middle:7.2f} s, {tasks / middle:7.1f} tasks/s, {loop_s / middle:.3f} times the loop")
        if (seconds := parallel(of_parallel)) is not None:
            print(f"GNU parallel -j2: {of_parallel} tasks in {seconds:.2f} s, {of_parallel / seconds:.1f} tasks/s")
        else:
            print("GNU parallel is not installed")


def kills(tasks: int, number: int, seed: int, workers: int) -> None:
    from hocket.sweep import frame

    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        path = campaign(Path(name), SMALL, tasks)
        _, whole_s = sweep(path, workers)
        expected = frame(path.with_suffix(".sweep"))
        folder = Path(name) / "killed"
        command = [
            *HOCKET,
            "sweep",
            "run",
            str(path),
            "-o",
            str(folder),
            "--workers",
            str(workers),
            "--resume",
            "--json",
        ]
        counts = []
        for _ in range(number):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            before = len(list(folder.glob("rows/part-*")))
            while process.poll() is None and len(list(folder.glob("rows/part-*"))) == before:
                time.sleep(0.005)
            time.sleep(chance.random() * whole_s / number)
            process.kill()
            process.wait()
            counts.append(len(frame(folder)) if (folder / "tasks.parquet").exists() else 0)
        done = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        same = frame(folder).equals(expected)
        print(f"seed {seed}: rows after each of {number} kills: {counts}")
        print(
            f"then {done['kept']} kept, {done['ran']} run, {len(done['failed'])} failed; rows as without kills: {same}"
        )
        if not same or counts != sorted(counts):
            sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "kills"])
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    given = parser.parse_args()
    if given.what == "speed":
        speed(given.tasks or 2800, given.rounds, given.workers, 40)
    else:
        kills(given.tasks or 10_000, given.kills, given.seed, given.workers[-1])


if __name__ == "__main__":
    main()
