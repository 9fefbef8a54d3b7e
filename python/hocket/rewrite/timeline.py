# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The timeline of a rewritten call: what was one after the other, and what is side by side."""

from __future__ import annotations

from dataclasses import dataclass

from hocket.rewrite.costs import Prediction
from hocket.rewrite.outcomes import Rewritten

_WIDTH = 640  # of the longest time, in pixels


@dataclass(frozen=True)
class Bar:
    kind: str  # "communication" or "computation"
    row: int
    left: float
    width: float
    label: str


@dataclass(frozen=True)
class Timeline:
    """Rows: the original, communication and computation of the rewritten call, and its measured time if there is one.

    Widths are in pixels.
    """

    bars: tuple[Bar, ...]
    rows: tuple[str, ...]
    width: int
    gain: str


def timeline(prediction: Prediction, measured_s: float | None) -> Timeline:
    one = prediction
    scale = _WIDTH / max(one.original_s, one.rewritten_s, measured_s or 0.0)
    wait_s = one.rewritten_s - one.computation_s

    def bar(kind: str, row: int, begin_s: float, seconds: float) -> Bar:
        return Bar(kind, row, begin_s * scale, seconds * scale, f"{kind}: {milliseconds(seconds)}")

    bars = [
        bar("communication", 0, 0, one.communication_s),
        bar("computation", 0, one.communication_s, one.computation_s),
        bar("communication", 1, 0, min(one.communication_s, one.rewritten_s)),
        bar("computation", 2, max(0.0, wait_s) if one.parts > 1 else 0, one.computation_s),
    ]
    rows = [
        f"original, measured: {milliseconds(one.original_s)}",
        f"rewritten, predicted: {milliseconds(one.rewritten_s)}",
        "",
    ]
    gain = f"{one.gain:.2f} predicted"
    if measured_s is not None:
        bars.append(bar("measured", 3, 0, measured_s))
        rows.append(f"rewritten, measured: {milliseconds(measured_s)}")
        gain += f", {one.original_s / measured_s:.2f} measured" if measured_s > 0 else ""
    return Timeline(tuple(bars), tuple(rows), _WIDTH, gain)


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


def saved_share(result: Rewritten) -> float | None:
    """Of the recorded run's time, by all rewrites together; None without a trace."""
    if result.times is None or result.times.span_s <= 0:
        return None
    some = [one.prediction for one in result.outcomes if one.is_rewritten and one.prediction is not None]
    return min(1.0, sum(one.calls * one.saved_s for one in some) / result.times.span_s)
