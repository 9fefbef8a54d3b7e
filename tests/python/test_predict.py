# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How long the calls that a plan serves took in the recorded run."""

from __future__ import annotations

import numpy as np
import pytest

from hocket.plan import Plan, PlanEntry
from hocket.traces.trace import Collective
from hocket.tune.predict import served_s

WORLD = (0, 1, 2, 3)


def call(
    last_enter_ns: int, last_exit_ns: int, size: int = 1000, form: str = "blocking", members: tuple[int, ...] = WORLD
) -> Collective:
    times = np.zeros(len(members), dtype=np.int64)
    return Collective(
        "bcast", form, 0, members, size, True, 0, "", True, "MPI_BYTE", False,
        0, last_enter_ns, last_exit_ns, times, times,
    )  # fmt: skip


PLAN = Plan(
    4, "test", tuple(PlanEntry("bcast", members, 1000, 2000, "binomial") for members in (WORLD, (0, 1), (2, 3)))
)


def test_calls_count_from_the_last_entry_to_the_last_exit_and_together_once() -> None:
    alone = [call(10**9, 3 * 10**9), call(5 * 10**9, 6 * 10**9)]
    assert served_s(alone, PLAN) == pytest.approx(3)
    # Of the rows of a grid of ranks: one from 10 to 14 s, beside it one from 11 to 12 s, and one from 13 to 15 s.
    rows = [(13, 15, (2, 3)), (10, 14, (0, 1)), (11, 12, (2, 3))]
    beside = [call(start * 10**9, end * 10**9, members=members) for start, end, members in rows]
    assert served_s([*alone, *beside], PLAN) == pytest.approx(3 + 5)
    assert served_s([call(0, 10**9, size=3000), call(0, 10**9, members=(0, 2))], PLAN) == 0


def test_calls_that_do_not_block_have_no_known_time() -> None:
    assert served_s([call(0, 10**9), call(0, 10**9, form="nonblocking")], PLAN) is None
    assert served_s([call(0, 10**9), call(0, 10**9, size=3000, form="nonblocking")], PLAN) == pytest.approx(1)
