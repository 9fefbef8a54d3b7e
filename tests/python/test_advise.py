# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from pathlib import Path
from types import SimpleNamespace

import pytest
from traced_calls import traced_calls

from hocket import CostModel, InvalidInput, Network, Schedule, lower, validate, wire_limit_s
from hocket.advise import CallGroup, advise, group_calls
from hocket.advise.request import AdviseRequest, run
from hocket.networks.source import NetworkSource
from hocket.plan import Plan
from hocket.search import Candidates, Limits, orders_for, predict
from hocket.search.limits import SEGMENT_BYTES, eager_segments

ROOT = Path(__file__).resolve().parents[2]
NETWORK = Network.from_file(str(ROOT / "networks/two-clusters.toml"))
WORLD = tuple(range(8))
FREE = CostModel()


def group(collective="bcast", size=1_000_000, members=WORLD, roots=(0,), commutative=True, recorded_s=None):
    return CallGroup(collective, members, size, size, roots, 1, commutative, recorded_s)


def every_candidate(network, collective, members, size, costs=FREE, roots=(0,)):
    of_call = Candidates(network, costs, collective, members, roots, Limits.of_plan(costs))
    return {
        of_call.with_segments(start, count, size)
        for start in of_call.starts(size)
        for count in of_call.counts(start.family, size)
    }


@pytest.mark.parametrize(("in_background", "counts"), [(False, (2, 0)), (True, (6, 4))])
def test_nonblocking_calls_are_counted(in_background, counts):
    call = {"collective": "bcast", "members": [0, 1], "bytes": 8, "root": 0, "op": "none", "commutative": True}
    times = {"uniform": True, "last_enter_ns": 0, "last_exit_ns": 5}
    forms = ["blocking"] * 2 + ["nonblocking"] * 3 + ["persistent"]
    calls = [SimpleNamespace(form=form, **call, **times) for form in forms]
    (found,) = group_calls(SimpleNamespace(collectives=lambda: calls), in_background)
    assert (found.calls, found.nonblocking_calls) == counts


def test_orders_are_permutations_and_keep_clusters_together():
    for members in (WORLD, (7, 1, 4), (5,)):
        for found in orders_for(NETWORK, members):
            assert sorted(found.order) == list(range(len(members)))
    slow_first = (0, 2, 4, 6, 1, 3, 5, 7)  # ranks alternate between the clusters
    orders = [found.order for found in orders_for(NETWORK, WORLD)]
    assert slow_first in orders
    assert WORLD in orders


def test_every_candidate_is_a_right_schedule():
    for collective in ("bcast", "allreduce", "alltoall", "barrier"):
        for roots in ((0,), (3, 1)) if collective == "bcast" else ((0,),):
            found = every_candidate(NETWORK, collective, (6, 1, 2, 5, 0), 100_000, roots=roots)
            assert found
            for candidate in found:
                for root in roots:
                    assert validate(candidate.schedule(root)).ok, candidate


@pytest.mark.parametrize("root", [0, 3])
def test_large_bcast_comes_near_the_wire_limit(root):
    advice = advise([group(roots=(root,))], NETWORK, 8, FREE)
    (choice,) = advice.choices
    limit = wire_limit_s("bcast", NETWORK, list(WORLD), 1_000_000, root)
    assert choice.reason == ""
    assert limit <= choice.predicted_s <= 1.1 * limit
    assert choice.lower_bound_s == limit
    (entry,) = advice.plan.entries
    assert (entry.root, entry.members, entry.bytes_min, entry.bytes_max) == (root, WORLD, 1_000_000, 1_000_000)
    assert Plan.from_text(advice.plan.to_json()).entries == advice.plan.entries


def test_calls_whose_native_time_is_not_recorded_are_measured():
    """As of non-blocking ones: the wires leave nothing to gain, but who knows what the MPI does."""
    pair = Network.generate("star:2", bandwidth="200 Mbit/s", latency="0")

    def reason(recorded_s: float | None, size: int = 1_000_000, recorded_here: bool = True) -> str:
        of_pair = group("allreduce", size, (0, 1), recorded_s=recorded_s)
        (choice,) = advise([of_pair], pair, 2, FREE, recorded_here=recorded_here).choices
        return choice.reason

    assert reason(None) == ""
    assert reason(0.041) != ""
    assert reason(0.064) == ""
    assert reason(None, size=8) != ""  # latency decides
    assert reason(None, recorded_here=False) != ""


