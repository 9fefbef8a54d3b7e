# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The limit of a trace: the program goes on, what was recorded until then is read, and all who read it say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hocket.mpi.build import build_mpi_parts
from hocket.traces.trace import Trace
from mpis import MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

MANY_C = Path(__file__).parent / "record/many.c"
THREADS_C = Path(__file__).parent / "record/threads.c"
LIMIT_BYTES = 20_000


def told(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if "reached the limit of its size" in line]


@pytest.mark.one_of_each_family
def test_a_trace_stops_at_its_limit(runner: MpiRunner, hocket_cli: Any, tmp_path: Path) -> None:
    command = runner.command(2, runner.compile(MANY_C), "20000")
    done = hocket_cli("record", "-o", "trace", "--limit", "20 kB", "--", *command)
    assert done.returncode == 0, done.stderr
    (line,) = told(done.stderr)
    assert "the trace of 2 ranks, first that of rank " in line
    assert "--limit 1GiB, or HOCKET_TRACE_LIMIT=1GiB" in line
    trace = Trace.open(tmp_path / "trace")
    for rank in range(2):
        assert 0.9 * LIMIT_BYTES < (trace.folder / f"rank-{rank:06d}.bin").stat().st_size <= LIMIT_BYTES + 64
        assert (trace.core.end(rank), trace.complete(rank)) == ("limit", False)
        # Of 20,000 sends. How many fit depends on how alike their times are: 6,405 have been seen.
        assert 500 < int((trace.names(rank) == "MPI_Send").sum()) < LIMIT_BYTES / 2
    assert {row.collective for row in trace.collectives()} == {"bcast"}

    shown = hocket_cli("trace", "show", "trace", "--json")
    assert json.loads(shown.stdout)["complete"] is False
    assert told(hocket_cli("trace", "show", "trace").stderr) == [line]
    simulated = hocket_cli("simulate", "trace", "--network", "star:2", "--json")
    assert json.loads(simulated.stdout)["results"][0]["incomplete_ranks"] == [0, 1]
    assert told(simulated.stderr) == [line]
    assert told(hocket_cli("advise", "trace", "--network", "star:2", "-o", "plan.json").stderr) == [line]


@pytest.mark.one_of_each_family
def test_without_need_nobody_talks_of_a_limit(runner: MpiRunner, hocket_cli: Any, tmp_path: Path) -> None:
    command = runner.command(2, runner.compile(MANY_C), "20000")
    done = hocket_cli("record", "-o", "trace", "--", *command)
    assert done.returncode == 0, done.stderr
    assert "limit" not in done.stderr
    assert Trace.open(tmp_path / "trace").complete(0)


@pytest.mark.one_of_each_family
def test_a_program_that_fails_beyond_the_limit(runner: MpiRunner, hocket_cli: Any) -> None:
    command = runner.command(2, runner.compile(MANY_C), "20000", "fail")
    done = hocket_cli("record", "-o", "trace", "--limit", "20 kB", "--", *command)
    assert done.returncode == 1
    assert "the trace up to there is kept" in done.stderr


@pytest.mark.one_of_each_family
def test_tune_says_that_its_trace_is_a_part(runner: MpiRunner, hocket_cli: Any) -> None:
    command = runner.command(2, runner.compile(MANY_C), "20000")
    arguments = ["tune", "--json", "--network", "star:2", "--no-fit", "--rendezvous", "64 KiB", "--", *command]
    done = hocket_cli(*arguments, env={"HOCKET_TRACE_LIMIT": "20 kB"}, stdin="", timeout=280)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [note for note in found["notes"] if "reached the limit of its size" in note]
    assert (found["time"], found["predicted_s"]) == (None, None)


def test_threads_go_on_beyond_the_limit(runner: MpiRunner) -> None:
    folder = runner.folder / "trace"
    folder.mkdir()
    runner.run(
        2,
        runner.compile(THREADS_C, "-pthread"),
        libraries=[build_mpi_parts(runner.mpi).record],
        env={"HOCKET_TRACE": str(folder), "HOCKET_TRACE_LIMIT": "10000"},
    )
    trace = Trace.open(folder)
    if trace.meta["thread_level"] != "multiple":
        pytest.skip(f"{runner.mpi.name} has no MPI_THREAD_MULTIPLE here")
    assert [trace.core.end(rank) for rank in range(2)] == ["limit", "limit"]


@pytest.mark.parametrize(
    ("arguments", "env", "message"),
    [
        (["--limit", "lots"], {}, "--limit"),
        (["--limit", "100 B"], {}, "a limit of 100 bytes for the trace of a rank; accepted: 4096 and more"),
        ([], {"HOCKET_TRACE_LIMIT": "lots"}, "HOCKET_TRACE_LIMIT"),
    ],
)
@pytest.mark.one_of_each_family
def test_a_wrong_limit_is_refused(
    runner: MpiRunner, hocket_cli: Any, tmp_path: Path, arguments: list[str], env: dict[str, str], message: str
) -> None:
    done = hocket_cli("record", "-o", "trace", *arguments, "--", *runner.command(2, "true"), env=env)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "trace").exists()
