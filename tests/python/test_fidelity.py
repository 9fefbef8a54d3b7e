# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench fidelity` measures, fits and concludes; the command itself is in tests/cli."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hocket import CostModel, Network, lower, simulate
from hocket.bench.fidelity.points import Point, summary
from hocket.bench.fidelity.settings import COLLECTIVES, bundled_networks, placed, placements, quick_cases
from hocket.calibrate.costs import Sample, fit_costs
from hocket.plan import Plan
from hocket.report.fidelity_page import render
from hocket.report.fidelity_tables import by_mpi, sentences
from hocket.tune.training import training_entries


def _point(**changes: object) -> Point:
    point = Point(
        network="star:8", mpi="MPICH 5.0.2", placement="in order", collective="bcast", algorithm="binomial",
        bytes=1 << 20, segments=1, predicted_s=0.9, measured_s=1.0, measured_launches_s=(1.0,), native_s=2.0,
        beside_native_s=1.0, wire_limit_s=0.8, ratio_interval=(1.9, 2.1), first=True, kept=True, equal=True,
    )  # fmt: skip
    return replace(point, **changes)  # type: ignore[arg-type]


def test_costs_are_found_again_in_times_that_follow_them() -> None:
    network = Network.generate("star:8", bandwidth="200 Mbit/s")
    known = CostModel.usual().replace(cores=2, burst_bytes=8688, burst_s=250e-6)
    true = known.replace(
        send_overhead_s=12e-6, receive_overhead_s=12e-6, wake_s=30e-6, copy_bytes_per_s=1.5e9,
        reduce_bytes_per_s=4e9, link_efficiency=0.95,
    )  # fmt: skip
    programs = [lower(entry.schedule(), entry.bytes_max) for entry in training_entries(8, 65536)]
    samples = [Sample("", program, simulate(program, network, true).makespan_s) for program in programs]
    found = fit_costs(samples, network, known)
    assert abs(found.errors).max() < 0.15
    assert abs(found.errors).mean() < 0.03
    assert found.costs.cores == 2
    # A size that was not among the samples.
    other = lower(training_entries(8, 65536)[1].schedule(), 700_000)
    predicted, actual = (simulate(other, network, costs).makespan_s for costs in (found.costs, true))
    assert predicted == pytest.approx(actual, rel=0.05)


@pytest.mark.parametrize("limit", [4_000, 19_457, 65_536, 2**62])
def test_no_training_message_waits_for_its_receiver(limit: int) -> None:
    for ranks in (2, 3, 8):
        entries = training_entries(ranks, limit)
        assert len(entries) >= 12
        Plan.from_text(Plan(ranks, "n", entries).to_json())  # no two for the same calls
        for entry in entries:
            program = lower(entry.schedule(), entry.bytes_max)
            assert max(op.bytes for rank in range(ranks) for op in program.ops(rank)) < limit


def test_only_where_ranks_share_hosts_messages_within_a_host_have_a_cost_of_their_own() -> None:
    star, _, _, pairs = bundled_networks()
    for network, expected in ((star, False), (pairs, True)):
        entry = training_entries(8, 65536)[0]
        program = lower(entry.schedule(), entry.bytes_max)
        fit = fit_costs([Sample("", program, 1e-3)], network, CostModel.usual())
        assert (fit.costs.host_overhead_s is not None) == expected


def test_placements_hold_every_host_as_often_as_it_has_ranks() -> None:
    for network in bundled_networks():
        hosts = sorted(network.nodes[node].name.split("/")[0] for node in network.rank_nodes)
        for placement in placements(network):
            there = placed(network, placement)
            assert sorted(there.nodes[node].name.split("/")[0] for node in there.rank_nodes) == hosts


def test_hosts_may_have_different_numbers_of_ranks() -> None:
    text = 'format = "hocket.network/1"\nname = "odd"\n[[node]]\nname = "s"\nkind = "switch"\n' + "".join(
        f'[[node]]\nname = "{name}"\nkind = "host"\nranks = {ranks}\n[[link]]\nbetween = ["{name}", "s"]\n'
        'bandwidth = "1 Gbit/s"\n'
        for name, ranks in (("a", 1), ("b", 3), ("c", 2))
    )
    network = Network.from_text(text, "odd")
    assert placements(network) == ["in order", "interleaved"]
    expected = {"in order": "abbbcc", "interleaved": "acbcbb"}
    for placement, hosts in expected.items():
        there = placed(network, placement)
        assert "".join(there.nodes[node].name[0] for node in there.rank_nodes) == hosts


def test_interleaved_neighbours_sit_in_different_halves() -> None:
    clusters = placed(bundled_networks()[1], "interleaved")
    names = [clusters.nodes[node].name for node in clusters.rank_nodes]
    assert names == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"]
    assert placements(bundled_networks()[0]) == ["in order"]  # on a star of equal hosts all are alike


def test_quick_samples_cover_every_collective_and_size_of_each_mpi_and_network() -> None:
    every = {(collective, size) for collective in COLLECTIVES for size in (8, 4096, 65536, 1 << 20)}
    for one in range(4):
        of_mpi = {(case.collective, case.size_bytes) for network in range(4) for case in quick_cases(network, one)}
        of_network = {(case.collective, case.size_bytes) for mpi in range(4) for case in quick_cases(one, mpi)}
        for found in (of_mpi, of_network):
            assert found >= every
            assert 4 << 20 in {size for _, size in found}


def test_blocks_of_allgather_and_alltoall_fill_the_buffer_of_a_rank() -> None:
    for case in quick_cases(0, 0):
        block = case.group(8).bytes_max
        assert block * (8 if case.collective in ("allgather", "alltoall") else 1) == case.size_bytes


def test_a_schedule_that_was_not_shown_to_be_faster_gains_nothing() -> None:
    slower = _point(kept=False, native_s=0.5)
    found = summary([_point(), _point(bytes=4 << 20), slower])
    assert found["speedup_least"] == 2.0  # the same case has one that was kept
    found = summary([_point(), replace(slower, collective="reduce")])
    assert found["speedup_least"] == 1.0
    assert found["speedup_large_geometric_mean"] == pytest.approx(math.sqrt(2))
    assert found["slower_than_native"] == 0
    assert summary([_point(native_s=0.5)])["slower_than_native"] == 1


def test_errors_are_relative_to_the_measurement() -> None:
    found = summary([_point(predicted_s=1.0 + 0.01 * i) for i in range(21)])["errors"]["all"]
    assert found["median"] == pytest.approx(0.10)
    assert found["p95"] == pytest.approx(0.19)


def test_the_summary_tells_how_much_launches_differ() -> None:
    points = [_point(measured_launches_s=launches) for launches in ((1.0, 1.1), (1.0, 1.3, 1.2), (1.0,))]
    assert summary(points)["launches_differ_median"] == pytest.approx(0.2)
    assert summary(points[2:])["launches_differ_median"] is None


def test_the_page_and_the_tables_tell_what_the_points_say() -> None:
    points = [_point(), _point(mpi="Open MPI <5>", collective="alltoall", kept=False, bytes=8, wire_limit_s=0.0)]
    document = {"machine": "here", "failures": ["there: it hung"], "summary": summary(points),
                "points": [point.to_dict() for point in points]}  # fmt: skip
    page = render(document)
    assert "Open MPI &lt;5&gt;" in page
    assert "Open MPI <5>" not in page
    assert [row[0] for row in by_mpi(document)[1]] == ["MPICH 5.0.2", "Open MPI <5>"]
    assert any("there: it hung" in line for line in sentences(document))
