# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs that connect and disconnect their circuits themselves, as GOAL text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket import InvalidInput, Network, Program, simulate
from hocket.report.convert import timeline_of
from hocket.report.timeline_figures import gantt_figure

S, D = 0.010, 0.004
MESSAGE_S = 1e-4 + 125_000 / 125e6

_NETWORK = """format = "hocket.network/1"
[generate]
kind = "star"
shape = "{hosts}"
bandwidth = "1 Gbit/s"
latency = "50 us"
[circuits]
setup = "10 ms"
teardown = "4 ms"
ports = {ports}
accounting = "{accounting}"
blocked = "{blocked}"
"""

_TWO_HOSTS = """format = "hocket.network/1"
[[node]]
name = "h0"
kind = "host"
ranks = 2
[[node]]
name = "h1"
kind = "host"
ranks = 2
[[node]]
name = "switch"
kind = "switch"
[[link]]
between = ["h0", "switch"]
bandwidth = "1 Gbit/s"
latency = "50 us"
[[link]]
between = ["h1", "switch"]
bandwidth = "1 Gbit/s"
latency = "50 us"
[circuits]
setup = "10 ms"
teardown = "4 ms"
ports = 1
"""


def _network(folder: Path, hosts: int, ports: int, **given: str) -> Network:
    rules = {"accounting": "equations", "blocked": "queue", **given}
    (folder / "network.toml").write_text(_NETWORK.format(hosts=hosts, ports=ports, **rules))
    return Network.from_file(folder / "network.toml")


def _goal(*ranks: str) -> Program:
    """Of each rank a line of ops, each after the one before: "connect 1; send 1; disconnect 1"."""
    text = f"num_ranks {len(ranks)}\n"
    for rank, line in enumerate(ranks):
        text += f"rank {rank} {{\n"
        for number, op in enumerate(filter(None, (part.strip() for part in line.split(";")))):
            kind, peer = op.split()
            if kind in ("connect", "disconnect"):
                text += f"// {kind} {peer}\nl{number}: calc 0\n"
            elif kind == "calc":
                text += f"l{number}: calc {peer}\n"
            else:
                text += f"l{number}: {kind} 125000b {'to' if kind == 'send' else 'from'} {peer} tag 0\n"
            text += f"l{number} requires l{number - 1}\n" if number else ""
        text += "}\n"
    return Program.from_goal(text)


def _run(program: Program, network: Network) -> Any:
    return simulate(program, network, circuit_policy="program")


def test_a_circuit_is_up_when_both_ends_have_connected_it(tmp_path: Path) -> None:
    program = _goal("connect 1; send 1; disconnect 1", "calc 7000000; connect 0; recv 0; disconnect 0")
    found = _run(program, _network(tmp_path, 2, 1))
    assert found.end_s(0).tolist() == pytest.approx([0.007 + S, 0.007 + S + MESSAGE_S - 1e-4, 0.007 + S + MESSAGE_S])
    assert found.circuits_end_s == pytest.approx(0.007 + S + MESSAGE_S + D)
    (circuit,) = found.circuits
    assert circuit["setup_s"] == pytest.approx((0.007, 0.007 + S))
    assert circuit["teardown_s"] == pytest.approx((0.007 + S + MESSAGE_S, 0.007 + S + MESSAGE_S + D))


@pytest.mark.parametrize(("accounting", "exchange_s"), [("equations", S + D), ("hidden", S)])
def test_a_port_goes_from_one_circuit_to_the_next(tmp_path: Path, accounting: str, exchange_s: float) -> None:
    swap = "connect 1; send 1; disconnect 1; connect 2; send 2; disconnect 2"
    program = _goal(swap, "connect 0; recv 0; disconnect 0", "connect 0; recv 0; disconnect 0")
    found = _run(program, _network(tmp_path, 3, 1, accounting=accounting))
    assert found.circuits_end_s == pytest.approx(S + MESSAGE_S + exchange_s + MESSAGE_S + D)
    assert found.num_circuits == 2


def test_a_circuit_serves_messages_until_it_is_disconnected_and_can_come_again(tmp_path: Path) -> None:
    once = "connect 1; send 1; recv 1; disconnect 1"
    program = _goal(f"{once}; {once}", "; ".join(["connect 0; recv 0; send 0; disconnect 0"] * 2))
    found = _run(program, _network(tmp_path, 2, 1))
    assert found.num_circuits == 2
    assert found.circuits_end_s == pytest.approx(2 * (S + 2 * MESSAGE_S + D))


