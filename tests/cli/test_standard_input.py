# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs that read standard input get what the bare command would give them, in every run."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hocket.testbed import available
from mpis import LIMIT_S, MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

AVAILABLE, REASON = available()
needs_namespaces = pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")

# Not until the end of the input: the launcher of Open MPI 5.0 never passes that on (pull request 4024 of openpmix).
SUM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, count = 0, value = 0;
    long sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        if (scanf("%d", &count) != 1) count = 0;
        for (int i = 0; i < count && scanf("%d", &value) == 1; ++i) sum += value;
        if (argc > 1) {
            FILE* log = fopen(argv[1], "a");
            fprintf(log, "%ld\\n", sum);
            fclose(log);
        }
    }
    MPI_Bcast(&sum, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("sum %ld\\n", sum);
    MPI_Finalize();
    return 0;
}
"""
NUMBERS = "\n".join(map(str, [2000, *range(1, 2001)])) + "\n"
TOTAL = 2000 * 2001 // 2


def verbs(tmp_path: Path) -> list[list[str]]:
    """The commands that run a program once."""
    plan = {"format": "hocket.plan/1", "ranks": 2, "network": "test", "entries": []}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    emulated = [["testbed", "run", "star:2"]] if AVAILABLE else []
    return [["record", "--force"], ["run", "--plan", "plan.json"], *emulated]


def test_a_pipe_reaches_the_program(runner: MpiRunner, hocket_cli: Any, tmp_path: Path) -> None:
    command = runner.command(2, runner.compile(SUM))
    for verb in verbs(tmp_path):
        done = hocket_cli(*verb, "--", *command, stdin=NUMBERS)
        assert (done.returncode, done.stdout) == (0, f"sum {TOTAL}\n"), (verb, done.stderr)


# The terminal is passed on by the launcher of a family, in the same way in its versions.
@pytest.mark.one_of_each_family(usually=True)
def test_what_is_typed_reaches_the_program(runner: MpiRunner, tmp_path: Path) -> None:
    command = runner.command(2, runner.compile(SUM))
    for verb in verbs(tmp_path):
        shown = _type("2 30 12\n", [str(Path(sys.executable).with_name("hocket")), *verb, "--", *command], tmp_path)
        assert "sum 42" in shown, (verb, shown)


def _type(text: str, command: list[str], folder: Path, limit_s: float = LIMIT_S) -> str:
    """What the command shows on a terminal where the text is typed."""
    process, terminal = pty.fork()
    if process == 0:
        try:
            os.chdir(folder)
            os.execv(command[0], command)
        finally:
            os._exit(127)
    shown = b""
    try:
        os.write(terminal, text.encode())
        end_s = time.monotonic() + limit_s
        while select.select([terminal], [], [], max(0.0, end_s - time.monotonic()))[0]:
            shown += os.read(terminal, 4096)
    except OSError:  # the command has ended
        pass
    finally:
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        os.close(terminal)
    return shown.decode()


@pytest.mark.one_of_each_family
@pytest.mark.parametrize("where", [[], pytest.param(["--testbed"], marks=needs_namespaces)], ids=["here", "testbed"])
def test_each_run_of_tune_gets_all_of_it(runner: MpiRunner, hocket_cli: Any, tmp_path: Path, where: list[str]) -> None:
    # With --progress the program runs tuned even where no schedule is faster.
    options = ["--network", "star:2", *where, "--no-fit", "--rendezvous", "64 KiB", "--progress", "on"]
    log = tmp_path / "log"
    command = runner.command(2, runner.compile(SUM), log)
    done = hocket_cli("tune", "--json", *options, "--", *command, stdin=NUMBERS, timeout=350)
    assert done.returncode == 0, done.stderr
    assert f"gets the {len(NUMBERS)} bytes of standard input" in done.stderr
    assert log.read_text().splitlines() == [str(TOTAL)] * 11  # recorded, 5 native, 5 tuned
    assert json.loads(done.stdout)["output_identical"] is True
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".c") == [
        "hocket-result",
        "log",
        "program",
    ]
    assert not [path for path in (tmp_path / "hocket-result").iterdir() if path.name.startswith("runs-")]


@pytest.mark.one_of_each_family
def test_an_interrupt_while_tune_reads_leaves_nothing(runner: MpiRunner, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("hocket")), "tune", "--network", "star:2", "--"]
    process = subprocess.Popen(
        [*command, *runner.command(2, "true")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None
    assert process.stderr is not None
    with process.stdin, process.stderr:
        assert any("waiting for the end of standard input" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert list(tmp_path.iterdir()) == []
