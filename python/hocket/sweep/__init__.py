# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Campaigns: many requests of one kind, on the cores of this machine or on a Dask cluster.

`run(SweepRequest(path))` runs one, `frame(folder)` reads its rows as a pandas frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hocket.sweep.request import SweepRequest, run
    from hocket.sweep.store import frame

__all__ = ["SweepRequest", "frame", "run"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hocket.sweep' has no attribute {name!r}")
    import importlib

    module = "hocket.sweep.store" if name == "frame" else "hocket.sweep.request"
    return getattr(importlib.import_module(module), name)
