# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The circuit switch of a testbed: only hosts that have a circuit exchange frames, and its controller survives."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hocket import InvalidInput, Network
from hocket.testbed import Testbed, available
from hocket.testbed.layout import make_circuit_layout
from mpis import LIMIT_S

AVAILABLE, REASON = available()
needs_namespaces = pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable

NODES = """
import os, socket, sys, time
def join(node):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(sys.argv[1])
    connection.send(f"join {node}".encode())
    return connection
nodes = [join(node) for node in range(3)]
def tell(*packets):
    for connection, packet in zip(nodes, packets):
        connection.send(packet.encode())
def hear():
    return [connection.recv(4096).decode() for connection in nodes]
def go():
    return [packet.split()[0] for packet in hear()]
"""

# Each host prints what it gets: "before" and "after" must come, so that their loss would be seen as waiting.
RECEIVER = """
import socket, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("0.0.0.0", 7000))
open(sys.argv[2], "w").close()
while (text := receiver.recv(100)) != b"after":
    sys.stdout.write(f"{sys.argv[1]} {text.decode()}\\n")  # at once: both hosts write to the same pipe
    sys.stdout.flush()
"""

CONNECTING = (
    NODES
    + """
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def send(text):
    for host in ("10.0.0.2", "10.0.0.3"):
        sender.sendto(text.encode(), (host, 7000))
    time.sleep(0.2)
while not all(os.path.exists(name) for name in sys.argv[2:]):
    time.sleep(0.01)
send("before")
tell("begin 1 2 2 all equations 0:1:0", "begin", "begin")
assert go() == ["go"] * 3
send("closed")
tell("want 0", "want 0")
send("set up")
assert [connection.recv(4096) for connection in nodes[:2]] == [b"open 0"] * 2
send("open")
tell("release 0", "release 0")
time.sleep(0.5)
send("torn down")
tell("end", "end", "end")
over = hear()[2].split()
assert over[0] == "over" and len(over) == 2 + 4, over
for _ in range(10):
    send("after")
"""
)

LEAVING = (
    NODES
    + """
tell("begin 1 0 0 all equations 0:1:0", "begin", "begin")
hear()
nodes.pop(1).close()
print(hear())
"""
)

UNUSED = (
    NODES
    + """
tell("begin 1 0 0 all equations 0:1:0", "begin", "begin")
go()
tell("end", "end", "end")
print(hear())
"""
)

REFUSED = (
    NODES
    + """
tell("begin 1 0 0 all equations 0:1:0 1:2:0", "begin", "begin")
print(hear())
tell("begin 2 0 0 all equations 0:1:0 1:2:0", "begin", "begin")
print(go())
"""
)


@pytest.fixture
def bed() -> Iterator[Testbed]:
    with Testbed(make_circuit_layout(Network.generate("star:3", bandwidth="100 Mbit/s"))) as bed:
        yield bed


def _run(bed: Testbed, folder: Path, text: str, failures: int = 1) -> str:
    """What a program prints. `failures`: its runs that fail, of each of which the controller tells once."""
    script = folder / "nodes.py"
    script.write_text(text)
    result = bed.run([PYTHON, str(script), str(bed.controller)], timeout=LIMIT_S)
    assert result.returncode == 0, result.stderr
    lines = result.stderr.splitlines()
    assert len(lines) == failures
    assert all(line.startswith("error: circuit switch: ") for line in lines)
    return result.stdout


@needs_namespaces
def test_only_hosts_with_a_circuit_exchange_frames(bed: Testbed, tmp_path: Path) -> None:
    receiver, sender = tmp_path / "receiver.py", tmp_path / "sender.py"
    receiver.write_text(RECEIVER)
    sender.write_text(CONNECTING)
    bound = {host: tmp_path / f"{host}.bound" for host in ("h1", "h2")}
    lines = [f"ssh {host} {PYTHON} {receiver} {host} {file} &" for host, file in bound.items()]
    lines += [f"{PYTHON} {sender} {bed.controller} {' '.join(map(str, bound.values()))} || exit 1", "wait"]
    result = bed.run(["sh", "-c", "\n".join(lines)], timeout=LIMIT_S)
    assert result.returncode == 0, result.stderr
    got = {host: [line[3:] for line in result.stdout.splitlines() if line.startswith(host)] for host in ("h1", "h2")}
    assert got == {"h1": ["before", "open"], "h2": ["before"]}


@needs_namespaces
def test_a_rank_that_leaves_ends_the_run_and_not_the_controller(bed: Testbed, tmp_path: Path) -> None:
    for _ in range(2):
        out = _run(bed, tmp_path, LEAVING)
        assert out.splitlines()[0] == "['error rank 1 has ended within a run', 'error rank 1 has ended within a run']"


@needs_namespaces
def test_a_plan_with_too_few_ports_is_refused_and_the_next_one_runs(bed: Testbed, tmp_path: Path) -> None:
    refused, accepted = _run(bed, tmp_path, REFUSED, failures=2).splitlines()  # it ends within the second
    assert "error configuration 0 needs 2 ports of node 1, which has 1" in refused
    assert accepted == "['go', 'go', 'go']"


@needs_namespaces
def test_a_run_that_leaves_circuits_ends_with_an_error(bed: Testbed, tmp_path: Path) -> None:
    assert "error the run has ended before all of its circuits were released" in _run(bed, tmp_path, UNUSED)


def test_networks_without_a_switch_for_circuits() -> None:
    two = 'format = "hocket.network/1"\nname = "two"\n' + (
        'node = [{ name = "a", kind = "host" }, { name = "b", kind = "host" }]\n'
        'link = [{ between = ["a", "b"], bandwidth = "1 Gbit/s" }]\n'
    )
    with pytest.raises(InvalidInput, match="is not a star of hosts"):
        make_circuit_layout(Network.from_text(two, "two.toml"))
