# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket's flows beside ns-3's packets on small cases: how far the model is from TCP, not who is faster at the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measure import Case, Way, measure

from hocket.cli.common import print_table

LINK_BYTES_PER_S = 125e6
# What a packet of 1,448 bytes of data has on the cable: TCP with time stamps, IP, and PPP's 2 bytes of ns-3's cable.
GOODPUT = 1448 / (1448 + 32 + 20 + 2)
LATENCY_S = 1e-6


def compare(ours: Path, ns3: Path, quick: bool) -> list[dict[str, Any]]:
    """One row a case: both sharing laws of hocket at the bandwidth that packets leave for data."""
    network = "2x2x4" if quick else "4x4x8"
    cases = [
        Case(network, "incast", 0, {"messages": 1, "bytes": 1_000_000}),
        Case(network, "random-ring", 0.5, {"messages": 2, "bytes": 1_000_000}),
        Case(network, "random-permutation", 0.5, {"messages": 2, "bytes": 1_000_000}),
    ]
    if not quick:
        cases.append(Case(network, "random-permutation", 0.5, {"messages": 2, "bytes": 10_000_000}))
    rows = []
    for case in cases:
        flows = (f"bandwidth={LINK_BYTES_PER_S * GOODPUT}", f"latency={LATENCY_S}")
        ways = [
            Way("ns-3", ns3, (f"bandwidth={LINK_BYTES_PER_S}", f"latency={LATENCY_S}")),
            Way("maxmin", ours, (*flows, "sharing=maxmin")),
            Way("equal", ours, (*flows, "sharing=equal")),
        ]
        packets, *laws = measure(case, ways, 1, timeout_s=1200)
        row: dict[str, Any] = {"nodes": case.nodes, "pattern": case.pattern, **case.further, "reason": packets.reason}
        if packets.runs:
            row |= {"ns3": packets.runs[0]}
            for law in laws:
                row[law.way.name] = law.runs[0]
                for key in ("makespan_s", "mean_finish_s"):
                    row[f"{law.way.name}_{key}_difference"] = law.runs[0][key] / packets.runs[0][key] - 1
        rows.append(row)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    print("ns-3 sends packets (DCTCP at 1 Gbit/s); hocket's flows share what headers leave. Differences from ns-3:")
    keys = [f"{law}_{key}_difference" for law in ("maxmin", "equal") for key in ("makespan_s", "mean_finish_s")]
    columns = ("nodes", "pattern", "bytes", "ns-3 user s", "hocket", "mean finish", "max-min: makespan", "mean")
    print_table(
        (*columns, "equal: makespan", "mean"),
        [
            (
                row["nodes"],
                row["pattern"],
                f"{row['bytes']:,}",
                f"{row['ns3']['user_s']:.1f}",
                f"{row['maxmin']['user_s']:.3f}",
                f"{row['ns3']['mean_finish_s'] * 1e3:.1f} ms",
                *(f"{row[key]:+.1%}" for key in keys),
            )
            if "ns3" in row
            else (row["nodes"], row["pattern"], f"{row['bytes']:,}", row["reason"], *[""] * 6)
            for row in rows
        ],
    )
