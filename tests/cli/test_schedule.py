# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule`: build, check, convert; wrong input."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest

import hocket


@pytest.fixture
def run(hocket_cli: Callable[..., Any]) -> Callable[..., Any]:
    return functools.partial(hocket_cli, "schedule")


def test_list_json_and_goal(run, tmp_path):
    listed = run("bcast", "--ranks", "3", "--algorithm", "pipelined_chain", "--segments", "2", "--order", "0,2,1")
    assert listed.returncode == 0
    assert "  1  send to 1  chunks 0  after 0" in listed.stdout

    written = run("allreduce", "-n", "4", "-a", "ring", "--format", "json")
    file = tmp_path / "schedule.json"
    file.write_text(written.stdout)
    assert hocket.Schedule.from_json(written.stdout) == hocket.Schedule.build("allreduce", "ring", 4)

    goal = run(str(file), "--format", "goal", "--bytes", "1 kB")
    assert hocket.Program.from_goal(goal.stdout) == hocket.lower(hocket.Schedule.build("allreduce", "ring", 4), 1000)

    summary = json.loads(run(str(file), "--json").stdout)
    assert summary["ok"]
    assert (summary["messages"], summary["chunks_sent"]) == (24, 24)  # 2 (p-1) messages of one block from each of 4


def test_algorithms_are_listed(run):
    assert "rabenseifner" in run("allreduce").stdout
    names = [entry["name"] for entry in json.loads(run("barrier", "--json").stdout)["algorithms"]]
    assert names == ["dissemination", "dissemination_4"]


def test_a_wrong_schedule_ends_with_one_and_says_where(run, tmp_path):
    document = json.loads(hocket.Schedule.build("bcast", "linear", 3).to_json())
    document["ranks"][2] = []
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(document))
    result = run(str(file))
    assert result.returncode == 1
    assert result.stdout == ""
    assert "rank 0, op 1 (send to 2): no op at the other end" in result.stderr
    result = run(str(file), "--json")
    assert result.returncode == 1
    assert len(json.loads(result.stdout)["violations"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["brodcast"], "unknown collective 'brodcast'"),
        (["bcast", "-n", "3", "-a", "tree"], 'unknown algorithm "tree" for bcast'),
        (["bcast", "-a", "linear"], "the number of ranks is missing"),
        (["bcast", "-a", "linear", "-n", "3", "--order", "0,x"], "--order is '0,x'"),
        (["bcast", "-a", "linear", "-n", "3", "--order", "0,1"], "order has 2 ranks"),
        (["bcast", "-a", "linear", "-n", "3", "--root", "3"], "root is 3: expected 0 to 2"),
        (["bcast", "-a", "linear", "-n", "1000000000"], "more than 100000000 operations"),
        (["bcast", "-a", "linear", "-n", "3", "--format", "goal"], "--format needs a size"),
        (["absent.json"], "absent.json: No such file or directory"),
    ],
)
def test_wrong_input_is_one_message(run, arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
