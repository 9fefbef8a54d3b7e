# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a killed process left behind is removed by the next start; nothing else is."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hocket import Network
from hocket.bench.fidelity.measure import Bench, FidelityOptions
from hocket.errors import Error
from hocket.io import leftovers
from hocket.io.leftovers import remove_leftovers, working_folder
from hocket.measure.runner import Run
from hocket.measure.transfers import launch

OWNER = """
import sys, os; from pathlib import Path; from hocket.io.leftovers import working_folder
with working_folder(".result-", Path(sys.argv[1])) as folder:
    (folder / "file").touch(); print(folder, flush=True); input()
"""


def test_only_the_dead_are_cleaned_up(tmp_path: Path) -> None:
    owners = [
        subprocess.Popen([sys.executable, "-c", OWNER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    dead, living = (Path(owner.stdout.readline().decode().strip()) for owner in owners)
    owners[0].send_signal(signal.SIGKILL)
    owners[0].communicate()
    others = [tmp_path / name for name in (".result-mine", "result", ".other-1.hocket-unfinished")]
    for path in others:
        path.mkdir()
    link = tmp_path / ".result-link.hocket-unfinished"
    link.symlink_to(others[1])
    assert dead.exists()
    with working_folder(".result-", tmp_path) as folder:
        assert not dead.exists()
        assert {folder, living, link, *others} == set(tmp_path.iterdir())
    owners[1].communicate(b"\n")
    assert {link, *others} == set(tmp_path.iterdir())


def test_a_folder_that_vanishes_before_it_is_locked_is_made_again(tmp_path: Path, monkeypatch: Any) -> None:
    lock, lost = fcntl.flock, []

    def late(folder: int, how: int) -> None:
        if not lost:
            lost.extend(tmp_path.iterdir())
            remove_leftovers(".result-", tmp_path)  # of another start, which locks first
        lock(folder, how)

    monkeypatch.setattr(leftovers.fcntl, "flock", late)
    with working_folder(".result-", tmp_path) as folder:
        assert [folder] == list(tmp_path.iterdir())
        assert lost
        assert not lost[0].exists()


def _calibrate(runner: Any, parts: Any) -> None:
    launch(["mpiexec"], [], 1, 1.0, runner, parts, None)


def _bench(runner: Any, parts: Any) -> None:
    bench = Bench.__new__(Bench)  # without a testbed
    bench.network, bench.ranks, bench.runner, bench.parts = Network.generate("star:2"), 2, runner, parts
    bench.options, bench.following, bench.command = FidelityOptions(), lambda _: None, ["mpiexec", "-n", "2", "true"]
    bench.launch([], "")


@pytest.mark.parametrize(("kind", "start"), [("calibrate", _calibrate), ("fidelity", _bench)])
def test_temporary_folders_of_the_dead_go_with_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, start: Any
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # where rank 0 finds it on another host
    dead = tmp_path / f"hocket-{kind}-dead.hocket-unfinished"
    dead.mkdir()
    os.utime(dead, (0, 0))
    seen: list[str] = []

    def run(*_: object, **__: object) -> Run:
        seen.extend(path.name for path in tmp_path.iterdir())
        return Run("", 1.0, None)

    with pytest.raises(Error, match="gave no result that can be read"):
        start(SimpleNamespace(run=run), SimpleNamespace(transfers="transfers", compare="compare"))
    assert len(seen) == 1
    assert seen[0].startswith(f"hocket-{kind}-")
    assert seen[0].endswith(".hocket-unfinished")
    assert list(tmp_path.iterdir()) == []
