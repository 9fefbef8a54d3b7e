# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""All-to-all of unequal blocks on circuits: beside an exhaustive search, and replayed by other code."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.circuits.check import check_answer
from hocket.circuits.schedules import CircuitInstance, solve
from hocket.errors import InvalidInput

_SEED = 20261128
_TIMES = {"alpha": 1e-4, "beta": 8e-9}


def _matrix(chance: random.Random, p: int) -> list[list[int]]:
    density = chance.choice([0.2, 0.5, 1])
    return [
        [0 if i == j or chance.random() > density else int(10 ** chance.uniform(0, 6)) for j in range(p)]
        for i in range(p)
    ]


def _instance(chance: random.Random, p: int, **given: Any) -> CircuitInstance:
    return CircuitInstance.of(
        {
            "collective": "alltoallv", "p": p, "k": chance.randint(1, 4), "matrix": _matrix(chance, p),
            "s": chance.choice([0, 0.001, 0.01]), "d": chance.choice([0, 0.005]), **_TIMES,
            "injection": chance.choice(["one", "all"]), "accounting": chance.choice(["equations", "hidden"]), **given,
        }
    )  # fmt: skip


def _least_s(one: CircuitInstance) -> float:
    """Of all ways to deal the pairs of nodes to configurations."""
    assert one.matrix is not None
    times = [[one.alpha + n * one.beta if n and i != j else 0.0 for j, n in enumerate(row)]
             for i, row in enumerate(one.matrix)]  # fmt: skip
    pairs = [(a, b) for a in range(one.p) for b in range(a + 1, one.p) if times[a][b] or times[b][a]]
    exchange_s = max(one.s, one.d) if one.accounting == "hidden" else one.s + one.d

    def stays_s(edges: list[tuple[int, int]]) -> float:
        if one.injection == "all":
            return max(max(times[a][b], times[b][a]) for a, b in edges)
        sends = [0.0] * one.p
        for a, b in edges:
            sends[a] += times[a][b]
            sends[b] += times[b][a]
        return max(sends)

    best_s = float("inf")

    def deal(number: int, configurations: list[list[tuple[int, int]]]) -> None:
        nonlocal best_s
        if number == len(pairs):
            best_s = min(best_s, (len(configurations) - 1) * exchange_s + sum(map(stays_s, configurations)))
            return
        for edges in [*configurations, None]:
            into = [] if edges is None else edges
            if any(sum(node in edge for edge in into) >= one.k for node in pairs[number]):
                continue
            into.append(pairs[number])
            deal(number + 1, [*configurations, into] if edges is None else configurations)
            into.pop()

    deal(0, [])
    return one.s + best_s + one.d if pairs else 0.0


def test_answers_pass_their_replay_and_lie_between_bound_and_optimum() -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    optima = 0
    for _ in range(120):
        one = _instance(chance, chance.choice([1, 2, 3, 4]))
        answer = solve(one, 2)
        assert check_answer(answer.values) == ()
        least_s = _least_s(one)
        assert answer.lower_bound_s <= least_s * (1 + 1e-9)
        assert answer.makespan_s >= least_s * (1 - 1e-9)
        optima += answer.makespan_s <= least_s * (1 + 1e-9)
    print(f"{optima} of 120 are the optimum")
    assert optima >= 100


def test_larger_ones_pass_their_replay() -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(40):
        one = _instance(chance, chance.choice([5, 7, 8, 12, 16, 24]), stop=chance.choice(["all", "circuit"]))
        answer = solve(one, 0.3)
        assert check_answer(answer.values) == ()
        assert one.matrix is not None
        pairs = {(min(i, j), max(i, j)) for i, row in enumerate(one.matrix) for j, n in enumerate(row) if n and i != j}
        assert {tuple(circuit["nodes"]) for circuit in answer.schedule["circuits"]} == pairs


