# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the decisions of `hocket run --network` for a communicator cost: CPU time by collective, in milliseconds.

Medians over random members, whose seeds are 0, 1, ...; "first": no earlier communicator had as many members.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

from hocket import CostModel, Network
from hocket._core import Decider
from hocket.cli.common import print_table

COLLECTIVES = (
    "bcast",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce",
    "reduce_scatter_block",
    "scatter",
    "gather",
    "barrier",
)
CASES = (
    ("fat-tree:8x8x2", 64),
    ("tree:8x32", 64),
    ("dragonfly:8,16,8", 64),  # of 16,512 hosts
    ("tree:8x32", 256),
    ("fat-tree:8x8x16", 1024),
)


def measure(spec: str, num_members: int, samples: int) -> dict[str, list[float]]:
    """Medians by collective, of the first communicator and of the next."""
    network = Network.generate(spec, bandwidth="10 Gbit/s", latency="1 us")
    times: dict[str, dict[str, list[float]]] = {}
    for seed in range(samples):
        chance = random.Random(seed)
        decider = Decider(network, CostModel.of(network))
        for which in ("first", "again"):
            members = chance.sample(range(network.num_ranks), num_members)
            for collective in COLLECTIVES:
                begin_s = time.process_time()
                decider.entries(collective, members)
                taken_ms = 1e3 * (time.process_time() - begin_s)
                times.setdefault(which, {}).setdefault(collective, []).append(taken_ms)
    return {which: [statistics.median(found) for found in of.values()] for which, of in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=7)
    options = parser.parse_args()
    rows = [
        [f"{spec}, {members}", which, *(f"{time_ms:.2f}" for time_ms in medians)]
        for spec, members in CASES
        for which, medians in measure(spec, members, options.samples).items()
    ]
    print_table(["network, members", "", *COLLECTIVES], rows)


if __name__ == "__main__":
    main()
