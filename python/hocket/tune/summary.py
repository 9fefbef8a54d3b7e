# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The outcome of tune for people (a table and a few sentences) and for programs (one JSON object).

The table has the rows of hocket.report.rows: `collectives` and `left_native` of the object have every entry.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hocket.report import text
from hocket.report.result import CollectiveResult, ProgramResult, Result
from hocket.report.rows import Row, left_native, rows_of, run_s, seconds_of, shown, starts_collectives
from hocket.report.time_sentences import possible_gain, share_served, where_time_goes

COLUMNS = (
    "collective", "ranks", "bytes", "calls", "of the run", "schedule", "native", "tuned", "speed-up", "predicted",
    "wire limit",
)  # fmt: skip
_OUTPUT = {
    True: "the same in all runs",
    False: "NOT the same in all runs",
    None: "nothing to compare: none was written, or it differs from run to run without the plan too",
}


def summary(result: Result, folder: Path) -> dict[str, Any]:
    """What `--json` prints. `collectives`: those that were measured; times are medians of one call.

    With an empty plan there are no tuned runs: tuned_s, speedup and predicted_s are null, and a note says why.
    `output_identical` is null where there was nothing to compare.
    """
    program = result.program
    return {
        "native_s": statistics.median(program.native_s),
        "tuned_s": _median(program.tuned_s),
        "speedup": program.speedup,
        "speedup_quartiles": program.speedup_quartiles and list(program.speedup_quartiles),
        "predicted_s": program.predicted_s,
        "replayed_native_s": program.replayed_native_s,
        "replayed_tuned_s": program.replayed_tuned_s,
        "output_identical": program.output_identical,
        "mpi": result.mpi,
        "ranks": result.ranks,
        "network": result.network,
        "testbed": result.testbed,
        "collectives": [_collective(c) for c in result.collectives if c.native_s],
        "left_native": [
            {"collective": c.collective, "bytes": c.bytes, "calls": c.calls, "reason": c.reason}
            for c in result.collectives
            if not c.kept
        ],
        "rows": [_row_object(row) for row in rows_of(result.collectives, result.ranks)],
        "time": result.time and {**asdict(result.time), "without_collectives_s": result.time.without_collectives_s},
        "served": result.served and asdict(result.served),
        "costs": result.costs and asdict(result.costs),
        "notes": result.notes,
        "plan": str(folder / "plan.json"),
        "report": str(folder / "report.html"),
    }


def _collective(entry: CollectiveResult) -> dict[str, Any]:
    return {
        "collective": entry.collective,
        "bytes": entry.bytes,
        "ranks": len(entry.members),
        "calls": entry.calls,
        "nonblocking_calls": entry.nonblocking_calls,
        "uneven_calls": entry.uneven_calls,
        "algorithm": entry.algorithm,
        "segments": entry.segments,
        "native_s": _median(entry.native_s),
        "tuned_s": _median(entry.tuned_s),
        "ratio": entry.ratio,
        "ratio_interval": entry.ratio_interval and list(entry.ratio_interval),
        "launches": entry.launches,
        "predicted_s": entry.predicted_s,
        "wire_limit_s": entry.wire_limit_s,
        "kept": entry.kept,
    }


def _row_object(row: Row) -> dict[str, Any]:
    entries = row.entries
    return {
        "collective": row.collective,
        "communicator": row.communicator,
        "communicators": len(row.communicators),
        "ranks": len(row.most.members),
        "bytes_min": row.bytes_min,
        "bytes_max": row.bytes_max,
        "root": row.root,
        "calls": row.calls[1],
        "time_s": row.time_s,
        "schedule": row.schedule,
        "in_plan": row.kept,
        "entries": len(entries),
        "reason": row.reason,
    }


def rows(result: Result) -> list[tuple[str, ...]]:
    """For people; see COLUMNS. Those of little time of which nothing was measured are left to `sentences`."""
    return [_row(row, run_s(result)) for row in shown(result)]


def _row(row: Row, whole_s: float) -> tuple[str, ...]:
    measured = row.measured
    return (
        row.collective + ("" if row.root is None else f", root {row.root}"),
        row.communicator,
        row.size,
        row.calls_text,
        text.percent(row.time_s / whole_s),
        _schedule(row),
        seconds_of(_median(one.native_s) for one in measured),
        seconds_of(_median(one.tuned_s) for one in measured),
        _speed_up(measured),
        seconds_of(one.predicted_s for one in measured),
        seconds_of(one.wire_limit_s for one in measured),
    )


def _schedule(row: Row) -> str:
    if row.is_kept:
        part = "" if row.kept == len(row.entries) else f" ({row.kept} of {len(row.entries)} in the plan)"
        return row.schedule + part
    return "native"


def _speed_up(measured: Sequence[CollectiveResult]) -> str:
    ratios = sorted((one.ratio, one.ratio_interval) for one in measured if one.ratio and one.ratio_interval)
    if not ratios:
        return ""
    if len(ratios) == 1:
        (ratio, (low, high)) = ratios[0]
        return f"{ratio:.2f} ({low:.2f} to {high:.2f})"
    return text.span([f"{ratios[0][0]:.2f}", f"{ratios[-1][0]:.2f}"])


def sentences(result: Result, folder: Path) -> list[str]:
    return [
        *_measured(result.program),
        *_time(result),
        *left_native(result),
        *(f"note: {one}" for one in dict.fromkeys(result.notes)),
        f"plan: {folder / 'plan.json'}",
        f"report: {folder / 'report.html'}",
    ]


def _time(result: Result) -> list[str]:
    lines = []
    if result.time:
        native_s = statistics.median(result.program.native_s)
        lines.append(where_time_goes(result.time))
        lines.append(possible_gain(result.time, native_s, result.program.speedup, starts_collectives(result)))
    return [*lines, share_served(result.served)] if result.served and result.served.calls else lines


def _measured(program: ProgramResult) -> list[str]:
    native = statistics.median(program.native_s)
    if program.speedup is None or program.speedup_quartiles is None:
        return [f"program: native {native:.2f} s; it was left as it is", *_replayed(program)]
    tuned = statistics.median(program.tuned_s)
    low, high = program.speedup_quartiles
    verdict = "no clear difference" if low <= 1 <= high else f"{program.speedup:.2f} times as fast"
    lines = [
        f"program: native {native:.2f} s, with the plan {tuned:.2f} s: {verdict} "
        f"(native / tuned, quartiles {low:.2f} to {high:.2f}, {len(program.tuned_s)} runs each)"
    ]
    if program.predicted_s:
        lines.append(
            f"predicted: {program.predicted_s:.2f} s ({program.predicted_s / tuned - 1:+.0%} against measured)"
        )
    return [*lines, *_replayed(program), f"output: {_OUTPUT[program.output_identical]}"]


def _replayed(program: ProgramResult) -> list[str]:
    kinds = (
        ("native", program.replayed_native_s, program.native_s),
        ("with the plan", program.replayed_tuned_s, program.tuned_s),
    )
    found = [
        f"{name} {replayed_s:.2f} s ({replayed_s / statistics.median(times_s) - 1:+.0%})"
        for name, replayed_s, times_s in kinds
        if replayed_s and times_s
    ]
    return [f"by simulation of all calls: {', '.join(found)}"] if found else []


def _median(times: Sequence[float]) -> float | None:
    return statistics.median(times) if times else None
