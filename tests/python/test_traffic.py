# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traffic in Python: what is given to it, and what is told of its simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hocket import Fabric, InvalidInput, Network, Traffic, simulate, simulate_traffic

LONG_TRAFFIC = Traffic.random_permutation(1024, messages=40, spread=0.5)
LONG_PROGRAM = Traffic.random_permutation(64, messages=400, spread=0.5).to_program()
WATCHED: list[Callable[[Callable[..., Any]], bool]] = [
    lambda f: simulate_traffic(LONG_TRAFFIC, Fabric.generate("fat-tree:8x8x16"), on_progress=f).completed,
    lambda f: simulate(LONG_PROGRAM, Network.generate("star:64"), on_progress=f).completed,
]


@pytest.mark.parametrize("answer", [None, 1, True, np.True_, "on", object()])
def test_a_progress_function_may_return_anything(answer: object) -> None:
    assert [run(lambda *_: answer) for run in WATCHED] == [True] * len(WATCHED)


@pytest.mark.parametrize("answer", [False, np.False_, 0])
def test_a_progress_function_that_returns_false_stops(answer: object) -> None:
    assert not any(run(lambda *_: answer) for run in WATCHED)


def test_what_a_progress_function_raises_arrives() -> None:
    def fails(*_: object) -> None:
        raise KeyError("mine")

    for run in WATCHED:
        with pytest.raises(KeyError, match="mine"):
            run(fails)
        with pytest.raises(ValueError, match="ambiguous"):
            run(lambda *_: np.zeros(2))


def test_the_mean_of_equal_times_is_not_above_them() -> None:
    """A plain sum of as many times makes a mean that is 1e-11 above."""
    fabric = Fabric.generate("star:1000000", bandwidth="1 GB/s", latency="0.1 us")
    result = simulate_traffic(Traffic.shift(fabric.num_ranks), fabric, sharing="none")
    assert result.mean_finish_s <= result.makespan_s
    assert result.mean_finish_s == pytest.approx(math.fsum(result.finish_s) / len(result.finish_s), rel=3e-16)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
def test_matrices_of_any_numbers(dtype: str) -> None:
    matrix = np.array([[0, 100, 7], [3, 0, 0], [5, 6, 0]], dtype=dtype)
    for given in (matrix, matrix.T.copy().T, np.repeat(matrix, 2, axis=1)[:, ::2]):
        traffic = Traffic.from_matrix(given)
        assert [traffic.num_messages(rank) for rank in range(3)] == [2, 1, 2]
        assert [traffic.message(0, i) for i in (0, 1)] == [(1, 100), (2, 7)]


@pytest.mark.parametrize(
    ("number", "dtype", "part"),
    [
        (1.5, "f8", r"row 0, column 1 of the traffic matrix is 1\.5"),
        (0.25, "f4", r"row 0, column 1 of the traffic matrix is 0\.25"),
        (np.nan, "f8", "is nan"),
        (np.inf, "f8", "is inf"),
        (-1, "i4", "is -1"),
        (-1, "i8", "-1 bytes from rank 0 to rank 1; accepted: 0 to 2"),
        (2**52 + 1, "i8", "4503599627370497 bytes from rank 0"),
        (2**53, "f8", r"is 9007199254740992"),
        (2**64 - 1, "u8", "is 18446744073709551615"),
        (1, "?", "neither integers nor float32"),
        (1, "c16", "neither integers nor float32"),
        (1, "f2", "neither integers nor float32"),
    ],
)
def test_wrong_numbers_in_matrices(number: float, dtype: str, part: str) -> None:
    matrix = np.zeros((2, 2), dtype=dtype)
    assert Traffic.from_matrix(np.array([[0, 2**52], [0, 0]])).message(0, 0) == (1, 2**52)
    matrix[0, 1] = number
    with pytest.raises(InvalidInput, match=part):
        Traffic.from_matrix(matrix)
