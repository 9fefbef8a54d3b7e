# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket makes the communication of an unmodified MPI program faster on the network it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.errors import Error, InvalidInput

__version__ = "0.1.0"

# What the type checker and editors see. At run time each name is imported on first use (below), so that
# `hocket --help` does not load the core.
if TYPE_CHECKING:
    from hocket._core import (
        Algorithm,
        Blueprint,
        CostModel,
        Fabric,
        Link,
        Network,
        Node,
        Op,
        Program,
        ProgramOp,
        Schedule,
        Timeline,
        Traffic,
        TrafficResult,
        Validation,
        algorithms,
        circuit_algorithms,
        circuit_cost,
        circuit_schedule,
        circuit_steps_schedule,
        hockney_s,
        lower,
        parse_bandwidth,
        parse_bytes,
        parse_duration,
        place,
        print_bandwidth,
        print_bytes,
        print_duration,
        simulate,
        simulate_traffic,
        validate,
        wire_limit_s,
    )
    from hocket.simulation.parallel import simulate_each
    from hocket.traces.trace import Trace

__all__ = [
    "Algorithm",
    "Blueprint",
    "CostModel",
    "Error",
    "Fabric",
    "InvalidInput",
    "Link",
    "Network",
    "Node",
    "Op",
    "Program",
    "ProgramOp",
    "Schedule",
    "Timeline",
    "Trace",
    "Traffic",
    "TrafficResult",
    "Validation",
    "__version__",
    "algorithms",
    "circuit_algorithms",
    "circuit_cost",
    "circuit_schedule",
    "circuit_steps_schedule",
    "hockney_s",
    "lower",
    "parse_bandwidth",
    "parse_bytes",
    "parse_duration",
    "place",
    "print_bandwidth",
    "print_bytes",
    "print_duration",
    "simulate",
    "simulate_each",
    "simulate_traffic",
    "validate",
    "wire_limit_s",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hocket' has no attribute {name!r}")
    import importlib

    modules = {"Trace": "hocket.traces.trace", "simulate_each": "hocket.simulation.parallel"}
    value = getattr(importlib.import_module(modules.get(name, "hocket._core")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
