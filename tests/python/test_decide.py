# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""One generator of candidates and one decider, which `hocket schedule` and `hocket advise` share."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from hocket import CostModel, InvalidInput, Network, lower, validate
from hocket.advise import CallGroup, advise
from hocket.plan import ROOTED
from hocket.search import Call, Candidates, Limits, Predicted, by_preference, decide, find, predict, simulate_call
from hocket.search.candidates import nearest

COSTS = CostModel.usual()
COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "reduce_scatter_block", "scatter", "gather", "alltoall")
NETWORKS = ("star:8", "two-clusters:3+5", "tree:3x2", "torus:3x3", "fat-tree:2x2x3")


@pytest.mark.parametrize("number", range(16))
def test_both_verbs_give_schedules_of_the_same_time(number):
    seed = 20261124 + number
    print("seed", seed)
    chance = random.Random(seed)
    network = Network.generate(chance.choice(NETWORKS), bandwidth="1 Gbit/s", latency=f"{chance.choice([1, 20])} us")
    collective = COLLECTIVES[number % len(COLLECTIVES)]
    members = tuple(chance.sample(range(network.num_ranks), chance.randint(4, network.num_ranks)))
    root = chance.randrange(len(members)) if collective in ROOTED else 0
    size = int(2 ** chance.uniform(10, 20))
    group = CallGroup(collective, members, size, size, (root,), 1, True)
    for limits in (Limits.of_plan(COSTS), Limits(), replace(Limits(one_segment_s=1.0), waiting_exchanges=False)):
        found = find(collective, network, size, members, root, COSTS, limits=limits)
        (choice,) = advise([group], network, network.num_ranks, COSTS, limits=limits).choices
        assert choice.predicted_s == found.predicted_s, (found.how, choice.best.how)
        assert choice.best.schedule(root) == found.schedule
        assert simulate_call(found.schedule, members, size, network, COSTS) == found.predicted_s


def test_what_a_verb_allows_beyond_a_plan_is_not_slower():
    network = Network.generate("star:8")
    for collective in COLLECTIVES:
        free = find(collective, network, 100_000, limits=Limits(one_segment_s=1.0))
        planned = find(collective, network, 100_000, limits=Limits.of_plan(COSTS))
        assert free.predicted_s <= planned.predicted_s * (1 + Limits().nearly_equal), collective


def test_the_decision_is_nearly_the_best_of_all_candidates():
    network = Network.generate("two-clusters:3+5", latency="20 us")
    members = tuple(range(8))
    for collective in ("bcast", "allreduce", "allgather"):
        call = Call(collective, members, 60_000)
        candidates = Candidates(network, COSTS, collective, members, limits=Limits())
        every = [
            candidates.with_segments(start, count, call.size_bytes)
            for start in candidates.starts(call.size_bytes)
            for count in candidates.counts(start.family, call.size_bytes)
        ]
        least_s = min(predict(one, call, network, COSTS) for one in every)
        best = decide(candidates, call).best
        assert (
            best.time_s == predict(best.candidate, call, network, COSTS) <= 1.05 * least_s
        )  # climbing may end beside the best


def test_a_bad_first_guess_of_the_segments_hides_no_algorithm():
    """In the formula's four segments a ring takes 2.4 times as long here as in one, which is the best."""
    network = Network.generate("torus:8x8", bandwidth="10 Gbit/s", latency="5 us")
    limits = Limits.of_plan(COSTS)
    call = Call("allreduce", tuple(range(64)), 1_000_000)
    candidates = Candidates(network, COSTS, call.collective, call.members, limits=limits)
    every = {
        candidates.with_segments(start, count, call.size_bytes)
        for start in candidates.starts(call.size_bytes)
        for count in candidates.counts(start.family, call.size_bytes)
    }
    least_s = min(predict(one, call, network, COSTS) for one in every)
    assert decide(candidates, call).best.time_s <= (1 + limits.nearly_equal) * least_s


def test_the_decision_keeps_the_order_of_operands():
    network = Network.generate("two-clusters:3+5", latency="20 us")
    members = (0, 4, 1, 5, 2, 6, 3, 7)  # depth first is another order
    candidates = Candidates(network, COSTS, "reduce", members, limits=Limits.of_plan(COSTS))
    kept = decide(candidates, Call("reduce", members, 100_000, commutative=False))
    assert kept.refused
    for one in (kept.best, *kept.runners_up):
        assert validate(one.candidate.schedule(0)).preserves_order
    free = decide(candidates, Call("reduce", members, 100_000))
    assert not free.refused
    assert free.best.time_s < kept.best.time_s


def test_the_decision_serves_every_root():
    network = Network.generate("torus:4x4", latency="1 us")
    members = tuple(range(16))
    call = Call("bcast", members, 1_000_000, roots=(5, 0, 2))
    limits = Limits.of_plan(COSTS)
    decision = decide(Candidates(network, COSTS, "bcast", members, call.roots, limits), call)
    for one in (decision.best, *decision.runners_up):
        assert not one.candidate.is_carried
        for root in call.roots:
            schedule = one.candidate.schedule(root)
            assert (validate(schedule).ok, schedule.root) == (True, root)
    for_one = decide(Candidates(network, COSTS, "bcast", members, (5,), limits), replace(call, roots=(5,)))
    assert for_one.best.candidate.is_carried  # so there was something to leave out


def test_limits_are_kept():
    network = Network.generate("star:8")
    members = tuple(range(8))

    def decided(collective, size, limits):
        return decide(Candidates(network, COSTS, collective, members, limits=limits), Call(collective, members, size))

    assert not decided("bcast", 10_000, Limits(carried_messages=0)).best.candidate.is_carried
    sized = decided("allreduce", 1_000_000, Limits(segment_bytes=(10_000,), families=("ring",))).best.candidate
    for size in (1_000_000, 2_000_000):
        program = lower(sized.at(size).schedule(0), size)
        assert 8_000 <= max(op.bytes for op in program.ops(0) if op.kind == "send") <= 10_000
    assert decided("bcast", 1_000_000, Limits(segments=3, families=("pipelined_chain",))).best.candidate.segments == 3
    for names in (("recursive_doubling", "ring"), ("recursive_doubling",)):  # no waiting exchange, unless all wait
        waiting = Limits(families=names, waiting_exchanges=False)
        assert decided("allgather", 200_000, waiting).best.candidate.algorithm == names[-1]
    with pytest.raises(InvalidInput, match="no algorithm of bcast is named magic"):
        decided("bcast", 1, Limits(families=("magic",)))


def test_the_fewest_segments_among_the_nearly_fastest():
    network = Network.generate("star:4")
    candidates = Candidates(network, COSTS, "bcast", range(4), limits=Limits(families=("pipelined_chain",)))
    (start, *_) = candidates.starts(100_000)
    found = [
        Predicted(candidates.with_segments(start, count, 100_000), time_s)
        for count, time_s in ((9, 1.0), (4, 1.02), (2, 1.1), (3, 1.04))
    ]
    assert [one.candidate.segments for one in by_preference(found, 0.03)] == [4, 9, 3, 2]
    assert [one.candidate.segments for one in by_preference(found, 0.0)] == [9, 4, 3, 2]


def test_the_nearest_count():
    for counts in (range(2, 9), [2, 5, 8], [3]):
        for target in (0.0, 2.0, 3.4, 4.6, 5.0, 6.6, 100.0):
            assert abs(nearest(counts, target) - target) == min(abs(count - target) for count in counts)
