# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What is measured in a limited time, how often, and when a verdict is clear."""

from __future__ import annotations

import dataclasses
import types

import numpy as np
import pytest

from hocket import CostModel, Network
from hocket.advise import CallGroup, advise
from hocket.measure.compare import Launch
from hocket.tune import budget
from hocket.tune.budget import USUAL_S, Budget, TimeLimit, unlimited
from hocket.tune.trial import CALLS_BESIDE, LEAST_TIMES, measure_choices

NETWORK = Network.generate("two-clusters:4+4", bandwidth="100 Mbit/s", latency="50 us")
SIZES = (1_000_000, 300_000, 30_000)
PROGRAM_S = 30.0


def choices(runners_up=False, calls=10):
    """Broadcasts that take 1 s natively; `calls` of each."""
    groups = [CallGroup("bcast", tuple(range(8)), size, size, (0,), calls, True, 1.0) for size in SIZES]
    found = advise(groups, NETWORK, 8, CostModel.usual()).choices
    assert not any(choice.reason for choice in found)
    return [choice if runners_up else dataclasses.replace(choice, runners_up=()) for choice in found]


def cost_s(choice, least):
    return (least + CALLS_BESIDE) * (1.0 + choice.predicted_s)


class Measuring:
    """Stands for hocket-compare: native calls of 1 s, new ones as fast as `speed` says of the entry."""

    def __init__(self, budget, speed, noise=0.0, equal=lambda entry: True, launch_s=None, pairs=5):
        self.budget, self.speed, self.noise, self.equal = budget, speed, noise, equal
        self.launch_s, self.pairs = launch_s, pairs
        self.asked = []  # sizes of the entries of each launch
        self.least = []
        self.random = np.random.default_rng(1)

    def __call__(self, entries, within_s, least, what):
        self.asked.append([entry.bytes_max for entry in entries])
        self.least.append(least)
        assert 0 < within_s <= self.budget.left_s
        self.budget.spent_s += within_s if self.launch_s is None else self.launch_s
        return [self.one(entry) for entry in entries]

    def one(self, entry):
        speed = self.speed(entry)
        if speed is None:
            return None
        noise = np.exp(self.random.normal(0, self.noise, (2, self.pairs)))
        return Launch(tuple(noise[0]), tuple(noise[1] / speed)), self.equal(entry)


def measured(some, speed, limit_s=60.0, program_s=PROGRAM_S, launches=3, **more):
    measuring = Measuring(Budget(limit_s), speed, **more)
    chosen, found = measure_choices(some, program_s, launches, measuring.budget, measuring)
    assert len(chosen) == len(found) == len(some)
    return chosen, found, measuring


