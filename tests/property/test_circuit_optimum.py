# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Schedules on circuits against an exhaustive search: the least where they say so, and no bound above the least."""

from __future__ import annotations

import itertools
import random

import pytest
from circuit_reference import Reference

from hocket.circuits.check import check_answer
from hocket.circuits.schedules import CircuitInstance, solve
from mpis import LONG, rounds

_SEED = 20261125


def _rules() -> list[tuple[str, str, str, str]]:
    return list(itertools.product(("one", "all"), ("all", "circuit"), ("equations", "hidden"), ("parallel", "serial")))


def _instance(
    chance: random.Random, collective: str, p: int, k: int, rules: tuple[str, str, str, str], segments: int = 1
) -> CircuitInstance:
    injection, stop, accounting, controller = rules
    return CircuitInstance(
        collective, p, k, chance.choice([1, 10**5, 10**6, 10**7]), chance.choice([1e-5, 1e-3, 1e-2]),
        chance.choice([1e-5, 2e-3, 5e-3]), 1e-4, 8e-9, injection, stop, accounting, controller, segments,
    )  # fmt: skip


@pytest.mark.parametrize("rules", _rules(), ids="-".join)
def test_broadcast_of_one_piece_is_the_least(rules: tuple[str, str, str, str]) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    of_four = _rules().index(rules) % 3 + 1  # in `make test` one case of four nodes, in turns: each takes a second
    for p, k in [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)]:
        one = _instance(chance, "bcast", p, k, rules)
        if p == 4 and k != of_four and not LONG:
            continue
        answer = solve(one, time_limit_s=20)
        assert check_answer(answer.values) == ()
        # Found again, so that nothing passes because the reference finds nothing.
        least_s = Reference(one, most_circuits=p).least_s(answer.makespan_s * (1 + 1e-6))
        assert answer.makespan_s == pytest.approx(least_s, rel=1e-9), one
        assert answer.optimal


@pytest.mark.parametrize("rules", _rules(), ids="-".join)
def test_no_schedule_is_faster_than_the_bound(rules: tuple[str, str, str, str]) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    cases = [
        ("bcast", 3, 1, 2), ("bcast", 3, 2, 2), ("allgather", 2, 1, 1), ("allgather", 3, 1, 1), ("allgather", 3, 2, 1),
        ("alltoall", 2, 1, 1), ("alltoall", 3, 1, 1),
    ]  # fmt: skip
    # In `make test` each set of rules takes every second case, in turns.
    for collective, p, k, segments in cases if LONG else cases[_rules().index(rules) % 2 :: 2]:
        if collective == "alltoall" and p == 3 and not (LONG or rules == _rules()[-1]):
            continue  # the search takes 20 s
        for _ in range(rounds(3)):
            one = _instance(chance, collective, p, k, rules, segments)
            answer = solve(one, time_limit_s=0.1)
            assert check_answer(answer.values) == ()
            least_s = Reference(one, most_circuits=p).least_s(answer.lower_bound_s * (1 - 1e-9))
            assert least_s == float("inf"), one
