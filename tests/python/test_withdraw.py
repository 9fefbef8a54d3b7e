# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A plan with which the program runs slower does not stay."""

import pytest

from hocket.plan import Plan, PlanEntry
from hocket.report.result import ProgramResult
from hocket.tune.measurement import Measurement
from hocket.tune.withdraw import REASON, is_slower, withdraw

ENTRY = PlanEntry("bcast", (0, 1), 10, 20, "linear")


@pytest.mark.parametrize(
    ("native_s", "tuned_s", "slower"),
    [
        ([2.0, 2.1, 2.2], [2.3, 2.4, 2.5], True),
        ([2.0, 2.1, 2.2], [2.1, 2.1, 2.2], False),
        ([2.0, 2.1, 2.3], [2.2, 2.4, 2.5], False),  # one pair of nine the other way round
        ([2.0, 2.1, 2.1, 2.2, 2.45], [2.3, 2.4, 2.4, 2.5, 2.5], True),
        ([2.3, 2.4, 2.5], [2.0, 2.1, 2.2], False),
        ([2.0, 2.1], [2.3, 2.4], False),  # too few to tell
        ([2.0], [], False),
    ],
)
def test_when_a_program_counts_as_slower(native_s, tuned_s, slower):
    assert is_slower(ProgramResult.from_runs(native_s, tuned_s)) == slower


@pytest.mark.parametrize("progress", ["off", "on"])
def test_the_plan_is_empty_then_and_what_was_tried_is_kept(tmp_path, progress):
    tried = Plan(2, "net", (ENTRY,), "hocket 1", progress)
    plan, measured, note = withdraw(tried, [Measurement(), Measurement(reason="latency decides")], tmp_path)
    assert (plan.entries, plan.progress) == ((), "off")
    assert Plan.from_file(tmp_path / "withdrawn-plan.json") == tried
    assert [one.reason for one in measured] == [REASON, "latency decides"]
    assert ("without progress" in note) == (progress == "on")
