# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Blocks that differ from rank to rank: does the schedule that is best for even blocks still gain?

`predict`: simulates, on each network, the schedule that is decided on for the mean block and the textbook algorithms
that MPIs use, in the order of ranks, with even blocks and with blocks whose largest is some times the mean: one large
block on a random rank and the others alike, or sizes drawn at random and scaled. `measure`: MPI_Allgatherv and
MPI_Reduce_scatter on the emulated network, natively and with HOCKET_NETWORK, in turns.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hocket import CostModel, Network, Program, Schedule, simulate
from hocket._core import Decider
from hocket.cli.common import message, print_table
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi, find_mpis
from hocket.testbed import Testbed

PROGRAM = Path(__file__).with_name("uneven_blocks.c")
SPREADS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
DRAWS = 4
NATIVE = {"allgather": ("ring", "recursive_doubling", "bruck"), "reduce_scatter_block": ("ring", "recursive_halving")}


def segment(size: int, segments: int, number: int) -> int:
    """Bytes of a segment of a block, as the run time cuts it."""
    return size * (number + 1) // segments - size * number // segments


def program_of(schedule: Schedule, sizes: list[int]) -> Program:
    """What the ranks send with blocks of these sizes; empty messages are not sent."""
    lines = [f"num_ranks {schedule.num_ranks}"]
    for rank in range(schedule.num_ranks):
        lines.append(f"rank {rank} {{")
        numbers: dict[tuple[bool, int], int] = {}
        for i, op in enumerate(schedule.ops(rank)):
            size = sum(
                segment(sizes[chunk // schedule.segments], schedule.segments, chunk % schedule.segments)
                for first, count in op.chunks
                for chunk in range(first, first + count)
            )
            sends = op.kind == "send"
            tag = numbers[sends, op.peer] = numbers.get((sends, op.peer), -1) + 1
            way = f"send {size}b to" if sends else f"recv {size}b from"
            lines.append(f"l{i}: {way} {op.peer} tag {tag}" if size else f"l{i}: calc 0")
            lines += [f"l{i} requires l{before}" for before in op.after]
        lines.append("}")
    return Program.from_goal("\n".join(lines) + "\n")


def uneven(ranks: int, mean: int, spread: float, seed: int) -> list[int]:
    """Sizes of about this mean whose largest is `spread` times it: a single large one for even seeds."""
    rng = random.Random(seed)
    if spread == 1:
        return [mean] * ranks
    largest = round(spread * mean)
    rest = ranks * mean - largest
    weights = [1.0 if seed % 2 == 0 else rng.random() for _ in range(ranks - 1)]
    sizes = [min(largest, round(rest * weight / sum(weights))) for weight in weights]
    sizes.insert(rng.randrange(ranks), largest)
    return sizes


def predictions(path: str, means: list[int]) -> Iterator[tuple[str, ...]]:
    network = Network.from_file(path)
    costs, ranks = CostModel.of(network), network.num_ranks
    for collective, names in NATIVE.items():
        for mean in means:
            served = [
                one
                for one in Decider(network, costs, "").entries(collective, list(range(ranks)))
                if one.bytes_min <= mean <= one.bytes_max
            ]
            if not served:
                continue
            chosen = served[0]
            segments = chosen.segments_of(mean)
            order = list(chosen.order) if chosen.order else None
            best = Schedule.build(collective, chosen.algorithm, ranks, 0, segments, order, chosen.starts or [])
            natives = [Schedule.build(collective, name, ranks) for name in names]

            def time_s(schedule: Schedule, sizes: list[int]) -> float:
                return simulate(program_of(schedule, sizes), network, costs).makespan_s

            gains, slower = [], []
            even_s = time_s(best, [mean] * ranks)
            for spread in SPREADS:
                if spread > ranks:
                    break
                draws = [uneven(ranks, mean, spread, seed) for seed in range(DRAWS if spread > 1 else 1)]
                found = [(time_s(best, sizes), min(time_s(one, sizes) for one in natives)) for sizes in draws]
                slower.append(statistics.median(own / even_s for own, _ in found))
                gains.append(min(native / own for own, native in found))
            yield (
                network.name,
                collective,
                str(mean),
                f"{chosen.algorithm}, {segments}",
                *(f"{gain:.2f} ({more:.2f})" for gain, more in zip(gains, slower, strict=True)),
                *([""] * (len(SPREADS) - len(gains))),
            )


def measured(path: str, mpi: Mpi, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Medians over launches, in turns; "checked" has the self-check on, as users have it."""
    network = Network.from_file(path)
    parts = build_mpi_parts(mpi, report=message)
    cases = [(mean, spread) for mean in options.bytes for spread in options.spreads if spread <= network.num_ranks]
    lists = [",".join(map(str, uneven(network.num_ranks, mean, spread, options.seed))) for mean, spread in cases]
    kinds = {"native": {}, "served": {"HOCKET_SELF_CHECK": "off"}, "checked": {}}
    times: dict[tuple[str, int], dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder, Testbed(network) as bed:
        program = Path(folder) / "uneven_blocks"
        subprocess.run([str(mpi.mpicc), "-O2", "-o", str(program), str(PROGRAM)], check=True)
        command = [str(mpi.mpiexec), "-n", str(network.num_ranks), str(program), str(options.calls), *lists]
        runner = TestbedRunner(mpi, bed, parts.workarounds)
        for launch in range(options.launches):
            for kind in [*kinds][launch % 3 :] + [*kinds][: launch % 3]:
                served = kind != "native"
                environment = {"HOCKET_NETWORK": str(Path(path).resolve()), **kinds[kind]} if served else {}
                done = runner.run(command, [parts.interpose] if served else [], environment, 300, kind)
                for line in done.stdout.splitlines():
                    name, number, seconds = line.split()
                    times.setdefault((name, int(number)), {}).setdefault(kind, []).append(float(seconds))
    for (name, number), found in sorted(times.items()):
        mean, spread = cases[number]
        native_s, served_s, checked_s = (statistics.median(found[kind]) for kind in kinds)
        texts = (f"{1e3 * native_s:.2f}", f"{1e3 * served_s:.2f}", f"{1e3 * checked_s:.2f}")
        yield (network.name, mpi.label, name, str(mean), f"{spread:g}", *texts, f"{native_s / served_s:.2f}",
               f"{native_s / checked_s:.2f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("predict", "measure"))
    parser.add_argument("networks", nargs="+", help="files, such as networks/two-clusters.toml")
    parser.add_argument("--bytes", type=int, nargs="+", default=[1024, 16384, 262144], help="mean blocks")
    parser.add_argument("--spreads", type=float, nargs="+", default=[1, 1.5, 2, 4], help="largest block / mean")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--mpis", nargs="+", help="as `openmpi-4.1.4`; all if not given")
    options = parser.parse_args()
    if options.what == "predict":
        rows = [row for path in options.networks for row in predictions(path, options.bytes)]
        columns = (
            "network",
            "collective",
            "mean block, B",
            "schedule, segments",
            *(f"largest {s:g}x" for s in SPREADS),
        )
        print("least native / served over the draws (time served / even)")
    else:
        mpis = [mpi for mpi in find_mpis() if not options.mpis or mpi.label in options.mpis]
        rows = [row for path in options.networks for mpi in mpis for row in measured(path, mpi, options)]
        columns = ("network", "MPI", "collective", "mean, B", "largest / mean", "native ms", "served ms", "checked ms",
                   "gain served", "gain checked")  # fmt: skip
        print(f"seed {options.seed}, {options.launches} launches of each kind, {options.calls} calls")
    print_table(columns, rows)


if __name__ == "__main__":
    main()
