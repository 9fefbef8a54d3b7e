# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket's flow simulation beside its peers: the same traffic, machine and run; `make perf-peers`.

User CPU seconds, medians of rounds in which all simulators take turns. The traffic comes from the same seeded generator
in every driver, and a checksum over all sources, targets and bytes is compared. What each peer computes is in
docs/notebook/simulation-beside-others.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

import packets
from install import NS3_VERSION, SIMGRID_VERSION, Failure, install
from loggopsim import build_loggopsim, run_loggopsim
from measure import Case, DifferentTraffic, Measured, Way, measure, ratios

from hocket.cli.common import message, print_json, print_table
from hocket.cli.options import seconds

SHAPES = {1024: "8x8x16", 3456: "12x12x24", 16000: "20x20x40", 65536: "32x32x64"}
RING, PERMUTATION = "random-ring", "random-permutation"
# Of those, the flow-level ones compute what hocket computes; they cannot be had from a package registry.
ELSEWHERE = {
    "ASTRA-sim": "no package in a registry; analytical backend: store and forward of chunks, not flows",
    "htsim": "no package in a registry; packet level",
    "dslab": "no package in a registry; flow level",
    "OMNeT++": "no package in a registry; packet level",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small networks, less than two minutes")
    parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON object instead of tables")
    parser.add_argument("--nodes", type=int, action="append", choices=sorted(SHAPES), help="only these sizes")
    parser.add_argument(
        "--limit", type=seconds, default=600.0, metavar="TIME", help="user time after which a peer is cut off"
    )
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (3 above 16,000 nodes)")
    parser.add_argument("--folder", type=Path, default=Path("build/peers"))
    arguments = parser.parse_args()
    result: dict[str, Any] = {"machine": machine(), "flows": [], "packets": [], "floor": [], "skipped": {}}
    try:
        run_all(arguments, result)
        status = 0 if result["flows"] and all(row["ok"] for row in result["flows"]) else 1
    except KeyboardInterrupt:
        message("stopped; what is known so far:")
        status = 130
    except (DifferentTraffic, Failure) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    saved = arguments.folder / "result.json"
    saved.write_text(json.dumps(result), encoding="utf-8")
    if arguments.as_json:
        print_json(result)
    else:
        show(result)
        print(f"all runs: {saved}")
    return status


def run_all(arguments: argparse.Namespace, result: dict[str, Any]) -> None:
    """Fills in the results as they come."""
    installed = install(arguments.folder.resolve())
    result["skipped"] |= {**installed.missing, **ELSEWHERE}
    ours = installed.drivers["hocket"]
    if "SimGrid" in installed.drivers:
        for case in flow_cases(arguments.quick, arguments.nodes):
            message(f"{case.nodes} nodes, {case.pattern}, {case.sizes} sizes")
            result["flows"] += compare_flows(case, ours, installed.drivers["SimGrid"], arguments)
    if "ns-3" in installed.drivers:
        message("packets")
        result["packets"] = packets.compare(ours, installed.drivers["ns-3"], arguments.quick)
    try:
        loggopsim = build_loggopsim(arguments.folder, os.environ.get("CHECKOUTS", ""))
    except Failure as failure:
        result["skipped"]["LogGOPSim"] = str(failure)
    else:
        message("LogGOPSim")
        networks = [SHAPES[1024]] if arguments.quick else list(SHAPES.values())
        result["floor"] = run_loggopsim(loggopsim, ours, networks)


def machine() -> str:
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{os.cpu_count()} cores, {model}; load {os.getloadavg()[0]:.1f}; one thread each"


def flow_cases(quick: bool, nodes: list[int] | None) -> list[Case]:
    rings = [1024, 3456] if quick else list(SHAPES)
    permutations = [1024] if quick else [1024, 3456, 16000]
    cases = [Case(SHAPES[n], RING, spread) for n in rings for spread in (0, 0.5)]
    cases += [Case(SHAPES[n], PERMUTATION, 0.5) for n in permutations]
    return [case for case in cases if nodes is None or case.nodes in nodes]


def compare_flows(case: Case, ours: Path, simgrid: Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """One row for each way to use SimGrid."""
    ways = [
        Way("maxmin", ours, ("sharing=maxmin",)),
        Way("equal", ours, ("sharing=equal",)),
        Way("callbacks", simgrid, ("style=callbacks", f"user_limit={arguments.limit}")),
    ]
    if case.pattern == RING:
        ways.append(Way("actors", simgrid, ("style=actors", f"user_limit={arguments.limit}")))
    slow = case.nodes > 16000 or (case.nodes > 1024 and case.pattern == PERMUTATION)
    rounds = min(arguments.rounds, 3) if slow else arguments.rounds
    if case.nodes >= 16000 and case.pattern == PERMUTATION:
        rounds = 1  # it is cut off
    maxmin, equal, *peers = measure(case, ways, rounds, timeout_s=2 * arguments.limit + 600)
    return [row(case, maxmin, equal, peer) for peer in peers]


def row(case: Case, ours: Measured, equal: Measured, theirs: Measured) -> dict[str, Any]:
    found: dict[str, Any] = {
        "nodes": case.nodes,
        "pattern": case.pattern,
        "sizes": case.sizes,
        "style": theirs.way.name,
        "hocket": ours.runs,
        "hocket_equal": equal.runs,
        "simgrid": theirs.runs,
        "reason": ours.reason or equal.reason or theirs.reason,
        "ok": bool(ours.runs and theirs.runs),
    }
    if not found["ok"]:
        return found
    found["cut_off"] = theirs.cut_off
    found["done"] = theirs.median("messages") / ours.median("messages")
    # The harder way to count: SimGrid's run phase alone by the whole of hocket.
    found["times_as_fast"] = ratios(ours, theirs, "user_s", "run_user_s")
    found["times_as_fast_whole"] = ratios(ours, theirs, "user_s", "user_s")
    found["times_as_small"] = ratios(ours, theirs, "peak_rss_bytes", "peak_rss_bytes")
    if not theirs.cut_off:
        for key in ("makespan_s", "mean_finish_s"):
            found[f"{key}_difference"] = ours.median(key) / theirs.median(key) - 1
        found["ok"] = abs(found["mean_finish_s_difference"]) < (1e-9 if case.sizes == "identical" else 1e-5)
    return found


def show(result: dict[str, Any]) -> None:
    print(f"{result['machine']}\nSimGrid {SIMGRID_VERSION} (sources from PyPI), ns-3 {NS3_VERSION} (wheel)\n")
    if result["flows"]:
        print("Time: user s, median (least to most). Times as fast: SimGrid's run phase by all of hocket's process.")
        print_table(
            ("nodes", "pattern", "sizes", "SimGrid's style", "hocket", "SimGrid: build", "run", "times as fast"),
            [(*label(row), *time_cells(row)) for row in result["flows"]],
        )
        print("Memory and results, max-min sharing in both. Differences are relative, hocket's to SimGrid's.")
        print_table(
            (
                "nodes",
                "pattern",
                "sizes",
                "SimGrid's style",
                "hocket",
                "SimGrid",
                "times as small",
                "makespan",
                "mean finish",
            ),
            [(*label(row), *result_cells(row)) for row in result["flows"]],
        )
        print("hocket with equal sharing, which is another law [Suzuki] and thus has no peer here: user s")
        seen = {(row["nodes"], row["pattern"], row["sizes"]): row for row in result["flows"] if row["ok"]}
        print_table(
            ("nodes", "pattern", "sizes", "user s", "mean finish, to max-min"),
            [(*key, *equal_cells(row)) for key, row in seen.items()],
        )
    packets.show(result["packets"])
    if result["floor"]:
        print("LogGOPSim: latency, overheads and gaps of the ends; no topology, so that nothing is shared: a floor")
        print_table(
            ("nodes", "LogGOPSim user s", "MB", "hocket user s", "MB"),
            [
                (row["nodes"], f"{row['user_s']:.2f}", row["peak_rss_bytes"] // 10**6, f"{row['hocket_user_s']:.2f}",
                 row["hocket_peak_rss_bytes"] // 10**6)
                for row in result["floor"]
            ],
        )  # fmt: skip
    for name, reason in result["skipped"].items():
        print(f"skipped: {name}: {reason}")


def label(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return f"{row['nodes']:,}", row["pattern"], row["sizes"], row["style"]


def spread(values: list[float], digits: int) -> str:
    middle, least, most = statistics.median(values), min(values), max(values)
    return (
        f"{middle:.{digits}f}" if len(values) == 1 else f"{middle:.{digits}f} ({least:.{digits}f} to {most:.{digits}f})"
    )


def column(runs: list[dict[str, Any]], key: str) -> list[float]:
    return [float(run[key]) for run in runs]


def time_cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "done" not in row:
        return ("", "", row["reason"], "")
    ours, build = spread(column(row["hocket"], "user_s"), 3), spread(column(row["simgrid"], "setup_user_s"), 2)
    run, ratio = spread(column(row["simgrid"], "run_user_s"), 2), spread(row["times_as_fast"], 0)
    if row["cut_off"]:
        return ours, build, f"cut off after {run}, {row['done']:.1%} done", f"more than {ratio}"
    return ours, build, run, ratio


def result_cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "done" not in row:
        return ("", row["reason"], "", "", "")
    sizes = [f"{statistics.median(column(row[name], 'peak_rss_bytes')) / 1e6:.1f} MB" for name in ("hocket", "simgrid")]
    keys = ("makespan_s_difference", "mean_finish_s_difference")
    return (*sizes, spread(row["times_as_small"], 1), *(f"{row[key]:+.1e}" if key in row else "" for key in keys))


def equal_cells(row: dict[str, Any]) -> tuple[str, str]:
    ratio = row["hocket_equal"][0]["mean_finish_s"] / row["hocket"][0]["mean_finish_s"] - 1
    return spread(column(row["hocket_equal"], "user_s"), 3), f"{ratio:+.2%}"


if __name__ == "__main__":
    sys.exit(main())
