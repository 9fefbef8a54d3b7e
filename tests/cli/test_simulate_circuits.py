# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket simulate` on a network with circuits: `--circuit-policy`, `--pin`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hocket import circuit_cost

CIRCUITS = '[circuits]\nsetup = "10 ms"\nteardown = "5 ms"\nports = 2\n'
STAR = """format = "hocket.network/1"
name = "optical"
[generate]
kind = "star"
shape = "8"
bandwidth = "1 Gbit/s"
latency = "50 us"
"""
FREE = ("--send-overhead", "0", "--receive-overhead", "0", "--json")


@pytest.fixture
def optical(tmp_path: Path) -> str:
    (tmp_path / "optical.toml").write_text(STAR + CIRCUITS)
    return "optical.toml"


@pytest.mark.parametrize(("policy", "ports", "set_up"), [("naive", None, 12), ("batch", 2, 12)])
def test_what_it_prints_is_what_the_equations_say(
    hocket_cli: Any, optical: str, policy: str, ports: int | None, set_up: int
) -> None:
    what = ("simulate", "allgather:recursive_doubling", "-N", optical, "--bytes", "1 B", "--circuit-policy", policy)
    done = hocket_cli(*what, *FREE)
    assert (done.returncode, done.stderr) == (0, "")
    values = json.loads(done.stdout)
    assert values["sharing"] == "none"
    circuits = values["results"][0]["circuits"]
    expected = circuit_cost(
        collective="allgather",
        algorithm="recursive_doubling",
        num_ranks=8,
        ports=ports,
        bytes=1,
        latency_s=100e-6,
        bandwidth_bytes_per_s=125e6,
        setup_s=0.01,
        teardown_s=0.005,
    )
    # Copies of a byte at each end take less than 1 ns.
    assert circuits["end_s"] == pytest.approx(expected["total_s"], abs=1e-7)
    assert circuits | {"end_s": 0, "waiting_s": 0} == {
        "policy": policy, "set_up": set_up, "messages": 24, "waiting_s": 0, "end_s": 0,
    }  # fmt: skip
    # Every rank waits for each set-up at least.
    assert circuits["waiting_s"] >= 8 * 0.01 * (3 if ports is None else 2) * (1 - 1e-9)


def test_the_table_of_all_algorithms(hocket_cli: Any, optical: str) -> None:
    done = hocket_cli("simulate", "allgather", "-N", optical, "--bytes", "1 MB")
    assert (done.returncode, done.stderr) == (0, "")
    assert "allgather on optical, circuits lazy" in done.stdout
    assert "mean wait" in done.stdout
    # With two ports the ring sets its eight circuits up once.
    (ring,) = [line.split() for line in done.stdout.splitlines() if "ring" in line]
    assert {"8", "56"} <= set(ring)


def test_pinned_circuits_take_no_further_set_up(hocket_cli: Any, optical: str) -> None:
    what = ("simulate", "allgather:ring", "-N", optical, "--bytes", "1 B")
    for more in (("--circuit-policy", "pinned"), ("--pin", "ring"), ("--pin", "0-1,1-2,2-3,3-4,4-5,5-6,6-7,7-0")):
        circuits = json.loads(hocket_cli(*what, *more, *FREE).stdout)["results"][0]["circuits"]
        assert (circuits["policy"], circuits["set_up"]) == ("pinned", 8), more
        assert circuits["end_s"] == pytest.approx(0.015 + 7 * 100e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--circuit-policy", "eager"), "'eager' is not one of 'naive', 'batch', 'lazy', 'pinned'"),
        (("--pin", "hypercube"), "no port or wavelength is left"),
        (("--pin", "0"), "'0' is no pair of ranks"),
        (("--pin", "0-8"), "0-8: the network has ranks 0 to 7"),
        (("--pin", "0-1", "--circuit-policy", "batch"), "--pin does not go with the circuit policy batch"),
    ],
)
def test_bad_input(hocket_cli: Any, optical: str, arguments: tuple[str, ...], told: str) -> None:
    done = hocket_cli("simulate", "bcast:binomial", "-N", optical, "--bytes", "1 B", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_circuits_that_are_not_there(hocket_cli: Any, optical: str) -> None:
    done = hocket_cli("simulate", "bcast", "-N", "star:8", "--bytes", "1 B", "--circuit-policy", "lazy")
    assert done.returncode == 2
    assert "has no circuits" in done.stderr
    done = hocket_cli("simulate", "random-ring", "-N", optical, "--circuit-policy", "lazy")
    assert done.returncode == 2
    assert "--circuit-policy does not apply to random-ring" in done.stderr
