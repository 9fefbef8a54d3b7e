# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-overlap: the program that computes while collectives are under way, in every mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hocket.bench.overlap.modes import ALGORITHMS, BASE, COLLECTIVES, MODES
from hocket.mpi.build import build_probe
from mpis import MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

TIMES = ("time_s", "compute_s", "cpu_s")

# Takes the place of the MPI's own function, and sends nothing.
LOSES_DATA = """
#include <mpi.h>
int PMPI_Ialltoall(const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, MPI_Comm c, MPI_Request* q) {
    (void)s; (void)n; (void)t; (void)r; (void)m; (void)u; (void)c;
    *q = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
"""


@pytest.fixture
def program(runner: MpiRunner) -> Path:
    return build_probe(runner.mpi, "hocket-overlap")


def _run(runner: MpiRunner, program: Path, ranks: int, *arguments: object) -> dict[str, Any]:
    result = runner.run(ranks, program, *map(str, arguments))
    times: dict[str, Any] = json.loads(result.stdout)
    assert times["format"] == "hocket.overlap-times/1"
    assert times["ranks"] == ranks
    return times


@pytest.mark.parametrize("compute", ["free-core", "real"])
def test_every_mode_is_measured_as_often(runner: MpiRunner, program: Path, compute: str) -> None:
    times = _run(runner, program, 2, "--bytes", 100_000, "--compute", compute, "--repetitions", 3)
    assert times["thread_multiple"]
    assert times["compute_threads"] == 1
    assert [mode["mode"] for mode in times["modes"]] == list(MODES)
    assert {mode["communication"] for mode in times["modes"]} == set(times["communication"])
    for measured in (times["compute"], *times["communication"].values(), *times["modes"]):
        assert all(len(measured[name]) == 3 for name in TIMES)
        assert all(seconds > 0 for seconds in measured["time_s"] + measured["cpu_s"])
    for mode in times["modes"]:
        assert all(0 < inside <= whole for inside, whole in zip(mode["compute_s"], mode["time_s"], strict=True))


@pytest.mark.one_of_each_family  # the algorithms run with all in test_requests.py
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_collective_leaves_the_native_data(runner: MpiRunner, program: Path, collective: str) -> None:
    # Several at once, on ranks that are no power of two; 1001 B are summed as bytes.
    for size, segments in ((1001, 1), (24_000, 3)):
        arguments = ["--collective", collective, "--bytes", size, "--in-flight", 3, "--repetitions", 1]
        arguments += ["--algorithm", ALGORITHMS[collective], "--segments", segments]
        times = _run(runner, program, 3, *arguments)
        assert len(times["modes"]) == len(MODES)


def test_only_some_modes_and_always_the_base(runner: MpiRunner, program: Path) -> None:
    times = _run(runner, program, 2, "--modes", "nap-ovlp,native-ovlp-test", "--bytes", 8, "--repetitions", 2)
    assert [mode["mode"] for mode in times["modes"]] == [BASE, "nap-ovlp", "native-ovlp-test"]
    assert set(times["communication"]) == {"blocking", "schedule, thread", "non-blocking"}


def test_ratio_and_core_are_heeded(runner: MpiRunner, program: Path) -> None:
    for core in ("0", "idle"):
        arguments = ["--ratio", 20, "--core", core, "--modes", "nap-ovlp", "--bytes", 500_000, "--repetitions", 3]
        times = _run(runner, program, 2, *arguments)
        assert min(times["compute"]["time_s"]) > 2 * min(times["communication"]["blocking"]["time_s"])


def test_lost_data_are_an_error(runner: MpiRunner, program: Path) -> None:
    library = runner.compile(LOSES_DATA, "-shared", "-fPIC", name="loses.so")
    result = runner.run(2, program, "--modes", "native-ovlp-notest", libraries=[library], check=False)
    assert result.returncode != 0
    assert "native-ovlp-notest left data that differ from those of the MPI's own collective" in result.stderr
    assert result.stdout.strip() == "" or "overlap-times" not in result.stdout


@pytest.mark.one_of_each_family
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--bytes",), "option --bytes needs a value"),
        (("--bytes", "0"), '--bytes is "0"'),
        (("--speed", "9"), "unknown option --speed"),
        (("--compute", "imaginary"), '--compute is "imaginary"; accepted: free-core, real'),
        (("--core", "best"), '--core is "best"; accepted: any, idle'),
        (("--modes", "MPI,TCC"), f'"TCC" is none; accepted: {", ".join(MODES)}'),
        (("--collective", "alltoallw"), "alltoallw"),
        (("--algorithm", "telepathy"), "telepathy"),
    ],
)
def test_bad_input(runner: MpiRunner, program: Path, arguments: tuple[str, ...], said: str) -> None:
    result = runner.run(1, program, *arguments, check=False)
    assert result.returncode == 2
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert said in errors[0]
    assert result.stdout == ""