@pytest.fixture
def clock(monkeypatch):
    clock = types.SimpleNamespace(now=100.0)
    monkeypatch.setattr(budget, "time", types.SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_the_time_for_tuning_is_a_minute_or_ten_runs_and_three_runs_of_each_kind_are_kept(clock):
    limit = TimeLimit.usual(5.0)
    assert (limit.limit_s, limit.left_s) == (USUAL_S, USUAL_S - 5.0)
    assert limit.for_measuring_s == pytest.approx(55.0 - 3 * (5.0 + 4.0))
    long = TimeLimit.usual(100.0)
    assert (long.limit_s, long.left_s) == (1000.0, 900.0)
    clock.now += 800
    assert long.for_measuring_s == 250.0  # what simulations took before leaves at least a quarter


@pytest.mark.parametrize(
    ("passed_s", "made", "runs"),
    [(0, 1, 5), (15, 1, 5), (16, 1, 4), (25, 1, 3), (34, 1, 3), (54, 1, 3), (40, 3, 4), (50, 3, 3), (90, 4, 4)],
)
def test_there_are_five_runs_of_each_kind_or_as_many_as_there_is_time_for_but_three(clock, passed_s, made, runs):
    limit = TimeLimit.usual(5.0)
    clock.now += passed_s
    assert limit.runs(5, made, pair_s=9.0, beside_s=4.0) == runs


def test_without_a_limit_all_runs_are_made(clock):
    limit = unlimited(5.0)
    clock.now += 1e6
    assert limit.runs(2, 1, pair_s=9.0, beside_s=4.0) == 2
    assert limit.has_time_for(1e9)


def test_what_is_clear_after_two_launches_is_not_measured_in_a_third():
    _, found, measuring = measured(choices(), lambda entry: 2.0, noise=1e-4)
    assert measuring.asked[0] == [30_000, 300_000, 1_000_000]  # most to save first
    assert [len(sizes) for sizes in measuring.asked] == [3, 3]
    assert [(one.reason, len(one.launches), one.equal) for one in found] == [("", 2, True)] * 3


def test_what_is_slower_is_measured_once_and_what_is_unclear_as_often_as_may_be():
    speeds = {1_000_000: 0.8, 300_000: 1.1, 30_000: 2.0}
    _, found, measuring = measured(choices(), lambda entry: speeds[entry.bytes_max], noise=0.03)
    assert [1_000_000 in sizes for sizes in measuring.asked] == [True, False, False]
    assert [300_000 in sizes for sizes in measuring.asked] == [True, True, True]
    assert "not shown to be faster: 0.8" in found[0].reason
    assert [len(one.launches) for one in found][:2] == [1, 3]


def test_what_saves_too_little_is_not_measured_on():
    # A gain of 1 % of 10 calls of 1 s in a program of 300 s; it is shown well, but does not matter.
    _, found, measuring = measured(choices(), lambda entry: 1.01, noise=1e-4, program_s=300.0)
    assert len(measuring.asked) == 1
    assert all("would save" in one.reason for one in found)
    _, found, measuring = measured(choices(), lambda entry: 2.0, program_s=10_000.0)
    assert measuring.asked == []
    assert all(one.reason.startswith("too little to gain: its 10 calls could save at most") for one in found)


def test_time_goes_to_what_may_save_most():
    some = choices()
    some[0] = dataclasses.replace(some[0], group=dataclasses.replace(some[0].group, calls=1000))
    (of_one,) = {cost_s(one, LEAST_TIMES) // 1 for one in some}  # all take about as long
    # In each of three launches there is time for one.
    _, found, measuring = measured(some, lambda entry: 1.2, noise=0.3, limit_s=3 * (of_one + 1))
    assert measuring.asked[0] == [1_000_000]
    assert [len(sizes) for sizes in measuring.asked] == [1, 1, 1]
    assert set(measuring.least) == {LEAST_TIMES}
    late = [one.reason for one in found if not one.launches]
    assert late
    assert {reason.partition(":")[0] for reason in late} == {"no time to measure it"}


def test_long_calls_are_measured_once_in_each_launch_where_time_is_short():
    alone = choices()[:1]
    _, (found,), measuring = measured(alone, lambda entry: 2.0, noise=1e-3, limit_s=3 * cost_s(alone[0], 1) + 1)
    assert set(measuring.least) == {1}
    assert found.reason == ""


def test_two_times_are_no_evidence():
    """A single time of each kind has no interval: nothing is clear before there are three."""
    few = dataclasses.replace(choices()[0], runners_up=())
    _, (found,), measuring = measured([few], lambda entry: 0.8, pairs=1)
    assert len(measuring.asked) == 3
    assert "not shown to be faster: 0.80" in found.reason


def test_without_time_nothing_is_used():
    _, found, measuring = measured(choices(), lambda entry: 2.0, limit_s=0.1)
    assert measuring.asked == []
    assert {one.reason for one in found} == {"no time to measure it: the 0 s for measuring were over (--measure-time)"}
    # A launch that took all the time, and whose own time was over before the last entry.
    _, found, measuring = measured(
        choices(), lambda entry: None if entry.bytes_max == 1_000_000 else 2.0, launch_s=60.0
    )
    assert len(measuring.asked) == 1
    assert [len(one.launches) for one in found] == [0, 1, 1]
    assert found[0].reason.startswith("no time to measure it:")
    for one in found[1:]:
        assert one.reason.startswith("no time to measure it in 3 launches: 2.00 times (2.00 to 2.00); the 60 s")


def test_one_that_leaves_other_data_is_dropped_at_once():
    _, found, measuring = measured(choices(), lambda entry: 2.0, equal=lambda entry: entry.bytes_max != 30_000)
    assert "data differ" in found[2].reason
    assert [30_000 in sizes for sizes in measuring.asked] == [True, False]


def test_the_fastest_candidate_with_right_data_is_taken():
    original = next(choice for choice in choices(runners_up=True) if choice.runners_up)
    (second, predicted_s), *_ = original.runners_up

    def is_second(entry):
        return entry.predicted_s == predicted_s

    (chosen,), (found,), measuring = measured([original], lambda entry: 3.0 if is_second(entry) else 1.5, noise=1e-4)
    assert (chosen.best, chosen.predicted_s) == (second, predicted_s)
    # One launch tries all candidates, and its times are no evidence.
    assert [len(sizes) for sizes in measuring.asked] == [1 + len(original.runners_up), 1, 1]
    assert (found.reason, len(found.launches)) == ("", 2)
    (chosen,), (found,), _ = measured(
        [original], lambda entry: 3.0 if is_second(entry) else 1.5, equal=lambda entry: not is_second(entry)
    )
    assert chosen.best != second
    assert found.reason == ""


def test_a_trial_may_show_that_no_candidate_is_faster():
    original = next(choice for choice in choices(runners_up=True) if choice.runners_up)
    _, (found,), measuring = measured([original], lambda entry: 0.5, noise=1e-4)
    assert len(measuring.asked) == 1
    assert "not shown to be faster: 0.50" in found.reason


@pytest.mark.parametrize("between", [0.01, 0.05])
def test_looking_early_shows_no_more_of_what_is_not_faster(between):
    """Of schedules as fast as native at most 2.5 % may pass; with early looks that err in 0.5 % more, 3 %."""
    passed, tries = 0, 120
    random = np.random.default_rng(4)
    alone = choices()[:1]
    for _ in range(tries):
        plenty = Budget(1e9)

        def measure(entries, within_s, least, what):
            bias = np.exp(random.normal(0, between))
            native, tuned = np.exp(random.normal(0, 0.05, (2, 10)))
            return [(Launch(tuple(native), tuple(tuned * bias)), True) for _ in entries]

        _, (found,) = measure_choices(alone, PROGRAM_S, 3, plenty, measure)
        passed += not found.reason
    assert passed <= 0.07 * tries  # 4 are expected at most: 9 and more come in a hundredth of all runs
