# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The search for schedules beyond one segment, against bounds, closed forms and exhaustive search."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

import hocket
from hocket import CostModel, InvalidInput, Network, Schedule, hockney_s, lower, simulate, validate, wire_limit_s
from hocket._core import Tree, alltoall_phases, congestion, fastest_broadcast, textbook_algorithm
from hocket.plan import COLLECTIVES, ROOTED
from hocket.search import (
    best_segments,
    crossover,
    crossover_in_latencies,
    find,
    orders_at_once,
    orders_for,
    pipelined_chain_s,
)

ROOT = Path(__file__).resolve().parents[2]
FREE = CostModel()
TREES = ["star:8", "two-clusters:3+5", "tree:3x2"]


def network_of(kind: str, latency: str = "20 us") -> Network:
    return Network.generate(kind, latency=latency)


def random_tree(seed: int, hosts: int) -> Network:
    chance = random.Random(seed)
    switches = chance.randint(1, 3)
    text = 'format = "hocket.network/1"\nname = "random"\n'
    for i in range(switches):
        text += f'[[node]]\nname = "s{i}"\nkind = "switch"\n'
    for i in range(hosts):
        text += f'[[node]]\nname = "h{i}"\nkind = "host"\n'
    for i in range(1, switches):
        text += (
            f'[[link]]\nbetween = ["s{i}", "s{chance.randrange(i)}"]\nbandwidth = "{chance.choice([1, 4, 10])} MB/s"\n'
        )
    for i in range(hosts):
        text += f'[[link]]\nbetween = ["h{i}", "s{chance.randrange(switches)}"]\n'
        text += f'bandwidth = "{chance.choice([1, 4, 10])} MB/s"\nlatency = "{chance.choice([0, 100, 1000])} us"\n'
    return Network.from_text(text, "random")


@pytest.mark.parametrize("kind", [*TREES, "torus:3x3"])
def test_every_collective_gets_a_right_schedule_above_its_bound(kind):
    network = network_of(kind)
    for collective in COLLECTIVES:
        for members, root in ((None, 0), ([5, 1, 4, 2], 2)):
            root = root if collective in ("bcast", "reduce", "scatter", "gather") else 0
            size = 0 if collective == "barrier" else 40_000
            found = find(collective, network, size, members, root)
            assert validate(found.schedule).ok, (collective, found.how)
            assert (found.schedule.collective, found.schedule.root) == (collective, root)
            assert sorted(found.order) == list(range(len(members or range(network.num_ranks))))
            assert 0 < found.lower_bound_s <= found.predicted_s, found.how
            assert found.gap == pytest.approx(found.predicted_s / found.lower_bound_s - 1)


@pytest.mark.parametrize("kind", TREES)
def test_large_messages_come_near_the_bound_on_trees(kind):
    network = network_of(kind)
    for collective in ("bcast", "reduce"):
        found = find(collective, network, 4_000_000)
        assert found.gap < 0.05, (collective, found.how)
        assert found.schedule.algorithm == "pipelined_chain"
    for collective in ("allgather", "reduce_scatter_block", "allreduce", "scatter", "gather", "alltoall"):
        assert find(collective, network, 2_000_000).gap < 0.02, collective


def test_no_number_of_segments_is_left_out():
    network = Network.generate("star:16", bandwidth="10 Gbit/s", latency="2 us")
    assert find("bcast", network, 6144).chunks == 1
    assert find("bcast", network, 6144).predicted_s <= find("bcast", network, 6144, chunks=1).predicted_s


def test_small_messages_take_trees():
    found = find("bcast", network_of("star:16"), 500)
    assert "chain" not in found.how
    assert found.chunks == 1


def test_the_same_search_gives_the_same():
    network = network_of("torus:4x4")
    first, again = (find("bcast", network, 200_000, root=3, seed=7) for _ in range(2))
    assert (first.schedule, first.how, first.order) == (again.schedule, again.how, again.order)


def test_local_search_is_tried_where_depth_first_congests():
    network = network_of("torus:4x4x2")
    orders = orders_for(network, range(32), 0, "ring", seed=5)
    busiest = [congestion(network, list(range(32)), list(found.order), "ring").busiest_s_per_byte for found in orders]
    assert busiest == sorted(busiest)
    assert orders[0].how == "local search, seed 5" or busiest[0] * 125e6 == pytest.approx(1)


