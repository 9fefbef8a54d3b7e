# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Networks of hosts and switches, and what `hocket calibrate` would measure on them, by simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hocket import Network, simulate
from hocket.calibrate.tree import program_of
from hocket.measure.transfers import Experiment, Measure, Times


def network_of(
    hosts: Sequence[tuple[str, float]], switches: Sequence[tuple[str, str, float]], half_duplex: Sequence[str] = ()
) -> Network:
    """Hosts h0, h1, ... with (switch, Mbit/s), and links between switches. `half_duplex`: lower ends of links."""
    names = dict.fromkeys([switch for switch, _ in hosts] + [end for a, b, _ in switches for end in (a, b)])
    text = 'format = "hocket.network/1"\n'
    text += "".join(f'[[node]]\nname = "h{i}"\nkind = "host"\n' for i in range(len(hosts)))
    text += "".join(f'[[node]]\nname = "{name}"\nkind = "switch"\n' for name in names)
    links = [(f"h{i}", switch, rate) for i, (switch, rate) in enumerate(hosts)] + list(switches)
    for a, b, rate in links:
        text += f'[[link]]\nbetween = ["{a}", "{b}"]\nbandwidth = "{rate!r} Mbit/s"\n'
        text += 'duplex = "half"\n' if a in half_duplex else ""
    return Network.from_text(text, "true.toml")


def simulated(network: Network, noise: float, seed: int) -> Measure:
    """Measures by simulation; times are longer by up to a few times `noise`, as times are."""
    generator = np.random.default_rng(seed)

    def measure(experiments: Sequence[Experiment]) -> Times:
        exact = []
        for experiment in experiments:
            timeline = simulate(program_of(experiment, network.num_ranks), network)
            done, seconds = [0] * network.num_ranks, []
            for source, target, _, _ in experiment:
                seconds.append(timeline.end_s(source)[done[source]] + 1e-4)
                done[source] += 1
                done[target] += 1
            exact.append(np.array(seconds))
        return [[list(t * np.exp(np.abs(generator.normal(0, noise, len(t))))) for t in exact] for _ in range(5)]

    return measure