def test_the_chosen_schedule_is_nearly_the_fastest_of_the_candidates():
    costs = CostModel.usual()
    (choice,) = advise([group("allreduce")], NETWORK, 8, costs).choices
    found = every_candidate(NETWORK, "allreduce", WORLD, 1_000_000, costs)
    times = {candidate: predict(candidate, choice.group.call(), NETWORK, costs) for candidate in found}
    nearly_equal = Limits.of_plan(costs).nearly_equal
    assert times[choice.best] == choice.predicted_s <= (1 + nearly_equal) * min(times.values())
    assert choice.lower_bound_s <= choice.predicted_s <= choice.native_model_s


def test_no_segment_waits_for_its_receiver():
    for limit in (19_000, 40_000):
        (choice,) = advise([group("allreduce")], NETWORK, 8, CostModel.usual().replace(rendezvous_bytes=limit)).choices
        program = lower(choice.best.schedule(0), 1_000_000)
        assert max(op.bytes for rank in range(8) for op in program.ops(rank)) < limit
    assert eager_segments(100) == SEGMENT_BYTES


def test_any_root_gets_one_entry():
    (entry,) = advise([group(roots=(0, 5, 2))], NETWORK, 8).plan.entries
    assert entry.root is None
    for root in WORLD:
        assert validate(entry.schedule(root)).ok


@pytest.mark.parametrize(("collective", "size"), [("barrier", 0), ("bcast", 8), ("allreduce", 64)])
def test_latency_stays_with_the_mpi(collective, size):
    advice = advise([group(collective, size)], NETWORK, 8)
    assert advice.plan.entries == ()
    assert "latency decides" in advice.choices[0].reason


def test_calls_that_bytes_decide_do_not_blame_latency():
    (choice,) = advise([group(size=100_000, members=(0, 2))], NETWORK, 8).choices  # two ranks: no schedule is better
    assert choice.predicted_s > 5e-3
    assert choice.reason == "no schedule is predicted to gain 0.1 ms"


def test_bursts_come_off_the_wire_limit():
    costs = FREE.replace(burst_bytes=30_000)
    (whole,), (less,) = (advise([group(size=100_000)], NETWORK, 8, c).choices for c in (FREE, costs))
    # 93 Mbit/s between the clusters, three links of 20 us
    assert whole.lower_bound_s == pytest.approx(8 * 100_000 / 93e6, abs=100e-6)
    assert whole.lower_bound_s - less.lower_bound_s == pytest.approx(8 * 30_000 / 93e6)
    assert less.predicted_s >= less.lower_bound_s


def test_slow_recorded_calls_count_only_when_recorded_on_this_network():
    slow = group(size=100_000, members=(0, 2), recorded_s=1.0)  # two ranks: any algorithm is as good
    assert advise([slow], NETWORK, 8, recorded_here=False).choices[0].reason
    assert not advise([slow], NETWORK, 8, recorded_here=True).choices[0].reason
    small = group(size=100, recorded_s=1.0)  # waited for something else
    assert advise([small], NETWORK, 8, recorded_here=True).choices[0].reason


def test_order_of_operands_is_kept():
    advice = advise([group("reduce", commutative=False), group("allreduce", commutative=False)], NETWORK, 8)
    for entry in advice.plan.entries:
        assert validate(entry.schedule()).preserves_order


def test_part_of_the_ranks():
    members = (6, 0, 4)  # all in the slow cluster
    (choice,) = advise([group(members=members)], NETWORK, 8, FREE).choices
    assert choice.predicted_s <= 1.1 * wire_limit_s("bcast", NETWORK, list(members), 1_000_000, 0)


def test_too_many_ranks_for_the_network():
    with pytest.raises(InvalidInput, match='the program has 9 ranks, but the network "two-clusters" has places for 8'):
        advise([], NETWORK, 9)


def test_the_answer_does_not_depend_on_the_run():
    plans = [advise([group(), group("allreduce")], NETWORK, 8).plan for _ in range(2)]
    assert plans[0].to_json() == plans[1].to_json()


