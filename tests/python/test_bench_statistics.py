# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the benchmark suite says of samples: on synthetic launches, whose truth is known, and on recorded ones."""

from __future__ import annotations

import gzip
import itertools
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from hocket.bench.mpi.comparison import compare, holm, launches_needed, least_p, rank_test, ratio_interval
from hocket.bench.mpi.find import until_enough
from hocket.bench.mpi.results import Chunk, Point, Results, add_record
from hocket.bench.mpi.statistics import CONFIDENCE, OF_LAUNCHES, block_medians, interval, summarize

MEDIANS = Path(__file__).parents[1] / "samples/bench-medians-ps.json.gz"
RECORDED = Path(__file__).parents[1] / "samples/bench-launches.jsonl.gz"
SEED = 20261125


def chunk(samples_ns: list[int], launch: int = 1, round_: int = 0, **changed: int) -> Chunk:
    values = {"runs": 1, "operations": 1, "bytes_moved": 0, "first_ns": 100, **changed}
    return Chunk(launch, round_, took_s=0.1, samples_ns=tuple(samples_ns), **values)


def test_the_interval_is_between_the_right_order_statistics() -> None:
    from scipy.stats import binom  # here: importing it takes a second in every worker that collects this file

    for n in range(1, 41):
        blocks = list(range(n))
        # Ten launches or more are a block each, whatever their number, and asked for more.
        found = interval([[float(value)] for value in blocks] if n >= 10 else [list(map(float, blocks))])
        asked = OF_LAUNCHES if n >= 10 else CONFIDENCE
        k = max((k for k in range(n // 2 + 1) if 2 * binom.cdf(k - 1, n, 0.5) <= 1 - asked), default=0)
        assert found == ((blocks[k - 1], blocks[n - k]) if k else None), n
    assert interval([[1.0] * 5]) is None  # 2 / 2^5 > 5 %
    assert interval([[float(value) for value in range(6)]]) == (0.0, 5.0)
    assert [interval([[float(value)] for value in range(n)]) for n in (6, 7, 10)] == [(0, 5), (0, 6), (0, 9)]


def test_the_interval_of_thousands_of_launches() -> None:
    found = interval([[float(value)] for value in range(2001)])
    assert found is not None
    low, high = found
    assert low == 2000 - high
    assert 930 < low < 950  # 2.58 standard deviations of coins, of 22.4 launches each, below the middle


def test_blocks_are_about_ten_and_never_of_two_launches() -> None:
    for launches, chunks in itertools.product(range(1, 13), (1, 2, 3, 10, 37)):
        given = [[100.0 * launch + i for i in range(chunks)] for launch in range(launches)]
        blocks = block_medians(given)
        per_launch = 1 if launches >= 6 else -(-10 // launches)
        assert len(blocks) == launches * min(per_launch, chunks)
        assert blocks == sorted(blocks)
        for launch in range(launches):
            assert sum(100 * launch <= block < 100 * launch + chunks for block in blocks) == len(blocks) // launches


def test_a_summary_by_hand() -> None:
    chunks = [chunk([2000, 4000, 6000], runs=2, bytes_moved=3000), chunk([8000, 2000, 2000], runs=2, bytes_moved=3000)]
    summary = summarize([chunks])
    # Of a run: 1, 2, 3 us; 4, 1, 1 us.
    assert (summary.samples, summary.chunks, summary.launches) == (6, 2, 1)
    assert summary.median_s == pytest.approx(1.5e-6)  # of 2 and 1
    assert summary.least_s == pytest.approx(1e-6)
    assert summary.most_s == pytest.approx(4e-6)
    assert summary.percentiles_s[50] == pytest.approx(1.5e-6)
    assert summary.averages_s["mean"] == pytest.approx(2e-6)
    assert summary.averages_s["harmonic"] == pytest.approx(6e-6 / (3 + 1 / 2 + 1 / 3 + 1 / 4))
    assert summary.bytes_per_s == pytest.approx(3000 / 1.5e-6)
    assert summary.interval_s is None
    assert not summary.is_known(1.0)


def test_overlap_is_what_the_shorter_one_hides() -> None:
    def overlap(pure: float, compute: float, both: int) -> float | None:
        parts = {"pure": pure, "compute": compute, "post": 100.0}
        found = summarize([[Chunk(1, 0, 1, 1, 0, 1, 0.1, (both,) * 3, parts), chunk([1, 2, 3])]])
        assert found.parts_s == pytest.approx({"pure": pure * 1e-9, "compute": compute * 1e-9, "post": 1e-7})
        return found.overlap

    assert overlap(1000.0, 1000.0, 2000) == pytest.approx(0)
    assert overlap(1000.0, 1000.0, 1000) == pytest.approx(1)
    assert overlap(1000.0, 4000.0, 4500) == pytest.approx(0.5)
    assert overlap(1000.0, 1000.0, 2500) == pytest.approx(-0.5)  # raw: not cut off
    assert overlap(0.0, 1000.0, 1000) is None
    assert summarize([[chunk([1, 2, 3])]]).parts_s == {}


def test_holm_by_definition() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5]) == [0.5]
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_the_rank_test_of_separate_launches_is_all_orders_but_two() -> None:
    for before, after in ((3, 3), (4, 4), (5, 5), (4, 7)):
        p = rank_test([[float(i)] for i in range(before)], [[100.0 + i] for i in range(after)])
        assert p == pytest.approx(least_p(before, after))
    assert least_p(5, 5) == pytest.approx(0.0079, abs=1e-4)


def disturbed(random: np.random.Generator, launches: int, chunks: int, samples: int = 20) -> list[list[list[float]]]:
    """Times of one point on a shared machine: launches differ by 2 %, chunks by 3 %, neighbouring samples resemble each
    other, and one in twenty is ten times as long."""
    found = []
    for _ in range(launches):
        level = 1000 * random.lognormal(0, 0.02)
        of_launch = []
        for _ in range(chunks):
            noise = np.empty(samples)
            value = random.normal()
            for i in range(samples):
                value = 0.8 * value + 0.6 * random.normal()
                noise[i] = value
            times = level * random.lognormal(0, 0.03) * np.exp(0.02 * noise)
            times[random.random(samples) < 0.05] *= 10
            of_launch.append(times.tolist())
        found.append(of_launch)
    return found


def medians(launches: list[list[list[float]]]) -> list[list[float]]:
    return [[statistics.median(chunk) for chunk in launch] for launch in launches]


@pytest.mark.parametrize(("launches", "chunks"), [(1, 10), (3, 4), (5, 2), (8, 2)])
def test_intervals_cover_the_true_median(launches: int, chunks: int) -> None:
    random = np.random.default_rng(SEED)
    hits = 0
    for _ in range(400):
        given = medians(disturbed(random, launches, chunks))
        found = interval(given)
        assert found is not None
        # One launch can only tell of itself: its own level, which long runs of it would find.
        truth = 1004.0 if launches > 1 else None
        if truth is None:
            longer = statistics.median(given[0])
            hits += found[0] <= longer <= found[1]
        else:
            hits += found[0] <= truth <= found[1]
    assert hits / 400 >= 0.90, f"seed {SEED}"


def results_of(launches: list[list[list[float]]], factor: float = 1.0) -> Results:
    """Of one point."""
    results = Results(Path("synthetic"), suite={"target": 0.05, "name": "synthetic"})
    results.points.append(Point(0, "synthetic", None, 8, 2, (), "synthetic ranks=2"))
    results.chunks[0] = [
        chunk([round(1000 * factor * value) for value in samples], launch, i)
        for launch, of_launch in enumerate(launches)
        for i, samples in enumerate(of_launch)
    ]
    return results


def verdicts(trials: int, factor: float, launches: int = 10) -> dict[str, int]:
    random = np.random.default_rng(SEED)
    found: dict[str, int] = {}
    for _ in range(trials):
        before = results_of(disturbed(random, launches, 2))
        after = results_of(disturbed(random, launches, 2), factor)
        (difference,) = compare(before, after, within=0.03).differences
        found[difference.verdict] = found.get(difference.verdict, 0) + 1
        assert difference.low <= difference.ratio <= difference.high
    return found


def test_equal_results_are_seldom_called_different() -> None:
    found = verdicts(100, 1.0)
    assert found.get("faster", 0) + found.get("slower", 0) <= 5, f"seed {SEED}: {found}"


def test_a_delay_of_ten_percent_is_found() -> None:
    assert verdicts(100, 1.1).get("slower", 0) >= 90
    assert verdicts(100, 1 / 1.1).get("faster", 0) >= 90


@pytest.mark.parametrize(("spread", "difference"), [(0.05, 0.05), (0.12, 0.10)])
def test_so_many_launches_as_are_said_to_be_needed_find_a_difference(spread: float, difference: float) -> None:
    """Of ten points, in nine of ten comparisons; and without a difference none is found."""
    random = np.random.default_rng(SEED)

    def levels(launches: int) -> list[list[list[float]]]:
        return [[[value] for value in random.lognormal(0, spread, launches)] for _ in range(10)]

    needed = launches_needed([(one, one) for one in levels(1000)], difference)
    assert needed is not None
    found = {1.0: 0, 1 / (1 - difference): 0}
    for factor in found:
        for _ in range(40):
            sides = zip(levels(needed), levels(needed), strict=True)
            p_values = holm([rank_test(one, [[factor * x] for (x,) in other]) for one, other in sides])
            found[factor] += sum(p <= 1 - CONFIDENCE for p in p_values)
    assert found[1.0] <= 0.05 * 400
    assert found[1 / (1 - difference)] >= 0.88 * 400, (needed, found)
    assert launches_needed([([[1.0]], [[1.0]])], 0.05) is None


def found_after_enough_launches(points: list[Callable[[int], np.ndarray]], trials: int) -> dict[float, float]:
    """As `--find 0.1`: the part of all points and trials in which a difference is found, by what one side is slower.

    `points`: draw the medians of so many launches each.
    """
    found = {1.0: 0, 1.1: 0}
    for factor in found:
        for _ in range(trials):
            sides: list[list[list[list[float]]]] = [[[] for _ in points] for _ in range(2)]

            def launch(launches: int, factor: float = factor, sides: list = sides) -> list[list]:
                for side, of_side in zip(sides, (1.0, factor), strict=True):
                    for drawn, draw in zip(side, points, strict=True):
                        drawn += [[of_side * float(value)] for value in draw(launches - len(drawn))]
                return sides

            def needed(results: Sequence[list]) -> int:
                return launches_needed(list(zip(*results, strict=True)), 0.1) or 10

            (before, after), launches, wanted = until_enough(
                launch, lambda results: len(results[0][0]), needed, lambda launches: 1000, 10
            )
            assert wanted is not None
            assert wanted <= launches == len(before[0])
            p_values = holm([rank_test(one, other) for one, other in zip(before, after, strict=True)])
            found[factor] += sum(p <= 1 - CONFIDENCE for p in p_values)
    return {factor: number / trials / len(points) for factor, number in found.items()}


@pytest.mark.parametrize("spread", [0.03, 0.08, 0.15])
def test_launches_go_on_until_a_difference_would_be_found(spread: float) -> None:
    random = np.random.default_rng(SEED)
    found = found_after_enough_launches([lambda launches: random.lognormal(0, spread, launches)] * 10, 40)
    assert found[1.0] <= 0.05, f"seed {SEED}: {found}"
    assert found[1.1] >= 0.9, f"seed {SEED}: {found}"


@pytest.mark.parametrize("of_mpi", ["openmpi-4.1.4", "mpich-4.0.2"])
def test_replay_launches_go_on_until_a_difference_would_be_found(of_mpi: str) -> None:
    """Launches that were really made, drawn with replacement."""
    random = np.random.default_rng(SEED)
    points = [np.array(medians_ps) for medians_ps in json.loads(gzip.decompress(MEDIANS.read_bytes()))[of_mpi].values()]
    draws = [lambda launches, medians=medians: random.choice(medians, launches) for medians in points]
    found = found_after_enough_launches(draws, 20)
    assert found[1.0] <= 0.05, f"seed {SEED}: {found}"
    assert found[1.1] >= 0.9, f"seed {SEED}: {found}"


def test_launches_end_with_the_time() -> None:
    launched = []

    def launch(launches: int) -> list:
        launched.append(launches)
        return []

    def so_many(results: list) -> int:
        return launched[-1]

    assert until_enough(launch, so_many, lambda results: 300, lambda launches: 40, 10) == ([], 40, 300)
    assert launched == [10, 40]
    # The time is over before the first ten; and nothing was measured on both sides.
    assert until_enough(launch, lambda results: 2, lambda results: 300, lambda launches: 40, 10) == ([], 2, 300)
    assert until_enough(launch, so_many, lambda results: None, lambda launches: 40, 10) == ([], 10, None)


def test_few_launches_prove_nothing() -> None:
    assert set(verdicts(20, 1.5, launches=3)) == {"undecided"}


def test_the_same_within_a_margin() -> None:
    steady = [[[1000.0, 1001.0, 1002.0]] * 4] * 5
    (difference,) = compare(results_of(steady), results_of(steady, 1.01), within=0.03).differences
    assert difference.verdict == "same"
    low, high = ratio_interval(medians(steady), [[1.01 * value for value in one] for one in medians(steady)])
    assert low == pytest.approx(1.01)
    assert high == pytest.approx(1.01)


def test_what_only_one_has_is_listed_with_the_reason() -> None:
    both, other = results_of([[[1.0, 2.0, 3.0]]]), results_of([[[1.0, 2.0, 3.0]]])
    other.chunks.clear()
    add_record(other, {"type": "outcome", "variant": "synthetic ranks=2", "point": None, "status": "crash",
                       "message": "signal 11 (SIGSEGV)"})  # fmt: skip
    comparison = compare(both, other, 0.05)
    assert comparison.differences == []
    assert comparison.only_before == ["synthetic ranks=2 (crash: signal 11 (SIGSEGV))"]


def recorded() -> Results:
    results = Results(RECORDED)
    for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines():
        add_record(results, json.loads(line))
    return results


def test_replay_the_interval_of_some_launches_covers_the_medians_of_others() -> None:
    """Of launches that were really made, on two cores with other programs: five of them give the interval as
    `hocket bench run` does by default, two chunks each; the truth is the median of all others."""
    results, random = recorded(), np.random.default_rng(SEED)
    hits = trials = 0
    for point in results.points:
        launches = medians([[list(one.run_s) for one in launch] for launch in results.launches(point)])
        for _ in range(60):
            order = random.permutation(len(launches))
            chosen = [[launches[i][k] for k in random.permutation(len(launches[i]))[:2]] for i in order[:5]]
            found = interval(chosen)
            assert found is not None
            truth = statistics.median(statistics.median(launches[i]) for i in order[5:])
            hits += found[0] <= truth <= found[1]
            trials += 1
    assert hits / trials >= 0.90, f"{hits} of {trials}, seed {SEED}"


@pytest.mark.parametrize("of_mpi", ["openmpi-4.1.4", "mpich-4.0.2"])
def test_replay_the_interval_at_which_measuring_ends_covers_the_median_of_the_others(of_mpi: str) -> None:
    """Medians of 100 launches of ten points, on an idle machine. Measuring ends when half of the interval is at most 5
    % of the median, as with `most_launches`, or after 49; the others are the truth."""
    random = np.random.default_rng(SEED)
    hits = trials = 0
    for medians_ps in json.loads(gzip.decompress(MEDIANS.read_bytes()))[of_mpi].values():
        for _ in range(40):
            order = random.permutation(medians_ps)
            for launches in range(5, len(order) // 2):
                found = interval([[float(value)] for value in order[:launches]])
                if found is not None and found[1] - found[0] <= 0.1 * np.median(order[:launches]):
                    break
            assert found is not None
            hits += found[0] <= np.median(order[launches:]) <= found[1]
            trials += 1
    assert hits / trials >= 0.90, f"{hits} of {trials}, seed {SEED}"


def test_replay_halves_of_the_launches_are_not_different() -> None:
    results, random = recorded(), np.random.default_rng(SEED)
    called = trials = 0
    for point in results.points:
        launches = medians([[list(one.run_s) for one in launch] for launch in results.launches(point)])
        for _ in range(25):
            order, half = random.permutation(len(launches)), len(launches) // 2
            one, other = [launches[i] for i in order[:half]], [launches[i] for i in order[half:]]
            low, high = ratio_interval(one, other)
            called += rank_test(one, other) <= 1 - CONFIDENCE and not low <= 1 <= high
            trials += 1
    assert called / trials <= 0.05, f"{called} of {trials}, seed {SEED}"
