# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Emulated clusters of network namespaces, from a network file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["RunResult", "Testbed", "available"]

if TYPE_CHECKING:
    from hocket.testbed.testbed import RunResult, Testbed, available


# On first use: the supervisor imports this package too, and must start fast.
def __getattr__(name: str) -> Any:
    import importlib

    if name in __all__:
        return getattr(importlib.import_module("hocket.testbed.testbed"), name)
    raise AttributeError(f"module 'hocket.testbed' has no attribute {name!r}")
