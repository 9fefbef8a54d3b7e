# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench run --against`: launches of two commands in turns, and what their comparison finds."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from hocket.bench.mpi.results import read_results
from hocket.mpi.discover import Mpi
from mpis import ALL_MPIS

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

SUITE = """
format = "hocket.suite/1"
name = "turns"
bytes = "1 MiB"
launches = 4
rounds = 2
samples = 10
budget_s = 600
target = 1e9
items = [{ use = "p2p.isend_irecv" }]
"""

# Several times what the message of 1 MiB takes, so that no disturbance of the machine hides it.
DELAY = """
#define _GNU_SOURCE
#include <mpi.h>
#include <time.h>
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 20000000L);
    return PMPI_Waitall(count, requests, statuses);
}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "turns.toml"
    path.write_text(SUITE)
    return path


def starts(folder: Path) -> list[str]:
    return [run["time_utc"] for run in read_results(folder).runs]


@pytest.mark.one_of_each_family
def test_a_delay_is_found_and_launches_alternate(mpi: Mpi, suite: Path, hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "delay.c").write_text(DELAY)
    library = tmp_path / "delay.so"
    command = [str(mpi.mpicc), "-shared", "-fPIC", str(tmp_path / "delay.c"), "-o", str(library)]
    assert subprocess.run(command, check=False).returncode == 0
    variable = ["-x", f"LD_PRELOAD={library}"] if mpi.family == "openmpi" else ["-genv", "LD_PRELOAD", str(library)]
    plain = [str(mpi.mpiexec), "-n", "2"]
    arguments = ["bench", "run", suite, "-o", "found", "--against", shlex.join(plain), "--fail-if", "slower"]
    delayed = ["--", str(mpi.mpiexec), *variable, "-n", "2"]
    # Two launches of each, then all: an interrupted run goes on.
    first = hocket_cli(*arguments, "--launches", "2", *delayed)
    assert first.returncode == 0, first.stderr  # two launches prove nothing
    assert "0 faster, 0 slower, 0 same, 1 undecided" in first.stdout
    assert "too few launches" in first.stdout
    result = hocket_cli(*arguments, "--json", *delayed)
    assert result.returncode == 3, result.stderr
    values = json.loads(result.stdout)
    (comparison,) = values["comparisons"]
    (difference,) = comparison["differences"]
    assert difference["verdict"] == "slower"
    assert difference["ratio"] > 2
    assert difference["p"] == pytest.approx(2 / 70)  # the one order of all 4 + 4, and its reverse
    own, other = starts(tmp_path / "found"), starts(tmp_path / "found/against-1")
    assert len(own) == len(other) == 4
    turns = [own[0], other[0], other[1], own[1], own[2], other[2], other[3], own[3]]
    assert turns == sorted(turns)
    assert not list(tmp_path.glob("found/**/scratch"))
    assert "Figure" not in result.stdout
    assert (tmp_path / "found/index.html").read_text().count('<section class="card comparison">') == 1


def test_launches_go_on_until_a_difference_would_be_found(suite: Path, hocket_cli, tmp_path: Path) -> None:
    command = f"{ALL_MPIS[0].mpiexec} -n 2"
    arguments = ["bench", "run", suite, "--find", "0.4", "--against", command, "--json", "--"]
    few = hocket_cli(*arguments[:-1], "--launches", "3", "--", *command.split())
    assert json.loads(few.stdout)["find"]["launches"] == 3
    result = hocket_cli(*arguments, *command.split())
    assert result.returncode == 0, result.stderr
    (comparison,) = json.loads(result.stdout)["comparisons"]
    found = json.loads(result.stdout)["find"]
    assert found["launches"] >= found["needed"] >= 6
    launches = [len(read_results(tmp_path / folder).ended) for folder in ("hocket-bench", "hocket-bench/against-1")]
    assert launches[0] == launches[1] == found["launches"] >= 10
    assert len(read_results(tmp_path / "hocket-bench").chunks[0]) == launches[0]  # of one round each
    assert len(comparison["differences"]) == 1


def test_two_mpis(suite: Path, hocket_cli, tmp_path: Path) -> None:
    if len(ALL_MPIS) < 2:
        pytest.skip("needs two MPIs")
    one, other = ALL_MPIS[:2]
    result = hocket_cli(
        "bench", "run", suite, "--launches", "1", "--against", f"{other.mpiexec} -n 2", "--all", "--",
        one.mpiexec, "-n", "2",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "1 undecided" in result.stdout
    named = [read_results(tmp_path / folder).runs[0]["mpi"] for folder in ("hocket-bench", "hocket-bench/against-1")]
    for name, mpi in zip(named, (one, other), strict=True):
        assert mpi.version in name
    # The results of one MPI are not continued with another.
    mixed = hocket_cli("bench", "run", suite, "--launches", "2", "--", other.mpiexec, "-n", "2")
    assert mixed.returncode == 2
    assert "holds the results of another suite, MPI or number of ranks" in mixed.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--against", "mpiexec -n '2"], "No closing quotation"),
        (["--against", ""], "--against: the command is empty"),
        (["--against", "ls -n 2"], "ls is not an MPI launcher"),
        (["--fail-if", "slower"], "--fail-if needs something to compare with"),
        (["--find", "0.1"], "--find needs something to compare with"),
    ],
)
def test_what_is_refused(options: list[str], message: str, suite: Path, hocket_cli, tmp_path: Path) -> None:
    result = hocket_cli("bench", "run", suite, *options, "--", ALL_MPIS[0].mpiexec, "-n", "2")
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["turns.toml"]


def test_a_dry_run_prints_points_and_time_of_all_commands(suite: Path, hocket_cli, tmp_path: Path) -> None:
    launcher = ALL_MPIS[0].mpiexec
    arguments = ["bench", "run", suite, "--dry-run", "--budget", "60s"]
    one = hocket_cli(*arguments, "--", launcher, "-n", "2")
    assert one.returncode == 0, one.stderr
    assert "1 points, 4 launches of 2 rounds: 8 visits of 7.50 s, 1.0 min in all\n" in one.stdout
    two = hocket_cli(*arguments, "--against", f"{launcher} -n 2", "--", launcher, "-n", "2")
    assert "8 visits of 7.50 s, 2.0 min in all, of 2 commands in turns\n" in two.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["turns.toml"]
