# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-bench where something goes wrong: kills, Ctrl-C, disks that are full, read-only or not there, launchers."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from bench_files import HEAD, records, suite

from hocket.mpi.build import build_bench
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import launch_environment, run_command, start_process, stop_process_group
from mpis import MpiRunner

pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]
ROUNDS = 100
LONG = HEAD.replace("rounds = 1", f"rounds = {ROUNDS}").replace("budget_s = 0.01", "budget_s = 600\ntarget = 1e9")
ENDLESS = LONG.replace(f"rounds = {ROUNDS}", "rounds = 100000")
MESSAGES = '[[items]]\nuse = "p2p.isend_irecv"\nbytes = ["8 B", "1 KiB"]\n'
FILES = '[[items]]\nuse = "io.write_at"\nbytes = "1 MiB"\n'


@pytest.fixture
def program(mpi: Mpi) -> Path:
    return build_bench(mpi)


def wait_until(is_so: Callable[[], bool], limit_s: float = 60) -> None:
    end_s = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def chunks(path: Path) -> int:
    return path.read_bytes().count(b'"chunk"') if path.exists() else 0


def test_kills_at_random_times(mpi: Mpi, runner: MpiRunner, program: Path) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    delays = random.Random(seed)
    path = runner.folder / "results.jsonl"
    given = suite(runner.folder, MESSAGES, LONG)
    command = runner.command(2, program, "--quiet", "-o", path, given)
    for _ in range(4):
        before = chunks(path)
        process = start_process(command, env={**os.environ, **launch_environment(command, mpi)})
        try:
            # In the start as well as in the midst of visits; a kill in the same attempt twice would be a crash.
            wait_until(lambda start=before, one=process: chunks(path) > start or one.poll() is not None)
            time.sleep(delays.uniform(0, 0.2))
        finally:
            with suppress(ProcessLookupError):  # where all is measured already
                os.killpg(process.pid, signal.SIGKILL)
            stop_process_group(process)
        kept = path.read_bytes()
        kept = kept[: kept.rindex(b"\n") + 1]
        # The ranks may have lived a little longer than their launcher.
        wait_until(lambda whole=kept: path.read_bytes().startswith(whole))
    runner.run(2, program, "--quiet", "-o", path, given)
    assert path.read_bytes().startswith(kept)
    visits = [(record["round"], record["point"]) for record in records(path) if record["type"] == "chunk"]
    assert sorted(visits) == [(i, k) for i in range(ROUNDS) for k in range(2)]


