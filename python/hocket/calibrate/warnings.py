# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Warnings about a calibration, each with advice."""

from __future__ import annotations

from hocket.calibrate.calibration import Calibration
from hocket.tune.shared_cores import HIGH_OVERHEAD_S

# On a quiet machine predictions of transfers at the same time are off by 1 to 7 %, and launches differ by some percent.
TOGETHER = 0.15
LAUNCHES_APART = 1.5
DIRECTIONS_APART = 2.0
EMPTY_APART = 2.0
_MOST_NAMED = 3


def warnings(calibration: Calibration) -> list[str]:
    found = []
    if calibration.together.median > TOGETHER:
        found.append(
            f"transfers at the same time are predicted {calibration.together.median:.0%} off: "
            "the machine was busy, or ranks share cores. Measure again when it is quiet"
        )
    if not 1 / EMPTY_APART < calibration.empty_ratio < EMPTY_APART:
        found.append(
            f"empty messages took {calibration.empty_ratio:.1f} times as long between those of other hosts as among "
            "their like, which latencies are made of. Measure again when the machine is quiet"
        )
    core_s = max(calibration.costs.send_s, calibration.costs.receive_s)
    if core_s > HIGH_OVERHEAD_S:
        found.append(
            f"messages took {core_s * 1e6:.0f} us of a core, where TCP takes 5 to 20: ranks wait for cores. "
            "Measure with one rank for each host that has a core of its own, or when the machine is quiet"
        )
    launches, directions = [], []
    for link in calibration.links:
        name = " - ".join(link.between)
        for interval in dict.fromkeys((link.interval, link.interval_back)):
            if interval is not None and interval[1] > LAUNCHES_APART * interval[0]:
                launches.append(f"{name}: {interval[0] * 8e-6:.3g} to {interval[1] * 8e-6:.3g}")
        low, high = sorted((link.bandwidth, link.bandwidth_back))
        if high > DIRECTIONS_APART * low:
            directions.append(f"{name}: {link.bandwidth * 8e-6:.3g} and back {link.bandwidth_back * 8e-6:.3g}")
    if launches:
        advice = "Measure again when the machine is quiet, or with more --launches"
        found.append(f"launches differ in the bandwidth, in Mbit/s, of {_some(launches)}. {advice}")
    if directions:
        advice = "Measure again, unless the cables are like that"
        found.append(f"the two directions differ in bandwidth, in Mbit/s, of {_some(directions)}. {advice}")
    return found


def _some(names: list[str]) -> str:
    left_out = len(names) - _MOST_NAMED
    return "; ".join(names[:_MOST_NAMED]) + (f" and {left_out} more" if left_out > 0 else "")
