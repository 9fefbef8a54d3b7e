# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What an event of the flow simulation costs against the size of the network, and why the line bends.

An event is the end of a message. The evidence: how often a rate was given per event (the work, which should not grow),
the memory that the run touches beside the caches of the machine, what one dependent load costs in that much memory
(pointer_chase), and the same runs without huge pages. Draws cost against size where matplotlib is installed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

from figure import load_pyplot
from install import build_drivers
from measure import Case, Measured, Way, measure

from hocket.cli.common import message, print_json, print_table

SHAPES = {
    1024: "8x8x16",
    3456: "12x12x24",
    16000: "20x20x40",
    65536: "32x32x64",
    221184: "48x48x96",
    1048576: "128x128x64",
}
CASES = [
    ("random-ring", "equal"),
    ("random-ring", "maxmin"),
    ("random-permutation", "equal"),
    ("random-permutation", "maxmin"),
]
ALL = "as it is"
SMALL_PAGES = "small pages"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=65536, choices=SHAPES, help="up to so many nodes")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; a third of it for a million nodes")
    parser.add_argument("--plot", type=Path, default=Path("build/event_cost.svg"), help=".svg or .png")
    parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON object instead of tables")
    parser.add_argument("--folder", type=Path, default=Path("build/peers"))
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    driver = build_drivers(folder, [])["hocket"]
    caches = cache_bytes()
    rows = []
    for pattern, sharing in CASES:
        for nodes, shape in SHAPES.items():
            if nodes <= arguments.largest:
                message(f"{nodes} nodes, {pattern}, {sharing}")
                case = Case(shape, pattern, 0.5, {"sharing": sharing})
                ways = [Way(ALL, driver), Way(SMALL_PAGES, driver, ("huge_pages=off",))]
                rounds = arguments.rounds if nodes < 10**6 else max(1, arguments.rounds // 3)
                rows.append(row(case, sharing, *measure(case, ways, rounds, timeout_s=3600)))
    add_loads(rows, driver.with_name("pointer_chase"))
    result = {"caches_bytes": caches, "rows": rows}
    (folder / "event_cost.json").write_text(json.dumps(result), encoding="utf-8")
    if arguments.as_json:
        print_json(result)
    else:
        show(rows, caches)
    draw(rows, caches, arguments.plot)
    return 0


def cache_bytes() -> dict[str, int]:
    """Of one core, by level: {"L1d": ..., "L2": ..., "L3": ...}."""
    found = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level = ((index / name).read_text(encoding="utf-8").strip() for name in ("type", "level"))
        if kind != "Instruction":
            size = (index / "size").read_text(encoding="utf-8").strip()
            found[f"L{level}{'d' if kind == 'Data' else ''}"] = int(size.rstrip("K")) * 1024
    return found


def row(case: Case, sharing: str, normal: Measured, small_pages: Measured) -> dict[str, Any]:
    for measured in (normal, small_pages):
        if measured.reason:
            raise SystemExit(f"error: {' '.join(case.arguments())}: {measured.reason}")
    events = normal.median("messages")
    return {
        "nodes": case.nodes,
        "pattern": case.pattern,
        "sharing": sharing,
        "ns_per_event": [1e9 * s / events for s in normal.values("run_cpu_s")],
        "small_pages_ns_per_event": [1e9 * s / events for s in small_pages.values("run_cpu_s")],
        "rates_per_event": normal.median("rates") / events,
        "page_faults": normal.median("page_faults"),
        "small_pages_page_faults": small_pages.median("page_faults"),
        "peak_rss_bytes": normal.median("peak_rss_bytes"),
    }


def add_loads(rows: list[dict[str, Any]], pointer_chase: Path) -> None:
    """The memory that counts is what lies above that of a program that has simulated nothing, some 3.5 MB."""
    base_bytes = min(r["peak_rss_bytes"] for r in rows if r["nodes"] == min(SHAPES)) - 1024 * 600
    known: dict[tuple[int, str], float] = {}
    for one in rows:
        one["working_set_bytes"] = max(one["peak_rss_bytes"] - base_bytes, 64 * 1024)
        one["bytes_per_node"] = one["working_set_bytes"] / one["nodes"]
        for pages in ("huge", "small"):
            # To the next power of two: a few measurements serve all.
            size = 1 << (int(one["working_set_bytes"]) - 1).bit_length()
            if (size, pages) not in known:
                command = [str(pointer_chase), str(size), pages]
                known[size, pages] = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            one[f"load_ns_{pages}"] = known[size, pages]


def show(rows: list[dict[str, Any]], caches: dict[str, int]) -> None:
    print("caches of a core: " + ", ".join(f"{name} {size / 2**20:.3g} MiB" for name, size in caches.items()))
    print("ns of CPU time per event; one dependent load in as much memory; the difference is what huge pages save")
    print_table(
        (
            "nodes",
            "pattern",
            "sharing",
            "ns per event",
            "small pages",
            "rates",
            "memory",
            "B a node",
            "load",
            "small pages",
        ),
        [
            (
                f"{one['nodes']:,}",
                one["pattern"],
                one["sharing"],
                spread(one["ns_per_event"]),
                spread(one["small_pages_ns_per_event"]),
                f"{one['rates_per_event']:.2f}",
                f"{one['working_set_bytes'] / 2**20:.1f} MiB",
                f"{one['bytes_per_node']:.0f}",
                f"{one['load_ns_huge']:.1f} ns",
                f"{one['load_ns_small']:.1f} ns",
            )
            for one in rows
        ],
    )


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def draw(rows: list[dict[str, Any]], caches: dict[str, int], path: Path) -> None:
    pyplot = load_pyplot()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(figsize=(8, 5))
    for pattern, sharing in CASES:
        line = [one for one in rows if (one["pattern"], one["sharing"]) == (pattern, sharing)]
        sizes = [one["nodes"] for one in line]
        middle = [statistics.median(one["ns_per_event"]) for one in line]
        below = [m - min(one["ns_per_event"]) for m, one in zip(middle, line, strict=True)]
        above = [max(one["ns_per_event"]) - m for m, one in zip(middle, line, strict=True)]
        drawn = axes.errorbar(sizes, middle, yerr=[below, above], marker="o", capsize=3, label=f"{pattern}, {sharing}")
        small = [statistics.median(one["small_pages_ns_per_event"]) for one in line]
        axes.plot(sizes, small, linestyle=":", color=drawn[0].get_color())
    axes.plot([], [], linestyle=":", color="grey", label="in small pages")
    longest = max(rows, key=lambda one: one["working_set_bytes"])
    for name, size in caches.items():
        nodes = size / longest["bytes_per_node"]
        if min(SHAPES) / 2 < nodes < longest["nodes"]:
            axes.axvline(nodes, color="grey", linewidth=0.8)
            axes.text(nodes, axes.get_ylim()[1], f" {name} full", color="grey", va="top")
    axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="CPU ns per event", title="Cost of an event")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3, which="both")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, bbox_inches="tight")
    message(f"the plot is {path}")


if __name__ == "__main__":
    sys.exit(main())
