# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Optimal broadcasts and reductions in one segment on tree networks [Hourai], with a proof or a gap."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hocket.errors import Error, InvalidInput
from hocket.schedules.transfers import TimedTransfer, gap_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hocket import Network, Program, Schedule

    OnProgress = Callable[[int | None, int, int, float], bool]

COLLECTIVES = ("bcast", "reduce")
CLAIM = "among all schedules in one segment"
#: What "optimal" means where links have latencies: see docs/explanation/optimal-schedules.md.
CLAIM_WITH_DELAYS = "among schedules that start each transfer, in the order of starts, as early as possible"

#: A schedule in one segment that is within a per cent of the optimum, or the best after this time, is good enough to be
#: compared: the costs of messages, which the search does not know, are less certain.
ONE_SEGMENT_LIMIT_S, ONE_SEGMENT_GAP = 1.0, 0.01
MOST_ONE_SEGMENT_RANKS = 256


@dataclass(frozen=True)
class OptimalSchedule:
    """What the search found. Times are those of the model: a transfer has its path for itself."""

    collective: str
    network: str
    bytes: int
    root: int
    status: str  # "optimal" = the makespan is proven to be the least; "feasible" = it is within `gap` of the bound
    makespan_s: float
    lower_bound_s: float
    lower_bound_any_starts_s: float  # of all schedules in one segment; with delays it may be less than lower_bound_s
    nodes_explored: int
    search_s: float
    transfers: tuple[TimedTransfer, ...]
    claim: str  # the set of schedules that it is the best of
    schedule: Schedule
    unordered_schedule: Schedule  # without the messages that keep transfers apart; faster where messages are small
    timed_program: Program  # the transfers at their instants, for `simulate`

    @property
    def gap(self) -> float:
        """How much shorter the shortest schedule might be, as a part of the bound."""
        return gap_of(self.makespan_s, self.lower_bound_s)

    def to_dict(self) -> dict[str, Any]:
        names = ("collective", "network", "bytes", "root", "status", "makespan_s", "lower_bound_s",
                 "lower_bound_any_starts_s", "gap", "claim", "nodes_explored", "search_s")  # fmt: skip
        return {name: getattr(self, name) for name in names} | {"transfers": [asdict(t) for t in self.transfers]}


def optimal_schedule(
    network: Network,
    collective: str,
    num_bytes: int,
    root: int = 0,
    members: Sequence[int] | None = None,
    *,
    time_limit_s: float = 60.0,
    gap: float = 0.0,
    threads: int = 1,
    method: str = "hocket",
    cuts: str = "both",
    on_progress: OnProgress | None = None,
) -> OptimalSchedule:
    """The fastest broadcast or reduction in one segment on a tree.

    `members`: the communicator's network ranks in order, all by default; `root` and the ranks of the result are
    positions in it.

    `method` "paper" is the search of [Hourai] as published, to compare with, with its `cuts` of symmetric branches:
    none, sender, receiver or both. `on_progress(makespan_ns or None, lower_bound_ns, states, seconds)` is called about
    ten times a second; where it returns False, the best schedule by then is the result.

    Stops after `time_limit_s` seconds, or when the schedule is proven to take at most (1 + `gap`) times the least.
    Raises InvalidInput for other collectives, networks with cycles, and a root that is not a rank.
    """
    from hocket import _core

    if collective not in COLLECTIVES:
        raise InvalidInput(
            f"optimal schedules are searched for {' and '.join(COLLECTIVES)}, not for {collective}",
            "leave out --optimal",
        )
    if not time_limit_s > 0:  # nor nan
        raise InvalidInput(f"the time limit is {time_limit_s} s: expected more than 0", "60 is usual")
    if not gap >= 0:
        raise InvalidInput(f"the gap is {gap}: expected at least 0", "0 asks for a proof, 0.01 for 1 % above the bound")
    members = list(range(network.num_ranks) if members is None else members)
    if not 0 <= root < len(members):
        raise InvalidInput(f"root is {root}: expected 0 to {len(members) - 1}", "there is no such rank")
    if num_bytes < 1:
        raise InvalidInput(f"bytes is {num_bytes}: expected at least 1", "a broadcast of nothing needs no schedule")
    tree = _core.tree_of(network, num_bytes, members)
    # A reduction is a broadcast backwards: on the tree with the directions of its links exchanged.
    searched = tree if collective == "bcast" else _core.reversed_tree(tree)
    if method == "paper":
        found = _core.paper_broadcast(searched, [root], cuts=cuts, time_limit_s=time_limit_s, on_progress=on_progress)
    else:
        found = _core.fastest_broadcast(
            searched, [root], time_limit_s=time_limit_s, gap=gap, threads=threads, on_progress=on_progress
        )
    if len(found.transfers) < len(members) - 1:
        raise Error(f"no schedule was found in {found.search_s:.3g} s", "give more time with --time-limit")
    fault = _core.faults_of(searched, [root], found.transfers)
    if fault:
        raise AssertionError(f"the search found a schedule that is wrong: {fault}")
    transfers = found.transfers if collective == "bcast" else _core.reversed_transfers(found.transfers)
    schedule_of = _core.bcast_of if collective == "bcast" else _core.reduce_of
    has_delays = any(link.latency_s > 0 for link in network.links)
    return OptimalSchedule(
        collective=collective,
        network=network.name,
        bytes=num_bytes,
        root=root,
        status="optimal" if found.optimal else "feasible",
        makespan_s=found.makespan_ns * 1e-9,
        lower_bound_s=found.lower_bound_ns * 1e-9,
        lower_bound_any_starts_s=found.lower_bound_any_starts_ns * 1e-9,
        nodes_explored=found.num_nodes,
        search_s=found.search_s,
        transfers=_timed(transfers, num_bytes),
        claim=CLAIM_WITH_DELAYS if has_delays else CLAIM,
        schedule=schedule_of(tree, root, found.transfers),
        unordered_schedule=schedule_of(tree, root, found.transfers, announces_ends=False),
        timed_program=_core.timed_program_of(tree, transfers),
    )


def optimal_in_one_segment(
    network: Network,
    collective: str,
    num_bytes: int,
    root: int = 0,
    members: Sequence[int] | None = None,
    time_limit_s: float = ONE_SEGMENT_LIMIT_S,
) -> OptimalSchedule | None:
    """Good enough to be compared with others; None where there is no such search for the call."""
    num_members = network.num_ranks if members is None else len(members)
    if collective not in COLLECTIVES or not network.is_tree or not 1 < num_members <= MOST_ONE_SEGMENT_RANKS:
        return None
    if num_bytes < 1:
        return None
    try:
        return optimal_schedule(
            network, collective, num_bytes, root, members, time_limit_s=time_limit_s, gap=ONE_SEGMENT_GAP
        )
    except InvalidInput:  # links so slow or messages so large that it cannot count their times
        return None


def _timed(transfers: Sequence[tuple[int, int, int, int]], num_bytes: int) -> tuple[TimedTransfer, ...]:
    return tuple(TimedTransfer(s, t, start_ns * 1e-9, end_ns * 1e-9, num_bytes) for s, t, start_ns, end_ns in transfers)
