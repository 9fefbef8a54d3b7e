# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A calibration as a network file with a table [calibration], and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hocket import print_bandwidth, print_duration
from hocket.calibrate.calibration import Calibration, Errors, LinkQuality
from hocket.calibrate.messages import Sweep
from hocket.calibrate.network import rounded
from hocket.calibrate.segments import Segment
from hocket.calibrate.warnings import warnings

if TYPE_CHECKING:
    from hocket._core import NativeTimes

Value = str | int | float | list[str] | None
HEADING = """
# How this file was measured, and how far it is off: |predicted / measured - 1| of single messages of all
# sizes, and of messages at the same time. grade is of what bandwidths decide, grade_short of short messages.
"""


def to_toml(calibration: Calibration) -> str:
    parts = [calibration.network.to_toml(), HEADING, _table("[calibration]", _values(calibration))]
    parts += [f"# warning: {one}\n" for one in warnings(calibration)]
    for link in calibration.links:
        parts.append("\n" + _table("[[calibration.link]]", _link_values(link)))
    for sweep in calibration.sweeps:
        for segment in sweep.segments:
            values = _segment_values(_ends(calibration, sweep), segment)
            parts.append("\n" + _table("[[calibration.segment]]", values))
    return "".join(parts)


def _values(calibration: Calibration) -> dict[str, Value]:
    costs, bursts = calibration.costs, calibration.bursts
    errors = {
        f"error_{name}_{part}": value
        for name, found in _errors(calibration).items()
        if found is not None
        for part, value in (("median", found.median), ("p95", found.p95))
    }
    return {
        "grade": calibration.grade,
        "grade_short": calibration.grade_short,
        "mpi": calibration.mpi,
        "launches": calibration.launches,
        "rounds": calibration.rounds,
        "send_overhead": _duration(costs.send_s),
        "receive_overhead": _duration(costs.receive_s),
        "reduce_bandwidth": _bandwidth(costs.reduce_bytes_per_s),
        "duplex": calibration.duplex,
        "copy_bandwidth": None if costs.copy_bytes_per_s is None else _bandwidth(costs.copy_bytes_per_s),
        "rendezvous_bytes": calibration.rendezvous_bytes,
        "burst": None if bursts is None else f"{round(bursts.burst_bytes)} B",
        "burst_time": None if bursts is None else _duration(bursts.burst_s),
        **errors,
        "error_with_links": calibration.error_with_links,
        "spread": calibration.spread,
        "interval_confidence": calibration.interval_confidence,
    }


def _link_values(link: LinkQuality) -> dict[str, Value]:
    return {
        "between": list(link.between),
        "interval": None if link.interval is None else [_bandwidth(one) for one in link.interval],
        "interval_back": None if link.interval_back is None else [_bandwidth(one) for one in link.interval_back],
        "error_without": link.error_without,
    }


def _segment_values(between: list[str], segment: Segment) -> dict[str, Value]:
    return {
        "between": between,
        "from_bytes": segment.from_bytes,
        "start": _duration(segment.start_s),
        "bandwidth": _bandwidth(1 / segment.s_per_byte) if segment.s_per_byte > 0 else None,
    }


def _table(heading: str, values: Mapping[str, Value]) -> str:
    """Values of None are left out; numbers that are not whole are errors and shares, of three decimals."""
    lines = (
        f"{key} = {f'{value:.3f}' if isinstance(value, float) else json.dumps(value)}\n"
        for key, value in values.items()
        if value is not None
    )
    return "".join([f"{heading}\n", *lines])


def to_json(calibration: Calibration) -> dict[str, Any]:
    return {
        "format": "hocket.calibration/1",
        "grade": calibration.grade,
        "grade_short": calibration.grade_short,
        "mpi": calibration.mpi,
        "launches": calibration.launches,
        "rounds": calibration.rounds,
        "seconds": calibration.seconds,
        "network": calibration.network.to_toml(),
        "send_overhead_s": calibration.costs.send_s,
        "receive_overhead_s": calibration.costs.receive_s,
        "duplex": calibration.duplex,
        "copy_bytes_per_s": calibration.costs.copy_bytes_per_s,
        "reduce_bytes_per_s": calibration.costs.reduce_bytes_per_s,
        "rendezvous_bytes": calibration.rendezvous_bytes,
        "burst_bytes": calibration.bursts and calibration.bursts.burst_bytes,
        "burst_s": calibration.bursts and calibration.bursts.burst_s,
        **{f"error_{name}": errors and asdict(errors) for name, errors in _errors(calibration).items()},
        "error_with_links": calibration.error_with_links,
        "spread": calibration.spread,
        "interval_confidence": calibration.interval_confidence,
        "warnings": warnings(calibration),
        "doubts": warnings(calibration),  # its name in earlier versions
        "links": [
            {
                "between": link.between,
                "bandwidth_bytes_per_s": link.bandwidth,
                "bandwidth_back_bytes_per_s": link.bandwidth_back,
                "interval_bytes_per_s": link.interval,
                "interval_back_bytes_per_s": link.interval_back,
                "error_without": link.error_without,
            }
            for link in calibration.links
        ],
        "sweeps": [_sweep(calibration, sweep) for sweep in calibration.sweeps],
    }


def native_values(times: NativeTimes) -> dict[str, Any]:
    names = ("mpi", "collective", "bytes_max", "algorithm", "segment_bytes", "factor", "schedule_factor")
    return {name: getattr(times, name) for name in names}


def _errors(calibration: Calibration) -> dict[str, Errors | None]:
    return {
        "alone": calibration.alone,
        "long": calibration.long,
        "short": calibration.short,
        "together": calibration.together,
    }


def _sweep(calibration: Calibration, sweep: Sweep) -> dict[str, Any]:
    return {
        "between": _ends(calibration, sweep),
        "bytes": sweep.sizes,
        "time_s": sweep.times_s,
        "held_out_error": sweep.held_out,
        "segments": [
            {"from_bytes": segment.from_bytes, "start_s": segment.start_s, "s_per_byte": segment.s_per_byte}
            for segment in sweep.segments
        ],
    }


def _ends(calibration: Calibration, sweep: Sweep) -> list[str]:
    hosts = [link.between[0] for link in calibration.links if link.error_without is None]
    return [hosts[sweep.source], hosts[sweep.target]]


def _bandwidth(value: float) -> str:
    return print_bandwidth(rounded(value))


def _duration(value: float) -> str:
    return print_duration(rounded(value))
