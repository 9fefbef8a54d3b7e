# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A process keeps the schedule of its last simulation: the next one gets it only if it is the same."""

from __future__ import annotations

import random

from hocket import CostModel, Network, Schedule, algorithms, lower, simulate
from hocket.networks.source import NetworkSource
from hocket.requests import run
from hocket.simulation.request import SimulateRequest

NETWORKS = {name: Network.generate(name) for name in ("tree:2x2x2", "star:8", "star:5")}

BYTES = 70_000


def test_simulations_in_any_order_are_those_of_new_schedules() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    pipelines = {one.name: one.pipelines for one in algorithms() if one.collective == "bcast"}
    ends = set()
    for _ in range(300):
        name, root, segments = chance.choice([*NETWORKS]), chance.choice([0, 3]), chance.choice([1, 4])
        algorithm, order = chance.choice(["binomial", "pipelined_chain"]), chance.choice(["rank", "depth-first"])
        source = NetworkSource(name)
        request = SimulateRequest(f"bcast:{algorithm}", source, bytes=BYTES, root=root, segments=segments, order=order)
        network = NETWORKS[name]
        ranks = list(network.depth_first_order(root)) if order == "depth-first" else None
        cuts = segments if pipelines[algorithm] else 1
        schedule = Schedule.build("bcast", algorithm, network.num_ranks, root, cuts, ranks)
        expected = simulate(lower(schedule, BYTES), network, CostModel.of(network)).finish_s.tolist()
        assert run(request).found[0].timeline.finish_s.tolist() == expected
        ends.add(tuple(expected))
    assert len(ends) >= 20  # most of what is chosen from makes a difference
