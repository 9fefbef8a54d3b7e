# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket makes the communication of an unmodified MPI program faster on the network it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.errors import Error, InvalidInput

__version__ = "0.1.0"

# Where each public name lives. They are imported on first use, so that `hocket --help` does not load the core.
_HOME = {
    **dict.fromkeys(
        (
            "Algorithm",
            "Link",
            "Network",
            "Node",
            "Program",
            "Schedule",
            "Timeline",
            "Validation",
            "algorithms",
            "hockney_s",
            "lower",
            "parse_bandwidth",
            "parse_bytes",
            "parse_duration",
            "print_bandwidth",
            "print_bytes",
            "print_duration",
            "simulate",
            "validate",
            "wire_limit_s",
        ),
        "hocket._core",
    ),
    "Trace": "hocket.trace",
}

__all__ = ["Error", "InvalidInput", "__version__", *_HOME]  # noqa: PLE0604

if TYPE_CHECKING:
    from hocket._core import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hocket' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
