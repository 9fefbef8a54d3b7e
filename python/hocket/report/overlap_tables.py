# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tables and sentences of an overlap result, for the terminal and the page."""

from __future__ import annotations

from typing import Any

from hocket.report import text

IMPOSSIBLE_OVERLAP = 0.25  # of a call that is waited for before the computation
ENOUGH_CORE = 0.85  # of the time of the computation; what ranks that are done early wait for the last is little of it
Table = tuple[tuple[str, ...], list[tuple[str, ...]], str]  # columns, rows, title
COLUMNS = ("mode", "time", "speed-up", "quartiles", "overlap", "of native", "time / max", "compute", "CPU")


def cases(document: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The rows of each case, with all MPIs."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in document["rows"]:
        groups.setdefault(tuple(row[key] for key in ("bytes", "in_flight", "compute_model")), []).append(row)
    return list(groups.values())


def mpis(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["mpi"] for row in rows))


def title(row: dict[str, Any]) -> str:
    """Of a case."""
    several = f"{row['in_flight']} at once: " if row["in_flight"] > 1 else ""
    compute = "real computation" if row["compute_model"] == "real" else "computation on cores of its own"
    where = f"{row['ranks']} ranks" + (f" on {row['network']}" if row["network"] else "")
    return f"{several}{row['collective']}, {text.byte_count(row['bytes'])}, {where}, {compute}"


def tables(document: dict[str, Any]) -> list[Table]:
    """One for each case and MPI."""
    found: list[Table] = []
    for rows in cases(document):
        for mpi in mpis(rows):
            own = [row for row in rows if row["mpi"] == mpi]
            first = own[0]
            alone = (
                f"native {text.seconds(first['native_s'])}, computation {text.seconds(first['compute_s'])} alone, "
                f"limit {text.ratio(first['speedup_limit'])}"
            )
            found.append((COLUMNS, [_cells(row) for row in own], f"{title(first)}, {mpi}: {alone}"))
    return found


def cables(document: dict[str, Any]) -> str:
    """Of the emulated network; empty without one."""
    rates = document.get("cables")
    return f"cables of {' and '.join(rates)}" if rates else ""


def _fastest(rows: list[dict[str, Any]]) -> str:
    """With those whose quartiles reach the fastest one's."""
    best = max(rows, key=lambda row: row["speedup"])
    others = [
        row["mode"] for row in rows if row is not best and row["speedup_quartiles"][1] >= best["speedup_quartiles"][0]
    ]
    sentence = f"{best['mode']} is fastest, {text.ratio(best['speedup'])}"
    return sentence + (f", not told apart from {', '.join(others)}" if others else "")


def _doubts(rows: list[dict[str, Any]]) -> list[str]:
    """What only a disturbed machine shows."""
    return [
        f"{title(row)}, {row['mpi']}: the MPI's blocking call, which hides nothing, shows an overlap of "
        f"{row['overlap']:.2f}: the machine was disturbed, trust none of these times"
        for row in rows
        if row["mode"] == "MPI" and abs(row["overlap"]) > IMPOSSIBLE_OVERLAP
    ]


def sentences(document: dict[str, Any]) -> list[str]:
    lines = [f"emulated: {cables(document)}"] if cables(document) else []
    for rows in cases(document):
        for mpi in mpis(rows):
            own = [row for row in rows if row["mpi"] == mpi]
            best = max(own, key=lambda row: row["speedup"])
            lines.append(f"{title(best)}, {mpi}: {_fastest(own)}")
            lines += _doubts(own)
            lines += [
                f"{title(row)}, {mpi}: {row['mode']} came to {row['selection']['chosen']} in the last launch"
                for row in rows
                if row["mpi"] == mpi and row.get("selection")
            ]
            share = best["compute_cpu_s"] / (best["compute_s"] * document["compute_threads"])
            if best["compute_model"] == "real" and share < ENOUGH_CORE:
                lines.append(
                    f"{title(best)}, {mpi}: a computing thread had a core for {share:.0%} of the time: others were "
                    "busy, or there are more ranks than cores"
                )
    bimodal = sum(row["bimodal"] for row in document["rows"])
    if bimodal:
        lines.append(
            f"marked with ~: {text.counted(bimodal, 'time')} with quartiles more than 1.3 times apart: trust them less"
        )
    lines += [f"note: {note}" for note in document["notes"]]
    return lines + [f"not measured: {failure}" for failure in document["failures"]]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    low, high = row["speedup_quartiles"]
    return (
        row["mode"],
        ("~" if row["bimodal"] else "") + text.seconds(row["time_s"]),
        text.ratio(row["speedup"]),
        f"{low:.2f} .. {high:.2f}",
        _part(row["overlap"]),
        _part(row["overlap_native"]),
        f"{row['time_per_max']:.2f}",
        text.ratio(row["compute_inflation"]),
        text.seconds(row["cpu_s"]),
    )


def _part(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # no -0.00
