# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the trace events of ranks, links and circuits share."""

from __future__ import annotations

from typing import Any


def metadata(what: str, process: int, thread: int, **arguments: Any) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": arguments}


def microseconds(time_s: float) -> float:
    return round(time_s * 1e6, 6)
