# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-transfers: transfers alone and together, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import MpiRunner

# A program of ours that sends, receives and reads the clock: nothing in which versions differ.
pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


def campaign(folder: Path, experiments: object, **changed: object) -> Path:
    path = folder / "campaign.json"
    content = {"format": "hocket.transfers/1", "rounds": 2, "seconds": 60, "experiments": experiments, "costs": []}
    path.write_text(json.dumps({**content, **changed}))
    return path


def test_times_by_round_experiment_and_transfer(runner: MpiRunner, parts: MpiParts) -> None:
    experiments = [
        [[0, 1, 0, 1]],
        [[2, 0, 1_000_000, 1]],
        [[0, 1, 1000, 1], [1, 0, 1000, 1], [0, 2, 70_000, 3], [2, 0, 70_000, 3]],
        [[1, 2, 8, 500]],
    ]
    result = json.loads(runner.run(3, parts.transfers, campaign(runner.folder, experiments)).stdout)
    assert result["format"] == "hocket.transfer-times/1"
    assert [first for _, first in result["places"]] == [0, 0, 0]
    assert len({host for host, _ in result["places"]}) == 1
    times = result["times_s"]
    assert [[len(seconds) for seconds in of_round] for of_round in times] == [[1, 1, 4, 1]] * 2
    assert all(0 < second < 60 for of_round in times for seconds in of_round for second in seconds)


def test_no_experiments_tell_the_places(runner: MpiRunner, parts: MpiParts) -> None:
    result = json.loads(runner.run(2, parts.transfers, campaign(runner.folder, [])).stdout)
    assert len(result["places"]) == 2
    assert result["times_s"] == [[], []]


def test_what_messages_cost_the_cores(runner: MpiRunner, parts: MpiParts) -> None:
    given = campaign(runner.folder, [], costs=[[0, 2], [1, 0]])
    costs = json.loads(runner.run(3, parts.transfers, given).stdout)["costs"]
    assert [len(values) for values in costs] == [5, 5]
    for send_s, receive_s, send_s_per_byte, receive_s_per_byte, reduce_bytes_per_s in costs:
        assert 0 < send_s < 1
        assert 0 < receive_s < 1
        assert 0 <= send_s_per_byte < 1e-6
        assert 0 <= receive_s_per_byte < 1e-6
        assert reduce_bytes_per_s > 1e6


@pytest.mark.parametrize(
    ("experiments", "changed", "message"),
    [
        ([[[0, 1, 1, 1]], [[1, 1, 1, 1]]], {}, "experiment 1, transfer 0 goes from rank 1 to itself"),
        ([[[0, 1, -1, 1]]], {}, "experiment 0, transfer 0: the size is -1; accepted: a whole number from 0 to"),
        ([], {"speed": 0}, "is not a campaign of transfers"),
        ([], {"costs": [[0, 1], [1, 1]]}, "costs 1 goes from rank 1 to itself"),
        ([], {"costs": [[0]]}, "costs 0 is not [source, target]"),
    ],
)
def test_broken_campaigns_are_one_message(
    runner: MpiRunner, parts: MpiParts, experiments: object, changed: dict[str, Any], message: str
) -> None:
    result = runner.run(2, parts.transfers, campaign(runner.folder, experiments, **changed), check=False)
    assert result.returncode != 0
    assert result.stderr.count("error: ") == 1, result.stderr
    assert message in result.stderr


def test_a_file_that_is_not_there(runner: MpiRunner, parts: MpiParts) -> None:
    result = runner.run(2, parts.transfers, runner.folder / "none.json", check=False)
    assert result.returncode != 0
    assert "none.json cannot be read" in result.stderr
