# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Measures hosts, links and messages with the user's own MPI and launcher, and makes a network of them."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hocket import CostModel
from hocket.calibrate.bursts import fit_bursts, predictor
from hocket.calibrate.calibration import Bursts, Calibration, LinkQuality
from hocket.calibrate.duplex import half_duplex_links
from hocket.calibrate.errors import errors_alone, errors_by_length, errors_together
from hocket.calibrate.hosts import Hosts, hosts_of
from hocket.calibrate.infer import Inferred, infer, spread
from hocket.calibrate.intervals import cut_off, intervals, num_rounds
from hocket.calibrate.latency import fit_latencies, leveled, within
from hocket.calibrate.memory import measure_memory
from hocket.calibrate.messages import measure_messages
from hocket.calibrate.network import build_network
from hocket.errors import Error
from hocket.measure.transfers import CoreCosts, Experiment, Launch, Report, Times, launch, report_nothing

if TYPE_CHECKING:
    from hocket.measure.runner import Runner
    from hocket.mpi.build import MpiParts

STEPS = 7  # of `Laboratory.measure`; more where messages were too short


@dataclass(frozen=True)
class CalibrateOptions:
    launches: int = 5  # each step is measured in so many starts of the program
    rounds: int = 1  # of each launch, after one that warms up
    launch_s: float = 60.0  # no round starts later
    timeout_s: float | None = None  # of a launch
    seed: int = 1


@dataclass
class Laboratory:
    """Runs experiments between ranks, each step in several launches. `following` is called before each with what it
    measures."""

    command: Sequence[str]  # the launcher and its options
    runner: Runner
    parts: MpiParts
    options: CalibrateOptions
    following: Report = report_nothing
    step: str = field(default="hosts", init=False)
    hosts: Hosts | None = field(default=None, init=False)

    def report(self, step: str) -> None:
        self.step = step

    def find_hosts(self) -> Hosts:
        self._launch([])
        assert self.hosts is not None
        return self.hosts

    def measure(self, experiments: Sequence[Experiment]) -> Times:
        return [of_round for _ in range(self.options.launches) for of_round in self._launch(experiments).times]

    def measure_hosts(self, experiments: Sequence[Experiment]) -> Times:
        """The same, with hosts in the place of ranks: each takes part with its first rank."""
        assert self.hosts is not None
        first = [ranks[0] for ranks in self.hosts.ranks]
        return self.measure(
            [tuple(t._replace(source=first[t.source], target=first[t.target]) for t in e) for e in experiments]
        )

    def measure_costs(self, pairs: Sequence[tuple[int, int]]) -> list[CoreCosts]:
        """Of these pairs of hosts, in each launch."""
        assert self.hosts is not None
        first = [ranks[0] for ranks in self.hosts.ranks]
        ends = [(first[source], first[target]) for source, target in pairs]
        return [costs for _ in range(self.options.launches) for costs in self._launch([], ends).costs]

    def _launch(self, experiments: Sequence[Experiment], costs: Sequence[tuple[int, int]] = ()) -> Launch:
        self.following(self.step)
        one = launch(
            self.command,
            experiments,
            self.options.rounds,
            self.options.launch_s,
            self.runner,
            self.parts,
            self.options.timeout_s,
            costs,
        )
        hosts = hosts_of(one.places)
        if self.hosts not in (None, hosts):
            raise Error(
                "the ranks ran on other hosts than in the launch before",
                "name the hosts in the launcher's options, so that every launch uses the same",
            )
        self.hosts = hosts
        return one


def calibrate(laboratory: Laboratory, name: str, rendezvous_bytes: int | None) -> Calibration:
    """A network called `name`. `rendezvous_bytes`: as `hocket.measure.eager` finds it."""
    began = time.monotonic()
    options = laboratory.options
    hosts = laboratory.find_hosts()
    if len(hosts.names) < 2:
        raise Error(
            f"all {len(hosts.ranks[0])} ranks run on {hosts.names[0]}: there is no network to measure",
            "start ranks on several hosts, for instance: hocket calibrate -- mpiexec -n 4 --host a,b,c,d",
        )
    laboratory.report("messages within hosts")
    memory = measure_memory(hosts, laboratory.measure)
    inferred = infer(len(hosts.names), laboratory.measure_hosts, options.seed, laboratory.report)
    laboratory.report("messages of all sizes, and what they cost")
    messages = measure_messages(
        inferred.alone, laboratory.measure_hosts, laboratory.measure_costs, rendezvous_bytes, options.seed
    )
    tree = dataclasses.replace(inferred.tree, half_duplex=half_duplex_links(inferred.tree, messages.both_ways))
    inferred = dataclasses.replace(inferred, tree=tree)
    # What an empty message takes one way, less what both cores do for it, is the links' latency.
    alone = inferred.alone
    swept_s = {(s.source, s.target): s.empty_s(float(alone.rate[s.source, s.target])) for s in messages.sweeps}
    empty_s, empty_ratio = leveled(alone.empty_s, swept_s)
    messages = dataclasses.replace(messages, costs=within(messages.costs, min(swept_s.values())))
    overhead_s = messages.costs.send_s + messages.costs.receive_s
    latencies = fit_latencies(inferred.tree, np.where(empty_s > 0, np.maximum(empty_s / 2 - overhead_s, 0), 0))
    network = build_network(name, inferred.tree, latencies, hosts, memory)
    plain = CostModel.usual().replace(
        send_overhead_s=messages.costs.send_s,
        receive_overhead_s=messages.costs.receive_s,
        rendezvous_bytes=rendezvous_bytes,
    )
    costs = fit_bursts(network, hosts, messages, plain)
    predict = predictor(network, hosts, costs)
    short, long = errors_by_length(messages, predict)
    return Calibration(
        network=network,
        mpi=laboratory.runner.mpi.name,
        launches=options.launches,
        rounds=options.rounds,
        seconds=time.monotonic() - began,
        costs=messages.costs,
        duplex=float(np.median(list(messages.both_ways.values()))),
        rendezvous_bytes=rendezvous_bytes,
        bursts=Bursts(costs.burst_bytes, costs.burst_s) if costs.burst_bytes > 0 else None,
        alone=errors_alone(messages, predict),
        short=short,
        long=long,
        together=errors_together(inferred),
        empty_ratio=empty_ratio,
        error_with_links=inferred.error,
        spread=spread(inferred.fitted.times),
        interval_confidence=cut_off(num_rounds(inferred))[1] if num_rounds(inferred) > 1 else None,
        links=link_qualities(inferred, hosts),
        sweeps=tuple(messages.sweeps),
    )


def link_qualities(inferred: Inferred, hosts: Hosts) -> tuple[LinkQuality, ...]:
    found = intervals(inferred)
    links = []
    for group, ends in inferred.tree.link_ends(hosts.names).items():
        rate = inferred.tree.rate(group)
        used = (rate.mean, rate.mean) if inferred.tree.joined(group) else (rate.out, rate.back)
        interval, interval_back = found.get(group) or (None, None)
        links.append(LinkQuality(ends, *used, interval, interval_back, inferred.errors_without.get(group)))
    return tuple(links)
