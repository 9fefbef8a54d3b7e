# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from types import SimpleNamespace

import pytest

from hocket.report.result import CollectiveResult, ProgramResult
from hocket.tune.compare import Measurement
from hocket.tune.evidence import Launch
from hocket.tune.machine import Machine
from hocket.tune.output import compare_output
from hocket.tune.summary import COLUMNS, _measured, _row


@pytest.mark.parametrize(
    ("native", "tuned", "same", "remark"),
    [
        (["a\n", "a\n"], ["a\n", "a\n"], True, ""),
        (["a\nt 1\n", "a\nt 2\n"], ["a\nt 3\n", "a\nt 3\n"], True, "1 of 2 lines of output differ from run to run"),
        (["a\nt 1\n", "a\nt 2\n"], ["b\nt 1\n", "a\nt 1\n"], False, 'line 1: native "a", with the plan "b"'),
        (["a\n", "a\n"], ["a\n", "b\n"], False, 'line 1: native "a", with the plan "b"'),
        (["a\n", "a\n"], ["a\nb\n", "a\n"], False, "number of lines"),
        (["a\n"], ["a"], False, "line ends"),
        (["", "\n"], ["", ""], None, ""),
        (["t 1\n", "t 2\n"], ["t 3\n", "t 3\n"], None, "every line of output differs from run to run"),
        (["", ""], ["a\n", "a\n"], False, "number of lines"),
    ],
)
def test_output(native, tuned, same, remark):
    found = compare_output(native, tuned)
    assert found[0] is same
    assert remark in found[1]
    assert bool(remark) == bool(found[1])


@pytest.mark.parametrize(
    ("same", "told"), [(True, "the same in all runs"), (False, "NOT the same"), (None, "nothing to compare")]
)
def test_what_is_told_of_the_output(same, told):
    (line,) = [one for one in _measured(ProgramResult.from_runs([2.0], [1.0], None, same)) if one.startswith("output")]
    assert told in line


@pytest.mark.parametrize(("nonblocking", "told"), [(0, "30"), (30, "30 non-blocking"), (10, "30, 10 non-blocking")])
def test_nonblocking_calls_are_marked(nonblocking, told):
    entry = CollectiveResult(
        "bcast", [0, 1], 8, 0, 30, "binomial", 1, None, [2.0], [1.0], None, None, True, nonblocking_calls=nonblocking
    )
    assert _row(entry)[COLUMNS.index("calls")] == told


def test_an_entry_that_saves_next_to_nothing_is_dropped():
    measurement = Measurement.judged([Launch((2e-3, 3e-3), (1e-3, 1e-3))] * 3, True)
    assert measurement.worth(1000, 10.0).reason == ""
    assert "its 11 calls would save 16 ms of 10.7 s" in measurement.worth(11, 10.7).reason


def test_of_gigabytes_of_output_the_beginning_and_a_digest_are_kept(monkeypatch):
    monkeypatch.setattr("hocket.tune.machine.MOST_OUTPUT", 10)
    machine = Machine(SimpleNamespace(family="mpich"))
    outputs = [machine.run(["printf", "%s", text]).stdout for text in ("0123456789", "0123456789abc", "0123456789abd")]
    assert outputs[0] == "0123456789"
    assert outputs[1].startswith("0123456789\n[3 characters more: ")
    assert compare_output([outputs[1]], [outputs[1]]) == (True, "")
    same, remark = compare_output([outputs[1]], [outputs[2]])
    assert not same
    assert "line 2" in remark
