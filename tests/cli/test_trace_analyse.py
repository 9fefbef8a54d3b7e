# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket trace analyse` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples/traces"


def _trace(hocket_cli) -> str:
    done = hocket_cli("trace", "import", SAMPLES / "dumpi", "-o", "app.trace")
    assert done.returncode == 0, done.stderr
    return "app.trace"


def test_measured_alone(hocket_cli) -> None:
    done = hocket_cli("trace", "analyse", _trace(hocket_cli))
    assert done.returncode == 0, done.stderr
    for expected in ("4 rank(s): measured", "MPI_Alltoallv", "wait states, sums over the ranks", "computation"):
        assert expected in done.stdout
    assert "predicted" not in done.stdout


def test_predicted_beside_measured_and_the_page(hocket_cli, tmp_path: Path) -> None:
    network = ("--network", "star:4", "--bandwidth", "1 Gbit/s", "--latency", "20 us")
    done = hocket_cli("trace", "analyse", _trace(hocket_cli), *network, "--json", "-o", "page.html")
    values = json.loads(done.stdout)
    assert values["format"] == "hocket.trace-analysis/1"
    for kind in ("recorded", "simulated"):
        run = values[kind]
        path_s = sum(step["seconds"] for step in run["critical_path"])
        assert abs(path_s - run["span_s"]) < 1e-6
        assert [rank["rank"] for rank in run["ranks"]] == [0, 1, 2, 3]
        assert sum(rank["on_path_s"] for rank in run["ranks"]) <= run["span_s"] + 1e-6
        for rank in run["ranks"]:
            assert abs(rank["computation_s"] + rank["mpi_s"] - rank["end_s"]) < 1e-6
            assert rank["waiting_s"] <= rank["mpi_s"] + 1e-6
    assert len(values["drift"]["time_s"]) == len(values["drift"]["mean_s"])
    assert "Where predicted and measured part" in (tmp_path / "page.html").read_text()


def test_bad_input_has_a_message_and_a_hint(hocket_cli, tmp_path: Path) -> None:
    done = hocket_cli("trace", "analyse", "nothing")
    assert (done.returncode, "nothing/meta.json: cannot be read" in done.stderr) == (2, True)
    trace = _trace(hocket_cli)
    done = hocket_cli("trace", "analyse", trace, "-o", tmp_path)
    assert (done.returncode, "MPI_Alltoallv" in done.stdout) == (1, True)  # what was found is not lost
    assert f"error: {tmp_path}: cannot be written: " in done.stderr
    assert "hint: name another file" in done.stderr
    for options, expected in (
        (("--bandwidth", "1 Gbit/s"), "--bandwidth goes with --network"),
        (("--send-overhead", "1 us"), "needs a network"),
        (("--network", "star:3"), "4 ranks; star:3 has 3"),
    ):
        done = hocket_cli("trace", "analyse", trace, *options)
        assert (done.returncode, expected in done.stderr, "hint:" in done.stderr) == (2, True, True), done.stderr
