# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What counts as shown to be faster, and which of several schedules is taken."""

from __future__ import annotations

import statistics
import tracemalloc

import numpy as np
import pytest

from hocket import CostModel, Network
from hocket.advise import CallGroup, advise
from hocket.measure.compare import Launch
from hocket.plan import Evidence, PlanEntry
from hocket.search import RUNNER_UP_MARGIN
from hocket.tune import measurement
from hocket.tune.evidence import EARLY_CONFIDENCE, EARLY_RESAMPLES, Ratio, ratio_of, slower_on_average
from hocket.tune.measurement import Measurement
from mpis import rounds


def launches(seed, speed_up, num=3, pairs=5, noise=0.1, between=0.02):
    """Times of a native call around 1 ms, with the noise of calls and of launches."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(num):
        bias = np.exp(random.normal(0, between))
        native = 1e-3 * bias * np.exp(random.normal(0, noise, pairs))
        tuned = 1e-3 / speed_up * np.exp(random.normal(0, noise, pairs))
        made.append(Launch(tuple(native), tuple(tuned)))
    return made


def test_the_ratio_is_that_of_the_medians_and_lies_in_its_interval():
    found = launches(1, 2.0)
    ratio = ratio_of(found)
    native = statistics.median(t for launch in found for t in launch.native_s)
    tuned = statistics.median(t for launch in found for t in launch.tuned_s)
    assert ratio.value == native / tuned
    assert 1 < ratio.low < ratio.value < ratio.high
    assert ratio.is_faster
    assert ratio_of(found) == ratio  # a fixed seed


def test_one_launch_agrees_with_the_bootstrap_of_scipy():
    from scipy.stats import bootstrap  # here: importing it takes a second in every worker that collects this file

    (only,) = launches(3, 1.5, num=1, pairs=40)
    ratio = ratio_of([only])

    def of_medians(native, tuned, axis):
        return np.median(native, axis=axis) / np.median(tuned, axis=axis)

    found = bootstrap(
        (np.array(only.native_s), np.array(only.tuned_s)), of_medians, paired=True, method="percentile", rng=2
    ).confidence_interval
    assert (ratio.low, ratio.high) == pytest.approx((found.low, found.high), rel=0.01)


def test_the_interval_is_as_wide_as_launches_differ():
    steady, wild = (
        ratio_of(launches(5, 1.5, noise=0.01, between=0.0)),
        ratio_of(launches(5, 1.5, noise=0.01, between=0.3)),
    )
    assert wild.high - wild.low > 5 * (steady.high - steady.low)


def test_what_is_not_faster_is_seldom_shown_to_be():
    """Of schedules as fast as native, at most 5 % may pass; 2.5 % are asked for, and three launches are few."""
    many, some = rounds(400), rounds(100)
    assert sum(ratio_of(launches(seed, 1.0)).is_faster for seed in range(many)) <= 0.05 * many
    assert sum(ratio_of(launches(seed, 1.5)).is_faster for seed in range(some)) > 0.9 * some


def test_an_early_look_asks_for_more():
    found = launches(5, 1.5)
    late, early = ratio_of(found), ratio_of(found, EARLY_CONFIDENCE, EARLY_RESAMPLES)
    assert early.low < late.low < late.value == early.value < late.high < early.high


@pytest.mark.parametrize("num", [2, 3, 5])
def test_launches_that_differ_do_not_pass_for_evidence(num):
    """Where launches differ as much as calls, no more than 2.5 % may pass, for any number of launches."""
    from scipy.stats import poisson

    many = rounds(150)
    passed = sum(ratio_of(launches(seed, 1.0, num, 20, 0.05, 0.05)).is_faster for seed in range(many))
    assert passed <= poisson.ppf(0.999, 0.025 * many)  # more comes less than once in a thousand


def test_launches_of_unequal_numbers_of_calls():
    short = Launch((4.0,), (1.0,))
    assert ratio_of([short]) == ratio_of([short, short])
    assert ratio_of([short, Launch((2.0,) * 9, (1.0,) * 9)]).low < 2.0


def test_an_entry_needs_right_data_and_evidence():
    good, even = launches(7, 2.0), launches(8, 1.0)
    assert Measurement.judged(good, True).reason == ""
    assert "data differ" in Measurement.judged(good, False).reason
    found = Measurement.judged(even, True)
    assert found.reason == f"not shown to be faster: {found.ratio}"
    assert f"{found.ratio.value:.2f} times ({found.ratio.low:.2f} to {found.ratio.high:.2f})" in found.reason


# An alltoall of 80 KiB on two clusters, measured, in milliseconds: the schedule fills the queue of the shared link, and
# what that drops is sent again after a while.
OVERFLOWING = [
    Launch((129, 125, 136, 123, 119), (121, 116, 560, 123, 335)),
    Launch((132, 131, 130, 124, 142), (570, 128, 130, 120, 326)),
    Launch((137, 122, 128, 122, 116), (122, 115, 116, 345, 115)),
]


def test_a_schedule_with_single_calls_that_take_much_longer_is_slower_on_average():
    native = sum(sum(one.native_s) for one in OVERFLOWING)
    tuned = sum(sum(one.tuned_s) for one in OVERFLOWING)
    assert slower_on_average(OVERFLOWING) == pytest.approx(native / tuned)
    swapped = [Launch(one.tuned_s, one.native_s) for one in OVERFLOWING]
    assert slower_on_average(swapped) is None
    assert slower_on_average(launches(7, 2.0)) is None
    assert slower_on_average(launches(7, 0.8)) == pytest.approx(0.8, rel=0.1)


def test_one_spoilt_call_proves_nothing_and_two_do():
    good = [Launch((1.0,) * 10, (0.5,) * 10) for _ in range(3)]
    spoilt = Launch((1.0,) * 10, (0.5,) * 9 + (20.0,))
    assert slower_on_average([spoilt, *good[1:]]) is None
    assert slower_on_average([spoilt, spoilt, good[2]]) == pytest.approx(30 / 54)


def test_a_median_that_is_shown_to_be_faster_is_not_enough():
    often = [Launch((1.0,) * 10, (0.5,) * 7 + (4.0,) * 3) for _ in range(3)]
    found = Measurement.judged(often, True)
    assert found.ratio.is_faster
    assert found.reason.startswith("slower on average: 0.65 times; its median is 2.00 times (")
    assert not found.is_faster
    # Where the mean is hardly faster, that is what the calls save, whatever the median says.
    rarely = [Launch((1.0,) * 10, (0.5,) * 9 + (5.4,)) for _ in range(3)]
    assert "would save 1" in Measurement(tuple(rarely), True, found.ratio).worth(100, 1000.0).reason


def test_the_entry_carries_the_evidence():
    found = Measurement.judged(launches(7, 2.0, num=4), True)
    proven = found.prove(PlanEntry("bcast", (0, 1), 10, 20, "linear"), "Open MPI 4.1.4")
    assert proven.evidence == Evidence("Open MPI 4.1.4", 4, 5, found.ratio.value, (found.ratio.low, found.ratio.high))
    assert proven.native_s / proven.tuned_s == pytest.approx(found.ratio.value)


NETWORK = Network.generate("two-clusters:4+4", bandwidth="100 Mbit/s", latency="50 us")


def choices():
    groups = [CallGroup("bcast", tuple(range(8)), size, size, (0,), 10, True, 1.0) for size in (1_000_000, 30_000)]
    return advise(groups, NETWORK, 8, CostModel.usual()).choices


def test_runners_up_are_near_the_best_and_unlike_it():
    found = choices()
    assert any(choice.runners_up for choice in found)
    for choice in found:
        known = [choice.best]
        for candidate, predicted_s in choice.runners_up:
            assert predicted_s <= choice.predicted_s * (1 + RUNNER_UP_MARGIN)
            for other in known:
                assert candidate.algorithm != other.algorithm or not 0.5 < candidate.segments / other.segments < 2
            known.append(candidate)


def test_evidence_is_not_resampled_each_time_that_it_is_asked(monkeypatch):
    drawn = []
    monkeypatch.setattr(measurement, "slower_on_average", lambda launches: drawn.append(launches))
    found = Measurement(tuple(launches(7, 2.0, num=4)), True, Ratio(2.0, 1.5, 2.5))
    assert found.is_faster
    assert found.is_faster
    assert found.beside_others() == found
    assert len(drawn) == 1


def test_many_launches_take_little_memory():
    found = launches(3, 1.5, num=100, pairs=20)
    tracemalloc.start()
    try:
        ratio_of(found)
        slower_on_average(found)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # All resamples at once would be 10,000 x 100 x 20 pairs of times: 320 MB, and their places as much again.
    assert peak_bytes < 100e6
