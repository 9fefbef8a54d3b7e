#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which test of two results finds a planted delay most often? Decided on launches of one MPI, recorded in turns.

hocket bench run SUITE --launches 30 -o R --against 'mpiexec -n 2' -- mpiexec -n 2
perf/bench_power.py R [--planted 0.1]

Each trial exchanges the two launches of each pair or not, by lot: so nothing differs but what is planted into one side.
`power`: the part of all points in which the delay is found, after Holm's correction; `false`: in which a difference is
found and none was planted. What a launch says is the median of its chunks' medians, or its least sample.

--covers: instead, from the launches of one side in an order by lot, five and then one more at a time until the interval
is within the target, as hocket-bench does with `most_launches`. How often does it hold the median of the launches that
are left?
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu, norm, rankdata, wilcoxon

from hocket.bench.mpi.comparison import holm
from hocket.bench.mpi.results import Chunk, read_results
from hocket.bench.mpi.statistics import CONFIDENCE, interval

Values = np.ndarray
SEED = 1
LEAST = 5  # launches, as the suites that come with hocket


def rank_sum(before: Values, after: Values) -> float:
    """Mann and Whitney's, as `hocket bench compare` does."""
    return float(mannwhitneyu(before, after).pvalue)


def signed_rank(before: Values, after: Values) -> float:
    """Wilcoxon's, of pairs."""
    return float(wilcoxon(np.log(after / before)).pvalue)


def least_quarter(before: Values, after: Values) -> float:
    """A rank test whose scores are of the least quarter of all launches alone [Gastwirth65]: where half of the launches
    are disturbed, the others say what differs."""
    ranks = rankdata(np.concatenate([before, after]))
    scores = np.maximum(0, len(ranks) / 4 + 0.5 - ranks)
    n, m = len(before), len(after)
    variance = n * m / ((n + m) * (n + m - 1)) * ((scores - scores.mean()) ** 2).sum()
    return float(2 * norm.sf(abs(scores[:n].sum() - n * scores.mean()) / np.sqrt(variance)))


TESTS: tuple[Callable[[Values, Values], float], ...] = (rank_sum, signed_rank, least_quarter)


def of_median(launch: list[Chunk]) -> float:
    return statistics.median(statistics.median(chunk.run_s) for chunk in launch)


def of_least(launch: list[Chunk]) -> float:
    return min(min(chunk.run_s) for chunk in launch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path, help="folder of `hocket bench run --against`")
    parser.add_argument("--planted", type=float, default=0.1, help="part by which one side is slower")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--covers", type=float, metavar="TARGET", help="half of the interval / median, such as 0.05")
    arguments = parser.parse_args()
    if arguments.covers:
        print_coverage(arguments.result, arguments.covers, arguments.trials)
        return
    sides = [read_results(arguments.result), read_results(arguments.result / "against-1")]
    print("| launch says | test | launches | power | false |\n|---|---|---|---|---|")
    for says in (of_median, of_least):
        values = [np.array([[says(launch) for launch in side.launches(p)] for p in side.points]) for side in sides]
        for test in TESTS:
            for launches in sorted({10, 20, values[0].shape[1]}):
                if launches <= values[0].shape[1]:
                    power, false = rates(values, test, launches, arguments.planted, arguments.trials)
                    print(f"| {says.__name__} | {test.__name__} | {launches} | {power:.2f} | {false:.3f} |")


def print_coverage(result: Path, target: float, trials: int) -> None:
    results = read_results(result)
    random = np.random.default_rng(SEED)
    held, used, wide, number = 0, [], 0, 0
    for point in results.points:
        launches = [[statistics.median(chunk.run_s) for chunk in launch] for launch in results.launches(point)]
        for _ in range(trials):
            order = random.permutation(len(launches))
            taken = LEAST
            while not is_within(ends := interval([launches[i] for i in order[:taken]]), target):
                if taken == len(launches) // 2:
                    wide += 1
                    break
                taken += 1
            others = statistics.median(statistics.median(launches[i]) for i in order[taken:])
            assert ends is not None
            held += ends[0] <= others <= ends[1]
            used.append(taken)
            number += 1
    print(
        f"{number} trials: {held / number:.1%} hold the median of the others, {statistics.mean(used):.1f} launches on "
        f"the mean; {wide / number:.1%} are wide after half of all launches"
    )


def is_within(ends: tuple[float, float] | None, target: float) -> bool:
    return ends is not None and ends[1] - ends[0] <= target * (ends[0] + ends[1])


def rates(
    values: list[Values], test: Callable[[Values, Values], float], launches: int, planted: float, trials: int
) -> tuple[float, float]:
    random = np.random.default_rng(SEED)
    found = [0, 0]
    for _ in range(trials):
        chosen = np.sort(random.permutation(values[0].shape[1])[:launches])
        swapped = random.random(launches) < 0.5
        one, other = (np.where(swapped, values[1 - i][:, chosen], values[i][:, chosen]) for i in (0, 1))
        for i, factor in enumerate((1 + planted, 1.0)):
            p_values = holm([test(a, b * factor) for a, b in zip(one, other, strict=True)])
            found[i] += sum(p <= 1 - CONFIDENCE for p in p_values)
    return found[0] / trials / len(values[0]), found[1] / trials / len(values[0])


if __name__ == "__main__":
    main()
