# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A calibration as a network file with a table [calibration], and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from hocket import print_bandwidth, print_duration
from hocket.calibrate.calibration import Calibration, Errors
from hocket.calibrate.messages import Sweep
from hocket.calibrate.network import rounded
from hocket.calibrate.warnings import warnings


def to_toml(calibration: Calibration) -> str:
    lines = [calibration.network.to_toml().rstrip("\n"), ""]
    lines += [
        "# How this file was measured, and how far it is off: |predicted / measured - 1| of single messages of all",
        "# sizes, and of messages at the same time. grade is of what bandwidths decide, grade_short of short messages.",
        "[calibration]",
        f"grade = {json.dumps(calibration.grade)}",
    ]
    if calibration.grade_short is not None:
        lines.append(f"grade_short = {json.dumps(calibration.grade_short)}")
    lines += [
        f"mpi = {json.dumps(calibration.mpi)}",
        f"launches = {calibration.launches}",
        f"rounds = {calibration.rounds}",
        f"send_overhead = {_duration(calibration.costs.send_s)}",
        f"receive_overhead = {_duration(calibration.costs.receive_s)}",
        f"reduce_bandwidth = {_bandwidth(calibration.costs.reduce_bytes_per_s)}",
    ]
    lines.append(f"duplex = {calibration.duplex:.3f}")
    if calibration.costs.copy_bytes_per_s is not None:
        lines.append(f"copy_bandwidth = {_bandwidth(calibration.costs.copy_bytes_per_s)}")
    if calibration.rendezvous_bytes is not None:
        lines.append(f"rendezvous_bytes = {calibration.rendezvous_bytes}")
    if calibration.bursts is not None:
        lines.append(f'burst = "{round(calibration.bursts.burst_bytes)} B"')
        lines.append(f"burst_time = {_duration(calibration.bursts.burst_s)}")
    for name, errors in _errors(calibration).items():
        if errors is not None:
            lines += [f"error_{name}_median = {errors.median:.3f}", f"error_{name}_p95 = {errors.p95:.3f}"]
    lines += [
        f"error_with_links = {calibration.error_with_links:.3f}",
        f"spread = {calibration.spread:.3f}",
    ]
    if calibration.interval_confidence is not None:
        lines.append(f"interval_confidence = {calibration.interval_confidence:.3f}")
    lines += [f"# warning: {one}" for one in warnings(calibration)]
    for link in calibration.links:
        lines += ["", "[[calibration.link]]", f"between = {json.dumps(link.between)}"]
        for key, interval in (("interval", link.interval), ("interval_back", link.interval_back)):
            if interval is not None:
                lines.append(f"{key} = [{', '.join(map(_bandwidth, interval))}]")
        if link.error_without is not None:
            lines.append(f"error_without = {link.error_without:.3f}")
    for sweep in calibration.sweeps:
        for segment in sweep.segments:
            lines += [
                "",
                "[[calibration.segment]]",
                f"between = {json.dumps(_ends(calibration, sweep))}",
                f"from_bytes = {segment.from_bytes}",
                f"start = {_duration(segment.start_s)}",
            ]
            if segment.s_per_byte > 0:
                lines.append(f"bandwidth = {_bandwidth(1 / segment.s_per_byte)}")
    return "\n".join(lines) + "\n"


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
    return json.dumps(print_bandwidth(rounded(value)))


def _duration(value: float) -> str:
    return json.dumps(print_duration(rounded(value)))
