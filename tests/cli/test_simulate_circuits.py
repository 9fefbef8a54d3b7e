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
        "policy": policy, "set_up": set_up, "messages": 24, "relayed": 0, "waiting_s": 0, "end_s": 0,
    }  # fmt: skip
    # Every rank waits for each set-up at least.
    assert circuits["waiting_s"] >= 8 * 0.01 * (3 if ports is None else 2) * (1 - 1e-9)


def test_the_table_of_all_algorithms(hocket_cli: Any, optical: str) -> None:
    done = hocket_cli("simulate", "allgather", "-N", optical, "--bytes", "1 MB")
    assert (done.returncode, done.stderr) == (0, "")
    assert "allgather on optical, circuits lazy" in done.stdout
    assert "mean wait" in done.stdout
    # With two ports the ring sets its eight circuits up once.
    (ring,) = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["ring"]]
    assert {"8", "56"} <= set(ring)


def test_an_algorithm_that_cannot_run_does_not_end_the_others(hocket_cli: Any, optical: str) -> None:
    what = ("simulate", "allgather", "-N", optical, "--bytes", "1 B", "--pin", "ring")
    done = hocket_cli(*what)
    assert (done.returncode, done.stderr) == (0, "")
    assert "ring: not simulated" not in done.stdout
    assert "recursive_doubling: not simulated: circuits: that of" in done.stdout
    assert "has 2 ports, taken by circuits to" in done.stdout
    values = json.loads(hocket_cli(*what, "--json").stdout)
    assert "ring" in {one["name"] for one in values["results"]}
    assert "recursive_doubling" in {one["name"] for one in values["refused"]}
    # With one algorithm the reason is the error.
    done = hocket_cli("simulate", "allgather:recursive_doubling", "-N", optical, "--bytes", "1 B", "--pin", "ring")
    assert (done.returncode, "has 2 ports, taken" in done.stderr) == (2, True)


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
        (("--pin", "0"), "'0' is not a pair of ranks"),
        (("--pin", "0-8"), "0-8: the network has ranks 0 to 7"),
        (("--sharing", "equal"), "--sharing does not apply to optical, which has circuits"),
        (("--rendezvous", "0B"), "--rendezvous does not apply to optical, which has circuits"),
        (("--reference",), "--reference does not apply to optical, which has circuits"),
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


def test_patterns_do_not_ignore_circuits(hocket_cli: Any, optical: str) -> None:
    done = hocket_cli("simulate", "random-ring", "-N", optical)
    assert done.returncode == 2
    assert "optical has circuits, for which traffic patterns and matrices do not wait" in done.stderr


@pytest.mark.parametrize("accounting", ["equations", "hidden"])
def test_ports_over_time(hocket_cli: Any, tmp_path: Path, accounting: str) -> None:
    (tmp_path / "optical.toml").write_text(STAR + CIRCUITS + f'accounting = "{accounting}"\n')
    what = ("simulate", "allgather:recursive_doubling", "-N", "optical.toml", "--bytes", "1 B")
    done = hocket_cli(*what, "--circuit-policy", "batch", "--trace-json", "trace.json", *FREE)
    assert (done.returncode, done.stderr) == (0, "")
    trace = json.loads((tmp_path / "trace.json").read_text())
    events = [event for event in trace["traceEvents"] if event["pid"] == 3]
    transfers = [event for event in events if event.get("cat") == "transfer"]
    slices = [event for event in events if event["ph"] == "X" and event["cat"] != "transfer"]
    # 12 circuits, each with two ports and three phases, which last as long as the network's file says.
    assert len(slices) == 12 * 2 * 3
    assert {event["cat"] for event in slices} == {"set up", "up", "tear down"}
    times_us = {"set up": 10_000, "tear down": 5_000}
    assert all(event["dur"] == pytest.approx(times_us.get(event["cat"], event["dur"])) for event in slices)
    # The events of a thread do not overlap.
    ends: dict[int, float] = {}
    for event in sorted(slices, key=lambda event: event["ts"]):
        assert event["ts"] >= ends.get(event["tid"], 0) - 1e-3
        ends[event["tid"]] = event["ts"] + event["dur"]
    # Of 24 messages each two go at once, one in each direction; both ports have them, within the time "up".
    assert len(transfers) == 24
    up = [event for event in slices if event["cat"] == "up"]
    for one in transfers:
        assert one["dur"] == pytest.approx(100, abs=1)
        assert any(
            event["tid"] == one["tid"]
            and event["ts"] <= one["ts"] + 1e-3
            and one["ts"] + one["dur"] <= event["ts"] + event["dur"] + 1e-3
            for event in up
        )
    waiting = [event for event in trace["traceEvents"] if event.get("cat") == "waiting"]
    assert {event["tid"] for event in waiting} == set(range(8))
    assert sum(event["dur"] for event in waiting) >= 8 * 2 * 10_000 * (1 - 1e-6)  # each rank, two set-ups
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {"h0 port 0", "h7 port 1"} <= names
    assert any(name.endswith("(2)") for name in names) == (accounting == "hidden")
    # The first batch takes both ports of all hosts, and at the end all are free.
    counts = [event["args"] for event in events if event["ph"] == "C"]
    assert counts[0] == {"set up": 16, "up": 0, "tear down": 0}
    assert counts[-1] == {"set up": 0, "up": 0, "tear down": 0}
