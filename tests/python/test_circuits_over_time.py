# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the page and the trace of a simulation on circuits are made from, against what the simulation itself counts."""

from __future__ import annotations

import numpy as np
import pytest

from hocket import CostModel, Network
from hocket._core import CircuitTimeline
from hocket.report.circuit_timeline_figures import (
    BINS,
    MOST_BARS,
    MOST_ROWS,
    drawn_until,
    end_of,
    occupancy_figure,
    ports_figure,
    rows_of,
)
from hocket.report.circuits_over_time import CircuitsOverTime, circuits_over_time
from hocket.simulation.circuits import circuit_use
from hocket.simulation.programs import ProgramOptions, Request, simulate_what


def _simulated(ranks: int, policy: str, what: str, num_bytes: int = 10_000) -> tuple[CircuitTimeline, CircuitsOverTime]:
    network = Network.from_text(
        Network.generate(f"star:{ranks}", bandwidth="1 Gbit/s", latency="50 us").to_toml()
        + '[circuits]\nsetup = "2 ms"\nteardown = "1 ms"\nports = 2\n'
    )
    options = ProgramOptions(circuits=circuit_use(network, policy, None))
    (done,), _ = simulate_what(what, network, Request(num_bytes), CostModel(), None, options)
    assert isinstance(done.timeline, CircuitTimeline)
    return done.timeline, circuits_over_time(done.program, done.timeline, network)


@pytest.mark.parametrize("policy", ["naive", "batch", "lazy"])
@pytest.mark.parametrize("what", ["allgather:ring", "bcast:binomial", "alltoall:pairwise", "allreduce:ring"])
def test_messages_wait_as_long_as_the_simulation_counts(policy: str, what: str) -> None:
    timeline, shown = _simulated(8, policy, what)
    assert len(shown.messages) == timeline.num_messages
    waited_s = sum(one.begin_s - one.ready_s for one in shown.messages)
    if (policy, what.partition(":")[2]) == ("naive", "ring"):
        # The simulation counts from when the message before it, of the same two ranks, has begun.
        assert waited_s >= timeline.waiting_s
    else:
        assert waited_s == pytest.approx(timeline.waiting_s, rel=1e-6)
    # Each message is on a circuit of its hosts, from its begin to its end.
    for one in shown.messages:
        assert any(
            set(circuit["nodes"]) == {one.source, one.target}
            and any(begin_s <= one.begin_s + 1e-12 and one.end_s <= end_s + 1e-12 for begin_s, end_s in transfers)
            for circuit, transfers in zip(shown.circuits, shown.transfers, strict=True)
        )


def test_occupancy_is_the_time_that_circuits_hold_ports() -> None:
    _, shown = _simulated(8, "lazy", "alltoall:pairwise")
    areas = {trace["name"]: trace["y"] for trace in occupancy_figure(shown)["data"] if "stackgroup" in trace}
    width_s = end_of(shown) / BINS
    held_s = sum(circuit["teardown_s"][1] - circuit["setup_s"][0] for circuit in shown.circuits)
    assert sum(map(sum, areas.values())) * width_s == pytest.approx(2 * held_s, rel=1e-3)
    assert np.max(np.sum(list(areas.values()), axis=0)) <= 16 * (1 + 1e-3)
    sent_s = 2 * sum(end_s - begin_s for several in shown.transfers for begin_s, end_s in several)
    assert sum(areas["transfer"]) * width_s == pytest.approx(sent_s, rel=1e-2)


def test_a_chart_of_thousands_of_circuits_has_few_bars() -> None:
    timeline, shown = _simulated(64, "naive", "alltoall:pairwise", 100)
    assert timeline.num_circuits > 2000
    rows, hosts_shown, hosts = rows_of(shown)
    assert hosts == 64
    assert 0 < hosts_shown < 64
    assert len(rows) <= MOST_ROWS
    assert drawn_until(shown, rows) < end_of(shown)
    bars = sum(len(trace["x"]) for trace in ports_figure(shown, rows)["data"])
    assert 0 < bars <= MOST_BARS
