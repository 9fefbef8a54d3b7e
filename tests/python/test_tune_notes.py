# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What tune tells beside its figures."""

from __future__ import annotations

from hocket import CostModel, Network
from hocket.advise import Choice, advise
from hocket.advise.calls import CallGroup
from hocket.measure.compare import Launch
from hocket.tune.measurement import Measurement
from hocket.tune.notes import beaten_limits, nothing_changed, recording_warnings

NETWORK = Network.generate(
    "two-clusters:4+4", bandwidth="8 Mbit/s", second_bandwidth="80 Mbit/s", trunk_bandwidth="8 Mbit/s"
)
SIZE = 100_000  # 0.1 s over the slow links


def choice_of(collective: str, costs: CostModel | None = None) -> Choice:
    group = CallGroup(collective, tuple(range(8)), SIZE, SIZE, (0,), 10, True)
    (choice,) = advise([group], NETWORK, 8, costs).choices
    assert not choice.reason
    return choice


def took(seconds: float) -> Measurement:
    return Measurement((Launch((2 * seconds,) * 3, (seconds,) * 3),))


def test_limits_that_were_beaten_are_told_once() -> None:
    bcast, allreduce = choice_of("bcast"), choice_of("allreduce")
    assert beaten_limits([bcast, allreduce], [took(0.11), took(0.2)]) == []
    assert beaten_limits([bcast], [took(0.97 * bcast.lower_bound_s)]) == []  # as bandwidths are known
    (note,) = beaten_limits([bcast, allreduce], [took(0.05), took(0.9 * allreduce.lower_bound_s)])
    assert note.startswith(
        "2 of 2 measured collective(s) took less than the wire limit, "
        "such as bcast of 100 kB (50 ms, the limit is 100 ms)"
    )


def test_what_links_pass_at_once_beats_no_limit() -> None:
    # 60 of 100 kB pass at once, the others take 0.04 s.
    costs = CostModel.usual().replace(burst_bytes=60_000)
    assert beaten_limits([choice_of("bcast", costs)], [took(0.05)]) == []
    assert len(beaten_limits([choice_of("bcast", costs)], [took(0.03)])) == 1


def test_where_there_was_no_time_to_measure_the_note_says_that() -> None:
    assert "a schedule is worth using" in nothing_changed(3, 0)
    assert "no collective calls" in nothing_changed(0, 0)
    note = nothing_changed(3, 2)
    assert "for 2 of the 3 collective(s) there was no time to measure one" in note
    assert "--measure-time" in note
    assert "nothing was changed" not in note


def test_a_recorded_run_that_is_not_like_the_native_ones() -> None:
    assert recording_warnings(1.1, 1.0) == []
    (slower,) = recording_warnings(1.2, 1.0)
    assert slower.startswith("the recorded run was 20% slower")
    for recorded_s, told in ((3.6, "took 3.60 s, 8.6 times"), (0.2, "took 0.20 s, 0.48 times")):
        (strange,) = recording_warnings(recorded_s, 0.42)
        assert told in strange
        assert "does not represent the program" in strange
