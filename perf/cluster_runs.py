# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs with nothing but the network of their cluster, at random placements, beside native and beside `hocket tune`.

On an emulated cluster, for each network and placement (a random assignment of the ranks to the hosts, whose seed is
printed): each program of perf/programs runs natively and with `HOCKET_NETWORK`, in turns. With --natives it runs also
with a network file to which `hocket calibrate --natives` has added the times of this MPI, measured once with the ranks
host by host ("measured"); with --tune also with a plan that `hocket tune` made for this very program and placement;
with --elsewhere with the network and a plan that `hocket tune` made for the program at the next placement, at half the
size; with --again as a job to which an earlier one has left what it found; with --unchecked without comparisons. Prints
the speed-ups and, over all, their geometric mean and the worst.

A line of JSON for each program, placement and MPI goes to FOLDER/rounds.jsonl as soon as it is measured. All of them
take many hours: --sample SEED takes them in a random order of this seed, and a later call goes on where --time has
ended an earlier one. What is printed is of all calls, if they had the same options.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpi_programs import PROGRAMS, MpiProgram, prepare
from scipy import stats

from hocket import Network
from hocket.calibrate.request import CalibrateRequest, run
from hocket.cli.common import message, print_json, print_table
from hocket.cli.options import seconds
from hocket.errors import Error
from hocket.measure.runner import Run
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.networks.source import NetworkSource
from hocket.reporter import Messages
from hocket.testbed import Testbed
from hocket.tune.evidence import LEAST_RUNS
from hocket.tune.tune import PLAN_FILE, TuneOptions, tune
from mpis import MPIS

ROOT = Path(__file__).resolve().parent.parent
USUAL = ("ft-2d", "is", "hpl", "cg", "sgd", "spectral", "nbody", "bfs")
NATIVES_S = 120.0
KINDS = ("network", "again", "unchecked", "measured", "elsewhere", "tuned")
TIMEOUT_S = 300.0  # of one run of a program


@dataclass(frozen=True)
class Case:
    """One placement of the ranks on one network."""

    network: Path
    seed: int

    def placed(self) -> Network:
        """The network with its ranks, as many as it has, on its hosts at random: host by host where seed is 0."""
        cluster = Network.from_file(str(self.network))
        plan = cluster.blueprint()
        places = [index for index, node in enumerate(plan.nodes) for _ in range(node.ranks)]
        if self.seed > 0:
            random.Random(self.seed).shuffle(places)
        return Network.build(plan.replace(placement=places))


def measure(case: Case, mpi: Mpi, program: MpiProgram, options: argparse.Namespace) -> dict[str, Any]:
    """A row, of all rounds."""
    network = case.placed()
    parts = build_mpi_parts(mpi, report=message)
    folder: Path = options.folder / case.network.stem / mpi.label
    folder.mkdir(parents=True, exist_ok=True)
    executable = prepare(program, mpi, folder / "programs")

    def command(factor: float) -> list[str]:
        return [str(mpi.mpiexec), "-n", str(network.num_ranks), *executable, *program.arguments(factor)]

    on_network = {"HOCKET_NETWORK": str(case.network.resolve())}
    kinds = {"native": {}, "network": on_network}
    if options.again:
        memory = folder / f"memory-{program.name}-{case.seed}"
        memory.mkdir(exist_ok=True)
        kinds["again"] = {**on_network, "HOCKET_DECISIONS": str(memory)}
    if options.unchecked:
        kinds["unchecked"] = {**on_network, "HOCKET_SELF_CHECK": "off"}
    if options.measured:
        kinds["measured"] = {"HOCKET_NETWORK": str(_with_natives(case.network, mpi, folder))}
    if options.elsewhere:
        other, half = Case(case.network, case.seed + 1), options.factor / 2
        plan = _tuned(command(half), other.placed(), folder / f"{program.name}-{other.seed}-{half:g}")
        kinds["elsewhere"] = {**on_network, "HOCKET_PLAN": str(plan)}
    if options.tuned:
        plan = _tuned(command(options.factor), network, folder / f"{program.name}-{case.seed}-{options.factor:g}")
        kinds["tuned"] = {"HOCKET_PLAN": str(plan)}
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    served: dict[str, Any] = {}
    outputs = set()
    with Testbed(network) as bed:
        runner = TestbedRunner(mpi, bed, parts.workarounds)

        def run_once(kind: str) -> Run:
            libraries = [parts.interpose] if kinds[kind] else []
            counts = folder / f"{program.name}-{kind}.json"
            counts.unlink(missing_ok=True)
            environment = {**kinds[kind], "HOCKET_STATISTICS": str(counts)} if libraries else {}
            done = runner.run(command(options.factor), libraries, environment, TIMEOUT_S, f"{program.name} ({kind})")
            if counts.exists():
                served[kind] = _served(json.loads(counts.read_text()))
            return done

        if options.again:
            run_once("again")
        for number in range(options.rounds):
            for kind in [*kinds][number % len(kinds) :] + [*kinds][: number % len(kinds)]:
                done = run_once(kind)
                outputs.add(done.stdout)
                times[kind].append(done.wall_s)
    row = _cell(case, mpi, program, options) | {"same_output": len(outputs) == 1, "served": served}
    return row | {f"{kind}_s": values for kind, values in times.items()}


