# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What was decided and measured of each collective, as a result has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hocket.report.result import CollectiveResult, TimelineFiles
from hocket.report.rows import drawn, rows_of
from hocket.tune.measurement import Measurement

if TYPE_CHECKING:
    from hocket.advise import Choice
    from hocket.plan import Plan, PlanEntry


def collective_results(
    choices: Sequence[Choice],
    measured: Iterable[Measurement],
    plan: Plan,
    draw: Callable[[Choice, str], TimelineFiles],
) -> list[CollectiveResult]:
    """`measured`: of the choices without a reason. `draw`: simulates timelines, for the rows of most time."""
    found = iter(measured)
    results = []
    for choice in choices:
        measurement = Measurement(reason=choice.reason) if choice.reason else next(found)
        results += [(choice, _result(choice, measurement, members, plan)) for members in choice.group.communicators]
    shown = {id(entry) for entry in drawn(rows_of([entry for _, entry in results], plan.ranks))}
    return [
        replace(entry, timelines=draw(choice, f"{i}-{entry.collective}-{entry.bytes}")) if id(entry) in shown else entry
        for i, (choice, entry) in enumerate(results)
    ]


def _result(choice: Choice, measurement: Measurement, members: tuple[int, ...], plan: Plan) -> CollectiveResult:
    """Of one of the communicators, which make about as many calls each."""
    group, entry = choice.group, choice.entry()
    several = len(group.communicators)
    derived = plan.entry_for(group.collective, members, group.bytes_max, group.root) if measurement.reason else None
    predicted_s: float | None = choice.predicted_s
    if derived is not None:
        if not _is_same(derived, entry, group.bytes_max):  # what was measured is another schedule
            measurement, predicted_s = Measurement(reason=measurement.reason), derived.predicted_s
        entry = derived
    ratio = measurement.ratio
    return CollectiveResult(
        collective=group.collective,
        members=list(members),
        bytes=group.bytes_max,
        root=group.root,
        calls=round(group.calls / several),
        algorithm=entry.algorithm,
        segments=entry.segments_of(group.bytes_max),
        order=None if entry.order is None else list(entry.order),
        native_s=measurement.native_s,
        tuned_s=measurement.tuned_s,
        predicted_s=predicted_s,
        wire_limit_s=choice.lower_bound_s,
        kept=not measurement.reason or derived is not None,
        reason=measurement.reason or None,
        output_identical=measurement.equal,
        ratio=None if ratio is None else ratio.value,
        ratio_interval=None if ratio is None else (ratio.low, ratio.high),
        launches=len(measurement.launches),
        nonblocking_calls=round(group.nonblocking_calls / several),
        uneven_calls=round(group.uneven_calls / several),
        bytes_min=group.bytes_min,
        recorded_s=group.recorded_s,
        derived=derived is not None,
    )


def _is_same(one: PlanEntry, other: PlanEntry, size_bytes: int) -> bool:
    return (one.algorithm, one.segments_of(size_bytes), one.order) == (
        other.algorithm, other.segments_of(size_bytes), other.order,
    )  # fmt: skip
