# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The simulation and the cost models on random networks, through the Python API."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networks import tree_texts

from hocket import InvalidInput, Network, Schedule, algorithms, hockney_s, lower, simulate, wire_limit_s

SHARING = st.sampled_from(["equal", "maxmin"])
ALGORITHMS = st.sampled_from([(a.collective, a.name, a.pipelines) for a in algorithms()])


@given(tree_texts(), ALGORITHMS, st.integers(0, 100_000), st.integers(1, 8), SHARING)
def test_no_schedule_beats_the_wire_limit(text, algorithm, size_bytes, segments, sharing) -> None:
    network = Network.from_text(text)
    ranks = list(range(network.num_ranks))
    collective, name, pipelines = algorithm
    schedule = Schedule.build(collective, name, len(ranks), segments=segments if pipelines else 1)
    timeline = simulate(lower(schedule, size_bytes), network, sharing=sharing)
    limit_s = wire_limit_s(collective, network, ranks, size_bytes)
    assert timeline.makespan_s >= limit_s * (1 - 1e-9)


@given(tree_texts(), ALGORITHMS, st.integers(1, 100_000), SHARING)
def test_bytes_are_conserved_on_every_link(text, algorithm, size_bytes, sharing) -> None:
    network = Network.from_text(text)
    program = lower(Schedule.build(*algorithm[:2], network.num_ranks), size_bytes)
    timeline = simulate(program, network, sharing=sharing, record_links=True)
    for index, link in enumerate(network.links):
        use = timeline.link_use(index)
        assert use.shape == (len(use), 3)
        carried = float(np.sum((use[:, 1] - use[:, 0]) * use[:, 2]))
        assert carried == pytest.approx(float(timeline.link_bytes[index]), rel=1e-6, abs=1e-3)
        assert (use[:, 2] <= link.bandwidth_bytes_per_s * (1 + 1e-9)).all()
        assert (use[1:, 0] >= use[:-1, 1]).all()


@given(tree_texts(), st.integers(1, 100_000))
def test_sharing_never_helps(text, size_bytes) -> None:
    """With the network to itself a message is at least as fast; a chain shares nothing that matters."""
    network = Network.from_text(text)
    order = network.depth_first_order(0)
    program = lower(Schedule.build("bcast", "chain", network.num_ranks, order=order), size_bytes)
    alone = simulate(program, network, sharing="none").makespan_s
    for sharing in ("equal", "maxmin"):
        assert simulate(program, network, sharing=sharing).makespan_s == pytest.approx(alone, rel=1e-9)


def test_arrays_are_read_only_views_that_keep_the_timeline() -> None:
    program = lower(Schedule.build("bcast", "linear", 4), 1000)
    timeline = simulate(program, Network.generate("star:4"), record_links=True)
    finish, start, end = timeline.finish_s, timeline.start_s(0), timeline.end_s(0)
    assert finish.shape == (4,)
    assert start.shape == end.shape == (3,)
    assert (end >= start).all()
    assert finish.max() == timeline.makespan_s
    assert not finish.flags.owndata
    assert not finish.flags.writeable
    expected = finish.copy()
    del timeline, start, end
    gc.collect()
    assert (finish == expected).all()


def test_a_timeline_is_freed_with_its_last_view() -> None:
    timeline = simulate(lower(Schedule.build("bcast", "linear", 2), 8), Network.generate("star:2"))
    view = timeline.finish_s
    watched = weakref.ref(view)
    del view
    gc.collect()
    assert watched() is None


def test_wrong_arguments_are_refused() -> None:
    network = Network.generate("star:2")
    program = lower(Schedule.build("bcast", "linear", 2), 8)
    with pytest.raises(InvalidInput, match="maxmin"):
        simulate(program, network, sharing="maxmim")
    with pytest.raises(InvalidInput, match="3 ranks"):
        simulate(lower(Schedule.build("bcast", "linear", 3), 8), network)
    timeline = simulate(program, network)
    with pytest.raises(InvalidInput, match="record_links=True|not recorded"):
        timeline.link_use(0)
    with pytest.raises(InvalidInput, match="expected 0 to 1"):
        timeline.start_s(2)
    with pytest.raises(InvalidInput):
        wire_limit_s("bcast", network, [0, 0], 8)
    with pytest.raises(InvalidInput, match="binomial"):
        hockney_s("bcast", "binomal", 8, 8, 1e-6, 1e9)
