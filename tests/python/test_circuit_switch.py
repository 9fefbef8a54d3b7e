# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The circuit switch of a testbed as numbers: which circuit has ports when.

The switch itself: test_testbed_circuits.
"""

from __future__ import annotations

import math

import pytest

from hocket import Error
from hocket.testbed.circuit_switch import CircuitSwitch, SwitchPlan, plan_from_words


def _switch(words: str, nodes: int = 4) -> CircuitSwitch:
    return CircuitSwitch(plan_from_words(words.split()), nodes)


def _want(switch: CircuitSwitch, number: int, now_s: float) -> None:
    for node in switch.circuits[number].nodes:
        switch.want(node, number, now_s)


def _release(switch: CircuitSwitch, number: int, now_s: float) -> None:
    for node in switch.circuits[number].nodes:
        switch.release(node, number, now_s)


def test_a_circuit_is_open_s_after_both_ends_have_asked() -> None:
    switch = _switch("1 2 3 all equations 0:1:0")
    switch.want(0, 0, 1.0)
    assert switch.next_s() == math.inf
    switch.want(1, 0, 5.0)
    assert switch.next_s() == 7.0
    assert switch.opened(6.9) == []
    assert switch.connected() == []
    assert switch.opened(7.25) == [0]
    assert switch.connected() == [(0, 1)]
    switch.release(1, 0, 8.0)
    assert switch.connected() == [(0, 1)]
    assert switch.end_s() == math.inf
    switch.release(0, 0, 9.0)
    assert switch.connected() == []
    assert switch.end_s() == 12.0


@pytest.mark.parametrize(("accounting", "open_s"), [("equations", 10.0 + 3 + 2), ("hidden", 10.0 + 3)])
def test_without_a_port_a_circuit_waits_for_a_teardown(accounting: str, open_s: float) -> None:
    switch = _switch(f"1 2 3 circuit {accounting} 0:1:0 1:2:0 2:3:0")
    _want(switch, 0, 0.0)
    _want(switch, 1, 0.0)
    assert switch.opened(4.0) == [0]
    assert switch.next_s() == math.inf  # node 1 has one port
    _release(switch, 0, 10.0)
    assert switch.next_s() == open_s


def test_configurations_follow_one_another() -> None:
    switch = _switch("2 2 3 all equations 0:1:0 2:3:0 1:2:1")
    for number in range(3):
        _want(switch, number, 0.0)
    assert switch.opened(2.0) == [0, 1]
    _release(switch, 0, 4.0)
    assert switch.connected() == [(0, 1), (2, 3)]  # together
    _release(switch, 1, 6.0)
    assert switch.connected() == []
    assert [switch.circuits[number].down_s for number in (0, 1)] == [9.0, 9.0]
    assert switch.opened(11.0) == [2]
    assert (switch.circuits[2].setup_s, switch.circuits[2].open_s) == (9.0, 11.0)


def test_a_serial_controller_takes_turns() -> None:
    switch = _switch("2 2 3 circuit serial 0:1:0 1:2:1 2:3:2 1 0 1 2 0 2")
    _want(switch, 0, 0.0)
    assert switch.next_s() == math.inf  # circuit 1 is first
    _want(switch, 1, 1.0)
    _want(switch, 2, 1.0)
    assert [(one.setup_s, one.open_s) for one in switch.circuits] == [(3, 5), (1, 3), (math.inf, math.inf)]
    assert switch.opened(5.0) == [0, 1]
    _release(switch, 0, 5.5)
    assert switch.circuits[0].teardown_s == math.inf  # it is the turn of circuit 1
    _release(switch, 1, 6.0)
    assert (switch.circuits[1].teardown_s, switch.circuits[1].down_s) == (6, 9)
    assert (switch.circuits[2].setup_s, switch.circuits[2].open_s) == (9, 11)
    assert (switch.circuits[0].teardown_s, switch.circuits[0].down_s) == (11, 14)
    assert switch.opened(11.0) == [2]
    _release(switch, 2, 12.0)
    assert switch.end_s() == 17


def test_a_serial_controller_tears_down_a_configuration_when_all_have_released_it() -> None:
    switch = _switch("1 2 3 all serial 0:1:0 2:3:0 1:2:1 0 1 0 1 2 2")
    for number in range(3):
        _want(switch, number, 0.0)
    assert switch.opened(4.0) == [0, 1]
    _release(switch, 0, 5.0)
    assert switch.connected() == [(0, 1), (2, 3)]
    _release(switch, 1, 6.0)
    assert switch.connected() == []
    assert [switch.circuits[number].down_s for number in (0, 1)] == [9, 12]
    assert switch.opened(14.0) == [2]
    _release(switch, 2, 14.0)
    assert switch.end_s() == 17


def test_what_is_refused() -> None:
    with pytest.raises(Error, match="needs 2 ports of node 1, which has 1"):
        _switch("1 2 3 all equations 0:1:0 1:2:0")
    with pytest.raises(Error, match="joins nodes 1 and 4 of 4"):
        _switch("1 2 3 all equations 1:4:0")
    with pytest.raises(Error, match="circuit 1 has 1 turns: expected a set-up and a teardown"):
        _switch("1 2 3 circuit serial 0:1:0 1:2:0 0 0 1")
    with pytest.raises(Error, match="a turn of circuit 3 of 1"):
        _switch("1 2 3 circuit serial 0:1:0 0 0 3")
    for words in ("1 2 3 all serial 0:1:0", "1 2 3 all hidden 0:1:0 0 0", "1 2 3 all serial 0:1:0 0 x"):
        with pytest.raises(Error, match="cannot read"):
            plan_from_words(words.split())
    for words in ("", "1 2 3 all", "1 nan 3 all equations", "1 2 3 some equations", "1 2 3 all equations 0:1"):
        with pytest.raises(Error, match="cannot read"):
            plan_from_words(words.split())
    switch = _switch("1 2 3 circuit equations 0:1:0")
    with pytest.raises(Error, match="not its own"):
        switch.want(2, 0, 0.0)
    with pytest.raises(Error, match="not its own"):
        switch.want(0, 1, 0.0)
    with pytest.raises(Error, match="does not have"):
        switch.release(0, 0, 0.0)
    switch.want(0, 0, 0.0)
    with pytest.raises(Error, match="twice"):
        switch.want(0, 0, 0.0)


def test_a_plan_in_words() -> None:
    assert plan_from_words("2 0.005 0.001 all hidden 0:1:0 2:3:1".split()) == SwitchPlan(
        2, 0.005, 0.001, True, True, ((0, 1, 0), (2, 3, 1))
    )
