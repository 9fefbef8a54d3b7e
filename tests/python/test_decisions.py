# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket run --network` decides in the program, against simulations of every choice it had."""

from __future__ import annotations

import math
import random

import pytest

from hocket import CostModel, Network, algorithms, lower, simulate, validate
from hocket._core import Decider, behind_slow_links, depth_first_order, place, textbook_algorithm
from hocket.plan import ROOTED, PlanEntry

COSTS = CostModel.usual()
COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "reduce_scatter_block", "scatter", "gather", "alltoall")
NETWORKS = ("star:8", "two-clusters:3+5", "tree:3x2", "torus:3x3", "fat-tree:2x2x3/1x1")
SEGMENT_BYTES = (None, 4096, 8192, 16384)


def simulated_s(network: Network, members: list[int], entry: PlanEntry, size: int) -> float:
    """The mean over the roots that the decision is for."""
    ranks = len(members)
    roots = sorted({0, ranks // 3, 2 * ranks // 3}) if entry.collective in ROOTED else [0]
    sized = entry.replace(bytes_min=size, bytes_max=size)
    schedules = [sized.schedule(root) for root in roots]
    assert all(validate(schedule).ok for schedule in schedules)
    programs = [place(lower(schedule, size), members, network.num_ranks) for schedule in schedules]
    return sum(simulate(program, network, COSTS).makespan_s for program in programs) / len(roots)


def candidates(network: Network, members: list[int], collective: str, size: int) -> list[PlanEntry]:
    places = tuple(range(len(members)))
    orders = {
        None,
        tuple(depth_first_order(network, members)),
        tuple(depth_first_order(network, members, 0, "fastest_first")),
    }
    return [
        PlanEntry(
            collective,
            tuple(members),
            size,
            size,
            algorithm.name,
            order=order,
            segment_bytes=segment,
            starts=behind_slow_links(network, members, order or places) if algorithm.has_starts else (),
        )
        for algorithm in algorithms()
        if algorithm.collective == collective
        for order in orders - {places}
        for segment in (SEGMENT_BYTES if algorithm.pipelines else (None,))
    ]


@pytest.mark.parametrize("number", range(24))
def test_decisions_beside_exhaustive_simulation(number: int) -> None:
    seed = 20261125 + number
    print("seed", seed)
    chance = random.Random(seed)
    spec = chance.choice(NETWORKS)
    network = Network.generate(
        spec, bandwidth=f"{chance.choice([100, 1000])} Mbit/s", latency=f"{chance.choice([1, 20])} us"
    )
    members = chance.sample(range(network.num_ranks), chance.randint(4, network.num_ranks))
    collective = COLLECTIVES[number % len(COLLECTIVES)]
    size = 2 ** chance.randint(8, 18)
    decider = Decider(network, COSTS)
    native = PlanEntry(collective, tuple(members), size, size, textbook_algorithm(collective, len(members), size))
    native_s = simulated_s(network, members, native, size)
    served = [entry for entry in decider.entries(collective, members) if entry.bytes_min <= size <= entry.bytes_max]
    taken_s = simulated_s(network, members, served[0], size) if served else native_s
    best_s = min(simulated_s(network, members, one, size) for one in candidates(network, members, collective, size))
    print(spec, collective, size, f"native {native_s:.3g} taken {taken_s:.3g} best {best_s:.3g} s", served)
    assert taken_s <= native_s * 1.03
    assert taken_s <= best_s * 1.5 + 50e-6


def test_predictions_are_near_simulations() -> None:
    """The geometric mean of the factor between both, over what is decided for random members; and the worst."""
    chance = random.Random(7)
    factors = []
    for spec in NETWORKS:
        network = Network.generate(spec, bandwidth="1 Gbit/s", latency="10 us")
        for collective in COLLECTIVES:
            members = chance.sample(range(network.num_ranks), chance.randint(3, network.num_ranks))
            decider = Decider(network, COSTS)
            for entry in decider.entries(collective, members):
                size = 3 * entry.bytes_min // 2
                if 0 < size < 1 << 18:
                    factors.append(
                        decider.predicted_s(entry, members, size) / simulated_s(network, members, entry, size)
                    )
    off = [max(factor, 1 / factor) for factor in factors]
    mean = math.exp(sum(map(math.log, off)) / len(off))
    print(f"{len(off)} entries: geometric mean {mean:.3f}, worst {max(off):.2f}")
    assert len(off) > 30
    assert mean < 1.2
    assert max(off) < 2.5
