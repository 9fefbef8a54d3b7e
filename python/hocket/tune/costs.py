# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What messages cost on this very system with this MPI, from a few collectives that are measured on it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket import CostModel
from hocket.errors import Error
from hocket.report.result import CostsResult
from hocket.tune.training import training_entries

if TYPE_CHECKING:
    from hocket import Network
    from hocket.calibrate.costs import Fit
    from hocket.measure.compare import Measured
    from hocket.plan import PlanEntry

# With more ranks the fit takes longer and says no more: these have every kind of traffic many times at once.
MOST_MEMBERS = 16
# Of a host with several ranks so many take part, so that the fit sees messages within hosts and between them.
RANKS_OF_A_HOST = 2
# Fewer collectives than this do not show all that is fitted to them.
LEAST_TRAINING = 8


@dataclass(frozen=True)
class UsedCosts:
    """Costs and where they come from: one of COSTS_SOURCES."""

    costs: CostModel
    source: str
    errors: tuple[float, ...] = ()  # predicted / measured - 1 of what they were fitted to

    def to_result(self) -> CostsResult:
        values: dict[str, Any] = {
            name: None if value == math.inf else value for name, value in self.costs.to_dict().items()
        }
        if not self.errors:
            return CostsResult(self.source, **values)
        median = statistics.median(map(abs, self.errors))
        return CostsResult(self.source, **values, training_error_median=median, training_collectives=len(self.errors))


def measure_costs(
    network: Network,
    members: Sequence[int],
    known: CostModel,
    measure: Callable[[Sequence[PlanEntry]], Sequence[Measured | None]],
    launches: int,
) -> Fit:
    """Costs fitted to training collectives of `members`, with what is `known`, such as the rendezvous size.

    `network`: as the ranks have it; on a testbed what that emulates, and `known` as `Runner.costs_here` says.
    `measure` is one launch; None is a collective that it had no time for. Raises Error where it had it for few.
    """
    from hocket import lower
    from hocket._core import place
    from hocket.calibrate.costs import Sample, fit_costs

    training = training_entries(len(members), known.rendezvous_limit_bytes)
    entries = [entry.replace(members=tuple(members)) for entry in training]
    runs = [measure(entries) for _ in range(launches)]
    measured = [
        (entry, [one for one in of_entry if one is not None])
        for entry, of_entry in zip(entries, zip(*runs, strict=True), strict=True)
    ]
    in_time = [(entry, of_entry) for entry, of_entry in measured if of_entry]
    if len(in_time) < min(LEAST_TRAINING, len(entries)):
        raise Error(f"there was time for {len(in_time)} of {len(entries)} collectives")
    samples = [
        Sample(
            f"{entry.collective} {entry.algorithm}, {entry.bytes_max} B, segments: {entry.segments}",
            place(lower(entry.schedule(0), entry.bytes_max), list(members), network.num_ranks),
            statistics.median(time for launch, _ in of_entry for time in launch.tuned_s),
        )
        for entry, of_entry in in_time
    ]
    return fit_costs(samples, network, known)


def training_members(network: Network, ranks: int) -> tuple[int, ...]:
    """At most MOST_MEMBERS of the first `ranks` ranks: of hosts that lie evenly over the network, as many of each."""
    if ranks <= MOST_MEMBERS:
        return tuple(range(ranks))
    on_host: dict[str, list[int]] = {}
    nodes, rank_nodes = network.nodes, network.rank_nodes
    for rank in network.depth_first_order(0):
        if rank < ranks:
            node = nodes[rank_nodes[rank]]
            host = node.name.rpartition("/")[0] if node.kind == "process" else node.name
            on_host.setdefault(host, []).append(rank)
    hosts = list(on_host.values())
    num_hosts = min(len(hosts), MOST_MEMBERS if max(map(len, hosts)) == 1 else MOST_MEMBERS // RANKS_OF_A_HOST)
    chosen = [hosts[i * len(hosts) // num_hosts] for i in range(num_hosts)]
    by_turn = [some[turn] for turn in range(max(map(len, chosen))) for some in chosen if turn < len(some)]
    return tuple(sorted(by_turn[:MOST_MEMBERS]))
