# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Schedules against a second oracle that executes them on data; readers against random bytes."""

from __future__ import annotations

import contextlib
import json
import random

import pytest
from executor import add, is_right, multiply
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hocket

ALGORITHMS = [(algorithm.collective, algorithm.name) for algorithm in hocket.algorithms()]
ROOTED = ("bcast", "reduce", "scatter", "gather")


@st.composite
def schedules(draw, most_ranks: int = 9):
    collective, name = draw(st.sampled_from(ALGORITHMS))
    p = draw(st.integers(1, most_ranks))
    root = draw(st.integers(0, p - 1)) if collective in ROOTED else 0
    order = draw(st.none() | st.permutations(range(p)))
    return hocket.Schedule.build(collective, name, p, root, draw(st.integers(1, 3)), order)


@given(schedules(), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_execution_on_data_gives_what_numpy_says(schedule, chance):
    validation = hocket.validate(schedule)
    assert validation.ok, validation.violations
    assert is_right(schedule, chance, add)
    if validation.preserves_order and schedule.collective in ("reduce", "allreduce", "reduce_scatter_block"):
        assert is_right(schedule, chance, multiply)


@pytest.mark.parametrize(("collective", "name"), ALGORITHMS)
def test_every_algorithm_on_data(collective, name):
    seed = 11
    print(f"seed {seed}")
    chance = random.Random(seed)
    for p in (1, 2, 3, 4, 6, 7, 8):
        schedule = hocket.Schedule.build(collective, name, p, segments=2)
        assert is_right(schedule, chance), p


def damaged(document: dict, chance: random.Random) -> dict:
    """One random change of the ops."""
    ranks = [ops for ops in document["ranks"] if ops]
    if not ranks:
        return document
    ops = chance.choice(ranks)
    index = chance.randrange(len(ops))
    op = ops[index]
    kind = chance.randrange(6)
    if kind == 0:
        op[1] = chance.randrange(document["num_ranks"])
    elif kind == 1 and op[3]:
        op[3].pop(chance.randrange(len(op[3])))
    elif kind == 2 and op[2]:
        op[2][chance.randrange(len(op[2]))] += chance.choice((-1, 1))
    elif kind == 3:
        op[0] = chance.choice(("send", "recv", "recv_reduce_left", "recv_reduce_right"))
    elif kind == 4:
        del ops[index]
        for other in ops:
            other[3][:] = [d - (d > index) for d in other[3] if d != index]
    elif index > 0:
        op[3].append(chance.randrange(index))
    return document


@given(schedules(most_ranks=6), st.randoms(use_true_random=False))
@settings(max_examples=500)
def test_what_validate_accepts_is_right_in_every_order(schedule, chance):
    """Soundness: a damaged schedule that passes gives the right data in several random orders."""
    document = damaged(json.loads(schedule.to_json()), chance)
    try:
        changed = hocket.Schedule.from_json(json.dumps(document))
    except hocket.InvalidInput:
        return
    if hocket.validate(changed).ok:
        assert all(is_right(changed, chance) for _ in range(5))


@given(schedules(), st.integers(0, 2000))
def test_both_text_forms_come_back(schedule, size):
    assert hocket.Schedule.from_json(schedule.to_json()) == schedule
    program = hocket.lower(schedule, size)
    assert hocket.Program.from_goal(program.to_goal(reduce_bytes_per_s=1e9)) == program


@given(st.binary(max_size=200))
@example(b'{"format":"hocket.schedule/1","ranks":' + b"[" * 50_000)
@example(b"\xff\xfe\x00")
def test_json_reader_survives_any_bytes(content):
    with pytest.raises(hocket.InvalidInput, match="any.json: "):
        hocket.Schedule.from_json(content.decode("utf-8", "replace"), "any.json")


@given(schedules(most_ranks=4), st.randoms(use_true_random=False))
def test_json_reader_survives_damage(schedule, chance):
    text = list(schedule.to_json())
    for _ in range(3):
        text[chance.randrange(len(text))] = chance.choice('0123456789-[]{},:"aert\x00\n')
    with contextlib.suppress(hocket.InvalidInput):
        hocket.validate(hocket.Schedule.from_json("".join(text)))


GOAL_WORDS = st.sampled_from(
    [
        *"num_ranks rank send recv calc requires irequires b to from tag cpu nic l1 l2 1b".split(),
        *"{ } : // /* */ 0 1 2 -1 99999999999999999999 \x00 \x80 é".split(" "),
        "\n",
    ]
)


@given(st.text(max_size=200) | st.lists(GOAL_WORDS, max_size=60).map(" ".join))
@example("num_ranks 1\nrank 0 {\n" + "l1 requires l1\n" * 1000)
def test_goal_reader_survives_any_text(text):
    with contextlib.suppress(hocket.InvalidInput):
        program = hocket.Program.from_goal(text, "any.goal")
        assert hocket.Program.from_goal(program.to_goal()) == program


@st.composite
def mutated_goal(draw):
    """The text of a real program with some of its bytes or words replaced, removed, repeated or moved."""
    algorithm = draw(st.sampled_from([a for a in hocket.algorithms() if a.collective != "barrier"]))
    schedule = hocket.Schedule.build(algorithm.collective, algorithm.name, draw(st.integers(1, 5)))
    text = hocket.lower(schedule, draw(st.integers(0, 1000))).to_goal()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        cut = text[start:end]
        new = draw(st.sampled_from(["", cut * 2]) | GOAL_WORDS | st.text(max_size=3))
        to = draw(st.just(start) | st.integers(0, len(text) - len(cut)))
        text = text[:start] + text[end:]
        text = text[:to] + new + text[to:]
    return text


@given(mutated_goal())
def test_goal_reader_survives_mutations(text):
    with contextlib.suppress(hocket.InvalidInput):
        program = hocket.Program.from_goal(text, "any.goal")
        assert hocket.Program.from_goal(program.to_goal()) == program
