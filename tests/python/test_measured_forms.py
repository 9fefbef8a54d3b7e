# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The rounds of each algorithm do what the collective asks for, and move what hocket's own schedules move."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hocket import Schedule
from hocket.advise.measured.exchanges import MOST_ROUNDS
from hocket.advise.measured.forms import COMPOSED, FORMS, parts_of, runs_as

FROM_ROOT, TO_ROOT = ("bcast", "scatter"), ("gather", "reduce")

# hocket's names, where the algorithm is the same message for message on a power of two of ranks
SAME = {
    ("allgather", "bruck"): "bruck",
    ("allgather", "neighbor-exchange"): "neighbor_exchange",
    ("allgather", "recursive-doubling"): "recursive_doubling",
    ("allgather", "ring"): "ring",
    ("allreduce", "rabenseifner"): "rabenseifner",
    ("allreduce", "recursive-doubling"): "recursive_doubling",
    ("allreduce", "ring"): "ring",
    ("alltoall", "bruck"): "bruck",
    ("alltoall", "linear"): "linear",
    ("alltoall", "pairwise"): "pairwise",
    ("bcast", "linear"): "linear",
    ("bcast", "pipeline"): "chain",
    ("bcast", "scatter-recursive-doubling-allgather"): "scatter_recursive_doubling",
    ("bcast", "scatter-ring-allgather"): "scatter_allgather",
    ("gather", "binomial"): "binomial",
    ("gather", "linear"): "linear",
    ("reduce", "binomial"): "binomial",
    ("reduce", "linear"): "linear",
    ("reduce", "pipeline"): "chain",
    ("reduce_scatter", "recursive-halving"): "recursive_halving",
    ("reduce_scatter", "ring"): "ring",
    ("scatter", "binomial"): "binomial",
    ("scatter", "linear-nonblocking"): "linear",
}


def core_volume(collective, algorithm, p):
    """Share of the vector that the messages of hocket's own schedule carry, by sender and receiver."""
    of_core = "reduce_scatter_block" if collective == "reduce_scatter" else collective
    schedule = Schedule.build(of_core, algorithm, p)
    chunks = schedule.num_chunks / (p if collective == "alltoall" else 1)  # the vector is a rank's
    volume = Counter()
    for rank in range(p):
        for op in schedule.ops(rank):
            if op.kind == "send":
                volume[rank, op.peer] += sum(count for _, count in pairs(op.chunks)) / chunks
    return volume


def pairs(chunks):
    flat = list(chunks)
    return flat if flat and isinstance(flat[0], tuple) else list(zip(flat[::2], flat[1::2], strict=True))


def volume(rounds):
    found = Counter()
    for one in rounds.rounds:
        for source, target, share in zip(one.source.tolist(), one.target.tolist(), one.share, strict=True):
            found[source, target] += one.times * share
    return found


@pytest.mark.parametrize("p", [2, 4, 16])
@pytest.mark.parametrize("form", SAME, ids="-".join)
def test_moves_what_the_schedule_moves(form, p):
    ours, core = volume(FORMS[form](p)), core_volume(form[0], SAME[form], p)
    if form[1] in ("bruck", "neighbor-exchange"):  # with the one neighbour first, or around the ring, or the other
        ours, core = total(ours), total(core)
    if form[0] == "bcast" and form[1].startswith("scatter"):  # hocket leaves out what the receiver has already
        assert all(ours[pair] >= share for pair, share in core.items())
    else:
        assert ours == pytest.approx(core)


def total(of_pairs):
    """What each rank sends."""
    found = Counter()
    for (source, _), share in of_pairs.items():
        found[source] += share
    return found


@pytest.mark.parametrize("p", [2, 3, 5, 8, 12, 33])
@pytest.mark.parametrize("form", FORMS, ids="-".join)
def test_reaches_every_rank(form, p):
    """Whoever must know of a rank's operand does, and nobody sends what has not arrived yet."""
    collective, _ = form
    rounds = FORMS[form](p).rounds
    knows = np.eye(p, dtype=bool)  # [rank, whose operand]
    if form == ("allgather", "neighbor-exchange"):
        rounds = rounds[:1] + rounds[1:] * (p // 4)  # the last two alternate
    for one in rounds:
        assert one.source.min() >= 0
        assert max(one.source.max(), one.target.max()) < p
        assert (one.source != one.target).all()
        assert (one.share > 0).all()
        assert one.times >= 0.5
        if collective in FROM_ROOT:
            assert knows[one.source, 0].all(), "a rank passes on what it does not have"
        for _ in range(round(one.times)):
            before = knows.copy()
            np.logical_or.at(knows, one.target, before[one.source])
    if collective in FROM_ROOT:
        assert knows[:, 0].all() or form == ("scatter", "linear")
    elif collective in TO_ROOT:
        assert knows[0].all() or form == ("gather", "linear-sync")  # one rank stands for all
    elif p <= MOST_ROUNDS:
        assert knows.all()


@pytest.mark.parametrize("p", [2, 3, 8, 13, 300])
@pytest.mark.parametrize("form", FORMS, ids="-".join)
def test_moves_at_least_what_is_needed(form, p):
    """Shares of the vector over all ranks: nobody can do with less."""
    collective, _ = form
    rest = 1 - 1 / p
    least = {
        "allgather": p * rest,
        "allreduce": 2 * p * rest,
        "alltoall": p * rest,
        "bcast": p - 1,
        "gather": rest,
        "reduce": p - 1,
        "reduce_scatter": p * rest,
        "scatter": rest,
    }[collective]
    moved = sum(one.times * one.share.sum() for one in FORMS[form](p).rounds)
    assert moved >= least * (1 - 1e-9)


def test_composed_algorithms_take_the_parts_that_there_are():
    for collective, algorithm in COMPOSED:
        for forms in parts_of(collective, algorithm):
            assert forms
            assert set(forms) <= set(FORMS)
    assert parts_of("bcast", "binomial") == ((("bcast", "binomial"),),)
    assert parts_of("bcast", "teleport") == ()


def test_rings_of_few_elements_run_as_another():
    assert runs_as("allreduce", "ring", 8, 7) == "recursive-doubling"
    assert runs_as("allreduce", "ring", 8, 8) == "ring"
    assert runs_as("allgather", "ring", 8, 1) == "ring"
