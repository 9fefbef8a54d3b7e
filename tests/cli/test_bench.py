# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench` on small emulated networks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hocket.mpi.discover import Mpi
from hocket.testbed import available
from mpis import MPIS

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

EMULATED, REASON = available()
KEYS = {"network", "mpi", "placement", "collective", "algorithm", "bytes", "predicted_s", "measured_s", "native_s",
        "beside_native_s", "wire_limit_s"}  # fmt: skip


@pytest.mark.skipif(not EMULATED, reason=f"no testbed here: {REASON}")
@pytest.mark.one_of_each_family  # it takes a while
def test_every_point_has_prediction_measurement_native_and_limit(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    chosen = ["--network", "star:3", "--mpi", mpi.label, "--collective", "bcast", "--collective", "alltoall"]
    sizes = ["--bytes", "3 kB", "--bytes", "300 kB"]
    result = hocket_cli("bench", "fidelity", "--quick", *chosen, *sizes, "-o", "found", "--json")
    assert result.returncode == 0, result.stderr
    assert "hocket: fidelity: star:3 in order, " in result.stderr  # a sign of life at each step
    found = json.loads(result.stdout)
    assert found == json.loads((tmp_path / "found/fidelity.json").read_text())
    assert found["failures"] == []
    assert {(point["collective"], point["bytes"]) for point in found["points"]} == {
        (collective, size) for collective in ("bcast", "alltoall") for size in (3000, 300_000)
    }
    for point in found["points"]:
        assert point.keys() >= KEYS
        assert point["equal"]
        assert point["mpi"] == mpi.name
        for name in ("predicted_s", "measured_s", "native_s"):
            assert point[name] > 0
        # The default gigabit: what fits the buckets of the shapers passes at once.
        assert point["wire_limit_s"] >= 0
        if point["bytes"] > 100_000:
            assert point["wire_limit_s"] > 0
            assert point["measured_s"] > 0.7 * point["wire_limit_s"]
    (costs,) = found["costs"]
    assert costs["send_overhead_s"] > 0
    page = (tmp_path / "found/index.html").read_text()
    assert mpi.name in page


def test_unknown_names_are_refused_with_what_is_accepted(hocket_cli) -> None:
    for arguments, accepted in (
        (["--collective", "barrier"], "bcast, reduce, allreduce, allgather, alltoall"),
        (["--mpi", "lam-7"], MPIS[0].label),
        (["--bytes", "many"], "--bytes"),
        (["--bytes", "0B"], "1 B and more"),
        (["--network", "moebius:3"], "star"),
        (["--placement", "upside down"], "interleaved"),
    ):
        result = hocket_cli("bench", "fidelity", *arguments)
        assert result.returncode == 2, arguments
        assert accepted in result.stderr, arguments
        assert "Traceback" not in result.stderr
        assert result.stdout == ""


def test_the_output_may_not_be_a_file(hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    result = hocket_cli("bench", "fidelity", "--quick", "-o", "taken")
    assert result.returncode == 2
    assert "taken" in result.stderr
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.skipif(not EMULATED, reason=f"no testbed here: {REASON}")
@pytest.mark.one_of_each_family  # the program behind it runs with all in tests/mpi/test_overlap_modes.py
def test_overlap_on_an_emulated_network(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    network = ["--network", "star:2", "--bandwidth", "200 Mbit/s", "--mpi", mpi.label]
    chosen = ["--bytes", "100 kB", "--in-flight", "2", "--mode", "nap-ovlp", "--mode", "TCC-schedule"]
    result = hocket_cli("bench", "overlap", *network, *chosen, "--launches", "1", "--repetitions", "3", "--json")
    assert result.returncode == 0, result.stderr
    assert f"hocket: overlap: {mpi.name}, 2 x alltoall of 100000 B" in result.stderr
    found = json.loads(result.stdout)
    assert found == json.loads((tmp_path / "hocket-overlap/overlap.json").read_text())
    assert found["failures"] == []
    assert [(row["compute_model"], row["mode"]) for row in found["rows"]] == [
        (model, mode) for model in ("free-core", "real") for mode in ("MPI", "nap-ovlp", "TCC-schedule")
    ]
    for row in found["rows"]:
        assert (row["mpi"], row["ranks"], row["collective"], row["bytes"], row["in_flight"]) == (
            mpi.name, 2, "alltoall", 100_000, 2,
        )  # fmt: skip
        # Two messages of 100 kB take 8 ms at least, but for what fits the buckets of the shapers.
        assert row["native_s"] > 0.005
        for name in ("time_s", "speedup", "communication_s", "compute_s", "time_per_max", "compute_inflation", "cpu_s"):
            assert row[name] > 0
    assert mpi.name in (tmp_path / "hocket-overlap/index.html").read_text()


@pytest.mark.one_of_each_family
def test_overlap_on_this_machine(mpi: Mpi, hocket_cli) -> None:
    chosen = ["--mpi", mpi.label, "--collective", "bcast", "--ranks", "3", "--compute", "free-core"]
    result = hocket_cli("bench", "overlap", *chosen, "--launches", "1", "--repetitions", "1", "-o", "here")
    assert result.returncode == 0, result.stderr
    assert "bcast, 1 MB, 3 ranks, computation on cores of its own" in result.stdout
    assert "nap-ovlp" in result.stdout


def test_overlap_says_what_it_accepts(hocket_cli, tmp_path: Path) -> None:
    for arguments, accepted in (
        (["--collective", "barrier"], "alltoall, allreduce"),
        (["--algorithm", "telepathy"], "linear, pairwise, bruck"),
        (["--mode", "TCC"], "TCC-ovlp"),
        (["--core", "best"], "any"),
        (["--core", "-1"], "any"),
        (["--core", "999"], "any, idle, 0"),
        (["--mpi", "lam-7"], MPIS[0].label),
        (["--bytes", "many"], "--bytes"),
        (["--bytes", "0 B"], "--bytes"),
        (["--network", "moebius:3"], "star"),
        (["--network", "star:2", "--ranks", "2"], "--ranks"),
        (["--network", "star:1"], "one rank"),
        (["--bandwidth", "1 Gbit/s"], "--network"),
        (["--compute", "imaginary"], "free-core"),
        (["--in-flight", "0"], "--in-flight"),
        (["--ratio", "0"], "--ratio"),
        (["--ranks", "1"], "--ranks"),
    ):
        result = hocket_cli("bench", "overlap", *arguments)
        assert result.returncode == 2, arguments
        assert accepted in result.stderr, arguments
        assert "Traceback" not in result.stderr
        assert result.stdout == ""
        assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not EMULATED, reason=f"no testbed here: {REASON}")
@pytest.mark.one_of_each_family
def test_schedules_on_circuits_beside_their_predictions(mpi: Mpi, hocket_cli) -> None:
    chosen = ["--mpi", mpi.label, "--ranks", "4", "--ports", "2,3", "--bytes", "4 kB", "--rounds", "2"]
    result = hocket_cli("bench", "circuits", *chosen, "--setup", "1ms", "--teardown", "1ms", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["failures"] == []
    assert list(found["messages"]) == [mpi.name]
    cases = {(row["algorithm"], row["ports"]) for row in found["rows"] if not row["found"]}
    assert cases == {
        (algorithm, ports)
        for algorithm in ("linear", "binomial", "ring", "recursive_doubling")
        for ports in (None, 2, 3)
    }
    for row in found["rows"]:
        assert len(row["times_s"]) == 2
        assert row["predicted_s"] > 0
        assert row["error"] == pytest.approx(row["measured_s"] / row["predicted_s"] - 1)


def test_circuits_that_cannot_be_measured(hocket_cli) -> None:
    for arguments, said in (
        (["--ports", "two"], "'two'; accepted: whole numbers from 1 to 2147483647"),
        (["--ports", "2,0"], "'2,0'; accepted: whole numbers from 1"),
        (["--setup", "5"], '--setup: "5" is not a duration: it has no unit'),
        (["--collective", "barrier"], "none of bcast, allgather"),
        (["--bytes", "0 B"], "nothing to send"),
    ):
        result = hocket_cli("bench", "circuits", *arguments)
        assert result.returncode == 2
        assert said in result.stderr