def _cell(case: Case, mpi: Mpi, program: MpiProgram, options: argparse.Namespace) -> dict[str, Any]:
    """What a row is of."""
    return {
        "network": case.network.stem,
        "seed": case.seed,
        "mpi": mpi.label,
        "program": program.name,
        "factor": options.factor,
        "rounds": options.rounds,
    }


def _with_natives(network: Path, mpi: Mpi, folder: Path) -> Path:
    path = folder / "with-natives.toml"
    if not path.exists():
        command = (str(mpi.mpiexec), "-n", str(Network.from_file(str(network)).num_ranks))
        testbed = NetworkSource(str(network))
        run(
            CalibrateRequest(command, path, testbed=testbed, natives=True, network=network, natives_s=NATIVES_S),
            Messages(message),
        )
    return path


def _tuned(command: list[str], network: Network, target: Path) -> Path:
    if not (target / PLAN_FILE).exists():
        tuning = TuneOptions(repetitions=LEAST_RUNS, testbed=True, timeout_s=TIMEOUT_S)
        tune(command, network, target, tuning, Messages(lambda text: message(f"    {text}")))
    return target / PLAN_FILE


def _served(document: dict[str, Any]) -> float:
    """Share of the time of blocking collectives that went by a schedule."""
    total = sum(row["time_s"] for row in document.get("calls", ()))
    by_schedule = sum(row["time_s"] for row in document.get("calls", ()) if row["outcome"] in ("measured", "derived"))
    return float(by_schedule / total) if total else 0.0


def gain(row: dict[str, Any], kind: str) -> float | None:
    """Median native time over the median with it."""
    if f"{kind}_s" not in row:
        return None
    return float(statistics.median(row["native_s"]) / statistics.median(row[f"{kind}_s"]))