def test_best_segments_is_the_minimum_of_the_formula():
    for ranks, wire_s, latency_s in itertools.product((2, 3, 8, 64), (1e-4, 1e-2, 1.0), (1e-6, 5e-5)):
        chunks = best_segments(wire_s, ranks, latency_s, 500)
        least = min(range(1, 501), key=lambda k: pipelined_chain_s(wire_s, ranks, k, latency_s))
        assert pipelined_chain_s(wire_s, ranks, chunks, latency_s) == pytest.approx(
            pipelined_chain_s(wire_s, ranks, least, latency_s)
        )
    assert best_segments(1.0, 8, 0, 77) == 77


def test_the_formula_is_hockneys():
    for ranks, chunks in ((3, 1), (8, 10), (64, 62)):
        wire_s = 1_000_000 / 125e6
        expected = hockney_s("bcast", "pipelined_chain", ranks, 1_000_000, 5e-5, 125e6, segments=chunks)
        # hockney_s counts the last rank's k chunks as k messages, as all do: k + n - 2 messages of D/k bytes each.
        assert pipelined_chain_s(wire_s, ranks, chunks, 5e-5) == pytest.approx(expected, rel=0.02)


def test_crossover_of_64_ranks_is_at_31_latencies():
    assert crossover_in_latencies(64, 62) == pytest.approx(31)
    assert crossover_in_latencies(4, 1) == math.inf


def test_crossover_lies_between_the_sizes_that_it_tells_apart():
    network = network_of("star:16", "50 us")
    found = crossover(network, sizes=(1024, 16384, 262144))
    assert found.bytes is not None
    for row in found.rows:
        assert (row.pipelined_s < row.one_piece_s) == (row.bytes >= found.bytes)
    never = crossover(network, sizes=(64, 128))
    assert never.bytes is None
    always = crossover(network, sizes=(1 << 20, 1 << 22), one_piece_s=lambda size: size)
    assert always.bytes == 1 << 20


@pytest.mark.parametrize("sharing", ["maxmin", "reserve"])
@pytest.mark.parametrize("collective", ["scatter", "gather"])
def test_scatter_and_gather_against_all_orders_on_small_trees(collective, sharing):
    costs = CostModel(send_overhead_s=1e-4, receive_overhead_s=1e-4, sharing=sharing)
    worse = 0.0
    for seed in range(25):
        network = random_tree(seed, 5)
        best = min(
            simulate(
                lower(Schedule.build(collective, "linear", 5, 0, 1, [0, *others]), 5_000), network, costs
            ).makespan_s
            for others in itertools.permutations(range(1, 5))
        )
        found = find(collective, network, 5_000, costs=costs)
        assert found.predicted_s >= wire_limit_s(collective, network, list(range(5)), 5_000) * (1 - 1e-12)
        worse = max(worse, found.predicted_s / best - 1)
    assert worse < 1e-9


def test_phases_keep_to_the_bottleneck():
    network = network_of("two-clusters:4+3")
    phases = alltoall_phases(network, list(range(7)))
    assert len(phases) == 12
    assert sorted(message for phase in phases for message in phase) == [
        (a, b) for a in range(7) for b in range(7) if a != b
    ]
    found = find("alltoall", network, 100_000, costs=FREE, algorithms=["tree_phases"])
    assert found.schedule.algorithm == "tree_phases"
    assert found.how == "tree_phases"
    assert validate(found.schedule).ok


@pytest.mark.parametrize(("network", "collective"), [("fat-tree:2x4x4", "alltoall"), ("torus:8x8", "allgather")])
def test_what_is_stopped_would_not_have_won(network, collective, monkeypatch):
    soon = find(collective, network_of(network), 8_000)
    asked = []

    def to_the_end(program, network, costs, on_progress):
        asked.append(on_progress)
        return simulate(program, network, costs)

    monkeypatch.setattr(hocket, "simulate", to_the_end)
    late = find(collective, network_of(network), 8_000)
    assert asked
    assert (soon.how, soon.predicted_s, soon.order, soon.tried) == (late.how, late.predicted_s, late.order, late.tried)