def test_configurations_are_few() -> None:
    """At most one more than the most neighbours of a node need, where a set-up costs much."""
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(30):
        one = _instance(chance, chance.choice([6, 9, 16]), s=1.0, d=1.0, accounting="equations")
        assert one.matrix is not None
        met = [sum((one.matrix[i][j] or one.matrix[j][i]) > 0 for j in range(one.p) if j != i) for i in range(one.p)]
        schedule = solve(one, 1).schedule
        used = len({circuit["configuration"] for circuit in schedule["circuits"]})
        assert used <= -(-(max(met) + 1) // one.k)


def test_equal_blocks_take_the_fewest_configurations() -> None:
    for p, ports in ((8, 1), (8, 3), (9, 2), (9, 4), (16, 5)):
        matrix = [[1000] * p for _ in range(p)]
        one = CircuitInstance.of(
            {"collective": "alltoallv", "p": p, "k": ports, "matrix": matrix, "s": 0.005, "d": 0.005, **_TIMES}
        )
        answer = solve(one, 1)
        assert answer.optimal
        assert answer.lower_bound_s == pytest.approx(0.01 * -(-(p - 1) // ports) + (p - 1) * (1e-4 + 8e-6))


def test_the_replay_finds_what_is_wrong() -> None:
    one = CircuitInstance.of(
        {"collective": "alltoallv", "p": 4, "k": 1, "matrix": [[0, 5, 0, 9], [1, 0, 2, 0], [0, 0, 0, 0], [3, 3, 3, 0]],
         "s": 0.005, "d": 0.005, **_TIMES}
    )  # fmt: skip
    values = json.loads(json.dumps(solve(one).values))
    assert check_answer(values) == ()
    values["schedule"]["messages"].pop()
    assert "lacks block" in " ".join(check_answer(values))
    values = json.loads(json.dumps(solve(one).values))
    values["instance"]["matrix"][0][1] = 5_000_000
    assert "its end" in " ".join(check_answer(values))
    values = json.loads(json.dumps(solve(one).values))
    values["instance"]["k"], values["lower_bound_s"] = 0, 100.0
    problems = " ".join(check_answer(values))
    assert "ports" in problems
    assert "above the makespan" in problems


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "expected 2 rows of 2 numbers"),
        ({"matrix": [[0, 1]]}, "expected 2 rows of 2 numbers"),
        ({"matrix": [[0, -1], [0, 0]]}, "matrix: -1: expected whole numbers of bytes"),
        ({"matrix": [[0, 1.5], [0, 0]]}, "matrix: 1.5: expected whole numbers of bytes"),
        ({"matrix": [[0, 1], [0, 0]], "bytes": 7}, "neither bytes nor segments"),
        ({"matrix": [[0, 1], [0, 0]], "controller": "serial"}, "serial controller"),
        ({"matrix": [[0, 1], [0, 0]], "collective": "alltoall", "bytes": 1}, "matrix: alltoall has none"),
    ],
)
def test_instances_that_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        CircuitInstance.of({"collective": "alltoallv", "p": 2, "k": 1, "s": 0, "d": 0, **_TIMES, **values})


def test_the_command(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "matrix.txt").write_text("0 1000 0\n5 0 7\n0 1000000 0\n")
    options = ["--circuits", "--ports", "1", "--setup", "5ms", "--teardown", "5ms", "--latency", "100us",
               "--bandwidth", "1Gbit/s"]  # fmt: skip
    matrix = ["--matrix", "matrix.txt"]
    shown = hocket_cli("schedule", "alltoallv", *options, *matrix)
    assert shown.returncode == 0, shown.stderr
    assert "each block goes directly" in shown.stdout
    answer = json.loads(hocket_cli("schedule", "alltoallv", *options, *matrix, "--json").stdout)
    assert answer["makespan_s"] == pytest.approx(0.02 + 2e-4 + 8e-6 + 8e-3)
    (tmp_path / "answers.jsonl").write_text(json.dumps({"id": 1, **answer}) + "\n")
    assert hocket_cli("schedule", "--circuits", "--check", "answers.jsonl").stdout == "1 answers replayed, 0 wrong\n"
    for wrong, message in (
        (["alltoallv", *options], "needs --matrix FILE"),
        (["alltoallv", *options, *matrix, "--bytes", "1 kB"], "--bytes"),
        (["bcast", *options, *matrix, "--bytes", "1 kB", "--ranks", "3"], "--matrix"),
        (["alltoallv", *options, *matrix, "--ranks", "4"], "expected 4 rows of 4"),
    ):
        refused = hocket_cli("schedule", *wrong)
        assert refused.returncode != 0
        assert message in refused.stderr
