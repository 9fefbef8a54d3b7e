# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Several jobs at once: each is slowed by what it shares with the others, and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.cost.source import CostSource
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.requests import from_json, to_json
from hocket.simulation.jobs import Job, JobsRequest, job_from, run

FREE = CostSource(send_overhead_s=0.0, receive_overhead_s=0.0, rendezvous_bytes=2**40)
TREE = NetworkSource("tree:2x2", bandwidth="1GB/s", latency="0s")
BARRIER = "barrier:dissemination"


@pytest.fixture
def goal(tmp_path: Path) -> Callable[[str, int], str]:
    """A program of two ranks, of which the first sends a message."""

    def make(name: str, size: int) -> str:
        path = tmp_path / name
        path.write_text(
            f"num_ranks 2\nrank 0 {{\nm: send {size}b to 1 tag 0\n}}\nrank 1 {{\nm: recv {size}b from 0 tag 0\n}}\n"
        )
        return str(path)

    return make


def test_jobs_that_share_a_link_slow_each_other(goal: Callable[[str, int], str]) -> None:
    # Ranks 0 and 1 are behind one link, 2 and 3 behind another. The larger message is alone when the other has passed.
    jobs = (Job(goal("a.goal", 100_000_000), (0, 2)), Job(goal("b.goal", 300_000_000), (1, 3)))
    request = JobsRequest(jobs, TREE, FREE)
    assert from_json(to_json(request)) == request
    done = run(request)
    assert [(one.alone_s, one.together_s) for one in done.jobs] == [
        (pytest.approx(0.1), pytest.approx(0.2)),
        (pytest.approx(0.3), pytest.approx(0.4)),
    ]
    assert done.values["jobs"][0]["slow_down"] == pytest.approx(2)
    assert done.values["makespan_s"] == pytest.approx(0.4)


def test_jobs_that_share_nothing_take_what_they_take_alone(goal: Callable[[str, int], str]) -> None:
    jobs = (Job(goal("a.goal", 1_000_000), (1, 0)), Job(BARRIER, (2, 3)))
    assert [one.slow_down for one in run(JobsRequest(jobs, TREE, FREE)).jobs] == [1, 1]


@pytest.mark.parametrize(
    ("start_s", "together_s"),
    # The jobs of the test above; while both send, each has half of the link.
    [(0.05, (0.15, 0.35)), (0.1, (0.1, 0.3)), (5.0, (0.1, 0.3))],
)
def test_a_job_that_begins_later(
    goal: Callable[[str, int], str], start_s: float, together_s: tuple[float, float]
) -> None:
    jobs = (Job(goal("a.goal", 100_000_000), (0, 2)), Job(goal("b.goal", 300_000_000), (1, 3), start_s))
    done = run(JobsRequest(jobs, TREE, FREE))
    assert [one.alone_s for one in done.jobs] == [pytest.approx(0.1), pytest.approx(0.3)]
    assert tuple(one.together_s for one in done.jobs) == pytest.approx(together_s)
    assert done.values["makespan_s"] == pytest.approx(start_s + together_s[1])
    assert [one["start_s"] for one in done.values["jobs"]] == [0, start_s]


def test_the_same_job_twice(goal: Callable[[str, int], str]) -> None:
    name = goal("a.goal", 1_000_000)
    jobs = (Job(name, (0, 2)), Job(name, (1, 3)))
    assert [one.slow_down for one in run(JobsRequest(jobs, TREE, FREE)).jobs] == [pytest.approx(2)] * 2


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ((0, 2), (2, 3), r"rank 2 is named and also for .*a.goal"),
        ((0, 0), (2, 3), "rank 0 is named twice"),
        ((0, 4), (2, 3), "rank 4: .* has ranks 0 to 3"),
        ((0, 1, 2), (3,), "has 2 ranks, and is to run on 3"),
    ],
)
def test_ranks_that_overlap_or_are_not_there_are_refused(
    goal: Callable[[str, int], str], first: tuple[int, ...], second: tuple[int, ...], message: str
) -> None:
    jobs = (Job(goal("a.goal", 1), first), Job(BARRIER, second))
    with pytest.raises(InvalidInput, match=message):
        run(JobsRequest(jobs, TREE, FREE))


def test_texts() -> None:
    assert job_from("a.goal@0-2,7") == Job("a.goal", (0, 1, 2, 7))
    assert job_from("x@y.goal@3") == Job("x@y.goal", (3,))
    assert job_from("a.goal@0-1+10ms") == Job("a.goal", (0, 1), 0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.goal", "on which ranks"),
        ("a.goal@", "on which ranks"),
        ("@1", "on which ranks"),
        ("a.goal@x", "on which ranks"),
        ("a.goal@3-1", "ends before it begins"),
        ("a.goal@1,", "neither a rank"),
        ("a@1-999999999", "more than 16777216 ranks"),
        ("a@99999999999", "no network has so many ranks"),
        ("a@0-1+", "start"),
        ("a@0-1+-1s", "start"),
        ("a@0-1+soon", "start"),
        ("a@0-1+1e300s", "starts after 1e\\+300 s"),
    ],
)
def test_wrong_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        job_from(text)


def test_the_command(goal: Callable[[str, int], str], hocket_cli: Callable[..., Any]) -> None:
    jobs = [f"{goal('a.goal', 1_000_000)}@0,2", "bcast:binomial@1,3"]
    command = ("simulate", *jobs, "--network", "tree:2x2", "--bandwidth", "1GB/s", "--bytes", "1MB")
    shown = hocket_cli(*command)
    assert shown.returncode == 0, shown.stderr
    assert "2 jobs at once on tree:2x2" in shown.stdout
    assert "slow-down" in shown.stdout
    values = json.loads(hocket_cli(*command, "--json").stdout)
    assert [one["ranks"] for one in values["jobs"]] == [[0, 2], [1, 3]]
    assert all(one["slow_down"] > 1 for one in values["jobs"])
    for wrong, what in (
        (("simulate", jobs[0], "b.goal"), "does not say on which ranks"),
        ((*command, "--cpu-scale", "2"), "--cpu-scale does not apply"),
        ((*command, "-o", "result"), "--output goes with one simulation"),
    ):
        refused = hocket_cli(*wrong, *(() if "--network" in wrong else command[3:]))
        assert refused.returncode == 2
        assert what in refused.stderr
