# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Campaigns: what `hocket sweep` costs beside a loop that calls the engine and beside GNU parallel; and kills.

perf/sweep.py speed    simulations of 256 ranks, some times in turns: a loop in one process, a campaign on several
                       numbers of workers, and GNU parallel, which starts `hocket simulate` for each of fewer tasks
perf/sweep.py overhead the same loop and the same campaign in turns within one process: CPU time, from reading the file
                       to the last row on the disk, with batches and rows pickled as for a worker
perf/sweep.py kills    a campaign of small simulations whose command is killed at random times, then compared with
                       the rows of one that was not
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HOCKET = [sys.executable, "-m", "hocket"]
ALGORITHMS = (
    "bcast:binomial",
    "allreduce:recursive_doubling",
    "allreduce:rabenseifner",
    "bcast:scatter_recursive_doubling",
)
LARGE, SMALL = "fat-tree:8x8x4", "star:16"


def campaign(folder: Path, network: str, tasks: int) -> Path:
    folder.mkdir(exist_ok=True)
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


class Inline:
    """An engine of the sweep that runs batches at once in this process, sent to and from itself as to a worker."""

    workers = 1

    def __init__(self) -> None:
        self.found: list[tuple[Any, Any]] = []

    @property
    def room(self) -> int:
        return 1 - len(self.found)

    def submit(self, batch: Any) -> None:
        from hocket.sweep.worker import run_batch

        self.found.append((batch, pickle.loads(pickle.dumps(run_batch(pickle.loads(pickle.dumps(batch)))))))

    def ended(self, timeout_s: float) -> list[tuple[Any, Any]]:
        found, self.found = self.found, []
        return found


def campaign_here(path: Path) -> None:
    """All of `hocket sweep run` but the start of processes and the table at the end."""
    from hocket.sweep.campaign import read_campaign
    from hocket.sweep.request import _Run
    from hocket.sweep.store import Store
    from hocket.sweep.worker import take_networks

    folder = path.with_suffix(".sweep")
    shutil.rmtree(folder, ignore_errors=True)
    read = read_campaign(path)
    take_networks(read.networks)
    store = Store(folder, read, False)
    run = _Run(Inline(), store, list(read.tasks), 1, lambda _: None)
    run.run()
    store.close()
    if run.done != len(read.tasks):
        sys.exit(f"{len(read.tasks) - run.done} tasks failed")


def overhead(tasks: int, rounds: int) -> None:
    from hocket.simulation.parallel import use_one_core

    use_one_core()
    with tempfile.TemporaryDirectory() as name:
        path = campaign(Path(name), LARGE, tasks)
        few = campaign(Path(name) / "few", LARGE, len(ALGORITHMS))
        campaign_here(few)  # imports
        loop(LARGE, len(ALGORITHMS))
        found = []
        for number in range(rounds):
            ways = [lambda: loop(LARGE, tasks), lambda: campaign_here(path)]
            spent = [0.0, 0.0]
            for way in (0, 1) if number % 2 == 0 else (1, 0):
                begin_s = time.process_time()
                ways[way]()
                spent[way] = (time.process_time() - begin_s) / tasks
            found.append(spent)
        ratios = sorted(campaign_s / loop_s for loop_s, campaign_s in found)
        loops, campaigns = (statistics.median(times) for times in zip(*found, strict=True))
        print(f"{tasks} simulations of 256 ranks, {rounds} rounds; CPU time of a task, medians: "
              f"loop {1e3 * loops:.3f} ms, campaign {1e3 * campaigns:.3f} ms")  # fmt: skip
        lower, middle, upper = statistics.quantiles(ratios, n=4) if rounds > 1 else ratios * 3
        print(f"campaign over loop: {middle:.3f}; quartiles {lower:.3f} to {upper:.3f}, all {ratios[0]:.3f} to "
              f"{ratios[-1]:.3f}")  # fmt: skip


def kills(tasks: int, number: int, seed: int, workers: int, network: str) -> None:
    from hocket.sweep import frame

    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        path = campaign(Path(name), network, tasks)
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
    parser.add_argument("what", choices=["speed", "overhead", "kills"])
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--network", default=SMALL, help="of the campaign whose command is killed")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    given = parser.parse_args()
    if given.what == "speed":
        speed(given.tasks or 2800, given.rounds, given.workers, 40)
    elif given.what == "overhead":
        overhead(given.tasks or 400, given.rounds)
    else:
        kills(given.tasks or 10_000, given.kills, given.seed, given.workers[-1], given.network)


if __name__ == "__main__":
    main()
