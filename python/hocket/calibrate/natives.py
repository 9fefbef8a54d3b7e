# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How long an MPI's own collectives take on a cluster: what `hocket run --network` compares its schedules with."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from hocket.errors import Error
from hocket.plan import COLLECTIVES, PlanEntry

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket._core import Decider, NativeTimes
    from hocket.measure.compare import Measured

# Of the whole message, or of what each pair of ranks exchanges. Each stands for those up to half way, by their
# logarithms, to the next.
SIZES = (8, 512, 4096, 32_768, 262_144, 2_097_152)
MOST_BLOCK = 262_144  # the largest of those of which every rank has one for each rank
SEGMENTS = (None, 8192, 32_768, 131_072)  # that an MPI may cut messages into
LEAST_FOR_HALF = 6  # ranks: a half of fewer says nothing of other numbers of ranks
# Errors that all communicators share are what the factor is for. They count this much beside those that they do not.
SHARED = 0.25
# A textbook's algorithm that is as good to this share is preferred: the MPI more likely has that one.
NEARLY = 0.03


@dataclass(frozen=True)
class Sample:
    """One collective of one size on one communicator; medians."""

    entry: PlanEntry  # with the schedule that was measured
    native_s: float
    schedule_s: float


def measure_natives(
    network: Network,
    costs: CostModel,
    mpi: str,
    measure: Callable[[Sequence[PlanEntry]], Sequence[Measured | None]],
    launches: int,
    seed: int,
) -> list[NativeTimes]:
    """`network`: with the ranks of the program that `measure` starts, which is one launch. `mpi`: its name. Raises
    Error where nothing could be measured in time."""
    from hocket._core import Decider

    decider = Decider(network, costs)
    entries = list(_entries(network.num_ranks, decider, seed))
    runs = [measure(entries) for _ in range(launches)]
    samples = [
        sample
        for entry, of_entry in zip(entries, zip(*runs, strict=True), strict=True)
        if (sample := _sample(entry, of_entry)) is not None
    ]
    if not samples:
        raise Error("there was no time to measure the MPI's own collectives", "give more with --time")

    def kind(sample: Sample) -> tuple[int, int]:
        return COLLECTIVES.index(sample.entry.collective), sample.entry.bytes_max

    return [fit(list(of_kind), decider, mpi) for _, of_kind in groupby(sorted(samples, key=kind), key=kind)]


def _entries(ranks: int, decider: Decider, seed: int) -> Iterator[PlanEntry]:
    """By size, then by collective: what there is no time for are the largest, which are most alike. Each is measured on
    the ranks in their order, and on others at random."""
    chance = random.Random(seed)
    communicators = [list(range(ranks)), chance.sample(range(ranks), ranks)]
    if ranks >= LEAST_FOR_HALF:
        communicators.append(chance.sample(range(ranks), ranks // 2))
    for size in (0, *SIZES):
        for collective in COLLECTIVES:
            if size in sizes_of(collective):
                for members in communicators:
                    yield _served(collective, size, members, decider)


def sizes_of(collective: str) -> Sequence[int]:
    if collective == "barrier":
        return (0,)
    is_whole = collective in ("bcast", "reduce", "allreduce")
    return SIZES if is_whole else tuple(size for size in SIZES if size <= MOST_BLOCK)


def _served(collective: str, size: int, members: list[int], decider: Decider) -> PlanEntry:
    """With the schedule that would serve such calls, or the textbook's where none would."""
    from hocket._core import textbook_algorithm

    for entry in decider.entries(collective, members):
        if entry.bytes_min <= size <= entry.bytes_max:
            return entry.replace(members=tuple(members), bytes_min=size, bytes_max=size)
    name = textbook_algorithm(collective, len(members), size)
    return PlanEntry(collective, tuple(members), size, size, name)


def _sample(entry: PlanEntry, launches: Sequence[Measured | None]) -> Sample | None:
    """None where there was no time for it in any launch."""
    measured = [one for one, _ in filter(None, launches)]
    if not measured:
        return None
    native_s = statistics.median(time for one in measured for time in one.native_s)
    return Sample(entry, native_s, statistics.median(time for one in measured for time in one.tuned_s))


def fit(samples: Sequence[Sample], decider: Decider, mpi: str) -> NativeTimes:
    """Of one collective and size: the algorithm whose predictions, in the order of the communicators' ranks, come
    nearest to what native calls took, on all communicators by the same factor."""
    from hocket import algorithms
    from hocket._core import NativeTimes, textbook_algorithm

    first = samples[0].entry
    usual = textbook_algorithm(first.collective, len(first.members), first.bytes_max)
    best: tuple[float, str, int | None, float] | None = None
    for algorithm in algorithms():
        if algorithm.collective != first.collective or algorithm.has_starts:
            continue
        for segment_bytes in SEGMENTS if algorithm.pipelines and first.bytes_max > 0 else (None,):
            logarithms = [
                math.log(one.native_s / _predicted_s(one.entry, algorithm.name, segment_bytes, decider))
                for one in samples
            ]
            mean = statistics.mean(logarithms)
            error = math.sqrt(SHARED * mean**2 + statistics.pvariance(logarithms))
            error += NEARLY * ((algorithm.name != usual) + (segment_bytes is not None))
            if best is None or error < best[0]:
                best = error, algorithm.name, segment_bytes, math.exp(mean)
    assert best is not None  # every collective has an algorithm
    _, name, segment_bytes, factor = best
    schedule_factor = math.exp(
        statistics.mean(
            math.log(one.schedule_s / decider.predicted_s(one.entry, list(one.entry.members), one.entry.bytes_max))
            for one in samples
        )
    )
    return NativeTimes(mpi, first.collective, _up_to(first), name, segment_bytes, factor, schedule_factor)


def _predicted_s(entry: PlanEntry, algorithm: str, segment_bytes: int | None, decider: Decider) -> float:
    like_native = entry.replace(algorithm=algorithm, segments=1, segment_bytes=segment_bytes, order=None, starts=())
    return decider.predicted_s(like_native, list(entry.members), entry.bytes_max)


def _up_to(entry: PlanEntry) -> int:
    """The largest size that this one stands for."""
    sizes = list(sizes_of(entry.collective))
    place = sizes.index(entry.bytes_max)
    following = sizes[place + 1] if place + 1 < len(sizes) else 4 * max(1, sizes[place])
    return max(1, round(math.sqrt(sizes[place] * following)))
