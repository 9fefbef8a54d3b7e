# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Wavelengths with continuity, a limit of circuits, and changes over time, beside a simulation of its own code."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from hocket import CostModel, Network, Program, Schedule, algorithms, lower, simulate
from hocket.circuits.network import values_of
from hocket.errors import InvalidInput

_SEED = 20261127
_SETUP_S, _TEARDOWN_S, _LINK_S, _BYTES_PER_S = 0.003, 0.002, 1e-5, 125e6

Cable = tuple[str, str]


class _Line:
    """Circuit switches s0, s1, ... in a line, with hosts at each."""

    def __init__(self, chance: random.Random, switches: int, hosts: int) -> None:
        self.switch_of = [chance.randrange(switches) for _ in range(hosts)]
        self.cables: list[Cable] = [(f"s{i}", f"s{i + 1}") for i in range(switches - 1)]
        self.cables += [(f"h{host}", f"s{switch}") for host, switch in enumerate(self.switch_of)]
        self.most = {cable: chance.randint(1, 3) for cable in self.cables}
        self.max_circuits = chance.choice([None, 1, 2, 3])
        self.changes = sorted(
            (chance.uniform(0, 0.05), cable, chance.randint(0, 3))
            for cable in chance.sample(self.cables, chance.randint(0, len(self.cables) // 2))
        )
        self.changes += [(0.5, cable, 2) for _, cable, _ in self.changes]  # nothing waits for ever

    def path(self, a: int, b: int) -> list[Cable]:
        low, high = sorted((self.switch_of[a], self.switch_of[b]))
        ends = [(f"h{host}", f"s{self.switch_of[host]}") for host in (a, b)]
        return [*ends, *((f"s{i}", f"s{i + 1}") for i in range(low, high))]

    def network(self, folder: Path) -> Network:
        names = sorted({end for cable in self.cables for end in cable}, key=lambda name: (name[0], int(name[1:])))
        text = 'format = "hocket.network/1"\n'
        for name in names:
            text += f'[[node]]\nname = "{name}"\nkind = "{"host" if name[0] == "h" else "switch"}"\n'
        for a, b in self.cables:
            text += f'[[link]]\nbetween = ["{a}", "{b}"]\nbandwidth = "1 Gbit/s"\nlatency = "10 us"\n'
        text += '[circuits]\nsetup = "3 ms"\nteardown = "2 ms"\nports = 1\n'
        if self.max_circuits is not None:
            text += f"max_circuits = {self.max_circuits}\n"
        for (a, b), number in self.most.items():
            text += f'[[circuits.link]]\nbetween = ["{a}", "{b}"]\nwavelengths = {number}\n'
        for at_s, (a, b), number in self.changes:
            text += f'[[circuits.change]]\nat = "{at_s:.9f} s"\nbetween = ["{a}", "{b}"]\nwavelengths = {number}\n'
        (folder / "line.toml").write_text(text)
        return Network.from_file(folder / "line.toml")


def _expected(line: _Line, messages: list[tuple[float, int, int, int]]) -> list[tuple[float, int]]:
    """When the set-up of each message's circuit begins, and its wavelength: the first that asked comes first, one that
    lacks a port, a wavelength or a circuit is passed by; the wavelength is the lowest that is free on all cables."""
    ever = defaultdict(int, line.most)
    for _, cable, number in line.changes:
        ever[cable] = max(ever[cable], number)
    changes = [(round(at_s, 9), cable, number) for at_s, cable, number in line.changes]
    found: dict[int, tuple[float, int]] = {}
    live: list[tuple[float, int]] = []  # when it is down, message
    times = sorted({0.0, *(ready_s for ready_s, *_ in messages), *(at_s for at_s, *_ in changes)})
    while times:
        now_s = times.pop(0)
        live = [one for one in live if one[0] > now_s]
        number_of = dict(line.most)
        for at_s, cable, number in changes:
            if at_s <= now_s:
                number_of[cable] = number
        for m, (ready_s, source, target, num_bytes) in sorted(enumerate(messages), key=lambda one: one[1][0]):
            if m in found or ready_s > now_s:
                continue
            if line.max_circuits is not None and len(live) >= line.max_circuits:
                continue
            if any({source, target} & {*messages[other][1:3]} for _, other in live):
                continue
            path = line.path(source, target)
            taken: dict[Cable, set[int]] = defaultdict(set)
            for _, other in live:
                for cable in line.path(*messages[other][1:3]):
                    taken[cable].add(found[other][1])
            if any(len(taken[cable]) >= number_of[cable] for cable in path):
                continue
            free = [w for w in range(4) if all(w < ever[cable] and w not in taken[cable] for cable in path)]
            if not free:
                continue
            found[m] = now_s, free[0]
            message_s = len(path) * _LINK_S + num_bytes / _BYTES_PER_S
            down_s = now_s + _SETUP_S + message_s + _TEARDOWN_S
            live.append((down_s, m))
            times = sorted({*times, down_s})
    return [found[m] for m in range(len(messages))]


def _sends(hosts: int, messages: list[tuple[float, int, int, int]]) -> Program:
    """Each when its rank has computed so long; ranks have as many processors as they want."""
    lines: dict[int, list[str]] = defaultdict(list)
    for tag, (ready_s, source, target, num_bytes) in enumerate(messages):
        before = f"c{tag}: calc {round(ready_s * 1e9)}"
        lines[source] += [before, f"s{tag}: send {num_bytes}b to {target} tag {tag}", f"s{tag} requires c{tag}"]
        lines[target].append(f"r{tag}: recv {num_bytes}b from {source} tag {tag}")
    ranks = [f"rank {rank} {{\n" + "\n".join(lines[rank]) + "\n}" for rank in range(hosts)]
    return Program.from_goal(f"num_ranks {hosts}\n" + "\n".join(ranks) + "\n")


def test_circuits_are_set_up_when_port_wavelength_and_limit_allow(tmp_path: Path) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(60):
        hosts = chance.randint(3, 9)
        line = _Line(chance, chance.randint(1, 4), hosts)
        network = line.network(tmp_path)
        pairs = [(a, b) for a in range(hosts) for b in range(a + 1, hosts)]
        messages, clock_s = [], [0.0] * hosts
        for a, b in chance.sample(pairs, min(len(pairs), chance.randint(1, 15))):
            source, target = chance.sample((a, b), 2)
            clock_s[source] += round(chance.uniform(1e-9, 0.02), 9)  # its computations follow each other
            messages.append((clock_s[source], source, target, chance.randint(1, 500_000)))
        differences, before_s = [], [0.0] * hosts
        for ready_s, source, target, num_bytes in messages:
            differences.append((ready_s - before_s[source], source, target, num_bytes))
            before_s[source] = ready_s
        found: Any = simulate(_sends(hosts, differences), network, circuit_policy="naive")
        expected = _expected(line, messages)
        starts = {circuit["nodes"]: (circuit["setup_s"][0], circuit["wavelength"]) for circuit in found.circuits}
        assert len(starts) == len(messages)
        for (_, source, target, _), (begin_s, wavelength) in zip(messages, expected, strict=True):
            begun_s, taken = starts[min(source, target), max(source, target)]
            assert begun_s == pytest.approx(begin_s, rel=1e-9, abs=1e-12)
            assert taken == wavelength


@pytest.mark.parametrize("accounting", ["equations", "hidden"])
@pytest.mark.parametrize("policy", ["naive", "batch", "lazy"])
def test_there_are_never_more_circuits_than_the_network_may_have(policy: str, accounting: str) -> None:
    for most in (1, 2, 5):
        network = Network.from_text(
            Network.generate("star:6", bandwidth="1 Gbit/s", latency="50 us").to_toml()
            + f'[circuits]\nsetup = "2 ms"\nteardown = "1 ms"\nports = 3\nmax_circuits = {most}\n'
            f'accounting = "{accounting}"\n'
        )
        for one in algorithms():
            program = lower(Schedule.build(one.collective, one.name, 6), 1000)
            found: Any = simulate(program, network, CostModel(), circuit_policy=policy)
            end = 1 if accounting == "equations" else 0
            for circuit in found.circuits:
                at_s = circuit["setup_s"][0]
                live = sum(
                    other["setup_s"][0] <= at_s < other["teardown_s"][end] or other is circuit
                    for other in found.circuits
                )
                # What is set up at the same instant as another is torn down comes after it.
                assert live <= most, (one.name, policy)


def test_closed_forms_know_no_limit_of_circuits() -> None:
    network = Network.from_text(
        Network.generate("star:4").to_toml()
        + '[circuits]\nsetup = "1 ms"\nteardown = "1 ms"\nports = 1\nmax_circuits = 1\n'
    )
    assert network.circuits is not None
    assert network.circuits["max_circuits"] == 1
    with pytest.raises(InvalidInput, match="max_circuits: closed forms know no limit"):
        values_of(network)
