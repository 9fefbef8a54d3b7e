# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Closed forms on circuit-switched networks, beside the golden points of [Takizawa]."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from hocket import InvalidInput, circuit_algorithms, circuit_cost

GOLDEN = Path(__file__).parent.parent / "golden/circuits.csv"
POINTS = [row for row in csv.DictReader(GOLDEN.open()) if row["collective"] != "ft.A"]
PAPER = {"latency_s": 1e-4, "bandwidth_bytes_per_s": 125e6, "setup_s": 0.004, "teardown_s": 0.006}


def cost(collective, algorithm, p, ports, size, **others):
    values = PAPER | others
    return circuit_cost(collective=collective, algorithm=algorithm, num_ranks=p, ports=ports, bytes=size, **values)


def test_every_golden_point_of_the_equations():
    assert len(POINTS) == 157
    for row in POINTS:
        algorithm, scheme = row["algorithm"].split("/")
        p, size, gamma = int(row["p"]), float(row["bytes"]), float(row["gamma"])
        found = cost(
            row["collective"],
            algorithm,
            p,
            int(row["k"]) if scheme == "proposed" else p if scheme == "ideal" else None,
            size / p if row["collective"] == "allgather" else size,
            latency_s=float(row["alpha"]),
            bandwidth_bytes_per_s=1 / float(row["beta"]),
            setup_s=gamma / 4,
            teardown_s=gamma * 3 / 4,
        )
        total = found["messages_s"] if scheme == "ideal" else found["total_s"]
        assert total == pytest.approx(float(row["value_s"]), rel=1e-9), row


def test_a_teardown_hides_behind_the_next_setup():
    for setup, teardown in ((0.01, 0.01), (0.002, 0.01), (0.01, 0.002)):
        times = {"setup_s": setup, "teardown_s": teardown}
        hidden = cost("bcast", "binomial", 32, 2, 1000, accounting="hidden", **times)
        assert hidden["batches"] == 3
        assert hidden["connection_s"] == pytest.approx(setup + 2 * max(setup, teardown) + teardown)
        equations = cost("bcast", "binomial", 32, 2, 1000, **times)
        assert equations["connection_s"] == pytest.approx(3 * (setup + teardown))


@pytest.mark.parametrize(
    ("collective", "algorithm", "p", "ports", "batches"),
    [
        ("allgather", "ring", 7, None, 18),  # an odd ring needs three matchings
        ("allgather", "ring", 8, 1, 14),
        ("allgather", "ring", 2, 1, 1),
        ("allgather", "recursive_doubling", 5, 3, 1),  # one partner outside the power of two, two within
        ("allgather", "recursive_doubling", 5, 2, 2),
        ("alltoall", "pairwise", 7, 2, 4),
        ("alltoall", "hypercube", 16, 4, 1),
        ("barrier", "recursive_doubling", 16, 3, 2),
        ("bcast", "linear", 1, 1, 0),
    ],
)
def test_batches(collective, algorithm, p, ports, batches):
    assert cost(collective, algorithm, p, ports, 1000)["batches"] == batches


def test_more_ports_never_take_longer():
    for collective in ("bcast", "allgather", "alltoall", "allreduce", "barrier"):
        for algorithm in circuit_algorithms(collective):
            for p in range(2, 40):
                naive = cost(collective, algorithm, p, None, 1000)["total_s"]
                times = [cost(collective, algorithm, p, k, 1000)["total_s"] for k in range(1, p + 1)]
                assert times == sorted(times, reverse=True)
                assert times[0] <= naive


def test_what_is_refused():
    with pytest.raises(InvalidInput, match='algorithm "rings" of allgather; accepted: "ring", "recursive_doubling"'):
        cost("allgather", "rings", 8, 2, 1)
    with pytest.raises(InvalidInput, match="number of ports is 0: expected at least 1"):
        cost("allgather", "ring", 8, 0, 1)
    with pytest.raises(InvalidInput, match="setup is -1.0.*: expected a finite time"):
        cost("allgather", "ring", 8, 2, 1, setup_s=-1.0)
    with pytest.raises(InvalidInput, match='accounting is "hiden"; accepted: "equations", "hidden"'):
        cost("allgather", "ring", 8, 2, 1, accounting="hiden")
