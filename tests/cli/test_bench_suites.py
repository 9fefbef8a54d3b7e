# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench show` and `compare` on recorded launches, and what `hocket bench run` refuses."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
from pathlib import Path

import pytest

from hocket.bench.mpi.results import read_results
from hocket.bench.mpi.suites import shipped_suites
from hocket.mpi.discover import Mpi
from mpis import MPIS

RECORDED = Path(__file__).parents[1] / "samples/bench-launches.jsonl.gz"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "before").mkdir()
    path = tmp_path / "before/results.jsonl"
    path.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    return path


def test_a_table_and_files_for_other_tools(recorded: Path, hocket_cli, tmp_path: Path) -> None:
    table = hocket_cli("bench", "show", "before").stdout
    assert "rma.put epoch=lock ranks=2" in table
    assert "12 known" in table or " wide" in table
    shown = json.loads(hocket_cli("bench", "show", "before", "--json").stdout)
    assert shown["complete"]
    assert len(shown["points"]) == 12
    assert hocket_cli("bench", "show", "before", "--as", "csv", "-o", "found.csv").stdout == ""
    rows = list(csv.DictReader((tmp_path / "found.csv").open()))
    for row, point in zip(rows, shown["points"], strict=True):
        assert row["item"] == point["item"]
        assert float(row["median_s"]) == point["measured"]["median_s"]
        assert float(row["low_s"]) <= float(row["median_s"]) <= float(row["high_s"])
        assert int(row["samples"]) >= 12 * 3
    text = hocket_cli("bench", "show", "before", "--as", "openmetrics").stdout
    assert text.endswith("# EOF\n")
    line = next(line for line in text.splitlines() if line.startswith("hocket_bench_median_seconds{"))
    assert float(line.rpartition(" ")[2]) == shown["points"][0]["measured"]["median_s"]
    assert 'item="p2p.isend_irecv",bytes="8",ranks="2"' in line


def test_a_slower_result_ends_with_status_3(recorded: Path, hocket_cli, tmp_path: Path) -> None:
    same = hocket_cli("bench", "compare", "before", "before", "--fail-if", "slower")
    assert same.returncode == 0, same.stderr
    assert same.stdout.startswith("0 faster, 0 slower, ")
    # Some launches of this point were hindered so much that they took 48 ms for a microsecond.
    (tmp_path / "after").mkdir()
    records = [json.loads(line) for line in recorded.read_text().splitlines()]
    for record in records:
        if record["type"] == "chunk" and record["point"] == 0:
            record["samples_ns"] = [10**6 * sample for sample in record["samples_ns"]]
    (tmp_path / "after/results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    result = hocket_cli("bench", "compare", "before", "after", "--fail-if", "slower", "--json")
    assert result.returncode == 3
    first = json.loads(result.stdout)["differences"][0]
    assert first["verdict"] == "slower"
    assert first["ratio"] == pytest.approx(10**6)
    assert hocket_cli("bench", "compare", "after", "before", "--fail-if", "slower").returncode == 0


def test_what_is_refused(hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"type": "shopping list"}\n')
    (tmp_path / "taken").write_text("mine")
    suites, launcher = ", ".join(shipped_suites()), str(MPIS[0].mpiexec)
    for arguments, message in (
        (["run", "mbl3", "--", launcher, "-n", "2"], f"name a file, or one of {suites}"),
        (["run", "mbl2-rma", "--", "ls"], "ls is not an MPI launcher"),
        (["run", "mbl2-rma", "-o", "taken", "--", launcher, "-n", "2"], "taken: is no folder"),
        (["show", "nothing"], "nothing: cannot be read"),
        (["show", "mine.jsonl"], "mine.jsonl:1: no record of hocket.bench/1"),
        (["compare", "nothing", "nothing"], "nothing: cannot be read"),
    ):
        result = hocket_cli("bench", *arguments)
        assert result.returncode == 2, arguments
        assert message in result.stderr, result.stderr
        assert "Traceback" not in result.stderr
    assert (tmp_path / "taken").read_text() == "mine"


def test_force_keeps_the_results_until_a_measurement_begins(hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/results.jsonl").write_text("earlier\n")
    (tmp_path / "out/against-1").write_text("mine")
    launcher = f"{MPIS[0].mpiexec} -n 2"
    result = hocket_cli(
        "bench", "run", "mbl2-rma", "-o", "out", "--force", "--against", launcher, "--", *launcher.split()
    )
    assert result.returncode == 2
    assert "out/against-1: is no folder" in result.stderr
    assert (tmp_path / "out/results.jsonl").read_text() == "earlier\n"


@pytest.mark.one_of_each_family
def test_force_with_what_hocket_bench_refuses_keeps_the_results(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/results.jsonl").write_text("earlier\n")
    (tmp_path / "wrong.toml").write_text('format = "hocket.suite/1"\nname = "wrong"\nitems = [{ use = "p2p.shout" }]\n')
    right = 'format = "hocket.suite/1"\nname = "right"\nlaunches = 1\nrounds = 1\nsamples = 3\nbudget_s = 0.01\n'
    (tmp_path / "right.toml").write_text(right + 'items = [{ use = "coll.barrier" }]\n')

    def run(suite: str) -> subprocess.CompletedProcess[str]:
        return hocket_cli("bench", "run", suite, "-o", "out", "--force", "--", mpi.mpiexec, "-n", "2")

    refused = run("wrong.toml")
    assert refused.returncode == 2
    assert 'there is no item "p2p.shout"' in refused.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["results.jsonl"]
    (tmp_path / "newer.toml").write_text(right.replace("suite/1", "suite/2") + "items = []\n")
    refused = run("newer.toml")
    assert refused.returncode == 2
    assert "made by a newer hocket; update this one" in refused.stderr
    assert (tmp_path / "out/results.jsonl").read_text() == "earlier\n"
    assert run("right.toml").returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["index.html", "results.jsonl"]
    assert read_results(tmp_path / "out").points[0].item == "coll.barrier"


def test_the_help_names_the_suites_that_come_along(hocket_cli) -> None:
    words = hocket_cli("bench", "run", "--help").stdout.replace(",", " ").replace(".", " ").split()
    assert [name for name in shipped_suites() if name not in words] == []


def test_items_are_listed(hocket_cli) -> None:
    everything = json.loads(hocket_cli("bench", "items", "--json").stdout)
    assert len({item["item"] for item in everything["items"]}) > 200
    assert {"mbl2-io": 58, "mbl2-rma": 25}.items() <= everything["numbered"].items()
    table = hocket_cli("bench", "items", "neighbor_alltoallw").stdout
    assert "neighbors=ring|grid|all (ring)" in table
    assert "coll.bcast" not in table
    refused = hocket_cli("bench", "items", "mpi_shout")
    assert (refused.returncode, "no item has this in its name" in refused.stderr) == (2, True)
