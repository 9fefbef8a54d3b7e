# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tables 1 to 4 of [Hourai] again: times to find and prove the optimal broadcast, beside OR-tools' CP-SAT.

Seconds of one thread. The paper's search ran on a Xeon of 2003 (2.4 GHz) and, as `--method paper`, runs here; each with
no cut, sender cut, receiver cut, both. ">" = not done by then. `--scale`: larger and harder trees, by hocket alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from clusters import BYTES, Cluster, RandomTree, dual, star, two_clusters, unequal

from hocket import Network
from hocket.cli.common import message, print_table
from hocket.cli.options import seconds
from hocket.search.optimal import optimal_schedule

CUTS = ("none", "sender", "receiver", "both")
HOUR = "> 3600"
# [Hourai], tables 1 to 4: seconds with no cut, sender cut, receiver cut, both.
PUBLISHED: list[tuple[Cluster, tuple[str, str, str, str]]] = [
    (star(8), ("0.7176", "0.1675", "0.0008", "0.0005")),
    (star(10), ("124", "13.8", "0.0016", "0.0007")),
    (star(12), ("2890", "308", "0.0019", "0.0009")),
    (star(14), (HOUR, HOUR, "0.0111", "0.0010")),
    (star(16), (HOUR, HOUR, "0.1094", "0.0012")),
    (dual(4), ("0.0858", "0.1287", "0.0056", "0.0075")),
    (dual(5), ("43.7", "41.6", "0.2105", "0.1990")),
    (dual(6), ("427", "224", "0.2975", "0.1819")),
    (dual(7), ("2577", "1469", "0.2674", "0.1602")),
    (dual(8), (HOUR, HOUR, "1.8953", "0.7604")),
    (two_clusters(2), ("0.1002", "0.1474", "0.0152", "0.0196")),
    (two_clusters(3), ("200", "137", "1.07", "0.773")),
    (two_clusters(4), (HOUR, HOUR, "8.48", "4.05")),
    (unequal(2), ("0.1463", "0.1818", "0.0229", "0.0267")),
    (unequal(3), ("79.4", "16.1", "0.904", "0.241")),
    (unequal(4), (HOUR, HOUR, "5546", "146")),
]
LARGE: list[Cluster | RandomTree] = [
    *(unequal(nodes) for nodes in (8, 15, 16, 31, 32, 63, 64)),
    star(64, "20 us"),
    dual(32, "20 us", "1 us"),
    star(1024),
    *(RandomTree(24, seed) for seed in range(1, 9)),
    RandomTree(1000, 1),
]


def time_text(value: float, is_done: bool) -> str:
    return ("" if is_done else "> ") + f"{value:.3g}"


def search(network: Network, limit_s: float, **method: Any) -> dict[str, Any]:
    found = optimal_schedule(network, "bcast", BYTES, time_limit_s=limit_s, **method)
    return {"seconds": found.search_s, "optimal": found.status == "optimal", "makespan_s": found.makespan_s,
            "gap": found.gap, "states": found.nodes_explored}  # fmt: skip


def outside(network: Network, limit_s: float) -> dict[str, Any] | None:
    """CP-SAT's; None where OR-tools is not installed."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/fuzz"))
    try:
        from search_against_cp_sat import by_cp_sat
    except ImportError:
        return None
    begin_s = time.perf_counter()
    exact = by_cp_sat(network, 0, limit_s)
    done = exact.best_ns == exact.bound_ns
    return {"seconds": time.perf_counter() - begin_s, "optimal": done, "makespan_s": exact.best_ns * 1e-9}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=seconds, default=10.0, metavar="TIME", help="for each search")
    parser.add_argument("--scale", action="store_true", help="larger trees instead of the published ones")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    results, rows = [], []
    chosen: list[tuple[Cluster | RandomTree, tuple[str, ...]]] = [(cluster, ()) for cluster in LARGE]
    for cluster, published in chosen if given.scale else PUBLISHED:
        message(cluster.name)
        network = cluster.network()
        ours = search(network, given.limit)
        results.append(
            {"cluster": cluster.name, "ranks": network.num_ranks, "latency": cluster.latency, "hocket": ours}
        )
        row = [cluster.name, str(network.num_ranks), f"{ours['makespan_s'] * 1e3:.1f}"]
        row += [time_text(ours["seconds"], ours["optimal"]), f"{ours['gap']:.2%}", f"{ours['states']:,}"]
        if not given.scale:
            theirs = {cuts: search(network, given.limit, method="paper", cuts=cuts) for cuts in CUTS}
            exact = outside(network, given.limit)
            results[-1] |= {"paper_method": theirs, "published_s": published, "cp_sat": exact}
            row += [time_text(one["seconds"], one["optimal"]) for one in theirs.values()] + list(published)
            row.append("" if exact is None else time_text(exact["seconds"], exact["optimal"]))
        rows.append(row)
    if given.json:
        print(json.dumps({"bytes": BYTES, "limit_s": given.limit, "results": results}, indent=1))
        return 0
    columns = ["cluster", "ranks", "ms", "hocket", "gap", "states"]
    if not given.scale:
        columns += [f"here: {cuts}" for cuts in CUTS] + [f"2003: {cuts}" for cuts in CUTS] + ["CP-SAT"]
    print_table(columns, rows, "optimal broadcasts of 1 MB: seconds to prove")
    return 0


if __name__ == "__main__":
    sys.exit(main())
