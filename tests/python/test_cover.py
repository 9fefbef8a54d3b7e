# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Plans for sizes and roots between and beyond those that were recorded."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from hocket import CostModel, Network, validate
from hocket.advise import CallGroup, Verdict, advise, cover, group_calls
from hocket.advise.cover import STRETCH
from hocket.advise.shapes import alike
from hocket.plan import Plan, PlanEntry
from hocket.search import simulate_call
from hocket.search.limits import eager_segments
from mpis import rounds

NETWORK = Network.from_file(str(Path(__file__).resolve().parents[2] / "networks/two-clusters.toml"))
WORLD = tuple(range(8))
COSTS = CostModel.usual()


def group(collective, size, roots=(0,), members=WORLD, commutative=True):
    return CallGroup(collective, members, size, size, roots, 10, commutative)


def verdicts_of(*groups, network=NETWORK):
    choices = advise(groups, network, network.num_ranks, COSTS).choices
    return [Verdict(choice, None if choice.reason else choice.entry()) for choice in choices]


def covered(verdicts, network=NETWORK) -> Plan:
    """Read again, so that entries for the same calls are refused."""
    entries = cover(verdicts, network, COSTS)
    return Plan.from_text(Plan(network.num_ranks, "n", entries).to_json())


def served(plan: Plan, collective: str, size: int, root: int | None) -> PlanEntry | None:
    return plan.entry_for(collective, WORLD, size, root)


