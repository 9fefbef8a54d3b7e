# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Results and comparisons as rows of text, and as files for other tools."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hocket.report import text

if TYPE_CHECKING:
    from hocket.bench.mpi.comparison import Comparison
    from hocket.bench.mpi.guidelines import Checks
    from hocket.bench.mpi.statistics import Summary
    from hocket.bench.mpi.summary import BenchResult

COLUMNS = ("no.", "item", "bytes", "status", "median", "95 % interval", "p05", "p99", "bandwidth")
COMPARED = ("no.", "item", "bytes", "before", "after", "after / before", "verdict")


def rows(result: BenchResult, average: str = "median") -> list[tuple[str, ...]]:
    """By COLUMNS. `average`: one of `statistics.AVERAGES`."""
    return [
        (
            str(point.number or ""),
            point.variant,
            "" if point.size_bytes is None else text.byte_count(point.size_bytes),
            status,
            *(("",) * 5 if summary is None else _measured(summary, average)),
        )
        for point, status, _, summary in result.rows
    ]


def _measured(summary: Summary, average: str) -> tuple[str, ...]:
    value = summary.median_s if average == "median" else summary.averages_s[average]
    low, high = summary.interval_s or (None, None)
    return (
        text.seconds(value),
        "" if low is None else f"{text.seconds(low)} to {text.seconds(high)}",
        text.seconds(summary.percentiles_s[5]),
        text.seconds(summary.percentiles_s[99]),
        "" if summary.bytes_per_s is None else text.bandwidth(summary.bytes_per_s),
    )


def sentences(result: BenchResult) -> list[str]:
    """The reasons of what was not measured, each once, and what the statuses mean."""
    lines = []
    reasons: dict[tuple[str, str], list[str]] = {}
    for point, status, reason, _ in result.rows:
        variants = reasons.setdefault((status, reason), [])
        if reason and point.variant not in variants:
            variants.append(point.variant)
    lines += [f"{', '.join(names)}: {status}: {reason}" for (status, reason), names in reasons.items() if names]
    counts: dict[str, int] = {}
    for _, status, _, _ in result.rows:
        counts[status] = counts.get(status, 0) + 1
    lines.append(", ".join(f"{count} {status}" for status, count in counts.items()))
    if "wide" in counts:
        target = text.percent(float(result.results.suite["target"]))
        lines.append(f"wide: the interval is wider than {target} of the median to either side, or there is none yet")
    return lines


def compared_rows(comparison: Comparison, verdicts: Sequence[str]) -> list[tuple[str, ...]]:
    """By COMPARED: the points with one of these verdicts."""
    return [
        (
            str(one.number or ""),
            one.variant,
            "" if one.bytes is None else text.byte_count(one.bytes),
            text.seconds(one.before_s),
            text.seconds(one.after_s),
            f"{one.ratio:.3f} ({one.low:.3f} to {one.high:.3f})",
            one.verdict,
        )
        for one in comparison.differences
        if one.verdict in verdicts
    ]


CHECKED = ("guideline", "bytes", "left", "right", "left / right", "verdict")


def checked_rows(checks: Checks, verdicts: Sequence[str]) -> list[tuple[str, ...]]:
    """By CHECKED: the guidelines with one of these verdicts."""
    return [
        (
            one.guideline,
            "" if one.bytes is None else text.byte_count(one.bytes),
            text.seconds(one.left_s),
            text.seconds(one.right_s),
            f"{one.ratio:.3f} ({one.low:.3f} to {one.high:.3f})",
            one.verdict,
        )
        for one in checks.checks
        if one.verdict in verdicts
    ]


FLAT = (
    "item", "number", "bytes", "ranks", "options", "status", "reason", "samples", "chunks", "launches", "median_s",
    "low_s", "high_s", "least_s", "p05_s", "p25_s", "p50_s", "p75_s", "p95_s", "p99_s", "most_s", "mean_s", "trimmed_s",
    "harmonic_s", "first_s", "autocorrelation", "bytes_per_s", "overlap",
)  # fmt: skip


def flat_rows(result: BenchResult) -> list[dict[str, str | int | float | None]]:
    """One for each point, by FLAT; values that there are not are None."""
    found: list[dict[str, str | int | float | None]] = []
    for point, status, reason, summary in result.rows:
        row: dict[str, str | int | float | None] = dict.fromkeys(FLAT)
        options = " ".join(f"{name}={value}" for name, value in point.options)
        row |= {"item": point.item, "number": point.number, "bytes": point.size_bytes, "ranks": point.ranks}
        row |= {"options": options, "status": status, "reason": reason}
        if summary is not None:
            low, high = summary.interval_s or (None, None)
            row |= {name: getattr(summary, name) for name in ("samples", "chunks", "launches", "median_s", "least_s")}
            row |= {name: getattr(summary, name) for name in ("most_s", "first_s", "autocorrelation", "bytes_per_s")}
            row |= {"overlap": summary.overlap}
            row |= {"low_s": low, "high_s": high}
            row |= {f"p{percent:02}_s": value for percent, value in summary.percentiles_s.items()}
            row |= {f"{name}_s": summary.averages_s[name] for name in ("mean", "trimmed", "harmonic")}
        found.append(row)
    return found


def csv_text(result: BenchResult) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, FLAT, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat_rows(result))
    return stream.getvalue()


def openmetrics_text(result: BenchResult) -> str:
    """The medians, ends of intervals and bandwidths as gauges, for Prometheus and its like."""
    metrics = {
        "hocket_bench_median_seconds": ("median_s", "seconds", "Median time of a run."),
        "hocket_bench_interval_low_seconds": ("low_s", "seconds", "Lower end of the median's 95 % interval."),
        "hocket_bench_interval_high_seconds": ("high_s", "seconds", "Upper end of the median's 95 % interval."),
        "hocket_bench_bytes_per_second": ("bytes_per_s", "", "Bytes moved by all ranks in all time."),
    }
    rows_ = flat_rows(result)
    run = result.results.runs[0] if result.results.runs else {}
    common = {
        "suite": str(result.results.suite["name"]),
        "mpi": str(run.get("mpi", "")),
        "host": str(run.get("host", "")),
    }
    lines = []
    for name, (column, unit, meaning) in metrics.items():
        lines.append(f"# TYPE {name} gauge")
        if unit:
            lines.append(f"# UNIT {name} {unit}")
        lines.append(f"# HELP {name} {meaning}")
        for row in rows_:
            if row[column] is None:
                continue
            labels = {
                **common,
                **{key: row[key] for key in ("item", "bytes", "ranks", "options") if row[key] is not None},
            }
            shown = ",".join(f'{key}="{_escaped(str(value))}"' for key, value in labels.items())
            lines.append(f"{name}{{{shown}}} {row[column]!r}")
    return "\n".join([*lines, "# EOF", ""])


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
