#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which test of two results finds a planted delay most often? Decided on launches of one MPI, recorded in turns.

hocket bench run SUITE --launches 30 -o R --against 'mpiexec -n 2' -- mpiexec -n 2
perf/bench_power.py R [--planted 0.1]

Each trial exchanges the two launches of each pair or not, by lot: so nothing differs but what is planted into one side.
`power`: the part of all points in which the delay is found, after Holm's correction; `false`: in which a difference is
found and none was planted. What a launch says is the median of its chunks' medians, or its least sample.
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
from hocket.bench.mpi.statistics import CONFIDENCE

Values = np.ndarray
SEED = 1


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
    arguments = parser.parse_args()
    sides = [read_results(arguments.result), read_results(arguments.result / "against-1")]
    print("| launch says | test | launches | power | false |\n|---|---|---|---|---|")
    for says in (of_median, of_least):
        values = [np.array([[says(launch) for launch in side.launches(p)] for p in side.points]) for side in sides]
        for test in TESTS:
            for launches in sorted({10, 20, values[0].shape[1]}):
                if launches <= values[0].shape[1]:
                    power, false = rates(values, test, launches, arguments.planted, arguments.trials)
                    print(f"| {says.__name__} | {test.__name__} | {launches} | {power:.2f} | {false:.3f} |")


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
