# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What messages cost, in words."""

from __future__ import annotations

from hocket.report import text
from hocket.report.result import CostsResult


def describe_costs(costs: CostsResult) -> str:
    """One sentence without its end: where the costs come from, and the values that matter most."""
    if costs.source == "fitted" and costs.training_error_median is not None:
        error = text.percent(costs.training_error_median)
        origin = f"fitted to {costs.training_collectives} collectives measured here, median error {error}"
    else:
        origin = {
            "given": "as options gave them",
            "calibrated": "as calibrated with the network",
        }.get(costs.source, "the usual ones, not measured here")
    send_s, receive_s, wake_s = (  # a fit leaves 1e-17 s where it means 0
        round(value_s, 9) for value_s in (costs.send_overhead_s, costs.receive_overhead_s, costs.wake_s)
    )
    parts = [f"{text.seconds(send_s)} to send a message", f"{text.seconds(receive_s)} to receive it"]
    if wake_s > 0:
        parts.append(f"{text.seconds(wake_s)} to wake up")
    if costs.link_efficiency < 1:
        parts.append(f"{text.percent(costs.link_efficiency)} of each link")
    if costs.cores:
        parts.append(f"{costs.cores} core{'s' if costs.cores > 1 else ''} for all ranks")
    return f"{origin}: {', '.join(parts)}"
