# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-bench and `hocket bench run` with real MPIs: what is measured, what fails, and what survives a kill."""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import time
from pathlib import Path

import pytest
from bench_files import HEAD, RECORD, outcomes, records, small, suite

from hocket.bench.mpi.results import read_results
from hocket.bench.mpi.statistics import summarize
from hocket.mpi.build import build_bench
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import launch_environment, start_process, stop_process_group
from mpis import MpiRunner

# Two of the four MPIs show what the program does; `make test-long` takes all.
pytestmark = [pytest.mark.one_of_each_family(usually=True), pytest.mark.in_turns]


@pytest.fixture
def program(mpi: Mpi) -> Path:
    return build_bench(mpi)


@pytest.mark.parametrize(("name", "numbers"), [("mbl2-io", 58), ("mbl2-rma", 25)])
def test_every_item_of_mbl2_runs(runner: MpiRunner, program: Path, name: str, numbers: int) -> None:
    path = runner.folder / "results.jsonl"
    given = suite(runner.folder, small(name), head="")
    runner.run(2, program, "--quiet", "--timeout", "100", "-o", path, given, timeout=280)
    written = records(path)
    for record in written:
        RECORD.validate(record)
    assert [record["number"] for record in written if record["type"] == "point"] == list(range(1, numbers + 1))
    found = outcomes(path)
    assert {variant: outcome for variant, outcome in found.items() if outcome[0] != "ok"} == {}
    results = read_results(path)
    assert all(len(results.chunks[point.index][0].samples_ns) == 3 for point in results.points)
    assert [entry.name for entry in runner.folder.iterdir() if entry.name.startswith("hocket-bench")] == []


