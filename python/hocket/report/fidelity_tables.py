# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tables and sentences of a fidelity result, for the terminal and the page."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from hocket.report import text

Table = tuple[tuple[str, ...], list[tuple[str, ...]], str]  # columns, rows, title
COLUMNS = ("points", "error, median", "error, 19 of 20", "kept", "speed-up, large", "least")


def grouped(document: dict[str, Any], name: str, title: str) -> Table:
    """A row for each value that the points have for `name`."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for point in document["points"]:
        groups.setdefault(point[name], []).append(point)
    return (name, *COLUMNS), [(_label(name, key), *_row(points)) for key, points in sorted(groups.items())], title


def by_network(document: dict[str, Any]) -> Table:
    return grouped(document, "network", "by network")


def by_mpi(document: dict[str, Any]) -> Table:
    return grouped(document, "mpi", "by MPI")


def worst(document: dict[str, Any], most: int, badness: Callable[[dict[str, Any]], float], title: str) -> Table:
    """The points that are worst by `badness`."""
    points = sorted(document["points"], key=badness, reverse=True)[:most]
    columns = (
        "network",
        "MPI",
        "placement",
        "collective",
        "bytes",
        "schedule",
        "predicted",
        "measured",
        "native",
        "limit",
    )
    rows = [
        (
            *(str(point[name]) for name in ("network", "mpi", "placement", "collective")),
            text.byte_count(point["bytes"]),
            point["algorithm"] + (f", {point['segments']} segments" if point["segments"] > 1 else ""),
            *(text.seconds(point[name]) for name in ("predicted_s", "measured_s", "native_s", "wire_limit_s")),
        )
        for point in points
    ]
    return columns, rows, title


def sentences(document: dict[str, Any]) -> list[str]:
    found = document["summary"]
    errors = found["errors"]["all"]
    lines = [
        f"predictions are off by {errors['median']:.0%} in the median, by {errors['p95']:.0%} at most in 19 of 20 "
        f"({errors['points']} points)"
    ]
    if found["launches_differ_median"] is not None:
        lines.append(
            f"calls that were measured in several launches took up to {found['launches_differ_median']:.0%} longer in "
            "one than in another, in the median"
        )
    if found["speedup_large_geometric_mean"] is not None:
        lines.append(
            f"from 64 KiB on, collectives are {found['speedup_large_geometric_mean']:.2f} times as fast as native "
            "(geometric mean; native where no schedule was shown to be faster)"
        )
    lines.append(
        f"of {found['cases']} cases {found['kept']} were given a schedule; {found['slower_than_native']} of them "
        "turned out slower than 0.97 of native"
    )
    if found["wire_ratio_points"]:
        lines.append(
            f"bcast, reduce, allgather and allreduce from 1 MiB on take {found['wire_ratio_median']:.2f} times the "
            f"wire limit in the median; {found['wire_ratio_within_1_15']} of {found['wire_ratio_points']} at most 1.15"
        )
    if found["unequal"]:
        lines.append(f"{found['unequal']} points left data that differ from the MPI's own: please report this")
    return lines + [f"not measured: {failure}" for failure in document["failures"]]


def _label(name: str, key: Any) -> str:
    return text.byte_count(key) if name == "bytes" else str(key)


def _row(points: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    errors = sorted(abs(point["error"]) for point in points)
    gained = [point["speedup"] if point["kept"] else 1.0 for point in points]
    large = [gain for gain, point in zip(gained, points, strict=True) if point["bytes"] >= 64 << 10]
    return (
        str(len(points)),
        f"{statistics.median(errors):.0%}",
        f"{errors[round(0.95 * (len(errors) - 1))]:.0%}",
        str(sum(point["kept"] for point in points)),
        f"{statistics.geometric_mean(large):.2f}" if large else text.NOT_MEASURED,
        f"{min(gained):.2f}",
    )
