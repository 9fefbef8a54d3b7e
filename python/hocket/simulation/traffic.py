# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Simulates a traffic pattern on a fabric, and says what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hocket.simulation.patterns import Pattern, default_in_flight, make_traffic
from hocket.simulation.statistics import bottlenecks, finish_quantiles, peak_rss_bytes

if TYPE_CHECKING:
    from hocket import Fabric, Traffic, TrafficResult
    from hocket.networks.link_groups import LinkGroups, LinkRows

OnProgress = Callable[[int, int, float], bool]
MOST_RANKS_RECORDED = 64  #: whose messages are recorded one by one: a sample, evenly spaced
MOST_MESSAGES_RECORDED = 50_000
BOTTLENECKS = 12


@dataclass(frozen=True)
class RunOptions:
    sharing: str = "maxmin"
    in_flight: int | None = None  #: None = what suits the pattern
    threads: int = 1
    reference: bool = False
    count_links: bool = True  #: bytes of each link
    record: bool = False  #: links over time, and messages of some ranks


@dataclass(frozen=True)
class TrafficRun:
    pattern: Pattern
    options: RunOptions
    in_flight: int
    fabric: Fabric
    traffic: Traffic
    result: TrafficResult
    setup_s: float  #: real time: network, pattern, tables, start of the first messages; of several threads their mean
    solve_s: float  #: real time of all that followed
    cpu_s: float  #: processor time of both, all threads
    peak_rss_bytes: int
    groups: LinkGroups | None  #: of the links, if they were recorded over time
    rows: LinkRows | None
    recorded_ranks: list[int]

    def to_dict(self) -> dict[str, Any]:
        pattern, result = self.pattern, self.result
        finished = int((self.sender_finish_s() >= 0).sum())
        parameters = {key: value for key, value in asdict(pattern).items() if key in _parameters(pattern)}
        values: dict[str, Any] = {
            "pattern": pattern.name,
            **parameters,
            "network": self.fabric.name,
            "nodes": self.traffic.num_senders,
            "links": self.fabric.num_links,
            "sharing": self.options.sharing,
            "in_flight": self.in_flight,
            "seed": pattern.seed,
            "threads": result.num_threads,
            "reference": self.options.reference,
            "completed": result.completed,
            "makespan_s": result.makespan_s if result.completed else max(result.makespan_s, result.simulated_s),
            "mean_finish_s": result.mean_finish_s if finished else None,
            "finish_quantiles_s": finish_quantiles(self.sender_finish_s()),
            "finished": finished,
            "events": result.num_messages,
            "rates": result.num_rates,
            "setup_s": self.setup_s,
            "solve_s": self.solve_s,
            "cpu_s": self.cpu_s,
            "peak_rss_bytes": self.peak_rss_bytes,
        }
        if self.options.count_links or self.options.record:
            # If stopped, the bytes are also those that have not passed yet.
            ranking = bottlenecks(self.fabric, result.link_bytes, values["makespan_s"], BOTTLENECKS)
            values["bottlenecks"] = [
                asdict(one) | ({} if result.completed else {"utilisation": None}) for one in ranking
            ]
        return values

    def sender_finish_s(self) -> Any:
        """Of the ranks that send anything; NaN = not finished."""
        finish_s = self.result.finish_s
        if self.traffic.num_senders == len(finish_s):
            return finish_s
        return finish_s[[s for s in range(len(finish_s)) if self.traffic.num_messages(s) > 0]]


def simulate_pattern(
    pattern: Pattern, make_fabric: Callable[[], Fabric], options: RunOptions, on_progress: OnProgress | None = None
) -> TrafficRun:
    """`make_fabric` is timed as part of the set-up. A run that `on_progress` stops is a result too.

    @raises InvalidInput if pattern and network do not fit, or an option is out of range.
    """
    from hocket import simulate_traffic

    begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
    fabric = make_fabric()
    traffic = make_traffic(pattern, fabric.num_ranks)
    in_flight = default_in_flight(pattern, fabric.num_ranks) if options.in_flight is None else options.in_flight
    setup_s = time.perf_counter() - begin_s
    groups, rows = None, None
    recorded: dict[str, Any] = {}
    recorded_ranks: list[int] = []
    if options.record:
        from hocket.networks.link_groups import group_links, rows_of

        groups = group_links(fabric)
        rows = rows_of(groups)
        recorded_ranks = list(range(0, traffic.num_sources, -(-traffic.num_sources // MOST_RANKS_RECORDED)))
        recorded = {
            "link_bins": rows.bins,
            "link_rows": rows.row_of_link,
            "record_messages_of": recorded_ranks,
            "most_messages": MOST_MESSAGES_RECORDED,
        }
    result = simulate_traffic(
        traffic,
        fabric,
        sharing=options.sharing,
        in_flight=in_flight,
        threads=options.threads,
        reference=options.reference,
        record_links=options.count_links,
        on_progress=on_progress,
        **recorded,
    )
    return TrafficRun(
        pattern,
        options,
        in_flight,
        fabric,
        traffic,
        result,
        setup_s + result.setup_s,
        result.solve_s,
        time.process_time() - begin_cpu_s,
        peak_rss_bytes(),
        groups,
        rows,
        recorded_ranks,
    )


def _parameters(pattern: Pattern) -> set[str]:
    from hocket.simulation.patterns import PARAMETERS

    return set(PARAMETERS[pattern.name]) | ({"matrix_file"} if pattern.name == "matrix" else set())
