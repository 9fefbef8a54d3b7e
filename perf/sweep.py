# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Campaigns: what `hocket sweep` costs beside a loop that calls the engine and beside GNU parallel; and kills.

perf/sweep.py speed    simulations of 256 ranks, some times in turns: a loop in one process, the whole command
                       `hocket sweep` with several numbers of workers, and GNU parallel, which starts `hocket simulate`
                       for each of fewer tasks
perf/sweep.py overhead the same loop and the same campaign within one process, in turns for each task, so that both
                       have the same machine: CPU time, from reading the file to the last row on the disk, with
                       batches and rows pickled as for a worker
perf/sweep.py kills    a campaign of small simulations whose command is killed at random times, then compared with
                       the rows of one that was not
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from hocket import CostModel, Network, Schedule, lower, simulate

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


def one_by_the_engine(
    what: str, num_bytes: int, network: Network, costs: CostModel, build: Callable[..., Schedule] = Schedule.build
) -> float:
    """The time that it simulates, in seconds."""
    schedule = build(*what.split(":"), network.num_ranks)
    return simulate(lower(schedule, num_bytes), network, costs).makespan_s


def loop(network_name: str, tasks: int) -> float:
    """Seconds of a loop that calls the engine and keeps the times."""
    begin_s = time.perf_counter()
    network = Network.generate(network_name)
    costs = CostModel.of(network)
    found = []
    for what in ALGORITHMS:
        for number in range(tasks // len(ALGORITHMS)):
            found.append(one_by_the_engine(what, 1000 * (number + 1), network, costs))
    return time.perf_counter() - begin_s


def sweep(path: Path, workers: int) -> float:
    """Seconds of the whole command."""
    folder = path.with_suffix(".sweep")
    shutil.rmtree(folder, ignore_errors=True)
    begin_s = time.perf_counter()
    command = [*HOCKET, "sweep", "run", str(path), "-o", str(folder), "--workers", str(workers), "--json"]
    done = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    if done["failed"]:
        sys.exit(f"{len(done['failed'])} tasks failed")
    return time.perf_counter() - begin_s


def parallel(tasks: int, jobs: int) -> float:
    sizes = [str(1000 * (number + 1)) for number in range(tasks // len(ALGORITHMS))]
    begin_s = time.perf_counter()
    subprocess.run(
        ["parallel", f"-j{jobs}", *HOCKET, "simulate", "{1}", "--network", LARGE, "--bytes", "{2}B", "--json",
         ":::", *ALGORITHMS, ":::", *sizes],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - begin_s


def speed(tasks: int, ways: list[str], rounds: int, workers: list[int], of_parallel: int, kept: Path | None) -> None:
    """A table of rounds, new ones and those of before."""
    with tempfile.TemporaryDirectory() as name:
        path = campaign(Path(name), LARGE, tasks)
        kept = kept or Path(name) / "rounds"
        measures: dict[str, Callable[[], list[tuple[str, int, int, float]]]] = {
            "loop": lambda: [("Python loop", 1, tasks, loop(LARGE, tasks))],
            "sweep": lambda: [("hocket sweep", number, tasks, sweep(path, number)) for number in workers],
            "parallel": lambda: [("GNU parallel", workers[-1], of_parallel, parallel(of_parallel, workers[-1]))],
        }
        for _ in range(rounds):
            for way in ways:
                with kept.open("a") as file:
                    file.writelines(json.dumps(line) + "\n" for line in measures[way]())
        found: dict[tuple[str, int, int], list[float]] = {}
        for way, processes, of, seconds in map(json.loads, kept.read_text().splitlines()):
            found.setdefault((way, processes, of), []).append(seconds)
    loop_s = statistics.median(found.get(("Python loop", 1, tasks), [math.nan])) / tasks
    print("Simulations of 256 ranks; medians\n")
    print("| way | processes | tasks | rounds | s | tasks/s | processes x time of a task, over the loop's |")
    print("|---|---|---|---|---|---|---|")
    for (way, processes, of), times in found.items():
        middle = statistics.median(times)
        over = processes * middle / of / loop_s
        print(f"| {way} | {processes} | {of:,} | {len(times)} | {middle:.1f} | {of / middle:.3g} | {over:.3f} |")


class Inline:
    """An engine of the sweep that runs batches at once in this process, sent to and from itself as to a worker.

    What the loop does for the same task comes before it or after it, in turns.
    """

    workers = 1

    def __init__(self, build: Callable[..., Schedule]) -> None:
        begin_s = time.process_time()
        self.build = build
        self.network = Network.generate(LARGE)
        self.costs = CostModel.of(self.network)
        self.loop_s = time.process_time() - begin_s
        self.found: list[tuple[Any, Any]] = []
        self.times: list[float] = []

    @property
    def room(self) -> int:
        return 1 - len(self.found)

    def submit(self, batch: Any) -> None:
        from hocket import requests
        from hocket.sweep.worker import run_batch

        def run_beside(request: Any, run: Any = requests.run) -> Any:
            loop_first = len(self.times) % 2 == 0
            if loop_first:
                self.loop(request)
            found = run(request)
            if not loop_first:
                self.loop(request)
            return found

        with mock.patch.object(requests, "run", run_beside):
            self.found.append((batch, pickle.loads(pickle.dumps(run_batch(pickle.loads(pickle.dumps(batch)))))))

    def ended(self, timeout_s: float) -> list[tuple[Any, Any]]:
        found, self.found = self.found, []
        return found

    def loop(self, request: Any) -> None:
        begin_s = time.process_time()
        self.times.append(one_by_the_engine(request.what, request.bytes, self.network, self.costs, self.build))
        self.loop_s += time.process_time() - begin_s


def loop_and_campaign(path: Path, build: Callable[..., Schedule]) -> tuple[float, float]:
    """CPU time of the loop; and of `hocket sweep run` but for the start of processes and the table at the end."""
    from hocket.sweep.campaign import read_campaign
    from hocket.sweep.runner import Runner
    from hocket.sweep.store import Store
    from hocket.sweep.worker import take_networks

    folder = path.with_suffix(".sweep")
    shutil.rmtree(folder, ignore_errors=True)
    begin_s = time.process_time()
    read = read_campaign(path)
    take_networks(read.networks)
    store = Store(folder, read, False)
    engine = Inline(build)
    runner = Runner(engine, store, list(read.tasks), 1, lambda _: None)
    runner.run()
    store.close()
    whole_s = time.process_time() - begin_s
    if runner.done != len(read.tasks):
        sys.exit(f"{len(read.tasks) - runner.done} tasks failed")
    return engine.loop_s, whole_s - engine.loop_s


def overhead(tasks: int, rounds: int, kept: Path | None, builds_once: bool) -> None:
    from hocket.simulation.parallel import use_one_core

    use_one_core()
    with tempfile.TemporaryDirectory() as name:
        path = campaign(Path(name), LARGE, tasks)
        build = cache(Schedule.build) if builds_once else Schedule.build
        loop_and_campaign(campaign(Path(name) / "few", LARGE, len(ALGORITHMS)), build)  # imports
        kept = kept or Path(name) / "rounds"
        for _ in range(rounds):
            spent = [seconds / tasks for seconds in loop_and_campaign(path, build)]
            with kept.open("a") as file:
                file.write(json.dumps([tasks, *spent]) + "\n")
        found = [times for line in kept.read_text().splitlines() for of, *times in [json.loads(line)] if of == tasks]
    ratios = sorted(campaign_s / loop_s for loop_s, campaign_s in found)
    loops, campaigns = (statistics.median(times) for times in zip(*found, strict=True))
    print(f"{tasks} simulations of 256 ranks, {len(found)} rounds; CPU time of a task, medians: "
          f"loop {1e3 * loops:.3f} ms, campaign {1e3 * campaigns:.3f} ms")  # fmt: skip
    chance = random.Random(len(found))
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(10_000))
    print(f"campaign over loop: median {statistics.median(ratios):.3f}, 95 % interval by bootstrap {medians[250]:.3f} "
          f"to {medians[9749]:.3f}, all {ratios[0]:.3f} to {ratios[-1]:.3f}")  # fmt: skip


def kills(tasks: int, number: int, seed: int, workers: int, network: str, folder: Path) -> None:
    """What was done before in the same folder counts: a run that is stopped goes on."""
    from hocket.sweep import frame

    path = campaign(folder, network, tasks)
    alone, killed, state = folder / "alone", folder / "killed", folder / "state.json"

    def command(rows: Path) -> list[str]:
        return [*HOCKET, "sweep", "run", str(path), "-o", str(rows), "--workers", str(workers), "--resume", "--json"]

    def ended(rows: Path) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(subprocess.run(command(rows), check=True, capture_output=True).stdout)
        return values

    known = json.loads(state.read_text()) if state.exists() else {"seed": seed, "whole_s": 0.0, "counts": []}
    if not known["whole_s"]:
        done = ended(alone)
        known["whole_s"] = done["seconds"] * tasks / max(1, done["ran"])
        state.write_text(json.dumps(known))
    while len(counts := known["counts"]) < number:
        chance = random.Random(known["seed"] + len(counts))
        process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len(list(killed.glob("rows/part-*")))
        while process.poll() is None and len(list(killed.glob("rows/part-*"))) == before:
            time.sleep(0.005)
        time.sleep(chance.random() * max(known["whole_s"] / number, 6.0))  # a kill costs up to three seconds
        process.kill()
        process.wait()
        counts.append(len(frame(killed)))
        state.write_text(json.dumps(known))
    done = ended(killed)
    same = frame(killed).equals(frame(alone))
    print(f"{tasks} simulations on {network}, seed {known['seed']}: rows after each of {number} kills: {counts}")
    print(f"then {done['kept']} kept, {done['ran']} run, {len(done['failed'])} failed; rows as without kills: {same}")
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
    parser.add_argument(
        "--folder", type=Path, help="of the campaign that is killed: a run that is stopped goes on there"
    )
    parser.add_argument("--keep", type=Path, help="rounds of speed or overhead: new ones are added, all are reported")
    ways = ["loop", "sweep", "parallel"]
    parser.add_argument("--ways", nargs="+", choices=ways, default=ways, help="of speed")
    parser.add_argument("--of-parallel", type=int, default=100, help="tasks of GNU parallel")
    parser.add_argument("--build-once", action="store_true", help="the loop builds the schedule of an algorithm once")
    given = parser.parse_args()
    if given.what == "speed":
        if "parallel" in given.ways and shutil.which("parallel") is None:
            print("GNU parallel is not installed (Debian: parallel), and is left out", file=sys.stderr)
            given.ways = [way for way in given.ways if way != "parallel"]
        speed(given.tasks or 10_000, given.ways, given.rounds, given.workers, given.of_parallel, given.keep)
    elif given.what == "overhead":
        overhead(given.tasks or 1000, given.rounds, given.keep, given.build_once)
    else:
        with tempfile.TemporaryDirectory() as name:
            folder = given.folder or Path(name)
            kills(given.tasks or 10_000, given.kills, given.seed, given.workers[-1], given.network, folder)


if __name__ == "__main__":
    main()
