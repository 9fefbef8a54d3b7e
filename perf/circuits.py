# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Messages a second that a simulation on circuits handles: `.venv/bin/python perf/circuits.py [--nodes N]`.

By each policy, of programs whose circuits stay, and of some that need others in each round. CPU time, best of three.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from hocket import Network, Program, Schedule, lower, simulate

NETWORK = """format = "hocket.network/1"
[generate]
kind = "star"
shape = "{nodes}"
bandwidth = "1 Gbit/s"
latency = "50 us"
[circuits]
setup = "10 ms"
teardown = "10 ms"
ports = {ports}
"""


def rings(nodes: int, rounds: int) -> Program:
    """Each node sends to its right neighbour what it has from its left one, `rounds` times."""
    lines = [f"num_ranks {nodes}"]
    for rank in range(nodes):
        lines.append(f"rank {rank} {{")
        for number in range(rounds):
            lines.append(f"s{number}: send 1000b to {(rank + 1) % nodes} tag 0")
            lines.append(f"r{number}: recv 1000b from {(rank - 1) % nodes} tag 0")
            if number:
                lines.append(f"s{number} requires r{number - 1}")
        lines.append("}")
    return Program.from_goal("\n".join(lines))


def at_once(nodes: int, messages: int) -> Program:
    """Each node has `messages` for others, by chance, all of them ready at the start."""
    chance = random.Random(1)
    ops: list[list[str]] = [[] for _ in range(nodes)]
    for rank in range(nodes):
        for number in range(messages):
            peer = (rank + chance.randrange(1, nodes)) % nodes
            ops[rank].append(f"s{peer}_{number}: send 1000b to {peer} tag {number}")
            ops[peer].append(f"r{rank}_{number}: recv 1000b from {rank} tag {number}")
    blocks = [f"rank {rank} {{\n" + "\n".join(of_rank) + "\n}" for rank, of_rank in enumerate(ops)]
    return Program.from_goal("\n".join([f"num_ranks {nodes}", *blocks]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=4096)
    nodes = parser.parse_args().nodes
    programs = {
        "ring, 50 rounds": rings(nodes, 50),
        "bcast binomial": lower(Schedule.build("bcast", "binomial", nodes), 1000),
        "barrier dissemination": lower(Schedule.build("barrier", "dissemination", nodes), 0),
        "16 messages at once": at_once(nodes, 16),
    }
    print(f"{nodes} nodes, 4 ports")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "circuits.toml"
        path.write_text(NETWORK.format(nodes=nodes, ports=4))
        network = Network.from_file(path)
    for name, program in programs.items():
        for policy in ("naive", "batch", "lazy", "pinned"):
            took_s = float("inf")
            for _ in range(3):
                begin_s = time.process_time()
                found = simulate(program, network, circuit_policy=policy)
                took_s = min(took_s, time.process_time() - begin_s)
            print(
                f"{name:22} {policy:6} {found.num_messages:8} messages, {found.num_circuits:7} circuits, "
                f"{took_s:7.3f} s: {found.num_messages / took_s / 1e6:6.2f} M messages/s"
            )


if __name__ == "__main__":
    main()
