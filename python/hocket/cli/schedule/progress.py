# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A search that is watched: the best schedule so far, and how far from the optimum it may be."""

from __future__ import annotations

from typing import Any

from hocket.cli.watch import Bar


class SearchBar(Bar):
    """The part of the time limit that has passed."""

    def __init__(self, text: str, time_limit_s: float) -> None:
        super().__init__(text)
        self._time_limit_s = time_limit_s

    def fields(self, elapsed_s: float, *progress: Any) -> dict[str, Any]:
        from hocket.report.text import seconds

        makespan_ns, bound_ns, states, search_s = progress
        found = "none found" if makespan_ns is None else f"{seconds(makespan_ns * 1e-9)} found"
        return {
            "completed": min(search_s, self._time_limit_s),
            "total": self._time_limit_s,
            "found": found,
            "bound": f"at least {seconds(bound_ns * 1e-9)}",
            "states": f"{states:,} states",
        }
