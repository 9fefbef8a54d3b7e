# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What some algorithms add to the others: the best schedule with and without them, by simulation, on many networks.

Members are random ranks of the network, in increasing order. A size is that of all blocks together. Only algorithms
with a name take part, in segments of 4, 8 or 16 KiB or whole. `--csv FILE` writes each point as soon as it is known;
points that the file has are not simulated again.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hocket import CostModel, Network
from hocket.cli.common import print_table
from hocket.search.candidates import Candidates
from hocket.search.decide import decide
from hocket.search.limits import Limits
from hocket.search.predict import Call

NETWORKS = {
    "tapered fat tree": "fat-tree:8x4x4/2x2",
    "torus": "torus:8x4x4",
    "dragonfly": "dragonfly:4,4,2",
    "two clusters": "two-clusters:64+64",
}
RANKS = (16, 48, 64, 100)
SIZES = {"1 kB": 1 << 10, "64 kB": 1 << 16, "1 MB": 1 << 20, "16 MB": 1 << 24}
IN_BLOCKS = ("allgather", "alltoall", "reduce_scatter_block", "scatter", "gather")
COLLECTIVES = ("bcast", "reduce", "allreduce", *IN_BLOCKS, "barrier")
# What a message costs a host over TCP, and over a network that hosts use without their kernel.
HOSTS = {"tcp": CostModel.usual(), "direct": CostModel.usual().replace(send_overhead_s=5e-7, receive_overhead_s=5e-7)}
NEW = ("knomial_4", "knomial_8", "bruck_4", "dissemination_4", "bine", "swing", "node_aware", "by_dimension")


class Point(NamedTuple):
    hosts: str
    network: str
    ranks: int
    collective: str
    size: str
    before: str
    before_s: float
    after: str
    after_s: float

    @property
    def key(self) -> tuple[str, str, int, str, str]:
        return self[:5]


def best(candidates: Candidates, call: Call) -> tuple[str, float]:
    found = decide(candidates, call).best
    assert found is not None
    return found.candidate.algorithm, found.time_s


def points(left_out: Sequence[str], known: set[tuple[str, str, int, str, str]], add: Callable[[Point], None]) -> None:
    limits = Limits(segment_bytes=(4096, 8192, 16384), carried_messages=0, nearly_equal=0, reorderings=0)
    for ranks in RANKS:
        for hosts, costs in HOSTS.items():
            for number, (name, spec) in enumerate(NETWORKS.items()):
                trunk = "40 Gbit/s" if "clusters" in spec else None
                network = Network.generate(spec, bandwidth="10 Gbit/s", latency="1 us", trunk_bandwidth=trunk)
                members = sorted(random.Random(1000 * number + ranks).sample(range(network.num_ranks), ranks))
                for collective in COLLECTIVES:
                    wanted = [
                        (size, count // ranks if collective in IN_BLOCKS else count)
                        for size, count in ({"-": 0} if collective == "barrier" else SIZES).items()
                        if (hosts, name, ranks, collective, size) not in known
                    ]
                    if not wanted:
                        continue
                    candidates = Candidates(network, costs, collective, members, (0,), limits)
                    families = candidates.families
                    for size, count in wanted:
                        call = Call(collective, tuple(members), count)
                        candidates.families = families
                        after = best(candidates, call)
                        candidates.families = [one for one in families if one.name not in left_out]
                        before = best(candidates, call) if after[0] in left_out else after
                        add(Point(hosts, name, ranks, collective, size, *before, *after))


def summary(of: Sequence[Point], left_out: Sequence[str]) -> list[str]:
    """Points, those where one of the algorithms is the best, and time before over after: mean over these, and most."""
    won = [point for point in of if point.after in left_out and point.after_s < point.before_s]
    ratios = [point.before_s / point.after_s for point in won]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0
    names = Counter(point.after for point in won).most_common()
    return [
        str(len(of)), str(len(won)), f"{mean:.2f}", f"{max(ratios, default=1):.2f}",
        ", ".join(f"{name} {count}" for name, count in names),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, help="where points are kept")
    parser.add_argument("--without", default=",".join(NEW), help="the algorithms in question, by name")
    options = parser.parse_args()
    left_out = options.without.split(",")
    found: list[Point] = []
    if options.csv is not None and options.csv.exists():
        with options.csv.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                hosts, network, ranks, collective, size, before, before_s, after, after_s = row
                found.append(
                    Point(hosts, network, int(ranks), collective, size, before, float(before_s), after, float(after_s))
                )

    def add(point: Point) -> None:
        found.append(point)
        if options.csv is not None:
            with options.csv.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow(point)

    points(left_out, {point.key for point in found}, add)
    heads = ["points", "better", "time, mean", "most", "by"]
    for title, value in (
        ("network", lambda point: point.network),
        ("hosts", lambda point: point.hosts),
        ("collective", lambda point: point.collective),
        ("ranks", lambda point: str(point.ranks)),
        ("size", lambda point: point.size),
    ):
        values = list(dict.fromkeys(value(point) for point in found))
        rows = [[one, *summary([point for point in found if value(point) == one], left_out)] for one in values]
        print_table([title, *heads], rows)
    print_table(["", *heads], [["all", *summary(found, left_out)]])


if __name__ == "__main__":
    main()