@pytest.mark.parametrize(("collective", "network"), [("allgather", "four-by-two"), ("allreduce", "two-clusters")])
def test_rings_that_spare_slow_links_are_named(collective, network):
    network = Network.from_file(str(ROOT / f"networks/{network}.toml"))
    advice = advise([group(collective)], network, 8, CostModel.usual())
    (choice,) = advice.choices
    (entry,) = Plan.from_text(advice.plan.to_json()).entries
    assert entry.algorithm == "uneven_ring"
    assert 1 < len(entry.starts) < 8
    assert entry.schedule() == choice.best.schedule(0)
    assert validate(entry.schedule()).ok
    assert len(advice.plan.to_json()) < 1000


def test_schedules_without_a_name_are_carried_whole():
    torus = Network.generate("torus:4x4", latency="1 us")
    advice = advise([group("allgather", 30_000, members=tuple(range(16)))], torus, 16, CostModel.usual())
    (choice,) = advice.choices
    assert choice.best.is_carried
    (entry,) = Plan.from_text(advice.plan.to_json()).entries
    assert entry.algorithm == "custom"
    assert entry.schedule() == choice.best.schedule(0)
    assert validate(entry.schedule()).ok


def test_trees_are_named():
    star = Network.generate("star:16", latency="20 us")
    call = group(size=100_000, members=tuple(range(16)), roots=(3,))
    advice = advise([call], star, 16, CostModel.usual())
    (entry,) = Plan.from_text(advice.plan.to_json()).entries
    assert entry.algorithm == "binary_tree"
    assert len(advice.plan.to_json()) < 1000
    call = group(size=100_000, members=tuple(range(16)), roots=(3, 4))
    assert all(entry.algorithm != "custom" for entry in advise([call], star, 16, CostModel.usual()).plan.entries)


def test_several_links_of_a_host_are_used():
    torus = Network.generate("torus:4x4", latency="1 us")
    world = tuple(range(16))
    (choice,) = advise([group("allgather", 300_000, members=world)], torus, 16, FREE).choices
    assert "at once" in choice.best.algorithm
    textbook = [
        predict(candidate, choice.group.call(), torus, FREE)
        for candidate in every_candidate(torus, "allgather", world, 300_000)
        if not candidate.is_carried
    ]
    assert choice.predicted_s < 0.7 * min(textbook)


def test_no_two_ranks_exchange_messages_that_wait_for_their_receiver():
    star = Network.generate("star:8", bandwidth="200 Mbit/s")
    for collective in ("allreduce", "allgather", "alltoall"):
        size = 1 << 20 if collective == "allreduce" else 1 << 17
        for limit in (64 << 10, 2**62):
            advice = advise([group(collective, size)], star, 8, CostModel.usual().replace(rendezvous_bytes=limit))
            program = lower(advice.choices[0].best.schedule(0), size)
            exchanged = [
                op.bytes
                for rank in range(8)
                for op in program.ops(rank)
                if op.kind == "send" and any(o.kind == "recv" and o.peer == op.peer for o in program.ops(rank))
            ]
            if limit == 64 << 10:
                assert all(size < limit for size in exchanged), collective
            else:  # the rule has an effect: without it the largest messages are taken
                assert max(exchanged) >= 64 << 10, collective


def test_alltoall_in_segments_is_right_for_any_number_of_ranks():
    for ranks in (1, 2, 3, 7, 8):
        for segments in (1, 2, 5):
            schedule = Schedule.build("alltoall", "linear", ranks, segments=segments)
            assert validate(schedule).ok
            sends = sum(op.kind == "send" for rank in range(ranks) for op in schedule.ops(rank))
            assert sends == ranks * (ranks - 1) * segments


@pytest.mark.parametrize("starts", [("MPI_Session_init",), ("MPI_Session_init", "MPI_Init"), ()])
def test_a_program_that_starts_by_sessions_alone_has_no_plan(tmp_path, starts):
    trace = traced_calls(tmp_path / "trace", [[(name, 1, 2, {}) for name in starts]] * 2, init="MPI_Comm_size")
    request = AdviseRequest(trace.folder, NetworkSource("star:2"))
    if starts == ("MPI_Session_init",):
        with pytest.raises(InvalidInput, match="MPI_Session_init alone"):
            run(request)
    else:
        assert run(request).plan.entries == ()
