# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""SIGKILL of hocket, of its launcher or of one rank, at random times: no finished chunk is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from bench_files import HEAD, records, suite

from hocket.mpi.build import build_bench
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import start_process, stop_process_group
from mpis import rounds

pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]
KILLS = 12
LIMIT_S = 60
ENDLESS = HEAD.replace("rounds = 1", "rounds = 100000").replace("budget_s = 0.01", "budget_s = 600\ntarget = 1e9")
ITEMS = '[[items]]\nuse = ["p2p.isend_irecv", "io.write_at", "rma.put"]\nbytes = ["8 B", "1 KiB"]\n'


def below(pid: int) -> list[int]:
    """The processes that `pid` has started, and theirs."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *below(child)]
    return found


def runs_bench(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/exe").resolve().name == "hocket-bench"
    return False


def whole(path: Path) -> bytes:
    """All records that are complete."""
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def kill_at_random(command: list[str], path: Path, choice: random.Random) -> str:
    """Starts `command`, and kills it, its launcher or a rank some time after its first new chunk."""
    before = whole(path).count(b'"chunk"')
    victim = choice.choice(["hocket", "launcher", "rank"])
    started: list[int] = []
    process = start_process(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end_s = time.monotonic() + LIMIT_S
        while whole(path).count(b'"chunk"') <= before:
            assert process.poll() is None
            assert time.monotonic() < end_s
            time.sleep(0.01)
        time.sleep(choice.uniform(0, 0.3))
        started = below(process.pid)
        ranks = [pid for pid in started if runs_bench(pid)]
        pid = {"hocket": process.pid, "launcher": started[0], "rank": choice.choice(ranks)}[victim]
        os.kill(pid, signal.SIGKILL)
        kept = whole(path)
        if victim == "hocket":
            process.wait(LIMIT_S)
            while any(map(runs_bench, ranks)):  # they end without it
                assert time.monotonic() < end_s + LIMIT_S
                time.sleep(0.05)
        assert whole(path).startswith(kept)
    finally:
        stop_process_group(process)
        for pid in started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return victim


def test_no_kill_loses_a_finished_chunk(mpi: Mpi, tmp_path: Path) -> None:
    build_bench(mpi)
    seed = random.randrange(1 << 30)
    choice = random.Random(seed)
    path = tmp_path / "found/results.jsonl"
    words = ["bench", "run", suite(tmp_path, ITEMS, ENDLESS), "-o", path.parent, "--", mpi.mpiexec, "-n", "2"]
    command = [sys.executable, "-m", "hocket", *map(str, words)]
    kept = b""
    for i in range(rounds(KILLS)):
        victim = kill_at_random(command, path, choice)
        print(f"seed {seed}, kill {i + 1}: {victim}, {whole(path).count(b'chunk')} chunks", flush=True)
        assert whole(path).startswith(kept)
        kept = whole(path)
    found = records(path)
    visits = [(record["launch"], record["round"], record["point"]) for record in found if record["type"] == "chunk"]
    assert len(visits) == len(set(visits)) > rounds(KILLS)
    # A rank that dies alone ends what is under way: twice in the same attempt is a crash, else nothing is lost.
    assert {record["status"] for record in found if record["type"] == "outcome"} <= {"ok", "crash"}
