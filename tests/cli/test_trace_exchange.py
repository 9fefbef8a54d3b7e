# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket trace import` and `hocket trace export` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples/traces"


def test_import_prints_calls_and_communicators(hocket_cli) -> None:
    done = hocket_cli("trace", "import", SAMPLES / "dumpi")
    assert done.returncode == 0, done.stderr
    for expected in ("dumpi: 4 rank(s)", "MPI_Alltoallv", "MPI_Comm_split", "3 1"):
        assert expected in done.stdout
    assert "hocket: nothing was left out" in done.stderr
    assert "nothing was written: -o names" in done.stderr


def test_import_simulate_export(hocket_cli, tmp_path: Path) -> None:
    done = hocket_cli("trace", "import", SAMPLES / "ti", "-o", "app.trace", "--json")
    values = json.loads(done.stdout)
    assert values["source_format"] == "ti"
    assert {"name": "MPI_Barrier", "calls": 3, "bytes": 0} in values["calls"]
    done = hocket_cli("simulate", "app.trace", "--network", "star:3", "--bandwidth", "1 Gbit/s")
    assert done.returncode == 0, done.stderr
    done = hocket_cli("trace", "export", "app.trace", "--format", "goal", "-o", "app.goal", "--json")
    assert json.loads(done.stdout)["ranks"] == 3
    assert (tmp_path / "app.goal").read_text().startswith("num_ranks 3")


def test_bad_input_has_a_message_and_a_hint(hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    done = hocket_cli("trace", "import", "x")
    assert done.returncode == 2
    assert done.stderr.startswith("error: x: its format is not recognised\nhint: accepted: ")
