# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket record` and `hocket trace show`, from a whole run to each thing that may go wrong."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket import Trace
from hocket.mpi.build import build_mpi_parts
from mpis import LIMIT_S, MpiRunner

# The command line over the recorder, which tests/mpi/test_record.py runs with all.
pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]

Cli = Callable[..., subprocess.CompletedProcess[str]]
HOCKET = str(Path(sys.executable).with_name("hocket"))
ENDINGS = Path(__file__).parent / "record/endings.c"


@pytest.fixture(autouse=True)
def built(request: pytest.FixtureRequest) -> None:
    """The first build takes longer than any command here may."""
    if "mpi" in request.fixturenames:
        build_mpi_parts(request.getfixturevalue("mpi"))


def refused(done: subprocess.CompletedProcess[str], status: int) -> str:
    """The one message of a failure."""
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    [message] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert sum(line.startswith("hint: ") for line in done.stderr.splitlines()) == 1
    return message


def test_record_and_show(runner: MpiRunner, hocket_cli: Cli, tmp_path: Path) -> None:
    command = runner.command(2, runner.compile(ENDINGS))
    done = hocket_cli("record", "-o", "trace", "--", *command)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[-2:] == ["rank 0 done", "rank 1 done"]
    assert "calls of 2 rank(s)" in done.stderr

    shown = hocket_cli("trace", "show", "trace", "--json")
    profile = json.loads(shown.stdout)
    assert profile["complete"]
    assert profile["meta"]["command"] == command
    [bcast] = [row for row in profile["calls"] if row["function"] == "MPI_Bcast"]
    assert (bcast["calls"], bcast["bytes"], bcast["communicator_size"]) == (200, 4, 2)
    assert 0 < bcast["median_s"] <= bcast["total_s"]
    assert 0.9 < sum(row["share"] for row in profile["calls"]) + _outside(profile) < 1.1
    table = hocket_cli("trace", "show", "trace")
    assert re.search(r"MPI_Bcast +0 \(2 ranks\) +4 +200 ", table.stdout)

    assert "exists and is not empty" in refused(hocket_cli("record", "-o", "trace", "--", *command), 2)
    assert hocket_cli("record", "--force", "-o", "trace", "--", *command).returncode == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").touch()
    assert "found thesis.txt in it" in refused(hocket_cli("record", "--force", "-o", "mine", "--", *command), 2)
    assert (tmp_path / "mine/thesis.txt").exists()


def _outside(profile: dict[str, list[dict[str, float]]]) -> float:
    """The share of the run time that no MPI call had."""
    elapsed_s = sum(rank["elapsed_s"] for rank in profile["ranks"])
    return 1 - sum(rank["mpi_s"] for rank in profile["ranks"]) / elapsed_s


@pytest.mark.parametrize("how", ["crash", "exit"])
def test_a_program_that_fails(runner: MpiRunner, hocket_cli: Cli, how: str) -> None:
    command = runner.command(2, runner.compile(ENDINGS), how)
    message = refused(hocket_cli("record", "-o", "trace", "--", *command), 1)
    expected = r"was ended by SIGSEGV|exit status 11\b" if how == "crash" else "ended with exit status 5"
    assert re.search(expected, message)
    assert re.search(r"the trace up to there is kept: .*/trace, 2\d\d calls of 2 rank", message)
    shown = hocket_cli("trace", "show", "trace")
    assert shown.returncode == 0
    assert "did not reach MPI_Finalize" in shown.stderr
    simulated = hocket_cli("simulate", "trace", "--network", "star:2", "--json")
    assert (simulated.returncode, simulated.stderr) == (0, shown.stderr)
    (result,) = json.loads(simulated.stdout)["results"]
    assert result["complete"] is False
    assert [f"rank {rank} did" in shown.stderr for rank in (0, 1)] == [r in result["incomplete_ranks"] for r in (0, 1)]


def test_a_program_without_mpi(runner: MpiRunner, hocket_cli: Cli, tmp_path: Path) -> None:
    message = refused(hocket_cli("record", "-o", "trace", "--", *runner.command(2, "hostname")), 1)
    assert "made no MPI calls that could be recorded" in message
    assert not (tmp_path / "trace").exists()


