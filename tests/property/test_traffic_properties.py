# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traffic on random networks: nothing is lost over time, and no link carries more than it can."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networks import tree_texts

from hocket import Fabric, InvalidInput, Network, Program, Schedule, Traffic, lower, simulate, simulate_traffic
from hocket.networks.link_groups import group_links, rows_of

SHARING = st.sampled_from(["none", "equal", "maxmin", "reserve"])


@st.composite
def traffics(draw: st.DrawFn, num_ranks: int) -> Traffic:
    sizes = {"bytes": draw(st.integers(1, 10**6)), "spread": draw(st.sampled_from([0.0, 0.5])), "seed": 7}
    messages = draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["ring", "permutation", "shift", "all", "incast", "matrix"]))
    if kind == "ring":
        return Traffic.random_ring(num_ranks, messages, **sizes)
    if kind == "permutation":
        return Traffic.random_permutation(num_ranks, messages, **sizes)
    if kind == "shift":
        return Traffic.shift(num_ranks, draw(st.integers(0, 9)), messages, **sizes)
    if kind == "all":
        return Traffic.all_to_all(num_ranks, 1, **sizes)
    if kind == "incast":
        return Traffic.incast(num_ranks, draw(st.integers(0, num_ranks - 1)), messages, **sizes)
    cells = st.integers(0, 10**6)
    return Traffic.from_matrix(np.array(draw(st.lists(cells, min_size=num_ranks**2, max_size=num_ranks**2))).reshape(
        num_ranks, num_ranks))  # fmt: skip


@given(st.data(), tree_texts(), SHARING, st.integers(2, 40), st.integers(1, 3))
def test_bytes_in_bins_are_the_bytes_of_the_links(data, text, sharing, bins, in_flight) -> None:
    network = Network.from_text(text)
    fabric = Fabric.from_network(network)
    traffic = data.draw(traffics(network.num_ranks))
    sources = list(range(network.num_ranks))
    result = simulate_traffic(
        traffic, fabric, sharing=sharing, in_flight=in_flight, link_bins=bins, record_messages_of=sources
    )
    assert result.link_bins.shape[0] in (0, fabric.num_links)
    assert result.link_bins.shape[1] <= bins
    bandwidths = fabric.link_bandwidths()
    limited = np.isfinite(bandwidths)
    if result.link_bins.size:
        timed = np.minimum(result.link_bytes, np.where(limited, result.link_bytes, 0))
        passed = result.link_bins.sum(axis=1)
        np.testing.assert_allclose(passed[limited], timed[limited], rtol=1e-9, atol=1e-6)
        if sharing != "none":
            assert (result.link_bins[limited].max(axis=1) <= bandwidths[limited] * result.bin_s * (1 + 1e-9)).all()
    # each message is there, and the last of a source ends when the source does
    assert len(result.message_source) == traffic.total_messages == result.num_messages
    assert result.message_bytes.sum() == sum(
        traffic.message(s, i)[1] for s in sources for i in range(traffic.num_messages(s))
    )
    for source in sources:
        ends_s = result.message_end_s[result.message_source == source]
        assert (ends_s.max() if len(ends_s) else 0) == result.finish_s[source]
    plain = simulate_traffic(traffic, fabric, sharing=sharing, in_flight=in_flight)
    np.testing.assert_allclose(result.finish_s, plain.finish_s, rtol=1e-9)


@given(tree_texts(), st.sampled_from(["binomial", "chain"]), st.integers(1, 10**6), st.integers(2, 40))
def test_bytes_in_bins_of_a_program(text, algorithm, size_bytes, bins) -> None:
    network = Network.from_text(text)
    program = lower(Schedule.build("bcast", algorithm, network.num_ranks), size_bytes)
    timeline = simulate(program, network, link_bins=bins, record_links=True)
    for number, link in enumerate(network.links):
        if np.isfinite(link.bandwidth_bytes_per_s):
            assert timeline.link_bins[number].sum() == pytest.approx(timeline.link_bytes[number], rel=1e-9, abs=1e-6)


def test_a_stopped_simulation_has_bins_up_to_then() -> None:
    fabric = Fabric.generate("fat-tree:8x8x16", bandwidth="1 GB/s")
    traffic = Traffic.random_permutation(fabric.num_ranks, messages=40, spread=0.5)
    result = simulate_traffic(traffic, fabric, link_bins=64, record_messages_of=[3], on_progress=lambda *_: False)
    assert not result.completed
    assert np.isnan(result.finish_s).all()
    passed = result.link_bins.sum(axis=1)
    assert 0 < passed.sum() < result.link_bytes.sum()
    assert (passed <= result.link_bytes * (1 + 1e-9)).all()
    assert result.link_bins.shape[1] * result.bin_s >= result.simulated_s
    assert np.isnan(result.message_end_s).sum() == 1


