# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a result says of calls that the plan serves without evidence."""

from hocket import CostModel, Network
from hocket.advise import CallGroup, advise
from hocket.plan import PlanEntry
from hocket.report.result import TimelineFiles
from hocket.report.rows import rows_of
from hocket.tune.collective_results import collective_results
from hocket.tune.measurement import Measurement

NETWORK = Network.generate("two-clusters:4+4", bandwidth="100 Mbit/s", latency="50 us")
WORLD = (0, 4, 1, 5, 2, 6, 3, 7)
UNMEASURED = Measurement(reason="no time to measure it")


def results_of(entries):
    group = CallGroup("bcast", WORLD, 100_000, 100_000, (0,), 10, True)
    advice = advise([group], NETWORK, 8, CostModel.usual())
    plan = advice.plan.replace(entries=entries)
    return collective_results(advice.choices, [UNMEASURED], plan, lambda _choice, _name: TimelineFiles())


def test_calls_that_a_derived_entry_serves_are_not_called_native():
    (found,) = results_of([PlanEntry("bcast", WORLD, 50_000, 200_000, "pipelined_chain", segments=7)])
    assert found.kept
    assert found.derived
    assert (found.algorithm, found.segments, found.reason) == ("pipelined_chain", 7, "no time to measure it")
    (row,) = rows_of([found], 8)
    assert row.schedule == "pipelined_chain in 7 segments, derived"


def test_calls_that_no_entry_serves_are():
    (found,) = results_of([PlanEntry("bcast", WORLD, 1, 1000, "binomial")])
    assert not found.kept
    assert not found.derived
    assert found.reason == "no time to measure it"
