# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a rewrite gains, predicted from a recorded trace, and so which way to take, if any.

A call takes c seconds, and the computation that may run beside it w. One after the other they take c + w; side by side
max(c, w), provided that the message moves on while the program computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hocket.report.text import seconds
from hocket.rewrite.blocks import Item
from hocket.rewrite.buffers import Refusal
from hocket.rewrite.call_order import Site
from hocket.rewrite.call_times import CallTimes, TraceTimes
from hocket.rewrite.part_counts import at_once, num_parts

#: What a start and a wait cost more than the blocking call, in seconds. Measured for 8 B to 4 KiB with Open MPI 4.1 and
#: 5.0, MPICH 4.0 and 5.0 and Intel MPI 2021: 0.1 to 3.3 us.
START_AND_WAIT_S = 3e-6
#: A gain below this share of the time is not to be told from none.
LEAST_SHARE = 0.05
#: Iterations of a loop, and elements of an array operation, of which nothing is known.
USUAL_COUNT = 100.0
#: For the computation around a procedure's calls, callers of callers are looked at so far.
MOST_LEVELS = 4
_TINY_S = 1e-12


@dataclass(frozen=True)
class Prediction:
    """Of one call of a statement and the computation around it that may run beside it."""

    calls: int  # of a rank, in the trace
    communication_s: float
    computation_s: float  # in the window
    rewritten_s: float
    parts: int = 1

    @property
    def original_s(self) -> float:
        return self.communication_s + self.computation_s

    @property
    def saved_s(self) -> float:
        return self.original_s - self.rewritten_s

    @property
    def gain(self) -> float:
        return self.original_s / self.rewritten_s if self.rewritten_s > 0 else 1.0

    @property
    def is_worth_while(self) -> bool:
        return self.saved_s > LEAST_SHARE * self.original_s


def cost_refusal(prediction: Prediction | None) -> Refusal | None:
    """None where costs are not known, or the rewrite gains."""
    if prediction is None or prediction.is_worth_while:
        return None
    call, beside = (seconds(one) for one in (prediction.communication_s, prediction.computation_s))
    reason = (
        f"nothing would be gained: in the trace the call takes {call}; of the computation around it {beside} could run "
        "beside it, by the number of its operations"
    )
    return Refusal("cost", reason, "record a larger run, or leave out --trace where that number is wrong")


def side_by_side(times: Sequence[CallTimes], computation_s: float) -> Prediction:
    communication_s = sum(one.communication_s for one in times)
    rewritten_s = max(communication_s, computation_s) + len(times) * START_AND_WAIT_S
    return Prediction(max(one.calls for one in times), communication_s, computation_s, rewritten_s)


def in_parts(times: CallTimes, above_s: float, below_s: float, part_bytes: int, has_above: bool) -> Prediction:
    """A loop makes the message in `above_s`, another one needs it for `below_s`; parts come and go in their order."""
    parts = num_parts(times.bytes or 0, part_bytes, has_above)
    made_s = [above_s * (i + 1) / parts for i in range(parts)]
    starts_s = made_s if has_above else [0.0] * min(at_once(has_above), parts)
    ends_s = _end_of_parts(starts_s, parts, times.communication_s, above_s, below_s)
    rewritten_s = ends_s + parts * START_AND_WAIT_S
    return Prediction(times.calls, times.communication_s, above_s + below_s, rewritten_s, parts)


def _end_of_parts(starts_s: list[float], parts: int, communication_s: float, above_s: float, below_s: float) -> float:
    """The parts that are on their way share the network evenly. `starts_s`: of the first ones; the program starts each
    other one when it has received that which stands so many before it."""
    left_s = [communication_s / parts] * parts  # of each part, alone on the network
    now_s, free_s, next_part = 0.0, above_s, 0  # when the program comes to the next part
    while next_part < parts:
        if left_s[next_part] <= _TINY_S and now_s >= free_s:
            if len(starts_s) < parts:
                starts_s.append(now_s)
            next_part, free_s = next_part + 1, now_s + below_s / parts
            continue
        active = [i for i, start_s in enumerate(starts_s) if start_s <= now_s and left_s[i] > _TINY_S]
        coming = [one for one in [*starts_s, free_s] if one > now_s]
        step_s = min([one - now_s for one in coming] + [len(active) * left_s[i] for i in active])
        for i in active:
            left_s[i] -= step_s / len(active)
        now_s += step_s
    return free_s


@dataclass
class Costs:
    """`times` of the program as it was recorded. Sites are those of the original files."""

    times: TraceTimes
    _rates: dict[Site, tuple[float, float]] = field(default_factory=dict)

    def rates(self, site: Site, weights: tuple[float, float]) -> tuple[float, float]:
        """Seconds per unit of weight before and behind a call.

        The first `weights`, those of all statements up to its neighbours in the original text, are kept: when calls
        around it have been rewritten, its neighbours are others.
        """
        if site not in self._rates:
            times = self.times.times[site]
            pairs = zip((times.before_s, times.after_s), weights, strict=True)
            above, below = (seconds / weight if weight > 0 else 0.0 for seconds, weight in pairs)
            self._rates[site] = above, below
        return self._rates[site]


def up_to_communication(items: Iterable[Item]) -> list[Item]:
    """The statements before the first one that communicates."""
    found = []
    for item in items:
        if item.effects.mpi:
            break
        found.append(item)
    return found