def _gain_text(row: dict[str, Any]) -> str:
    texts = [f"native {statistics.median(row['native_s']):.2f} s"]
    for kind in KINDS:
        factor = gain(row, kind)
        if factor is not None:
            texts.append(f"{kind} x{factor:.2f}")
    return ", ".join(texts) + ("" if row["same_output"] else ", OUTPUT DIFFERS")


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means with their 95 % interval over the rows and the worst; shares of what tuning gains."""
    found: dict[str, Any] = {"rows": len(rows), "all_same_output": all(row["same_output"] for row in rows)}
    for kind in KINDS:
        gains = [factor for row in rows if (factor := gain(row, kind)) is not None]
        if gains:
            found[kind] = {**_geometric_mean(gains), "worst": min(gains)}
        beside = [
            factor / tuned
            for row in rows
            if (factor := gain(row, kind)) is not None and (tuned := gain(row, "tuned")) is not None
        ]
        if beside and kind != "tuned":
            found[kind]["of_tuned"] = _geometric_mean(beside)
    return found


def _geometric_mean(factors: list[float]) -> dict[str, Any]:
    logs = [math.log(factor) for factor in factors]
    found: dict[str, Any] = {"geometric_mean": math.exp(statistics.mean(logs))}
    if len(logs) > 1:  # programs, placements and MPIs are the sample, not the rounds
        ends = stats.bootstrap((logs,), statistics.fmean, vectorized=False, random_state=1).confidence_interval
        found["interval"] = [math.exp(ends.low), math.exp(ends.high)]
    return found


def main() -> int:
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "rounds.jsonl"
    earlier = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    cells = [
        (Case(network, seed), mpi, program)
        for network in options.networks
        for seed in options.seeds
        for mpi in options.mpis
        for program in options.programs
    ]
    if options.sample is not None:
        random.Random(options.sample).shuffle(cells)
    kinds = {f"{kind}_s" for kind in KINDS if kind == "network" or getattr(options, kind)}
    deadline = time.monotonic() + options.time
    rows: list[dict[str, Any]] = []
    for number, (case, mpi, program) in enumerate(cells):
        wanted = _cell(case, mpi, program, options)
        if done := [row for row in earlier if wanted.items() <= row.items() and kinds <= row.keys()]:
            rows.append(done[-1])
            continue
        if time.monotonic() > deadline:
            continue
        where = f"{number + 1} of {len(cells)}: {case.network.stem}, seed {case.seed}, {mpi.label}, {program.name}"
        try:
            row = measure(case, mpi, program, options)
        except Error as error:
            message(f"{where}: failed: {error}")
            continue
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        message(f"{where}: {_gain_text(row)}")
        rows.append(row)
    if len(rows) < len(cells):
        message(f"{len(rows)} of {len(cells)} are measured")
    if options.json:
        print_json({"rows": rows, "summary": summary(rows)})
        return 0
    texts = [
        [row["network"], str(row["seed"]), row["mpi"], row["program"], f"{statistics.median(row['native_s']):.2f}"]
        + [f"{factor:.2f}" if (factor := gain(row, kind)) is not None else "" for kind in KINDS]
        + [f"{100 * row['served'].get('network', 0):.0f} %"]
        for row in rows
    ]
    print_table(
        ["network", "seed", "MPI", "program", "native s", *(f"with {kind}" for kind in KINDS), "time served"], texts
    )
    print(json.dumps(summary(rows)))
    return 0


def _options() -> argparse.Namespace:
    known = {program.name: program for program in PROGRAMS}
    mpis = {mpi.label: mpi for mpi in MPIS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", dest="programs", action="append", choices=[*known], help="default: all but ft")
    parser.add_argument("--mpi", dest="mpis", action="append", choices=[*mpis], help="default: all")
    parser.add_argument("--network", dest="networks", action="append", type=Path, help="default: two-clusters")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of placements; 0: host by host")
    parser.add_argument("--factor", type=float, default=1.0, help="of the programs' usual sizes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--tune", dest="tuned", action="store_true", help="tune each program at each placement, and run it so too"
    )
    parser.add_argument(
        "--natives", dest="measured", action="store_true", help="measure the MPI's own times, and run with them too"
    )
    parser.add_argument("--elsewhere", action="store_true", help="run also with a plan of another placement and size")
    parser.add_argument("--again", action="store_true", help="run also as jobs that follow others on the same hosts")
    parser.add_argument("--unchecked", action="store_true", help="run also without comparisons with native calls")
    parser.add_argument("--sample", type=int, metavar="SEED", help="take programs, placements and MPIs at random")
    parser.add_argument("--time", type=seconds, default=3600.0, help="begin nothing new after that; default: 1h")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/cluster-runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.programs = [known[name] for name in options.programs or USUAL]
    options.mpis = [mpis[label] for label in options.mpis or mpis]
    options.networks = options.networks or [ROOT / "networks/two-clusters.toml"]
    options.folder = options.folder.resolve()
    return options


if __name__ == "__main__":
    sys.exit(main())
