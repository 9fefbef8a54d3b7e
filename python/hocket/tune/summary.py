# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The outcome of tune for people (a table and a few sentences) and for programs (one JSON object)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hocket.report.result import CollectiveResult, ProgramResult, Result

COLUMNS = ("collective", "bytes", "calls", "algorithm", "native", "tuned", "speed-up", "predicted", "wire limit")


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
        "algorithm": entry.algorithm,
        "pieces": entry.pieces,
        "native_s": _median(entry.native_s),
        "tuned_s": _median(entry.tuned_s),
        "ratio": entry.ratio,
        "ratio_interval": entry.ratio_interval and list(entry.ratio_interval),
        "launches": entry.launches,
        "predicted_s": entry.predicted_s,
        "wire_limit_s": entry.wire_limit_s,
        "kept": entry.kept,
    }


def rows(result: Result) -> list[tuple[str, ...]]:
    """One row for each collective that was looked at; see COLUMNS."""
    return [_row(entry) for entry in result.collectives]


def _row(entry: CollectiveResult) -> tuple[str, ...]:
    from hocket import print_bytes

    native, tuned = _median(entry.native_s), _median(entry.tuned_s)
    algorithm = (
        entry.algorithm + (f", {entry.pieces} pieces" if entry.pieces > 1 else "") if entry.native_s else "native"
    )
    return (
        entry.collective,
        print_bytes(entry.bytes),
        _calls(entry),
        algorithm,
        _milliseconds(native),
        _milliseconds(tuned),
        _speed_up(entry),
        _milliseconds(entry.predicted_s) if entry.native_s else "",
        _milliseconds(entry.wire_limit_s) if entry.native_s else "",
    )


def _calls(entry: CollectiveResult) -> str:
    """ "30", "30 non-blocking", or "30, 10 non-blocking"."""
    if entry.nonblocking_calls in (0, entry.calls):
        return f"{entry.calls}{' non-blocking' if entry.nonblocking_calls else ''}"
    return f"{entry.calls}, {entry.nonblocking_calls} non-blocking"


def _speed_up(entry: CollectiveResult) -> str:
    if entry.ratio is None or entry.ratio_interval is None:
        return ""
    low, high = entry.ratio_interval
    return f"{entry.ratio:.2f} ({low:.2f} to {high:.2f})"


def sentences(result: Result, folder: Path) -> list[str]:
    notes = [f"note: {text}" for text in result.notes]
    return [
        *_reasons(result),
        *_measured(result.program),
        *notes,
        f"plan: {folder / 'plan.json'}",
        f"report: {folder / 'report.html'}",
    ]


def _reasons(result: Result) -> list[str]:
    from hocket import print_bytes

    return [f"{c.collective} of {print_bytes(c.bytes)} left native: {c.reason}" for c in result.collectives if c.reason]


def _measured(program: ProgramResult) -> list[str]:
    native = statistics.median(program.native_s)
    if program.speedup is None or program.speedup_quartiles is None:
        return [f"program: native {native:.2f} s; it was left as it is"]
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
    return [*lines, f"output: {_OUTPUT[program.output_identical]}"]


def _median(times: Sequence[float]) -> float | None:
    return statistics.median(times) if times else None


def _milliseconds(seconds: float | None) -> str:
    """One decimal, but at least three digits."""
    if seconds is None:
        return ""
    return f"{seconds * 1e3:.1f} ms" if seconds >= 10e-3 else f"{seconds * 1e3:.3g} ms"