def test_ranks_of_two_hosts_share_a_circuit(tmp_path: Path) -> None:
    (tmp_path / "network.toml").write_text(_TWO_HOSTS)
    network = Network.from_file(tmp_path / "network.toml")
    program = _goal(
        "connect 2; connect 1; send 2; disconnect 2",
        "connect 3; connect 0; calc 50000000; send 3; disconnect 3",
        "connect 0; recv 0; disconnect 0",
        "connect 1; recv 1; disconnect 1",
    )
    found = _run(program, network)
    assert found.num_circuits == 1  # ranks 0 and 1 of one host need none
    assert found.circuits_end_s == pytest.approx(S + 0.05 + MESSAGE_S + D)


def test_a_message_to_a_host_that_is_not_connected_takes_the_circuits_that_are_up(tmp_path: Path) -> None:
    program = _goal(
        "connect 1; send 2; disconnect 1",
        "connect 0; connect 2; disconnect 0; disconnect 2",
        "connect 1; recv 0; disconnect 1",
    )
    with pytest.raises(InvalidInput, match='from "h0" to "h2" waits for ever: the program does not connect them'):
        _run(program, _network(tmp_path, 3, 2))
    found = _run(program, _network(tmp_path, 3, 2, blocked="relay"))
    assert found.num_circuits == 2
    assert [hop["nodes"] for hop in found.hops] == [(0, 1), (1, 2)]
    # The second circuit is asked for when the first is up.
    assert found.finish_s[2] == pytest.approx(2 * S + 2 * MESSAGE_S)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        (("connect 1", ""), r"rank 0, op 0 \(connect to rank 1\) waits for ever: rank 1 has no counterpart"),
        (("connect 0", ""), "a rank needs no circuit to itself"),
        (("disconnect 1", "disconnect 0"), "the circuit is not there: no connect comes before it"),
        (("connect 1; connect 1", "connect 0; connect 0"), "the circuit is there: no disconnect comes before it"),
        (("connect 1; disconnect 1; calc 5", "connect 0"), r"rank 0, op 1 \(disconnect from rank 1\) waits for ever"),
        (("recv 1; connect 1", "connect 0; send 0"), r"rank 1, op 0 \(connect to rank 0\) waits for ever: rank 0 does"),
        (("connect 1; connect 2", "connect 0", "connect 0"), '"h0" has 1 port, taken by circuits to "h1"'),
        (("send 1", "recv 0; connect 2", "connect 1"), 'from "h0" to "h1" waits for ever'),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, ranks: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        _run(_goal(*ranks), _network(tmp_path, 3, 1))


def test_where_a_program_with_circuits_does_not_go(tmp_path: Path) -> None:
    program = _goal("connect 1; disconnect 1", "connect 0; disconnect 0")
    assert program.has_circuits
    with pytest.raises(
        InvalidInput, match=r"rank 0, op 0 \(connect to rank 1\): the network \"star:2\" has no circuits"
    ):
        simulate(program, Network.generate("star:2"))
    for policy in ("naive", "batch", "lazy"):
        with pytest.raises(InvalidInput, match="the program connects its circuits itself"):
            simulate(program, _network(tmp_path, 2, 1), circuit_policy=policy)
    with pytest.raises(InvalidInput, match="the program connects no circuit"):
        _run(_goal("send 1", "recv 0"), _network(tmp_path, 2, 1))


def test_connects_are_drawn(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    network = _network(tmp_path, 2, 1)
    program = _goal("connect 1; send 1; disconnect 1", "calc 7000000; connect 0; recv 0; disconnect 0")
    (tmp_path / "program.goal").write_text(program.to_goal())
    run = hocket_cli("simulate", "program.goal", "--network", "network.toml", "--trace-json", "trace.json")
    assert run.returncode == 0, run.stderr
    assert "circuits program" in run.stdout
    names = {event["name"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert {"connect to 1", "set up: h1", "transfer: h0", "tear down: h0"} <= names
    timeline = simulate(program, network, circuit_policy="program", record_links=True)
    figure = gantt_figure([("", timeline_of(program, timeline, network, "program"))], str)
    (connects,) = [trace for trace in figure["data"] if trace["name"] == "connect"]
    assert sorted(connects["text"]) == ["0: connect to 1<br>0 s to 17 ms", "1: connect to 0<br>7 ms to 17 ms"]