def test_a_full_disk_is_told(runner: MpiRunner, tmp_path: Path) -> None:
    """In a mount namespace, the trace's folder on a file system that has less room than a trace begins with."""
    own = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c"]
    mount = f"mkdir small && mount -t tmpfs -o size=64k small {shlex.quote(str(tmp_path / 'small'))}"
    if subprocess.run([*own, mount], cwd=tmp_path, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system may be mounted here")
    (tmp_path / "small").rmdir()
    command = shlex.join([HOCKET, "record", "-o", "small/trace", "--", *runner.command(2, runner.compile(ENDINGS))])
    done = subprocess.run(
        [*own, f"{mount} && {command}"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert "small/trace: the trace was not written: the file system is full" in refused(done, 1)
    assert "runs on unrecorded" in done.stderr
    assert "No space left on device" in done.stderr
    assert sorted(done.stdout.splitlines()) == ["rank 0 done", "rank 1 done"]


def test_names_that_are_no_utf_8(runner: MpiRunner, hocket_cli: Cli, tmp_path: Path) -> None:
    """The kernel lets a host have any bytes as its name."""
    command = runner.command(2, runner.compile(ENDINGS))
    assert hocket_cli("record", "-o", "trace", "--", *command).returncode == 0
    file = tmp_path / "trace/rank-000001.bin"
    name = os.uname().nodename.encode()
    data = file.read_bytes()
    assert data.count(name + b"\0") == 1
    file.write_bytes(data.replace(name + b"\0", b"\xff" * len(name) + b"\0"))
    assert Trace.open(tmp_path / "trace").hosts[1] == "\N{REPLACEMENT CHARACTER}" * len(name)
    shown = hocket_cli("trace", "show", "trace")
    assert (shown.returncode, shown.stderr) == (0, "")


def test_a_missing_launcher(hocket_cli: Cli, tmp_path: Path) -> None:
    assert "mpiexec.nonsense" in refused(
        hocket_cli("record", "-o", "trace", "--", "mpiexec.nonsense", "-n", "2", "./app"), 2
    )
    assert not (tmp_path / "trace").exists()


def test_folders_that_are_no_trace(hocket_cli: Cli, tmp_path: Path, runner: MpiRunner) -> None:
    assert "cannot be read" in refused(hocket_cli("trace", "show", "nothing"), 2)
    assert (
        hocket_cli(
            "record", "-o", "good", "--", *runner.command(2, runner.compile(ENDINGS)), timeout=LIMIT_S
        ).returncode
        == 0
    )

    def simulated(folder: str) -> tuple[str, bool, list[int]]:
        done = hocket_cli("simulate", folder, "--network", "star:2", "--json")
        assert done.returncode == 0, done.stderr
        (result,) = json.loads(done.stdout)["results"]
        return done.stderr, result["complete"], result["incomplete_ranks"]

    assert simulated("good") == ("", True, [])
    told = hocket_cli("simulate", "good", "--network", "star:2").stdout
    assert "ends with the call of MPI_Finalize" in told
    assert "start-up and what comes after are left out" in " ".join(told.split())
    shutil.copytree(tmp_path / "good", tmp_path / "bad")
    os.truncate(tmp_path / "bad/rank-000001.bin", 600)
    note, *found = simulated("bad")
    assert found == [False, [1]]
    assert note == hocket_cli("trace", "show", "bad").stderr
    assert "rank 1 did not reach MPI_Finalize, recording ended by cut off" in note

    def damaged(change: Callable[[Path], object]) -> str:
        shutil.rmtree(tmp_path / "bad", ignore_errors=True)
        shutil.copytree(tmp_path / "good", tmp_path / "bad")
        change(tmp_path / "bad")
        return refused(hocket_cli("trace", "show", "bad"), 2)

    meta = json.loads((tmp_path / "good/meta.json").read_text())
    assert "rank-000001.bin is missing" in damaged(lambda bad: (bad / "rank-000001.bin").unlink())
    assert "found a file of 5 bytes" in damaged(lambda bad: (bad / "rank-000001.bin").write_bytes(b"HOCKE"))
    assert "found no JSON" in damaged(lambda bad: (bad / "meta.json").write_text("{"))
    changed = json.dumps(meta | {"format": "hocket.trace/4"})
    assert 'found "hocket.trace/4"; accepted: "hocket.trace/1", "hocket.trace/2", "hocket.trace/3"' in damaged(
        lambda bad: (bad / "meta.json").write_text(changed)
    )
    for key, value in (("program", 5), ("only", [5]), ("without", "x"), ("mpi", None), ("ranks", True)):
        changed = json.dumps(meta | {key: value})
        assert f"{key}: found {json.dumps(value)}" in damaged(
            lambda bad, text=changed: (bad / "meta.json").write_text(text)
        )
    assert "found no JSON" in damaged(lambda bad: (bad / "meta.json").write_text("[" * 100_000))
    for name in ("meta.json", "rank-000001.bin"):

        def pipe(bad: Path, name: str = name) -> None:
            (bad / name).unlink()
            os.mkfifo(bad / name)

        assert "no file" in damaged(pipe)
    strange = json.dumps(meta | {"colour": 1})
    assert "colour: unknown key" in damaged(lambda bad: (bad / "meta.json").write_text(strange))
