# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Schedules of non-blocking calls on which whole runs of the program decide."""

from dataclasses import replace

import pytest

from hocket import CostModel, Network
from hocket.advise import CallGroup, advise
from hocket.measure.compare import Launch
from hocket.measure.runner import Run
from hocket.tune.evidence import Ratio
from hocket.tune.measurement import Measurement
from hocket.tune.whole_runs import refused, verdict, with_undecided

UNDECIDED = Measurement((Launch((1.0,), (1.0,)),), True, Ratio(1.4, 0.7, 2.3), "not shown to be faster: 1.4")


def choice(nonblocking_calls):
    network = Network.generate("two-clusters:4+4", bandwidth="100 Mbit/s", latency="50 us")
    group = CallGroup("bcast", tuple(range(8)), 10**6, 10**6, (0,), 20, True, None, nonblocking_calls)
    return advise([group], network, 8, CostModel.usual()).choices[0]


def runs(*times_s):
    return [Run(stdout="", wall_s=wall_s, link_bytes=None) for wall_s in times_s]


@pytest.mark.parametrize(
    ("change", "nonblocking_calls", "is_undecided"),
    [
        ({}, 20, True),
        ({}, 1, True),
        ({"reason": "no time to measure it in 3 launches"}, 20, True),
        ({}, 0, False),  # blocking calls are measured as the program makes them
        ({"equal": False}, 20, False),
        ({"equal": None, "ratio": None, "launches": ()}, 20, False),  # never measured: nobody has seen its data
        ({"ratio": Ratio(0.8, 0.7, 0.9)}, 20, False),
        ({"reason": ""}, 20, False),  # kept already
        ({"reason": "too little to gain: its 20 calls would save 3 ms"}, 20, True),
        ({"ratio": Ratio(0.97, 0.96, 0.98)}, 20, True),
    ],
)
def test_what_is_undecided(change, nonblocking_calls, is_undecided):
    found = replace(UNDECIDED, **change)
    (tried,) = with_undecided([choice(nonblocking_calls)], [found])
    assert tried == (replace(found, reason="", by_runs=True) if is_undecided else found)
    (left,) = refused([found], [tried])
    assert left.reason == found.reason + ("; nor was the program with its schedule" if is_undecided else "")


def test_what_whole_runs_decided_on_has_no_evidence():
    made = choice(20)
    (tried,) = with_undecided([made], [UNDECIDED])
    assert tried.verdict(made, "an MPI").entry == made.entry()


@pytest.mark.parametrize(
    ("without_s", "with_s", "kept"),
    [
        ((2.2, 2.3, 2.1), (1.4, 2.0, 1.5), True),
        ((2.2, 2.3, 2.1), (1.4, 2.15, 1.5), False),  # one pair of nine the other way round
        ((2.2, 2.3, 2.1, 2.2, 2.4), (1.4, 2.15, 1.5, 1.4, 1.4), True),
        ((1.4, 2.0, 1.5), (2.2, 2.3, 2.1), False),
    ],
)
def test_the_program_decides(without_s, with_s, kept):
    found, note = verdict(runs(*without_s), runs(*with_s), 2)
    assert found == kept
    assert note.startswith("2 schedule(s) of non-blocking calls")
    assert ("the plan has them" in note) == kept
