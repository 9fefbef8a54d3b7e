# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What messages cost as a result holds it: in words, and as the model of a simulation."""

from __future__ import annotations

import math
from pathlib import Path

from hocket._core import CostModel
from hocket.errors import InvalidInput
from hocket.report import text
from hocket.report.result import CostsResult, read_result


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


def costs_of(result: CostsResult) -> CostModel:
    """As `hocket.tune.costs.UsedCosts.to_result` wrote them."""
    values = {name: getattr(result, name) for name in CostModel().to_dict()}
    for name in ("copy_bytes_per_s", "reduce_bytes_per_s"):
        values[name] = math.inf if values[name] is None else values[name]
    return CostModel(**values)


def read_costs(folder: Path) -> CostModel:
    """Of a result folder. @raises InvalidInput  if it is none, or of a version that did not write them."""
    result = read_result(folder)
    if result.costs is None:
        raise InvalidInput(f"{folder}: the result does not say what messages cost", "run `hocket tune` again")
    return costs_of(result.costs)
