# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket calibrate --natives` makes of measured times, and what decisions make of that."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from hocket import CostModel, Network
from hocket._core import Decider
from hocket.calibrate.natives import measure_natives, sizes_of
from hocket.errors import Error, InvalidInput
from hocket.measure.compare import Launch, Measured
from hocket.plan import COLLECTIVES, PlanEntry

COSTS = CostModel.usual()
MPI = "Some MPI 1.0"
# What the emulated MPI does: an algorithm in the order of ranks, in segments of 32 KiB where it pipelines.
ALGORITHMS = {
    "bcast": ("pipelined_chain", 32_768, 1.3),
    "reduce": ("binomial", None, 1.0),
    "allreduce": ("ring", None, 0.8),
    "allgather": ("neighbor_exchange", None, 2.0),
    "alltoall": ("linear", None, 1.1),
    "reduce_scatter_block": ("ring", None, 1.0),
    "scatter": ("linear", None, 1.5),
    "gather": ("linear", None, 0.9),
    "barrier": ("dissemination", None, 3.0),
}


class Emulated:
    """An MPI that takes what is predicted, times a factor, with noise of some percent."""

    def __init__(self, network: Network, seed: int) -> None:
        self.decider = Decider(network, COSTS)
        self.chance = random.Random(seed)

    def native_s(self, entry: PlanEntry) -> float:
        name, segment_bytes, factor = ALGORITHMS[entry.collective]
        own = entry.replace(algorithm=name, segments=1, segment_bytes=segment_bytes, order=None, starts=())
        return factor * self.decider.predicted_s(own, list(entry.members), entry.bytes_max)

    def __call__(self, entries: Sequence[PlanEntry]) -> Sequence[Measured | None]:
        found: list[Measured | None] = []
        for entry in entries:
            schedule_s = 1.25 * self.decider.predicted_s(entry, list(entry.members), entry.bytes_max)
            noise = [self.chance.uniform(0.97, 1.03) for _ in range(10)]
            launch = Launch(
                tuple(self.native_s(entry) * one for one in noise[:5]), tuple(schedule_s * one for one in noise[5:])
            )
            found.append((launch, True))
        return found


@pytest.mark.parametrize("spec", ["two-clusters:4+4", "tree:3x3"])
def test_times_elsewhere_are_predicted(spec: str) -> None:
    """Random members, that were not measured, on sizes between those that were."""
    network = Network.generate(spec, bandwidth="1 Gbit/s", latency="20 us")
    mpi = Emulated(network, seed=5)
    found = measure_natives(network, COSTS, MPI, mpi, 2, seed=3)
    assert [(one.collective, one.mpi) for one in found] == [
        (collective, MPI) for collective in COLLECTIVES for _ in sizes_of(collective)
    ]
    assert all(one.schedule_factor == pytest.approx(1.25, rel=0.05) for one in found)
    with_times = network.with_native_times(found)
    decider = Decider(with_times, COSTS, MPI)
    chance = random.Random(7)
    errors = []
    for collective in COLLECTIVES:
        members = chance.sample(range(network.num_ranks), network.num_ranks - 1)
        for size in [300, 20_000, 200_000] if collective != "barrier" else [0]:
            entry = PlanEntry(collective, tuple(members), size, size, ALGORITHMS[collective][0])
            ratio = decider.native_s(collective, members, size) / mpi.native_s(entry)
            errors.append(max(ratio, 1 / ratio))
    errors.sort()
    print(errors)
    assert errors[len(errors) // 2] < 1.1
    assert errors[-1] < 2
    again = Network.from_text(with_times.to_toml())
    assert [one.factor for one in again.native_times] == [one.factor for one in found]
    # Measuring again replaces them.
    assert len(again.with_native_times(found).native_times) == len(found)


def test_without_any_time_it_is_refused() -> None:
    network = Network.generate("star:4")
    with pytest.raises(Error, match="no time to measure"):
        measure_natives(network, COSTS, MPI, lambda entries: [None] * len(entries), 2, seed=1)


def test_a_part_that_there_was_time_for_is_used() -> None:
    network = Network.generate("star:4")
    mpi = Emulated(network, seed=5)
    found = measure_natives(
        network, COSTS, MPI, lambda entries: [*mpi(entries[:10]), *[None] * (len(entries) - 10)], 1, seed=1
    )
    # Two communicators of each: those of the smallest size come first.
    assert len(found) == 5
    assert all(one.bytes_max < 100 for one in found)


def test_hosts_are_found_by_name() -> None:
    network = Network.generate("star:3")
    names = [node.name for node in network.nodes if node.kind == "host"]
    assert network.on_hosts([names[2], names[0], names[2]]).num_ranks == 3
    with pytest.raises(InvalidInput, match="has no host 'elsewhere'|has no host \"elsewhere\""):
        network.on_hosts(["elsewhere"])
