# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the reader of a result should know beside its figures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from hocket.advise import Choice
from hocket.tune.measurement import Measurement

# Where the recorded run differs by this share from the native ones, a prediction made from it is off as well.
RECORDING_TOLERANCE = 0.15
# Where it takes so many times as long, or as short, it was another program: nothing made from it holds.
RECORDING_STRANGE = 1.5
# Bandwidths that `hocket calibrate` finds are off by so much; less is no contradiction.
# See docs/notebook/calibration-accuracy.md.
LIMIT_TOLERANCE = 0.06


def nothing_changed(collectives: int, without_time: int) -> str:
    """`without_time`: of so many there was no time to measure whether a schedule is faster."""
    if collectives == 0:
        return "nothing was changed: the program makes no collective calls that hocket can reroute"
    if without_time:
        return (
            f"no schedule is used: for {without_time} of the {collectives} collective(s) there was no time to measure "
            "one (--measure-time gives more); the program was not run with the empty plan"
        )
    return (
        f"nothing was changed: for none of the {collectives} collective(s) a schedule is worth using, each for the "
        "reason beside it; the program was not run with the empty plan"
    )


def share_of_progress(with_entries: bool) -> str:
    if not with_entries:
        return "the plan has no schedules: what the program gains or loses is due to progress in the background alone"
    return (
        "the program's gain is that of the schedules and of progress together; how much progress alone gains was not "
        "measured: `hocket run --progress on` without the plan shows it"
    )


STARTED_CALLS = (
    "in the simulation of all calls those that the program has started go on beside its computation, as with progress "
    "in the background; natively most MPIs move them on only inside their functions"
)


def recording_warnings(recorded_s: float, native_s: float) -> list[str]:
    ratio = recorded_s / native_s
    if not 1 / RECORDING_STRANGE <= ratio <= RECORDING_STRANGE:
        return [
            f"the recorded run took {recorded_s:.2f} s, {ratio:.2g} times as long as the native ones: it does not "
            "represent the program, and shares of time, predictions and what is possible at best are those of this "
            "run; tune again where runs take about the same time"
        ]
    if abs(ratio - 1) < RECORDING_TOLERANCE:
        return []
    word = "slower" if ratio > 1 else "faster"
    return [f"the recorded run was {abs(ratio - 1):.0%} {word} than the native ones; so is the program's prediction"]


def beaten_limits(choices: Sequence[Choice], measured: Sequence[Measurement]) -> list[str]:
    """One note for all measured collectives; the one that is farthest below its limit stands for them."""
    from hocket import print_bytes

    found = []
    for choice, measurement in zip((choice for choice in choices if not choice.reason), measured, strict=True):
        if not measurement.launches:
            continue
        fastest_s = min(statistics.median(times) for times in (measurement.native_s, measurement.tuned_s))
        if fastest_s < choice.lower_bound_s * (1 - LIMIT_TOLERANCE):
            found.append((fastest_s / choice.lower_bound_s, fastest_s, choice))
    if not found:
        return []
    num_measured = sum(bool(measurement.launches) for measurement in measured)
    _, fastest_s, choice = min(found, key=lambda one: one[0])
    return [
        f"{len(found)} of {num_measured} measured collective(s) took less than the wire limit, such as "
        f"{choice.group.collective} of {print_bytes(choice.group.bytes_max)} ({fastest_s * 1e3:.3g} ms, the limit is "
        f"{choice.lower_bound_s * 1e3:.3g} ms): the network file gives the network less than the ranks have, or they "
        "ran elsewhere"
    ]