def test_what_crashes_is_reported_and_the_rest_goes_on(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    """ROMIO inside Open MPI jumps to address 0 in the collective non-blocking functions."""
    items = "".join(
        f'[[items]]\nuse = "{use}"\nbytes = "1 KiB"\n'
        for use in ("io.iread_all", "io.iwrite_at_all", "io.write_at_all", "io.write_at.atomic_strided")
    )
    env = {}
    if mpi.family == "openmpi":
        env["OMPI_MCA_io"] = "romio321" if mpi.major < 5 else "romio341"
    path = suite(tmp_path, items)
    command = ["bench", "run", path, "-o", "found", "--json", "--", mpi.mpiexec, "-n", "2"]
    result = hocket_cli(*command, env=env)
    assert result.returncode == 0, result.stderr
    found = outcomes(tmp_path / "found/results.jsonl")
    expected = "crash" if mpi.family == "openmpi" else "ok"
    for variant in ("io.iread_all ranks=2", "io.iwrite_at_all ranks=2"):
        assert found[variant][0] == expected
        assert expected == "ok" or "SIGSEGV" in found[variant][1]
    assert found["io.write_at_all ranks=2"] == ("ok", "")
    rows = {row["variant"]: row for row in json.loads(result.stdout)["points"]}
    assert rows["io.write_at_all ranks=2"]["measured"]["samples"] == 3
    assert (rows["io.iread_all ranks=2"]["measured"] is None) == (expected == "crash")
    assert not (tmp_path / "found/scratch").exists()
    # What was found is known the next time.
    again = hocket_cli(*command[:-5], "-o", "again", *command[-5:], env=env)
    assert again.returncode == 0, again.stderr
    assert sum(record["type"] == "run" for record in records(tmp_path / "again/results.jsonl")) == 1


def test_torn_atomic_writes_are_wrong_data(mpi: Mpi, runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    given = suite(runner.folder, '[[items]]\nuse = "io.write_at.atomic_strided"\nbytes = "64 KiB"\n')
    runner.run(2, program, "--quiet", "--timeout", "90", "-o", path, given)
    status, message = outcomes(path)["io.write_at.atomic_strided ranks=2"]
    if mpi.family == "openmpi" and mpi.major < 5:
        assert status == "wrong_data"
        assert re.fullmatch(r"atomic writes were torn in \d+ of 40 rounds: .*", message)
    else:
        assert (status, message) == ("ok", "")


def test_a_window_that_no_component_of_open_mpi_serves_is_unsupported(
    mpi: Mpi, runner: MpiRunner, program: Path
) -> None:
    if mpi.family != "openmpi" or not mpi.version.startswith("4."):
        pytest.skip("Open MPI 4 has components for windows that do not serve TCP; others serve it")
    path = runner.folder / "results.jsonl"
    items = '[[items]]\nuse = ["rma.win_create", "rma.put", "p2p.isend_irecv"]\nbytes = "8 B"\n'
    settings = {"OMPI_MCA_osc": "rdma", "OMPI_MCA_btl": "tcp,self"}
    runner.run(2, program, "--quiet", "-o", path, suite(runner.folder, items), env=settings)
    found = outcomes(path)
    for item in ("rma.win_create", "rma.put"):
        status, message = found[f"{item} ranks=2"]
        assert status == "unsupported"
        assert "returned MPI_ERR_WIN: this MPI has no one-sided communication between these ranks" in message
    assert found["p2p.isend_irecv ranks=2"] == ("ok", "")


def test_a_kill_loses_no_finished_chunk(mpi: Mpi, runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    head = HEAD.replace("rounds = 1", "rounds = 200").replace("budget_s = 0.01", "budget_s = 600\ntarget = 1e9")
    given = suite(runner.folder, '[[items]]\nuse = "p2p.isend_irecv"\nbytes = ["8 B", "1 KiB"]\n', head)
    command = runner.command(2, program, "--quiet", "-o", path, given)
    process = start_process(command, env={**os.environ, **launch_environment(command, mpi)})
    try:
        end_s = time.monotonic() + 60
        while time.monotonic() < end_s and not (path.exists() and path.read_text().count('"chunk"') >= 10):
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        stop_process_group(process)
    before = path.read_text()
    whole = before[: before.rindex("\n") + 1]
    path.write_text(before + '{"type": "chu')  # as if the kill had come within a record
    runner.run(2, program, "--quiet", "-o", path, given)
    assert path.read_text().startswith(whole)
    visits = [(record["round"], record["point"]) for record in records(path) if record["type"] == "chunk"]
    assert sorted(visits) == [(i, k) for i in range(200) for k in range(2)]
    assert records(path)[-1] == {"type": "launch_end", "launch": 1}
    complete = path.read_text()
    runner.run(2, program, "--quiet", "-o", path, given)
    assert path.read_text() == complete


@pytest.mark.one_of_each_family
def test_an_attempt_that_twice_ends_the_program_is_a_crash(runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    given = suite(runner.folder, '[[items]]\nuse = "p2p.isend_irecv"\nbytes = "8 B"\n[[items]]\nuse = "nothing"\n')
    runner.run(2, program, "--quiet", "-o", path, given)
    lines = path.read_text().splitlines()
    (start,) = [line for line in lines if '"run"' in line]
    head = lines[: lines.index(start)]
    attempt = '{"type": "attempt", "variant": "p2p.isend_irecv partners=both-ways ranks=2", "point": null}'
    attempt = attempt.replace(" partners=both-ways", "")
    for deaths, status in ((1, "ok"), (2, "crash")):
        path.write_text("\n".join([*head, *[start, attempt] * deaths, ""]))
        runner.run(2, program, "--quiet", "-o", path, given)
        assert outcomes(path)["p2p.isend_irecv ranks=2"][0] == status
        assert outcomes(path)["nothing ranks=2"][0] == "ok"
    path.write_text("\n".join([*head, *[start, attempt, '{"type": "interrupted"}'] * 3, ""]))
    runner.run(2, program, "--quiet", "-o", path, given)
    assert outcomes(path)["p2p.isend_irecv ranks=2"][0] == "ok"


@pytest.mark.one_of_each_family
def test_the_runner_itself_takes_less_than_two_steps_of_the_clock(runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    runner.run(2, program, "--quiet", "-o", path, suite(runner.folder, '[[items]]\nuse = "nothing"\n'))
    results = read_results(path)
    chunks = results.chunks[0]
    assert min(chunk.runs for chunk in chunks) > 1
    # Of all chunks: another process may disturb one.
    assert min(min(chunk.run_s) for chunk in chunks) < 2e-9 * results.runs[0]["timer"]["step_ns"]


@pytest.mark.one_of_each_family
def test_intervals_are_those_of_the_python_side(runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    head = (
        HEAD.replace("rounds = 1", "rounds = 13")
        .replace("launches = 1", "launches = 2")
        .replace("0.01", "60\ntarget = 1e9")
    )
    given = suite(runner.folder, '[[items]]\nuse = "p2p.isend_irecv"\nbytes = "8 B"\n', head)
    assert runner.run(2, program, "-o", path, given, check=False).returncode == 75  # the second launch is to come
    table = runner.run(2, program, "-o", path, given).stdout
    results = read_results(path)
    summary = summarize(results.launches(results.points[0]))
    assert summary.interval_s is not None
    printed = re.search(r" B +([\d.]+) us +([\d.]+) to ([\d.]+)", table)
    assert printed is not None, table
    expected = [1e6 * value for value in (summary.median_s, *summary.interval_s)]
    assert [float(text) for text in printed.groups()] == pytest.approx(expected, abs=6e-4)


@pytest.mark.one_of_each_family
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[items]]\nuse = 'p2p.isend'\nbytes='1 B'\n", 'suite.toml:8: there is no item "p2p.isend"'),
        ("[[items]]\nuse = 'io.read_at'\n", "io.read_at has no bytes"),
        ("[[items]]\nuse = 'io.read_at'\nbytes = '0 B'\n", "io.read_at with 0 B; accepted: 1 B and more"),
        ("[[items]]\nuse = 'io.read_at'\nbytes = 5\n", 'bytes is the number 5; expected: a size such as "64 KiB"'),
        ("[[items]]\nuse = 'io.seek'\nbytes = '1 B'\n", "io.seek has no size"),
        (
            "[[items]]\nuse = 'rma.put'\nbytes = '1 B'\nepoch = 'fance'\n",
            '"fance"; accepted: fence|pscw|',
        ),
        ("[[items]]\nuse = 'rma.put'\nbytes = '1 B'\noperations = 0\n", "operations is the number 0"),
        ("[[items]]\nuse = 'rma.put'\nbytes = '1 B'\ncolour = 1\n", 'unknown key "colour" in item rma.put'),
        ("start = 'later'\n", 'start is "later"; accepted: barrier|agreed'),
        ("speed = 1\n", 'unknown key "speed" in a suite'),
        ("most_launches = 0\n", "most_launches is the number 0; accepted: a whole number from 1 to"),
        ("", "the suite has no items"),
        ("[[items\n", "not TOML"),
    ],
)
def test_broken_suites_are_one_message(mpi: Mpi, program: Path, tmp_path: Path, content: str, message: str) -> None:
    from hocket.mpi.launch import run_command

    path = suite(tmp_path, content)
    result = run_command([program, "--dry-run", path], capture=True, cwd=tmp_path, env=launch_environment(["x"], mpi))
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("error: ") == 1
    assert result.stdout == ""


@pytest.mark.one_of_each_family
def test_where_nothing_can_be_written_is_told_at_once(runner: MpiRunner, program: Path) -> None:
    given = suite(runner.folder, '[[items]]\nuse = "nothing"\n')
    for output, message in (
        ("/dev/full", "/dev/full: cannot be written: No space left on device"),
        (runner.folder / "none/results.jsonl", "none/results.jsonl: cannot be written: No such file or directory"),
        (runner.folder, "cannot be written: Is a directory"),
    ):
        result = runner.run(2, program, "--quiet", "-o", output, given, check=False)
        assert result.returncode != 0
        assert message in result.stderr
    (runner.folder / "other.jsonl").write_text('{"type": "suite", "key": "0"}\n')
    result = runner.run(2, program, "--quiet", "-o", runner.folder / "other.jsonl", given, check=False)
    assert "holds the results of another suite" in result.stderr
    (runner.folder / "other.jsonl").write_text("mine\n")
    result = runner.run(2, program, "--quiet", "-o", runner.folder / "other.jsonl", given, check=False)
    assert "other.jsonl:1: not JSON" in result.stderr or "other.jsonl:1" in result.stderr
    assert (runner.folder / "other.jsonl").read_text() == "mine\n"


@pytest.mark.one_of_each_family
def test_points_for_more_ranks_than_there_are(runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    given = suite(runner.folder, '[[items]]\nuse = "p2p.isend_irecv"\nbytes = "8 B"\nranks = [1, 2, 3, 64]\n')
    runner.run(3, program, "--quiet", "-o", path, given)
    found = outcomes(path)
    assert found["p2p.isend_irecv ranks=1"] == ("unsupported", "needs 2 ranks")
    assert found["p2p.isend_irecv ranks=64"] == ("unsupported", "needs 64 ranks; the launch has 3")
    assert found["p2p.isend_irecv ranks=2"][0] == found["p2p.isend_irecv ranks=3"][0] == "ok"
    assert statistics.median(read_results(path).chunks[1][0].run_s) > 0


@pytest.mark.one_of_each_family
@pytest.mark.parametrize(("target", "launches"), [(1e9, 2), (1e-9, 4)])
def test_points_that_are_not_known_get_further_launches(
    runner: MpiRunner, program: Path, target: float, launches: int
) -> None:
    """Two launches of three rounds each give an interval, if wide."""
    path = runner.folder / "results.jsonl"
    head = HEAD.replace("rounds = 1", "rounds = 3").replace("launches = 1", "launches = 2").replace("0.01", "60")
    head += f"most_launches = 4\ntarget = {target}\n"
    given = suite(runner.folder, '[[items]]\nuse = "p2p.isend_irecv"\nbytes = "8 B"\n', head)
    statuses = []
    while not statuses or statuses[-1] == 75:
        statuses.append(runner.run(2, program, "--quiet", "-o", path, given, check=False).returncode)
    assert statuses == [75] * (launches - 1) + [0]
    results = read_results(path)
    assert [len(chunks) for chunks in results.launches(results.points[0])] == [3] * launches
    # It is complete: nothing is added.
    size = path.stat().st_size
    assert runner.run(2, program, "--quiet", "-o", path, given, check=False).returncode == 0
    assert path.stat().st_size == size


@pytest.mark.one_of_each_family
def test_no_launch_is_made_without_time(runner: MpiRunner, program: Path) -> None:
    """A budget that the first launch has spent; with more of it the others follow."""
    path = runner.folder / "results.jsonl"
    given = suite(runner.folder, '[[items]]\nuse = "p2p.isend_irecv"\nbytes = "8 B"\n')
    command = [program, "--quiet", "-o", path, "--launches", "3", given]
    for _ in range(2):
        assert runner.run(2, *command, "--budget", "1e-6", check=False).returncode == 0
        assert read_results(path).ended == {1}
    statuses = [runner.run(2, *command, "--budget", "60", check=False).returncode for _ in range(2)]
    assert statuses == [75, 0]
    assert {chunk.launch for chunk in read_results(path).chunks[0]} == {1, 2, 3}


def test_ranks_start_at_an_agreed_time(runner: MpiRunner, program: Path) -> None:
    """More ranks than cores. A sample is from the agreed time until the last rank is done: a late rank adds to it."""
    path = runner.folder / "results.jsonl"
    head = HEAD.replace("samples = 3", "samples = 10").replace("0.01", "5") + 'start = "agreed"\n'
    items = '[[items]]\nuse = "p2p.isend_irecv"\nbytes = "8 B"\npartners = "exchange"\n[[items]]\nuse = "nothing"\n'
    given = suite(runner.folder, items, head)
    runner.run(4, program, "--quiet", "-o", path, given)
    chunks = [record for record in records(path) if record["type"] == "chunk"]
    assert {chunk["point"] for chunk in chunks} == {0, 1}
    for chunk in chunks:
        RECORD.validate(chunk)
        assert 0 <= chunk.get("late", 0) <= len(chunk["samples_ns"]) >= 3
        assert min(chunk["samples_ns"]) > 0


def test_a_hang_is_reported(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    """Open MPI 5.0 waits for ever in partitioned messages of two ranks among four; Open MPI 4 has none."""
    items = '[[items]]\nuse = "p2p.partitioned"\nbytes = "1 KiB"\n[[items]]\nuse = "p2p.isend_irecv"\nbytes = "1 KiB"\n'
    path = suite(tmp_path, items)
    hangs = mpi.family == "openmpi" and mpi.major >= 5
    options = ["--timeout", "8s" if hangs else "60s", "--probe-again", "-o", "found"]
    result = hocket_cli("bench", "run", path, *options, "--", mpi.mpiexec, "-n", "4", timeout=200)
    assert result.returncode == 0, result.stderr
    found = outcomes(tmp_path / "found/results.jsonl")
    assert found["p2p.isend_irecv ranks=4"] == ("ok", "")
    if hangs:
        assert found["p2p.partitioned ranks=4"] == ("hang", "no answer within 8 s")
        assert "p2p.partitioned ranks=4: hang: no answer within 8 s" in result.stdout
    else:
        assert found["p2p.partitioned ranks=4"][0] == ("ok" if mpi.family == "mpich" else "unsupported")