@pytest.mark.parametrize("collective", ["bcast", "allreduce", "reduce", "allgather", "alltoall"])
def test_no_size_between_two_that_are_served_is_left_out(collective):
    plan = covered(verdicts_of(group(collective, 64_000), group(collective, 1_000_000)))
    seed = 20261124
    print("seed", seed)
    sizes = random.Random(seed).sample(range(64_000 * 10 // 14, 1_000_000 * STRETCH), rounds(50))
    for size in [64_000, 64_001, 1_000_000, 1_000_001, *sizes]:
        assert served(plan, collective, size, 0 if collective in ("bcast", "reduce") else None), size


def test_other_roots_are_served_too():
    plan = covered(verdicts_of(group("bcast", 1_000_000, roots=(3,))))
    recorded = served(plan, "bcast", 1_000_000, 3)
    assert (recorded.root, recorded.bytes_min, recorded.bytes_max) == (3, 1_000_000, 1_000_000)
    for root in WORLD:
        entry = served(plan, "bcast", 700_000, root)
        assert entry is not None
        assert validate(entry.schedule(root, 700_000)).ok


def test_what_is_derived_gains_by_the_model():
    plan = covered(verdicts_of(group("allreduce", 100_000)))
    derived = [entry for entry in plan.entries if entry.bytes_min != entry.bytes_max]
    assert derived
    for entry in derived:
        for size in (entry.bytes_min, entry.bytes_max):
            textbook = advise([group("allreduce", size)], NETWORK, 8, COSTS).choices[0].native_model
            native_s = simulate_call(textbook.schedule(0), WORLD, size, NETWORK, COSTS)
            assert simulate_call(entry.schedule(0, size), WORLD, size, NETWORK, COSTS) < native_s


def test_sizes_near_one_that_stays_native_stay_native():
    kept, left = verdicts_of(group("bcast", 1_000_000), group("bcast", 64_000))
    slower = replace(left, entry=None, native_s=left.choice.predicted_s, tuned_s=2 * left.choice.predicted_s)
    plan = covered([kept, slower])
    assert served(plan, "bcast", 1_000_000, 0)
    for size in (46_000, 64_000, 90_000):
        assert served(plan, "bcast", size, 0) is None
    assert covered([slower]).entries == ()


def test_a_gain_that_was_not_measured_is_not_promised():
    """Measured twice as slow as predicted: no gain at nearby sizes."""
    (verdict,) = verdicts_of(group("alltoall", 64_000))
    plan = covered([replace(verdict, native_s=verdict.choice.native_s, tuned_s=2 * verdict.choice.predicted_s)])
    assert served(plan, "alltoall", 64_000, None)
    assert served(plan, "alltoall", 32_000, None) is None


def test_a_ring_that_spares_slow_links_serves_sizes_near_it():
    (verdict,) = verdicts_of(group("allreduce", 60_000))
    plan = covered([verdict])
    rings = [entry for entry in plan.entries if entry.algorithm == "uneven_ring"]
    assert verdict.entry in rings
    assert all(entry.segment_bytes in eager_segments(COSTS.rendezvous_limit_bytes) for entry in rings)
    near = [plan.entry_for("allreduce", WORLD, size, None) for size in (59_999, 60_000, 60_001, 240_000)]
    assert all(entry is not None and entry.custom is None for entry in near)


TORUS = Network.generate("torus:4x4", latency="1 us")


def carried_on_torus(size):
    (verdict,) = verdicts_of(group("allgather", size, members=tuple(range(16))), network=TORUS)
    plan = covered([verdict], TORUS)
    carried = [entry for entry in plan.entries if entry.custom is not None]
    assert verdict.entry in carried
    return plan, carried


def test_a_schedule_carried_whole_serves_sizes_near_it():
    plan, _ = carried_on_torus(30_000)
    near = [plan.entry_for("allgather", tuple(range(16)), size, None) for size in (29_999, 30_000, 30_001)]
    assert all(entry is not None and entry.custom is not None for entry in near)


def test_a_named_tree_serves_other_roots_too():
    star = Network.generate("star:16", latency="20 us")
    members = tuple(range(16))
    plan = covered(verdicts_of(group("bcast", 100_000, roots=(3,), members=members), network=star), star)
    for root in (3, 4):
        entry = plan.entry_for("bcast", members, 100_000, root)
        assert entry is not None
        assert entry.custom is None


def test_segments_of_a_schedule_carried_whole_keep_their_bytes():
    """With one number of segments for all sizes, those of large messages wait for their receiver."""
    _, carried = carried_on_torus(30_000)
    most = max(eager_segments(COSTS.rendezvous_limit_bytes))
    assert all(entry.bytes_max <= entry.custom.segments * most for entry in carried)
    assert len({entry.custom.segments for entry in carried}) > 1
    assert all(validate(entry.custom).ok for entry in carried)


def test_order_of_operands_is_kept_at_other_sizes_and_roots():
    def keeps(plan):
        return [
            validate(entry.schedule(root)).preserves_order
            for entry in plan.entries
            for root in (WORLD if entry.root is None else (entry.root,))
        ]

    free = keeps(covered(verdicts_of(group("reduce", 100_000))))
    kept = keeps(covered(verdicts_of(group("reduce", 100_000, commutative=False))))
    assert kept
    assert all(kept)
    assert not all(free)  # so there was something to leave out


def test_the_answer_does_not_depend_on_the_run():
    plans = [covered(verdicts_of(group("bcast", 100_000), group("allreduce", 30_000))) for _ in range(2)]
    assert plans[0].to_json() == plans[1].to_json()


def test_barriers_and_empty_messages():
    assert covered(verdicts_of(group("barrier", 0), group("bcast", 0), group("bcast", 100_000))).entries


def test_communicators_of_equal_shape_are_one_group():
    # Even ranks of two-clusters are in one cluster, odd ones in the other; the first hosts of both are 0 and 1.
    pairs = [(0, 2), (4, 6), (2, 0), (1, 3), (0, 1), (4, 5)]
    first = alike(pairs, NETWORK)
    links = NETWORK.links
    speeds = {pair: [links[link].bandwidth_bytes_per_s for link in NETWORK.route(*pair)] for pair in pairs}
    for pair, like in first.items():
        assert speeds[pair] == speeds[like]
    assert first[4, 6] == first[2, 0] == (0, 2)
    assert first[4, 5] == first[0, 1] != first[0, 2]
    assert alike(pairs, None) == {pair: pair for pair in pairs}


def test_calls_on_equal_shapes_are_counted_together():
    call = {"collective": "bcast", "bytes": 8, "root": 0, "op": "none", "commutative": True, "form": "blocking"}
    times = {"uniform": True, "last_enter_ns": 0, "last_exit_ns": 5}
    calls = [SimpleNamespace(members=members, **call, **times) for members in ([0, 2], [4, 6], [4, 6], [0, 1])]
    groups = group_calls(SimpleNamespace(collectives=lambda: calls), network=NETWORK)
    assert {(g.members, g.other_members): g.calls for g in groups} == {((0, 2), ((4, 6),)): 3, ((0, 1), ()): 1}
