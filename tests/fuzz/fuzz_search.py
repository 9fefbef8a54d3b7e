#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Compares the broadcast search with OR-tools CP-SAT, whose transfers may start whenever they like, on random trees.

tests/fuzz/fuzz_search.py [--trees N] [--seed S] [--limit SECONDS]

Without delays the search's optimum must be that of CP-SAT. With delays it is among broadcasts that start each transfer,
in the order of starts, as early as possible: CP-SAT may do better, which is counted, but never better than the bound
that the search claims for any starts.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass

from ortools.sat.python import cp_model

from hocket._core import Tree, fastest_broadcast, faults_of

Cable = tuple[int, int, int, int, int, int, bool]
BYTES = 60  # with bandwidths of some bytes a nanosecond, times are a few nanoseconds


@dataclass
class Instance:
    num_nodes: int
    computers: list[int]
    cables: list[Cable]
    holders: list[int]

    @property
    def has_delays(self) -> bool:
        return any(cable[4] or cable[5] for cable in self.cables)


def random_instance(draw: random.Random) -> Instance:
    left = draw.choice((5, 5, 6, 6, 7, 8))
    delays, half_duplex, inner_computers = (draw.random() < 0.5 for _ in range(3))
    speeds = draw.choice(((1, 2, 3), (2, 10), (1, 2, 3, 4, 5, 6, 10)))
    computers: list[int] = []
    inner: list[int] = []
    cables: list[Cable] = []
    num_nodes = 0

    def join(a: int, b: int) -> None:
        half = half_duplex and draw.random() < 0.5
        there = draw.choice(speeds) * 10**9
        back = there if half or draw.random() < 0.5 else draw.choice(speeds) * 10**9
        delay, delay_back = (draw.randrange(4) * 5 if delays else 0 for _ in range(2))
        cables.append((a, b, there, back, delay, delay_back, half))

    for _ in range(draw.randint(1, 4)):
        if inner_computers and left > 2 and draw.random() < 0.5:
            computers.append(num_nodes)
            left -= 1
        if inner:
            join(draw.choice(inner), num_nodes)
        inner.append(num_nodes)
        num_nodes += 1
    for _ in range(left):
        computers.append(num_nodes)
        join(draw.choice(inner), num_nodes)
        num_nodes += 1
    holders = draw.sample(range(len(computers)), 2 if draw.random() < 0.25 else 1)
    return Instance(num_nodes, computers, cables, holders)


def path(instance: Instance, start: int, end: int) -> list[tuple[int, int]]:
    """(cable, direction) from one node to another one."""
    stack: list[tuple[int, int, list[tuple[int, int]]]] = [(start, -1, [])]
    while stack:
        node, before, way = stack.pop()
        if node == end:
            return way
        for number, (a, b, *_) in enumerate(instance.cables):
            if node in (a, b):
                other = b if node == a else a
                if other != before:
                    stack.append((other, node, [*way, (number, int(node == b))]))
    raise AssertionError("a tree is connected")


def cp_sat_makespan(instance: Instance, below_ns: int, limit_s: float) -> tuple[str, int]:
    """The least makespan below a given one: ("optimal", it), ("none", 0), or ("open", 0) after the limit."""
    model = cp_model.CpModel()
    n = len(instance.computers)
    end = [model.new_int_var(0, below_ns - 1, f"end{r}") for r in range(n)]
    intervals: dict[tuple[int, int], list[tuple[cp_model.IntervalVar, int]]] = {}
    for r in range(n):
        if r in instance.holders:
            model.add(end[r] == 0)
            continue
        chosen = []
        for s in range(n):
            if s == r:
                continue
            way = path(instance, instance.computers[s], instance.computers[r])
            rate = min(instance.cables[number][2 + direction] for number, direction in way)
            duration = -(-BYTES * 10**9 // rate)
            start = model.new_int_var(0, below_ns - 1, f"start{s}>{r}")
            used = model.new_bool_var(f"used{s}>{r}")
            chosen.append(used)
            model.add(start >= end[s]).only_enforce_if(used)
            delay = 0
            for number, direction in way:
                delay += instance.cables[number][4 + direction]
                interval = model.new_optional_fixed_size_interval_var(
                    start + delay, duration, used, f"{s}>{r}@{number}"
                )
                shared = 0 if instance.cables[number][6] else direction
                intervals.setdefault((number, shared), []).append((interval, rate // 10**9))
            model.add(end[r] == start + delay + duration).only_enforce_if(used)
        model.add_exactly_one(chosen)
    for (number, direction), uses in intervals.items():
        capacity = instance.cables[number][2 + direction] // 10**9
        model.add_cumulative([use for use, _ in uses], [rate for _, rate in uses], capacity)
    last = model.new_int_var(0, below_ns - 1, "makespan")
    model.add_max_equality(last, end)
    model.minimize(last)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.max_time_in_seconds = limit_s
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return "none", 0
    return ("optimal", int(solver.objective_value)) if status == cp_model.OPTIMAL else ("open", 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=30, help="seconds of CP-SAT for a tree")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    compared, wrong, open_ones, with_delays, faster = 0, 0, 0, 0, []
    for number in range(arguments.trees):
        instance = random_instance(draw)
        tree = Tree(instance.num_nodes, instance.computers, instance.cables, BYTES)
        found = fastest_broadcast(tree, instance.holders)
        fault = faults_of(tree, instance.holders, found.transfers)
        status, best = cp_sat_makespan(instance, found.makespan_ns, arguments.limit)
        with_delays += instance.has_delays
        compared += status != "open"
        open_ones += status == "open"
        is_wrong = fault or not found.optimal
        if status == "optimal":
            faster.append(found.makespan_ns / best - 1)
            is_wrong = is_wrong or not instance.has_delays or best < found.lower_bound_any_starts_ns
        if is_wrong:
            wrong += 1
            print(f"tree {number}: search {found.makespan_ns}, CP-SAT {status} {best}, {fault} {instance}")
        if sys.stderr.isatty():
            print(f"\r{number + 1}", end="", file=sys.stderr)
    print(
        f"{arguments.trees} trees, seed {arguments.seed}: {compared} compared ({with_delays} with delays), "
        f"{wrong} wrong, {open_ones} open in CP-SAT; with delays and any starts {len(faster)} faster"
        + (f", by {max(faster):.1%} at most" if faster else "")
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
