# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Groups the collective calls of a trace: one group becomes one entry of the plan, or stays with the MPI."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hocket.advise.shapes import alike
from hocket.errors import InvalidInput
from hocket.plan import COLLECTIVES, MOST_UNEVEN, ROOTED, UNEVEN
from hocket.search.predict import Call

if TYPE_CHECKING:
    from hocket import Network
    from hocket.traces.trace import Collective, Trace


def check_starts_by_init(trace: Trace) -> None:
    """Raises InvalidInput for a program that starts MPI by sessions alone, whose calls no plan can serve."""
    if not {"MPI_Init", "MPI_Init_thread"} & {*trace.functions} and "MPI_Session_init" in trace.functions:
        raise InvalidInput(
            "the program starts MPI by MPI_Session_init alone: hocket has no schedules for it",
            "call MPI_Init as well; `hocket record`, `trace analyse` and `simulate` take it as it is",
        )


@dataclass(frozen=True)
class CallGroup:
    """Calls of one collective on communicators of the same members or shape, with sizes within a factor of two."""

    collective: str
    members: tuple[int, ...]  # world ranks in the order of the communicator
    bytes_min: int
    bytes_max: int
    roots: tuple[int, ...]  # those that occurred, the most frequent first; (0,) for collectives without a root
    calls: int
    commutative: bool  # every reduction operator was
    recorded_s: float | None = None  # median duration of a call, from the last rank's entry to the last rank's exit
    nonblocking_calls: int = 0  # of `calls`: starts of persistent collectives too
    other_members: tuple[tuple[int, ...], ...] = ()  # communicators of the same shape, whose calls are counted too
    uneven_calls: int = 0  # of `calls`: of the collective in UNEVEN, by their mean blocks

    def call(self, size_bytes: int | None = None) -> Call:
        """The largest of them, or one of this size."""
        size_bytes = self.bytes_max if size_bytes is None else size_bytes
        return Call(self.collective, self.members, size_bytes, self.roots, self.commutative)

    @property
    def communicators(self) -> tuple[tuple[int, ...], ...]:
        return (self.members, *self.other_members)

    @property
    def calls_in_turn(self) -> int:
        """About as many follow one another: communicators without a common rank work at the same time."""
        ranks = {rank for members in self.communicators for rank in members}
        return round(self.calls * len(self.members) / len(ranks))

    @property
    def root(self) -> int | None:
        """The one root of all the calls, or None where there were several or the collective has none."""
        return self.roots[0] if self.collective in ROOTED and len(self.roots) == 1 else None


def as_even(call: Collective) -> Collective:
    """A call whose blocks differ as one of the collective whose entries serve it, with mean blocks; others as they are.

    So is one whose blocks differ too much: no plan serves it.
    """
    server = UNEVEN.get(call.collective)
    if server is None or call.bytes > MOST_UNEVEN * call.mean_bytes:
        return call
    return replace(call, collective=server, bytes=call.mean_bytes, uniform=True)


def unserved_calls(trace: Trace, in_background: bool = False) -> list[str]:
    """One sentence for each kind of collective call that no plan can serve, those that took longest first.

    `in_background`: the program runs with progress in the background, where plans serve non-blocking and persistent
    calls too.
    """
    kinds: Counter[tuple[str, str]] = Counter()
    times_s: defaultdict[tuple[str, str], float] = defaultdict(float)
    for found in trace.collectives():
        call = as_even(found)
        if len(call.members) < 2 or _is_served(call, in_background):
            continue
        if call.form != "blocking" and not in_background:
            kind = "non-blocking" if call.form == "nonblocking" else call.form
            why = f"plans serve {kind} calls only where `hocket tune` and `hocket run` have --progress"
        elif call.collective in UNEVEN:
            why = f"a block is larger than {MOST_UNEVEN} times the mean"
        elif call.collective not in COLLECTIVES:
            why = "hocket has no schedules for it"
        elif not call.uniform:
            why = "its sizes differ between the ranks"
        else:
            why = "an operator of the program's own must not run beside it"
        kinds[found.collective, why] += 1
        times_s[found.collective, why] += float((call.exit_ns - call.enter_ns).sum()) * 1e-9 / trace.ranks
    return [
        f"{kinds[name, why]} call(s) of {name}, {time_s:.3g} s of a rank on average, stay native: {why}"
        for (name, why), time_s in sorted(times_s.items(), key=lambda one: -one[1])
    ]


def _is_served(call: Collective, in_background: bool) -> bool:
    in_form = call.form == "blocking" or (in_background and call.op != "user")
    return in_form and call.uniform and call.collective in COLLECTIVES


def group_calls(trace: Trace, in_background: bool = False, network: Network | None = None) -> list[CallGroup]:
    """The groups, the one that took longest in all first. `in_background` as of unserved_calls.

    With a network calls on communicators of equal shape are one group: a schedule takes equally long on each of them.
    """
    served, uneven = [], set()
    for found in trace.collectives():
        call = as_even(found)
        if len(call.members) < 2 or not _is_served(call, in_background):
            continue
        served.append(call)
        if call is not found:
            uneven.add(id(call))
    first_alike = alike({tuple(call.members): None for call in served}, network)
    rows: dict[tuple[str, tuple[int, ...], int], list[Any]] = {}
    for call in served:
        key = (call.collective, first_alike[tuple(call.members)], int(call.bytes).bit_length())
        rows.setdefault(key, []).append(call)
    groups = []
    for (collective, members, _), calls in rows.items():
        # What a non-blocking call takes has the program's computation in it.
        times_s = [(call.last_exit_ns - call.last_enter_ns) / 1e9 for call in calls if call.form == "blocking"]
        roots = Counter(call.root for call in calls) if collective in ROOTED else Counter([0])
        groups.append(
            CallGroup(
                collective=collective,
                members=members,
                bytes_min=min(call.bytes for call in calls),
                bytes_max=max(call.bytes for call in calls),
                roots=tuple(root for root, _ in roots.most_common()),
                calls=len(calls),
                commutative=all(call.commutative for call in calls),
                recorded_s=statistics.median(times_s) if times_s else None,
                nonblocking_calls=sum(call.form != "blocking" for call in calls),
                uneven_calls=sum(id(call) in uneven for call in calls),
                other_members=tuple(dict.fromkeys(tuple(c.members) for c in calls if tuple(c.members) != members)),
            )
        )
    return sorted(groups, key=lambda group: -group.calls * (group.recorded_s or 0))