def test_ctrl_c_is_no_crash_of_the_item(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    # More rounds than any of these runs can end, however late the signal arrives.
    given = suite(tmp_path, MESSAGES, ENDLESS)
    path = tmp_path / "found/results.jsonl"
    command = [sys.executable, "-m", "hocket", "bench", "run", given, "-o", path.parent, "--", mpi.mpiexec, "-n", "2"]
    for _ in range(4):  # two crashes in the same attempt would end the item
        start = chunks(path)
        process = start_process(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            wait_until(lambda one=process, before=start: chunks(path) > before or one.poll() is not None)
            assert process.poll() is None
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            stop_process_group(process)
        assert process.returncode in (130, -signal.SIGINT), errors
        assert "Traceback" not in str(errors)
    found = records(path)
    assert {record["status"] for record in found if record["type"] == "outcome"} == {"ok"}
    assert sum(record["type"] == "interrupted" for record in found) == 4
    visits = [(record["round"], record["point"]) for record in found if record["type"] == "chunk"]
    assert visits == sorted(visits, key=lambda visit: visit[0])
    assert len(visits) == len(set(visits))


def test_two_at_once_do_not_mix_their_records(mpi: Mpi, runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    given = suite(runner.folder, MESSAGES, ENDLESS)
    command = runner.command(2, program, "--quiet", "-o", path, given)
    process = start_process(command, env={**os.environ, **launch_environment(command, mpi)})
    try:
        wait_until(lambda: chunks(path) > 0)
        second = runner.run(2, program, "--quiet", "-o", path, given, check=False)
        assert second.returncode != 0
        assert "results.jsonl: another hocket-bench writes to it" in second.stderr
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        stop_process_group(process)
    assert sum(record["type"] == "run" for record in records(path)[:-1]) == 1


def mounted(options: str, folder: Path, command: list[str]) -> list[str]:
    """The command with a small file system of its own at `folder`."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    folder.mkdir()
    script = f'mount -t tmpfs -o {options} none "$1" && shift && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", script, "sh", str(folder), *command]
    if subprocess.run([*words[:7], "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine allows no mounts")
    return words


@pytest.mark.parametrize(
    ("options", "message"),
    [("size=64k", "No space left on device"), ("ro", "Read-only file system")],
)
def test_a_disk_without_room(mpi: Mpi, runner: MpiRunner, program: Path, options: str, message: str) -> None:
    disk = runner.folder / "disk"
    given = suite(runner.folder, FILES)
    command = runner.command(2, program, "--quiet", "-o", runner.folder / "r.jsonl", "--folder", disk, given)
    words = mounted(options, disk, list(map(str, command)))
    done = run_command(words, capture=True, env={**os.environ, **launch_environment(command, mpi)})
    assert done.returncode == 2
    assert done.stderr.count("error: ") == 1
    assert f"disk: rank 0 cannot write 1 MiB there: {message}" in done.stderr
    assert "hint: name another folder with --folder" in done.stderr


def test_a_disk_that_becomes_full(mpi: Mpi, runner: MpiRunner, program: Path) -> None:
    disk = runner.folder / "disk"
    given = suite(runner.folder, MESSAGES, LONG)
    path = disk / "r.jsonl"
    command = list(map(str, runner.command(2, program, "--quiet", "-o", path, given)))
    # What was written is read by whoever sees the file system.
    shown = ["sh", "-c", '"$@"; status=$?; cat "$0"; exit $status', str(path), *command]
    words = mounted("size=16k", disk, shown)
    done = run_command(words, capture=True, env={**os.environ, **launch_environment(command, mpi)})
    assert done.returncode not in (0, 75)
    assert "r.jsonl: cannot be written: " in done.stderr
    assert "make room; the same command then goes on from here" in done.stderr
    assert done.stdout.count('"chunk"') > 5


def test_a_folder_that_is_not_there(runner: MpiRunner, program: Path) -> None:
    given = suite(runner.folder, FILES)
    done = runner.run(2, program, "--quiet", "--folder", "none", "-o", "r.jsonl", given, check=False)
    assert done.returncode == 2
    assert "none: rank 0 cannot write 1 MiB there: No such file or directory" in done.stderr
    assert done.stderr.count("error: ") == 1


def test_ranks_that_do_not_know_of_each_other(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    """As srun starts them for an MPI that it cannot speak with."""
    given = suite(tmp_path, MESSAGES)
    environment = {**os.environ, **launch_environment(["x"], mpi)}
    for rank, status, message in (("0", 2, "error: srun has started 64 processes, and each is alone"), ("5", 0, "")):
        slurm = {"SLURM_STEP_NUM_TASKS": "64", "SLURM_PROCID": rank}
        done = run_command([program, given], capture=True, cwd=tmp_path, env={**environment, **slurm})
        assert done.returncode == status
        assert message in done.stderr
        assert ("error" in done.stderr) == (rank == "0")
    assert not (tmp_path / "test.jsonl").exists()


def test_a_budget_holds(runner: MpiRunner, program: Path) -> None:
    """Trying all items and measuring them: each point at least once, and no more rounds than there is time for."""
    path = runner.folder / "results.jsonl"
    head = LONG.replace("budget_s = 600", "budget_s = 1")
    begin_s = time.monotonic()
    runner.run(2, program, "--quiet", "-o", path, suite(runner.folder, MESSAGES, head))
    took_s = time.monotonic() - begin_s
    attempts = [record["at_s"] for record in records(path) if record["type"] == "attempt"]
    assert max(attempts) < took_s
    rounds = {record["round"] for record in records(path) if record["type"] == "chunk"}
    assert 0 in rounds
    # Whatever the machine does meanwhile: after the time is over only what was begun goes on.
    assert sum(at_s > 1 for at_s in attempts) <= 2


def test_what_a_launch_takes_too_long_is_taken_from_the_next(runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    head = LONG.replace("launches = 1", "launches = 2").replace(f"rounds = {ROUNDS}", "rounds = 5")
    command = [program, "--quiet", "-o", path, suite(runner.folder, MESSAGES, head)]
    assert runner.run(2, *command, check=False).returncode != 0  # there is one more launch
    end = '{"type": "launch_end"'
    late = '{"type": "attempt", "variant": "p2p.isend_irecv ranks=2", "point": 0, "at_s": 601}\n'
    path.write_text(path.read_text().replace(end, late + end))
    runner.run(2, *command)
    assert {record["launch"] for record in records(path) if record["type"] == "chunk"} == {1}
    assert records(path)[-1] == {"type": "launch_end", "launch": 1}  # for the second one there was no time


COARSE_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    static int step = 1;
    if (real == NULL) {
        const char *rank = getenv("OMPI_COMM_WORLD_RANK");
        if (rank == NULL) rank = getenv("PMI_RANK");
        if (rank != NULL && strcmp(rank, "1") == 0) step = 200;
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    }
    const int code = real(clock, time);
    time->tv_nsec -= time->tv_nsec % step;
    return code;
}
"""


def test_ranks_whose_clocks_have_other_steps(mpi: Mpi, runner: MpiRunner, program: Path) -> None:
    """They agree on how many runs a sample is: else one waits for messages that the other does not send."""
    clock = runner.compile(COARSE_CLOCK, "-shared", "-fPIC", "-ldl", name="clock.so")
    path = runner.folder / "results.jsonl"
    given = suite(runner.folder, MESSAGES)
    runner.run(2, program, "--quiet", "--timeout", "20", "-o", path, given, libraries=[clock], naps=False)
    found = records(path)
    assert {record["status"] for record in found if record["type"] == "outcome"} == {"ok"}
    assert max(record["runs"] for record in found if record["type"] == "chunk") > 1


def test_samples_are_of_as_many_runs_as_earlier_and_elsewhere(runner: MpiRunner, program: Path) -> None:
    """Times of samples of few runs and of many do not compare: the more follow each other, the less each takes."""
    path, other = runner.folder / "results.jsonl", runner.folder / "other.jsonl"
    head = LONG.replace("launches = 1", "launches = 2").replace(f"rounds = {ROUNDS}", "rounds = 2")
    given = suite(runner.folder, MESSAGES, head)
    runner.run(2, program, "--quiet", "-o", other, given, check=False)
    runs = [record["runs"] for record in records(other) if record["type"] == "chunk" and record["point"] == 0]
    assert runs == sorted(runs)
    assert all(count & (count - 1) == 0 for count in runs)
    other.write_text(re.sub('"runs": [0-9]+', '"runs": 256', other.read_text()))
    runner.run(2, program, "--quiet", "--beside", other, "-o", path, given, check=False)
    assert {record["runs"] for record in records(path) if record["type"] == "chunk"} == {256}
    runner.run(2, program, "--quiet", "-o", path, given)
    second = [record for record in records(path) if record["type"] == "chunk" and record["launch"] == 2]
    assert {record["runs"] for record in second} == {256}
