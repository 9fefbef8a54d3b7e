# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Crossover maps of closed forms on circuits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hocket import InvalidInput, circuit_cost
from hocket.circuits.costs import CircuitCostRequest
from hocket.circuits.maps import CircuitMapRequest, run
from hocket.report.circuit_map_figures import gain
from hocket.requests import from_json, to_json

PAPER = CircuitCostRequest(("allgather",), 32, (2, 4), 1_000_000, 4e-3, 6e-3, 1e-4, 125e6)


def test_each_cell_is_the_fastest_closed_form() -> None:
    done = run(CircuitMapRequest(PAPER, 10.0))
    assert [one.ports for one in done.maps] == [2, 4]
    for one in done.maps:
        assert one.connection_s[0] == pytest.approx(1e-3)
        assert one.connection_s[len(one.connection_s) // 2] == pytest.approx(1e-2)
        for row, connection_s in enumerate(one.connection_s):
            for column, size in enumerate(one.bytes):
                times = [_total(name, one.ports, size, connection_s) for name in one.algorithms]
                assert one.time_s[row][column] == pytest.approx(min(times))
                assert times[one.fastest[row][column]] == pytest.approx(min(times))
                naive = min(_total(name, None, size, connection_s) for name in one.algorithms)
                assert gain(one)[row][column] == pytest.approx(naive / min(times))


def _total(algorithm: str, ports: int | None, size: float, connection_s: float) -> float:
    return circuit_cost(
        collective="allgather", algorithm=algorithm, num_ranks=32, ports=ports, bytes=size, latency_s=1e-4,
        bandwidth_bytes_per_s=125e6, setup_s=0.4 * connection_s, teardown_s=0.6 * connection_s,
    )["total_s"]  # fmt: skip


def test_a_ring_pays_where_circuits_take_long() -> None:
    """Equations 3 to 6 with four ports: one batch and 31 messages, or two batches and 5 messages of the same volume."""
    one = run(CircuitMapRequest(PAPER)).maps[1]
    short, long = one.fastest[0], one.fastest[-1]
    assert {one.algorithms[number] for number in short} == {"recursive_doubling"}
    assert {one.algorithms[number] for number in long} == {"ring"}


def test_a_volume_that_no_alltoall_can_do_with_is_no_algorithm() -> None:
    (one,) = run(CircuitMapRequest(replace(PAPER, collectives=("alltoall",), ports=(4,)))).maps
    assert "hypercube" in one.algorithms
    assert "recursive_doubling" not in one.algorithms


def test_the_request_is_plain_data() -> None:
    request = CircuitMapRequest(PAPER, 50.0)
    assert from_json(to_json(request)) == request


@pytest.mark.parametrize(
    ("changed", "factor", "message"),
    [
        ({"setup_s": 0.0, "teardown_s": 0.0}, 10.0, "take no time"),
        ({"collectives": ("scan",)}, 10.0, "scan"),
        ({}, 1.0, "factor is 1"),
        ({"bytes": 0}, 10.0, "begins at 1 B"),
    ],
)
def test_what_has_no_map(changed: dict[str, object], factor: float, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        run(CircuitMapRequest(replace(PAPER, **changed), factor))


def test_files_of_the_command(hocket_cli, tmp_path) -> None:
    done = hocket_cli(
        "cost", "bcast", "--ranks", "8", "--ports", "2", "--setup", "5ms", "--teardown", "5ms", "--latency", "100 us",
        "--bandwidth", "1 Gbit/s", "--bytes", "1 kB", "--maps", tmp_path / "maps",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = {"circuit-maps.html", "map-bcast-2-ports.png", "map-bcast-2-ports.svg"}
    assert {file.name for file in (tmp_path / "maps").iterdir()} == names
    assert (tmp_path / "maps/map-bcast-2-ports.png").read_bytes().startswith(b"\x89PNG")
    alone = hocket_cli("cost", "bcast", "--ranks", "8", "--bytes", "1 kB", "--maps", tmp_path / "maps")
    assert alone.returncode != 0
    assert "--maps is of circuits" in alone.stderr
