# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench run` remembers of an MPI, and a launcher that does not end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hocket.bench.mpi import launcher
from hocket.bench.mpi.capabilities import remember
from hocket.bench.mpi.launcher import Launcher
from hocket.bench.mpi.results import Outcome, Results
from hocket.errors import Error
from hocket.mpi.discover import Mpi


def test_what_is_tried_again_replaces_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "known.jsonl"

    def status() -> dict[str, str]:
        return {one["variant"]: one["status"] for one in map(json.loads, path.read_text().splitlines())}

    def results(**statuses: str) -> Results:
        return Results(path, outcomes={(variant, None): Outcome(said, "") for variant, said in statuses.items()})

    remember(path, results(scan="hang", put="ok"), anew=False)
    remember(path, results(scan="ok", get="ok"), anew=False)
    assert status() == {"scan": "hang", "put": "ok", "get": "ok"}
    remember(path, results(scan="ok"), anew=True)
    assert status() == {"scan": "ok", "put": "ok", "get": "ok"}


@pytest.mark.one_of_each_family
def test_a_dry_run_that_does_not_end_is_stopped(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "GRACE_S", 0.0)
    never = Launcher(("sh", "-c", "sleep 60"), mpi, tmp_path / "hocket-bench", (), tmp_path / "results.jsonl", 0.2)
    with pytest.raises(Error, match=r"^`sh -c 'sleep 60' .*--dry-run` did not end within 0\.2 s and was stopped$"):
        never.print_plan()


@pytest.mark.parametrize(("load", "remembered"), [(0.5, {"a", "b"}), (1e4, {"a"})])
def test_what_hangs_on_a_busy_machine_is_tried_again(tmp_path: Path, load: float, remembered: set[str]) -> None:
    outcomes = {("a", None): Outcome("crash", ""), ("b", None): Outcome("hang", "")}
    results = Results(tmp_path / "results.jsonl", runs=[{"load": load}], outcomes=outcomes)
    remember(tmp_path / "known.jsonl", results, anew=False)
    lines = (tmp_path / "known.jsonl").read_text().splitlines()
    assert {json.loads(line)["variant"] for line in lines} == remembered
