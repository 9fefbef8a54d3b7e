# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket calibrate` on emulated networks whose truth is known: which links are found, and how far off, by MPI."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from hocket import Blueprint, Network
from hocket.cli.common import print_table
from hocket.mpi.discover import Mpi
from mpis import MPIS

MBIT = 1e6 / 8  # bytes


@dataclass(frozen=True)
class Case:
    """Bandwidths in Mbit/s."""

    hosts: list[tuple[str, float]]  # the switch and the bandwidth of h0, h1, ...
    switches: list[tuple[str, str, float]]
    seen: dict[tuple[int, ...], float]  # hosts behind each link that limits something: no other can be measured

    def network(self) -> Network:
        switches = dict.fromkeys(
            [name for name, _ in self.hosts] + [end for a, b, _ in self.switches for end in (a, b)]
        )
        number = {name: i for i, name in enumerate(switches, start=len(self.hosts))}
        cables = [Blueprint.Cable(i, number[switch], rate * MBIT) for i, (switch, rate) in enumerate(self.hosts)]
        cables += [Blueprint.Cable(number[a], number[b], rate * MBIT) for a, b, rate in self.switches]
        nodes = [Blueprint.Node(f"h{i}") for i in range(len(self.hosts))]
        return Network.build(Blueprint("true", [*nodes, *(Blueprint.Node(name, "switch") for name in number)], cables))


LEAVES = [(f"l{i // 2}", 100.0) for i in range(8)]
CASES = {
    "star": Case([("s", 100.0)] * 8, [], {}),
    "two-clusters": Case([("s", 93.0)] * 4 + [("t", 790.0)] * 4, [("s", "t", 93.0)], {(0, 1, 2, 3): 93.0}),
    "three-levels": Case(
        LEAVES,
        [("l0", "m", 150.0), ("l1", "m", 150.0), ("l2", "n", 150.0), ("l3", "n", 150.0), ("m", "n", 200.0)],
        {(0, 1): 150.0, (2, 3): 150.0, (4, 5): 150.0, (6, 7): 150.0, (0, 1, 2, 3): 200.0},
    ),
    "unequal-uplinks": Case(
        LEAVES,
        [("l0", "r", 50.0), ("l1", "r", 100.0), ("l2", "r", 150.0), ("l3", "r", 400.0)],
        {(0, 1): 50.0, (2, 3): 100.0, (4, 5): 150.0},
    ),
    "half-speed-host": Case([("s", 100.0)] * 3 + [("s", 50.0)] + [("s", 100.0)] * 4, [], {}),
}


@dataclass(frozen=True)
class Score:
    network: str
    mpi: str
    found: int  # links between switches, of those that can be seen
    missed: int
    false: int
    host_error: float  # the greatest relative error of a host's bandwidth, either way
    link_error: float | None  # and of a link's between switches that was found
    grade: str
    error_alone: float  # medians
    error_alone_p95: float
    error_together: float
    seconds: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", action="append", choices=[mpi.label for mpi in MPIS], help="default: all")
    parser.add_argument("--network", action="append", choices=CASES, help="default: all")
    parser.add_argument("--json", action="store_true")
    arguments, options = parser.parse_known_args()  # options go to calibrate
    scores = []
    for mpi in MPIS:
        for name, case in CASES.items():
            if mpi.label in (arguments.mpi or [mpi.label]) and name in (arguments.network or [name]):
                scores.append(score(name, case, mpi, options))
                print(scores[-1], file=sys.stderr, flush=True)
    if arguments.json:
        print(json.dumps([asdict(one) for one in scores], indent=1))
        return 0
    columns = (
        "MPI",
        "network",
        "found",
        "missed",
        "false",
        "hosts off",
        "links off",
        "grade",
        "alone",
        "p95",
        "at once",
        "s",
    )
    print_table(columns, [row(one) for one in scores])
    return 0


def row(one: Score) -> tuple[str, ...]:
    link = "" if one.link_error is None else f"{one.link_error:.0%}"
    counts = (str(one.found), str(one.missed), str(one.false))
    errors = tuple(f"{error:.1%}" for error in (one.error_alone, one.error_alone_p95, one.error_together))
    return (one.mpi, one.network, *counts, f"{one.host_error:.0%}", link, one.grade, *errors, f"{one.seconds:.0f}")


def score(name: str, case: Case, mpi: Mpi, options: Sequence[str]) -> Score:
    with tempfile.TemporaryDirectory() as folder:
        true, output = Path(folder) / "true.toml", Path(folder) / "found.toml"
        true.write_text(case.network().to_toml())
        hocket = [str(Path(sys.executable).with_name("hocket")), "calibrate", "--testbed", str(true), "-o", str(output)]
        began = time.monotonic()
        done = subprocess.run(
            [*hocket, "--json", *options, "--", str(mpi.mpiexec), "-n", str(len(case.hosts))],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        seconds = time.monotonic() - began
        result, network = json.loads(done.stdout), Network.from_file(str(output))
    hosts, links = found_links(network)
    everyone = frozenset(range(len(case.hosts)))
    expected = {side(frozenset(group), everyone): rate for group, rate in case.seen.items()}
    right = [group for group in links if group in expected]
    return Score(
        name,
        mpi.label,
        len(right),
        len(expected) - len(right),
        len(links) - len(right),
        max(error(rates, visible(case, i)) for i, rates in hosts.items()),
        max((error(links[group], expected[group]) for group in right), default=None),
        result["grade"],
        result["error_alone"]["median"],
        result["error_alone"]["p95"],
        result["error_together"]["median"],
        seconds,
    )


def visible(case: Case, host: int) -> float:
    """No host is seen to be faster than the fastest other."""
    return min(case.hosts[host][1], max(rate for i, (_, rate) in enumerate(case.hosts) if i != host))


def error(rates: Sequence[float], true: float) -> float:
    return max(abs(rate / true - 1) for rate in rates)


def side(group: frozenset[int], everyone: frozenset[int]) -> frozenset[int]:
    """A link parts the hosts in two: one name for both sides."""
    return group if 0 in group else everyone - group


def found_links(network: Network) -> tuple[dict[int, list[float]], dict[frozenset[int], list[float]]]:
    """Mbit/s of both directions: by host, and by the hosts on the side of the first one of links between switches."""
    places = [network.nodes[node].name for node in network.rank_nodes]
    everyone = frozenset(range(len(places)))
    hosts: dict[int, list[float]] = {}
    links: dict[frozenset[int], list[float]] = {}
    for i, link in enumerate(network.links):
        pairs = [(a, b) for a in everyone for b in everyone if a != b and i in network.route(a, b)]
        behind = frozenset(a for a, _ in pairs)
        rate = link.bandwidth_bytes_per_s * 8e-6
        ends = [network.nodes[end] for end in (link.source, link.target)]
        host = next((end.name for end in ends if end.kind == "host"), None)
        if host is not None:
            hosts.setdefault(int(host[1:]), []).append(rate)
        elif pairs:
            links.setdefault(side(behind, everyone), []).append(rate)
    return hosts, links


if __name__ == "__main__":
    sys.exit(main())
