# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The suite of performance guidelines on real MPIs: every mock-up leaves what the function that it imitates leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hocket.bench.mpi.results import read_results
from hocket.bench.mpi.suites import shipped_suites
from hocket.mpi.build import build_bench
from hocket.mpi.discover import Mpi
from mpis import MpiRunner

pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]  # mock-ups call what every MPI has

EXTENT = "launches = 1\nrounds = 1\nsamples = 3\nbudget_s = 0.01\n"


def small() -> str:
    """The shipped suite with sizes that 3 ranks can and cannot divide evenly, and as few samples as there can be."""
    text = shipped_suites()["guidelines"].read_text()
    items = text[text.index("items = [") : text.index("[quick]")]
    return f'format = "hocket.suite/1"\nname = "guidelines"\nbytes = ["8 B", "24 B", "1 KiB"]\n{EXTENT}{items}'


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_mockup_leaves_the_right_data(mpi: Mpi, runner: MpiRunner, ranks: int) -> None:
    given, path = runner.folder / "suite.toml", runner.folder / "results.jsonl"
    given.write_text(small())
    runner.run(ranks, build_bench(mpi), "--quiet", "--timeout", "100", "-o", path, given)
    results = read_results(path)
    assert {variant: one.status for (variant, _), one in results.outcomes.items() if one.status != "ok"} == {}
    mockups = [point for point in results.points if point.item.startswith("mockup.")]
    assert len(mockups) == 16 * 3
    assert all(results.chunks[point.index] for point in mockups)


def test_each_is_set_beside_its_function(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(small())
    done = hocket_cli("bench", "run", "suite.toml", "-o", "rules", "--", mpi.mpiexec, "-n", "2")
    assert done.returncode == 0, done.stderr
    result = hocket_cli("bench", "guidelines", "rules", "--json", "--fail-if", "violated")
    assert result.returncode == 0  # one launch proves nothing
    found = json.loads(result.stdout)
    kinds = [check["kind"] for check in found["checks"]]
    # 16 mock-ups of 3 sizes; 9 functions, each with 2 steps of size, of which 8 to 24 B is 3 times, 24 B to 1 KiB none.
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"mock-up": 48, "monotony": 18, "split": 9}
    assert "too few launches" in found["sentence"]
    text = hocket_cli("bench", "guidelines", "rules", "--all").stdout
    assert "MPI_Allreduce <= MPI_Reduce_scatter_block + MPI_Allgather" in text
    assert "guidelines" in (tmp_path / "rules/index.html").read_text()
