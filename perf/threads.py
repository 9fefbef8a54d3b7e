# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The figure of [Suzuki]: speed-up over threads of the scheme of steps with barriers, for the paper's five fat trees;
and of the engine, which simulates parts of the traffic that share no links.

Random ring, ten messages of one size, equal sharing, wall time; `--spread 0.5` for random sizes, for which that scheme
needs far more steps: `--no-steps` leaves it out. Threads beyond the cores of the machine wait for each other, so that
the figure ends there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

from figure import load_pyplot
from install import build_drivers
from measure import Case, Way, measure

from hocket.cli.common import message, print_json, print_table

SHAPES = ("8x8x16", "12x12x24", "20x20x40", "24x24x48", "32x32x64")


def main() -> int:
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=cores, help="up to so many (default: the cores)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--spread", type=float, default=0)
    parser.add_argument("--sharing", choices=("equal", "maxmin"), default="equal")
    parser.add_argument("--no-steps", action="store_true", help="the engine alone")
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--plot", type=Path, default=Path("build/threads.svg"), help=".svg or .png")
    parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON object instead of a table")
    parser.add_argument("--folder", type=Path, default=Path("build/peers"))
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    driver = build_drivers(folder, [])["hocket"]
    counts = sorted({1, arguments.threads, *(2**i for i in range(8) if 2**i <= arguments.threads)})
    schemes = (
        {"engine": ("reference=0",)} if arguments.no_steps else {"engine": ("reference=0",), "steps": ("reference=1",)}
    )
    rows = []
    for shape in arguments.shapes:
        case = Case(shape, "random-ring", arguments.spread, {"sharing": arguments.sharing})
        message(f"{case.nodes} nodes")
        ways = [
            Way(f"{scheme}, {n}", driver, (*options, f"threads={n}"))
            for scheme, options in schemes.items()
            for n in counts
        ]
        measured = measure(case, ways, arguments.rounds, timeout_s=3600)
        for one in measured:
            if one.reason:
                raise SystemExit(f"error: {shape}: {one.reason}")
        for i, (scheme, threads) in enumerate((scheme, n) for scheme in schemes for n in counts):
            alone = measured[i // len(counts) * len(counts)].values("run_wall_s")
            walls = measured[i].values("run_wall_s")
            speedups = [a / b for a, b in zip(alone, walls, strict=True)]
            rows.append(
                {"nodes": case.nodes, "scheme": scheme, "threads": threads, "wall_s": walls, "speedup": speedups}
            )
    result: dict[str, Any] = {"cores": cores, "load": os.getloadavg()[0], "rows": rows}
    (folder / "threads.json").write_text(json.dumps(result), encoding="utf-8")
    if arguments.as_json:
        print_json(result)
    else:
        print(f"measured on {cores} cores, load {result['load']:.1f}")
        print_table(
            ("nodes", "scheme", "threads", "wall ms", "speed-up"),
            [
                (
                    f"{row['nodes']:,}",
                    row["scheme"],
                    row["threads"],
                    spread(row["wall_s"], 1e3),
                    spread(row["speedup"], 1),
                )
                for row in rows
            ],
        )
    draw(result, arguments.plot)
    return 0


def spread(values: list[float], factor: float) -> str:
    middle, least, most = (factor * f(values) for f in (statistics.median, min, max))
    return f"{middle:.2f} ({least:.2f} to {most:.2f})"


def draw(result: dict[str, Any], path: Path) -> None:
    pyplot = load_pyplot()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(figsize=(6, 4.5))
    colours: dict[int, Any] = {}
    for nodes, scheme in sorted({(row["nodes"], row["scheme"]) for row in result["rows"]}):
        line = [row for row in result["rows"] if (row["nodes"], row["scheme"]) == (nodes, scheme)]
        middle = [statistics.median(row["speedup"]) for row in line]
        (drawn,) = axes.plot(
            [row["threads"] for row in line],
            middle,
            marker="o",
            label=f"{nodes:,} nodes, {scheme}",
            color=colours.get(nodes),
            linestyle="-" if scheme == "engine" else "--",
        )
        colours[nodes] = drawn.get_color()
    threads = sorted({row["threads"] for row in result["rows"]})
    axes.plot(threads, threads, color="grey", linestyle=":", label="linear")
    axes.set(xlabel="threads", ylabel="speed-up", xticks=threads)
    axes.set_title(f"Random ring, measured on {result['cores']} cores")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, bbox_inches="tight")
    message(f"the figure is {path}")


if __name__ == "__main__":
    sys.exit(main())