def test_segments_and_limits_are_kept():
    network = network_of("star:8")
    assert find("bcast", network, 100_000, chunks=7, algorithms=["pipelined_chain"]).chunks == 7
    found = find("bcast", network, 1_000_000, max_chunk_bytes=4096)
    assert 1_000_000 / found.chunks <= 4097
    with pytest.raises(InvalidInput, match="no algorithm of bcast is named magic"):
        find("bcast", network, 1, algorithms=["magic"])
    with pytest.raises(InvalidInput, match="shout"):
        find("shout", network, 1)
    with pytest.raises(InvalidInput, match="member 9 is not in the network"):
        find("bcast", network, 1, members=[0, 9])


def test_orders_at_once_share_the_links_of_a_torus():
    network = network_of("torus:4x4", "1 us")
    members = list(range(16))
    orders = orders_at_once(network, members, 0, "ring", 4, max_moves=5_000)
    assert all(sorted(order) == members and order[0] == 0 for order in orders)
    together = congestion(network, members, list(orders[-1]), "ring", [list(order) for order in orders[:-1]])
    assert together.most_flows <= 2
    alone = find("allgather", network, 200_000, algorithms=["ring"])
    found = find("allgather", network, 200_000)
    assert found.predicted_s < alone.predicted_s / 1.9
    assert found.how.startswith("ring along")
    assert validate(found.schedule).ok


def test_allgather_spares_the_cables_of_hosts_with_several_ranks():
    network = Network.from_file(str(ROOT / "networks/four-by-two.toml"))
    found = find("allgather", network, 1_000_000, algorithms=["uneven_ring"])
    assert "spares 4 slow links" in found.how
    assert found.gap < 0.02
    assert validate(found.schedule).ok
    assert found.predicted_s < find("allgather", network, 1_000_000, algorithms=["ring"]).predicted_s / 1.15


@pytest.mark.parametrize("name", ["two-clusters", "hourai-f14"])
def test_allreduce_is_optimal_where_few_links_are_slow(name):
    network = Network.from_file(str(ROOT / f"networks/{name}.toml"))
    found = find("allreduce", network, 1_000_000)
    assert found.algorithm == "uneven_ring"
    assert "slow links" in found.how
    assert found.gap < 0.02
    assert found.predicted_s < find("allreduce", network, 1_000_000, algorithms=["ring"]).predicted_s / 1.05


@pytest.mark.parametrize(
    ("answer", "goes_on"), [(None, True), (1, True), (np.True_, True), (False, False), (np.False_, False)]
)
def test_a_progress_function_may_return_anything(answer: object, goes_on: bool) -> None:
    cables = [(i, 18, 10**6 * (i % 5 + 1), 10**6 * (i % 7 + 1), 0, 0, False) for i in range(18)]
    tree = Tree(19, list(range(18)), cables, 10**6)  # takes more than a tenth of a second
    told: list[object] = []

    def progress(*at: object) -> object:
        told.append(at)
        return answer

    assert fastest_broadcast(tree, [0], on_progress=progress).optimal is goes_on
    assert told


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_many_ranks_are_decided_without_simulations(collective: str) -> None:
    network = Network.generate("fat-tree:8x8x16", bandwidth="10 Gbit/s", latency="1 us")
    for size in (8, 100_000) if collective != "barrier" else (0,):
        found = find(collective, network, size, root=5 if collective in ROOTED else 0)
        assert found.tried == 1
        assert 0 < found.lower_bound_s <= found.predicted_s
        assert sorted(found.order) == list(range(1024))


@pytest.mark.parametrize(("collective", "size"), [("reduce", 8), ("allreduce", 100_000), ("bcast", 4_000_000)])
def test_what_is_decided_for_many_ranks_is_near_its_simulation(collective: str, size: int) -> None:
    network = Network.generate("tree:3x100", bandwidth="1 Gbit/s", latency="10 us")
    found = find(collective, network, size)
    assert validate(found.schedule).ok
    simulated_s = simulate(lower(found.schedule, size), network, CostModel.usual()).makespan_s
    print(found.how, found.predicted_s, simulated_s)
    assert 0.6 < found.predicted_s / simulated_s < 1.6
    usual = Schedule.build(collective, textbook_algorithm(collective, 300, size), 300)
    assert simulated_s <= simulate(lower(usual, size), network, CostModel.usual()).makespan_s * 1.05
