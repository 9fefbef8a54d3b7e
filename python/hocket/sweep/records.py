# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The rows of a result: what it is, without how long this machine took for it."""

from __future__ import annotations

from typing import Any

Record = dict[str, str | int | float | bool | None]

#: Of no row: they differ from run to run, or only repeat what was asked for.
_LEFT_OUT = {"cpu_s", "setup_s", "solve_s", "search_s", "build_s", "peak_rss_bytes", "routing"}
#: Lists in values whose items are rows of their own, beside the plain values of the whole.
_ROWS = ("results", "choices", "calls", "schedules", "jobs", "points", "collectives")


def records_of(result: Any) -> list[Record]:
    """One row or several; of a simulated collective one for each algorithm."""
    if found := getattr(result, "found", None):
        return _of_simulation(result, found)
    values = result.values
    if "hockney_s" in values:
        plain = _plain(values, {"hockney_s"})
        return [{**plain, "algorithm": name, "hockney_s": time_s} for name, time_s in values["hockney_s"].items()]
    if _are_rows(values.get("figures")):
        return [
            {"collective": figure["collective"], "algorithm": figure["algorithm"], "curve": curve["name"],
             "time_s": curve["time_s"][-1], "less_than_possible": figure["less_than_possible"]}
            for figure in values["figures"]
            for curve in figure["curves"]
        ]  # fmt: skip
    name = next((name for name in _ROWS if _are_rows(values.get(name))), None)
    if name is None:
        return [_plain(values)]
    whole = _plain(values, {name})
    return [whole | _plain(row) for row in values[name]]


def _of_simulation(result: Any, found: Any) -> list[Record]:
    rows: list[Record] = [
        {
            "algorithm": one.name if one.recorded is None and one.program is not None else None,
            "makespan_s": one.timeline.makespan_s,
            "end_s": one.end_s,
            "events": one.timeline.num_events,
        }
        for one in found
    ]
    return rows + [{"algorithm": one.name, "refused": one.reason} for one in result.refused]


def _are_rows(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(one, dict) for one in value)


def _plain(values: dict[str, Any], without: set[str] | frozenset[str] = frozenset(), before: str = "") -> Record:
    """Numbers and text, also of objects in objects, by names with dots."""
    found: Record = {}
    for name, value in values.items():
        if name in _LEFT_OUT or name in without:
            continue
        if hasattr(value, "tolist"):  # numpy's numbers
            value = value.tolist()
        if isinstance(value, dict):
            found |= _plain(value, before=f"{before}{name}.")
        elif value is None or isinstance(value, (str, int, float, bool)):
            found[before + name] = value
    return found
