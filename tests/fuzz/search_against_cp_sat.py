# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Optimal broadcasts on random small trees, beside those that OR-tools' CP-SAT finds with free start times.

`make fuzz-search` installs OR-tools and runs this. Without delays both must give the same. With delays the class that
is searched may lack the best schedule: that is counted, and hocket may never be the faster one.
"""

from __future__ import annotations

import argparse
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ortools.sat.python import cp_model

from hocket import Network
from hocket.cli.common import progress
from hocket.search.optimal import optimal_schedule

BYTES = 1_000_000
KINDS = ([10, 20, 30], [93, 792], list(range(10, 110, 10)))  # Mbit/s: few values, the paper's, many


def random_network(chance: random.Random, ranks: int, delays: bool) -> Network:
    """Up to four inner nodes, some of them hosts; full and half duplex; both directions alike or not."""
    bandwidths = chance.choice(KINDS)
    half_duplex, asymmetric, inner_hosts = (chance.random() < 0.5 for _ in range(3))
    nodes, links = [], []
    inner: list[str] = []

    def join(a: str, b: str) -> None:
        lines = [f'between = ["{a}", "{b}"]', f'bandwidth = "{chance.choice(bandwidths)} Mbit/s"']
        if half_duplex and chance.random() < 0.5:
            lines.append('duplex = "half"')
        elif asymmetric:
            lines.append(f'bandwidth_back = "{chance.choice(bandwidths)} Mbit/s"')
        if delays:
            lines.append(f'latency = "{chance.randrange(40)} ms"')
            lines.append(f'latency_back = "{chance.randrange(40)} ms"')
        links.append("[[link]]\n" + "\n".join(lines) + "\n")

    def node(name: str, kind: str) -> None:
        nodes.append(f'[[node]]\nname = "{name}"\nkind = "{kind}"\n')

    left = ranks
    for i in range(chance.randint(1, 4)):
        host = inner_hosts and left > 2 and chance.random() < 0.5
        left -= host
        name = f"{'h' if host else 's'}{i}"
        node(name, "host" if host else "switch")
        if inner:
            join(chance.choice(inner), name)
        inner.append(name)
    for i in range(left):
        node(f"l{i}", "host")
        join(chance.choice(inner), f"l{i}")
    return Network.from_text('format = "hocket.network/1"\nname = "random"\n' + "".join(nodes + links))


@dataclass(frozen=True)
class Exact:
    """What CP-SAT says."""

    best_ns: int
    bound_ns: int


def by_cp_sat(network: Network, root: int, limit_s: float) -> Exact:
    """The problem of docs/explanation/optimal-schedules.md as constraints, with its own arithmetic."""
    model = cp_model.CpModel()
    ranks = range(network.num_ranks)
    links = network.links
    bandwidths = [round(link.bandwidth_bytes_per_s) for link in links]
    delays = [round(link.latency_s * 1e9) for link in links]
    routes = {(s, r): network.route(s, r) for s in ranks for r in ranks if s != r}
    rates = {pair: min(bandwidths[link] for link in route) for pair, route in routes.items()}
    takes = {pair: -(-BYTES * 10**9 // rate) for pair, rate in rates.items()}
    horizon = sum(max(takes[s, r] + sum(delays[link] for link in routes[s, r]) for s in ranks if s != r) for r in ranks)
    ready = [model.new_int_var(0, 0 if r == root else horizon, f"ready {r}") for r in ranks]
    end = model.new_int_var(0, horizon, "end")
    loads: dict[int, tuple[list[cp_model.IntervalVar], list[int]]] = {}
    for r in ranks:
        model.add(end >= ready[r])
        sent = []
        for s in ranks:
            if s == r or r == root:
                continue
            used = model.new_bool_var(f"{s} to {r}")
            start = model.new_int_var(0, horizon, f"start {s} to {r}")
            sent.append(used)
            model.add(start >= ready[s]).only_enforce_if(used)
            offset = 0
            for link in routes[s, r]:
                offset += delays[link]
                interval = model.new_optional_interval_var(
                    start + offset, takes[s, r], start + offset + takes[s, r], used, f"{s} to {r} on {link}"
                )
                intervals, demands = loads.setdefault(capacity(network, link), ([], []))
                intervals.append(interval)
                demands.append(rates[s, r])
            model.add(ready[r] == start + offset + takes[s, r]).only_enforce_if(used)
        if sent:
            model.add_exactly_one(sent)
    for link, (intervals, demands) in loads.items():
        model.add_cumulative(intervals, demands, bandwidths[link])
    model.minimize(end)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit_s
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Exact(horizon, 0)
    return Exact(round(solver.objective_value), round(solver.best_objective_bound))


def capacity(network: Network, link: int) -> int:
    """Of both directions of a half-duplex cable, the first."""
    one = network.links[link]
    if not one.half_duplex:
        return link
    return next(i for i, other in enumerate(network.links) if {other.source, other.target} == {one.source, one.target})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60, help="seconds of CP-SAT for a tree")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    print(f"seed {given.seed}, {given.trees} trees of 5 to 8 ranks, every other one with delays", flush=True)

    def compare(number: int) -> tuple[int, str]:
        chance = random.Random(f"{given.seed} {number}")
        delays = number % 2 == 1
        network = random_network(chance, chance.randint(5, 8), delays)
        root = chance.randrange(network.num_ranks)
        found = optimal_schedule(network, "bcast", BYTES, root)
        ours_ns = round(found.makespan_s * 1e9)
        exact = by_cp_sat(network, root, given.limit)
        if found.status != "optimal":
            return number, "hocket: not proven"
        any_starts_ns = round(found.lower_bound_any_starts_s * 1e9)
        if any_starts_ns > exact.best_ns:
            return number, f"WRONG: bound {any_starts_ns} ns, CP-SAT {exact.best_ns} ns"
        if ours_ns < exact.bound_ns or (not delays and ours_ns > exact.best_ns):
            return number, f"WRONG: hocket {ours_ns} ns, CP-SAT {exact.best_ns} ns, at least {exact.bound_ns}"
        if ours_ns > exact.best_ns:
            return number, f"a schedule outside the class is {ours_ns / exact.best_ns - 1:.2%} faster"
        return number, "the same" if exact.bound_ns == exact.best_ns else "CP-SAT: not proven"

    results: dict[int, str] = {}
    with ThreadPoolExecutor(given.threads) as threads, progress("trees", given.trees) as advance:
        for number, result in threads.map(compare, range(given.trees)):
            results[number] = result
            advance("")
            if result.startswith("WRONG"):
                print(f"tree {number}: {result}", flush=True)
    counts: dict[str, int] = {}
    for result in results.values():
        kind = result.partition(":")[0] if result.startswith("WRONG") else result
        kind = "a schedule outside the class is faster" if "outside" in kind else kind
        counts[kind] = counts.get(kind, 0) + 1
    for kind, count in sorted(counts.items()):
        print(f"{count:6} {kind}")
    gains = [result for result in results.values() if "outside" in result]
    for gain in sorted(gains)[-3:]:
        print(f"       such as: {gain}")
    return 1 if "WRONG" in counts else 0


if __name__ == "__main__":
    sys.exit(main())