def test_rows_of_links_add_up() -> None:
    fabric = Fabric.generate("fat-tree:2x2x4", bandwidth="1 GB/s")
    traffic = Traffic.random_permutation(fabric.num_ranks, messages=4)
    groups = group_links(fabric)
    assert groups.names[0] == "hosts → level 1"
    by_link = simulate_traffic(traffic, fabric, link_bins=16)
    by_group = simulate_traffic(traffic, fabric, link_bins=16, link_rows=groups.group.astype(np.int32))
    expected = np.zeros((len(groups.names), by_link.link_bins.shape[1]))
    np.add.at(expected, groups.group, by_link.link_bins)
    np.testing.assert_allclose(by_group.link_bins, expected, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("network", ["fat-tree:2x2x4", "torus:3x3", "dragonfly:2,4,2", "star:5", "tree:2x3x2"])
def test_groups_and_rows_hold_every_link_once(network: str) -> None:
    fabric = Fabric.generate(network)
    groups = group_links(fabric)
    assert len(groups.group) == fabric.num_links
    assert set(groups.group) == set(range(len(groups.names)))
    for bins in (1, 64, 1 << 22):  # with so many bins, few rows fit into the memory
        rows = rows_of(groups, bins)
        assert rows.capacities_in_row.sum() == fabric.num_links
        assert (np.bincount(rows.row_of_link) == rows.capacities_in_row).all()
        assert (rows.group_of_row[rows.row_of_link] == groups.group).all()
        assert len(rows.capacities_in_row) * bins <= (1 << 25) + len(groups.names) * bins


def test_many_simulations_at_once() -> None:
    """Threads of Python simulate at the same time, and none disturbs another."""
    fabric = Fabric.generate("fat-tree:8x8x16", bandwidth="1 GB/s")

    def run(seed: int) -> float:
        return simulate_traffic(
            Traffic.random_permutation(fabric.num_ranks, 4, spread=0.5, seed=seed), fabric
        ).makespan_s

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(8))) == [run(seed) for seed in range(8)]


def test_other_python_threads_run_meanwhile() -> None:
    fabric = Fabric.generate("fat-tree:16x16x32", bandwidth="1 GB/s")
    traffic = Traffic.random_permutation(fabric.num_ranks, messages=100, spread=0.5)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(simulate_traffic, traffic, fabric, on_progress=lambda *_: time.monotonic() < end)
        end = time.monotonic() + 60
        turns = 0
        while not running.done() and turns < 20:
            turns += 1
            time.sleep(0.001)
        assert turns == 20  # while the simulation was still running
        end = 0
        running.result()


def test_an_exception_in_on_progress_comes_out() -> None:
    fabric = Fabric.generate("fat-tree:8x8x16", bandwidth="1 GB/s")
    traffic = Traffic.random_permutation(fabric.num_ranks, messages=10)

    def fail(done: int, total: int, simulated_s: float) -> bool:
        raise LookupError(f"{done} of {total}")

    with pytest.raises(LookupError, match="of 10240"):
        simulate_traffic(traffic, fabric, on_progress=fail)


def test_arrays_outlive_the_result() -> None:
    fabric = Fabric.from_network(Network.generate("star:4"))  # which keeps the network
    result = simulate_traffic(Traffic.shift(4), fabric, link_bins=4, record_messages_of=[0])
    arrays = [result.finish_s, result.link_bytes, result.link_bins, result.message_start_s, result.message_bytes]
    copies = [array.copy() for array in arrays]
    del result
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"link_bins": -1}, "bins of time"),
        ({"link_bins": 1}, "1 bins of time; accepted: 2 to 65536"),
        ({"link_bins": 10**6}, "bins of time"),
        ({"link_bins": 2, "link_rows": np.zeros(3, dtype=np.int32)}, "rows are given for 3 links"),
        ({"link_bins": 2, "link_rows": np.full(8, 9, dtype=np.int32)}, "row of a link is 9"),
        ({"record_messages_of": [4]}, "messages of rank 4"),
        ({"sharing": "fair"}, "sharing"),
        ({"threads": 0}, "0 threads"),
        ({"in_flight": 0}, "0 messages in flight"),
        ({"reference": True, "link_bins": 2}, "the reference records neither"),
    ],
)
def test_wrong_options(options: dict, part: str) -> None:
    with pytest.raises(InvalidInput, match=part):
        simulate_traffic(Traffic.shift(4), Fabric.generate("star:4"), **options)


def test_fabric_is_the_network() -> None:
    network = Network.generate("fat-tree:2x2x4", bandwidth="1 GB/s", latency="2 us")
    for fabric in (Fabric.from_network(network), Fabric.generate("fat-tree:2x2x4", "1 GB/s", "2 us")):
        assert (fabric.num_ranks, fabric.num_links) == (network.num_ranks, len(network.links))
        assert [fabric.node_name(i) for i in range(fabric.num_nodes)] == [node.name for node in network.nodes]
        assert fabric.link_ends().tolist() == [[link.source, link.target] for link in network.links]
        assert fabric.link_bandwidths().tolist() == [link.bandwidth_bytes_per_s for link in network.links]
        assert fabric.link_latencies().tolist() == [link.latency_s for link in network.links]
        assert fabric.route(0, 5) == network.route(0, 5)
        assert [fabric.node_of(rank) for rank in range(16)] == network.rank_nodes
        with pytest.raises(InvalidInput):
            fabric.route(0, 16)


def test_traffic_as_a_program() -> None:
    network = Network.generate("star:6", bandwidth="1 GB/s")
    traffic = Traffic.random_ring(6, messages=3, spread=0.5)
    program = traffic.to_program()
    assert isinstance(program, Program)
    assert simulate(program, network, ordered_pairs=False).makespan_s == pytest.approx(
        simulate_traffic(traffic, Fabric.from_network(network)).makespan_s
    )
