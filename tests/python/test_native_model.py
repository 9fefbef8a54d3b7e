# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The bytes of the textbook algorithm are scaled until it takes what native calls took."""

from __future__ import annotations

import pytest

from hocket import CostModel, Network
from hocket.plan import Plan, PlanEntry
from hocket.tune.native_model import native_models, textbook_entry

NETWORK = Network.generate("star:4", bandwidth="8 Mbit/s", latency="0")  # 1 MB/s
WIRE = CostModel(rendezvous_bytes=None)


def entry(collective: str, members: tuple[int, ...], size: int, native_s: float | None) -> PlanEntry:
    return PlanEntry(collective, members, size, size, "linear", native_s=native_s)


def test_scales_by_hand() -> None:
    # Two ranks, one message: 50 kB take 0.05 s. In an alltoall of four each sends three blocks: 0.03 s at 1 MB/s.
    plan = Plan(4, "test", (entry("bcast", (0, 2), 50_000, 0.15), entry("alltoall", (0, 1, 2, 3), 10_000, 0.015)))
    bcast, alltoall = native_models(plan, NETWORK, WIRE)
    assert (bcast.entry.members, bcast.entry.bytes_min, bcast.entry.bytes_max) == ((0, 2), 50_000, 50_000)
    assert bcast.scale == pytest.approx(3, rel=0.01)
    assert alltoall.scale == pytest.approx(0.5, rel=0.01)
    # A message costs 10 ms beside its bytes: 60 ms for 50 kB, 210 ms for 200, where none waits for its receiver.
    costs = CostModel(5e-3, 5e-3, rendezvous_bytes=10**6)
    (model,) = native_models(Plan(4, "test", (entry("bcast", (0, 2), 50_000, 0.21),)), NETWORK, costs)
    assert model.scale == pytest.approx(4, rel=0.01)


def test_what_no_bytes_explain_stays_with_the_textbook() -> None:
    costs = CostModel(5e-3, 5e-3, rendezvous_bytes=None)
    for size, native_s in ((50_000, None), (50_000, 1e-3), (0, 0.1), (1, 0.1)):
        assert native_models(Plan(4, "test", (entry("bcast", (0, 2), size, native_s),)), NETWORK, costs) == []


def test_the_textbook_algorithm_of_a_ring_that_spares_slow_links() -> None:
    ring = PlanEntry("allreduce", list(range(8)), 10**6, 10**6, "uneven_ring", segments=4, starts=(0, 4))
    textbook = textbook_entry(ring)
    assert textbook.algorithm != "uneven_ring"
    assert textbook.starts == ()
