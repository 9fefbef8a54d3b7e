# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How `make mpich-suite` and `make outside-programs` find their programs, tell outcomes and stop what does not end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.errors import InvalidInput
from hocket.mpi.discover import Mpi
from mpis import LIMIT_S, ROOT, MpiRunner

sys.path.insert(0, str(ROOT / "perf"))
sys.path.insert(0, str(ROOT / "tests/mpi"))
from benchmarks import of_imb, of_mpi4py, of_osu, outside_tests
from compare import Result
from mpich_lists import SuiteTest, read_tests
from mpich_source import checked, with_sources
from outcomes import DOES_NOT_END, FAILS, PASSES
from slots import Command, Ended, run_cases

LIST = """
# a comment
allred 4 arg=-count=10
reduce 5  # another
bcast
known_bad 2 xfail=ticket1
large 2 mem=18.4
timed 3 timeLimit=600 env=MPIR_CVAR_X=1 env=Y=2
deep/coll/tree 3
comm
perf
"""


def test_lists_of_tests(tmp_path: Path) -> None:
    source, build = tmp_path / "source", tmp_path / "build"
    for folder in ("coll/comm", "coll/perf", "f77"):
        (source / folder).mkdir(parents=True)
    (source / "coll/comm/testlist").write_text("dup 2\n")
    (source / "coll/perf/testlist").write_text("rate 2\n")
    (source / "coll/testlist").write_text("not_configured 2\n")
    (source / "f77/testlist").write_text("not_configured_either 2\n")
    (build / "coll").mkdir(parents=True)
    (build / "testlist").write_text("coll\n#\n# f77\nperf\n")
    (build / "coll/testlist").write_text(LIST)
    tests = {test.name: test for test in read_tests(source, build)}
    timed = "coll/timed 3 MPIR_CVAR_X=1 Y=2"
    assert list(tests) == [
        *("coll/allred 4 -count=10", "coll/reduce 5", "coll/bcast 2", timed, "coll/deep/coll/tree 3", "coll/comm/dup 2")
    ]
    assert tests[timed].time_limit_s == 600
    assert tests[timed].environment == (("MPIR_CVAR_X", "1"), ("Y", "2"))


@pytest.mark.parametrize(
    ("fails_by_status", "status", "output", "outcome"),
    [
        (False, 0, "some word\n No Errors\n", PASSES),
        (False, 0, "", FAILS),
        (False, 1, " No Errors\n", FAILS),
        (False, 0, "Found 2 errors\n", FAILS),
        (True, 1, "", PASSES),
        (True, 0, " No Errors\n", FAILS),
        (True, None, "", DOES_NOT_END),
    ],
)
def test_outcomes(fails_by_status: bool, status: int | None, output: str, outcome: str) -> None:
    assert SuiteTest("coll", "x", 2, fails_by_status=fails_by_status).outcome(status, output) == outcome


def test_what_is_at_its_limit_is_stopped_with_all_it_started(tmp_path: Path) -> None:
    seen: list[Ended] = []
    pids = tmp_path / "pids"
    pids.touch()

    def case(number: int):  # type: ignore[no-untyped-def]
        sleeps = f"sleep 1000 & echo $! >> {pids}; wait"
        seen.append((yield Command(["bash", "-c", sleeps], {}, tmp_path, 1)))
        seen.append((yield Command([sys.executable, "-c", f"print({number}); exit(3)"], {}, tmp_path, 100)))

    done: list[None] = []
    run_cases((case(number) for number in range(3)), 2, lambda: done.append(None))
    assert len(done) == 3
    assert [ended.status for ended in seen].count(None) == 3
    assert sorted(ended.output for ended in seen if ended.status == 3) == [f"{number}\n" for number in range(3)]
    while any(is_alive(pid) for pid in pids.read_text().split()):  # until the limit of pytest
        time.sleep(0.01)


def is_alive(pid: str) -> bool:
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_sources_of_both_forms_of_apts_lists() -> None:
    old = "# deb x\ndeb [signed-by=/k] http://archive.example/debian stable main\n"
    assert with_sources(old) == "# deb x\ndeb-src [signed-by=/k] http://archive.example/debian stable main\n"
    assert with_sources("Types: deb\nSuites: stable\n") == "Types: deb-src\nSuites: stable\n"


def test_a_folder_without_a_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has no test/mpi/configure"):
        checked(tmp_path)


IMB_TABLE = """
#---- Benchmarking Allreduce
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects
            0            5         0.04         0.05         0.05         0.00
            4            5         2.18         2.53         2.36         {}
"""
OSU_TABLE = """
# OSU MPI Allreduce Latency Test v7.4
# Size       Avg Latency(us)        Validation
4                       3.06              Pass
8                       2.96              {}
"""
UNITTEST = """
======================================================================
ERROR: testRecv (test_p2p_buf.TestP2PBufSelf.testRecv)
Ran 12 tests in 0.100s
FAILED (errors=1)
Ran 12 tests in 0.101s
"""


@pytest.mark.parametrize(
    ("judge", "status", "output", "outcome"),
    [
        (of_imb, 0, IMB_TABLE.format("0.00"), "passes: 2 results"),
        (of_imb, 0, IMB_TABLE.format("1.00"), FAILS),
        (of_imb, 1, IMB_TABLE.format("0.00"), FAILS),
        (of_imb, 0, "0: Error Allreduce, size = 4", FAILS),
        (
            of_imb,
            0,
            "[vm:7] osc_ucx_component.c:375  Error: query failed\n" + IMB_TABLE.format("0.00"),
            "passes: 2 results",
        ),
        (of_osu, 0, OSU_TABLE.format("Pass"), "passes: 2 results"),
        (of_osu, 0, OSU_TABLE.format("Fail"), "fails: wrong data of 8 bytes"),
        (of_osu, 1, OSU_TABLE.format("Pass"), FAILS),
        (of_mpi4py, 0, "Ran 12 tests in 0.1s\nOK\nRan 12 tests in 0.2s\nOK\n", "passes: 12 tests"),
        (of_mpi4py, 1, UNITTEST, "fails: test_p2p_buf.TestP2PBufSelf.testRecv"),
        (of_mpi4py, 139, "Ran 12 tests in 0.1s\nOK\n", FAILS),
        (of_mpi4py, 0, "", FAILS),
    ],
)
def test_outcomes_of_benchmarks_and_of_unittest(
    judge: Callable[[int, str], str], status: int, output: str, outcome: str
) -> None:
    assert judge(status, output) == outcome


@pytest.mark.parametrize(
    ("native", "rerouted", "differs"),
    [
        (["passes"], ["fails", "passes", "passes"], True),
        (["passes", "fails"], ["fails", "passes", "passes"], False),
        (["fails"], ["does not end"], False),  # by no known detail
        (["fails: test_a"], ["fails: test_a"], False),
        (["fails: test_a"], ["fails: test_a, test_b"], True),
        (["passes: 12 results"], ["passes: 11 results"], True),
    ],
)
def test_what_is_a_difference(native: list[str], rerouted: list[str], differs: bool) -> None:
    assert Result("mpi", "x/y 2", {"native": native, "rerouted": rerouted}).differs("rerouted") == differs


def test_a_folder_without_programs_is_refused(mpi: Mpi, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"neither {mpi.label}/ with IMB-... or osu_... in it nor mpi4py/test"):
        outside_tests(tmp_path, mpi, tmp_path)


# Prints what OSU's programs print. Rank 0 also says which libraries of hocket's are there; in the way `recorded` it
# claims that its data are wrong, so that a difference is found.
CLAIMS = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("4 1.5 %s\n", getenv("HOCKET_TRACE") || sum != size * (size - 1) / 2 ? "Fail" : "Pass");
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.one_of_each_family  # what is tested are the driver and its table
def test_programs_are_run_in_all_ways(runner: MpiRunner, tmp_path: Path) -> None:
    programs = tmp_path / "programs" / runner.mpi.label
    programs.mkdir(parents=True)
    runner.compile(CLAIMS).rename(programs / "osu_allreduce")
    command = [
        sys.executable,
        str(ROOT / "tests/outside/run.py"),
        f"--programs={programs.parent}",
        f"--folder={tmp_path / 'kept'}",
    ]
    command += ["--mpi", runner.mpi.label, "--time-limit", f"{LIMIT_S}s", "--jobs", "1", "--json"]
    paths = os.pathsep.join(str(ROOT / name) for name in ("tests", "tests/mpi", "perf"))
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=4 * LIMIT_S
    )
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    (row,) = told["tests"]
    assert row["recorded"] == {"compared": 1, "different": 1, "rerouted_calls": 0}
    assert row["rerouted"] == {"compared": 1, "different": 0, "rerouted_calls": 1}
    assert row["background"]["different"] == 0
    (difference,) = told["differences"]
    assert difference["test"] == "osu/osu_allreduce 4"
    assert difference["outcomes"]["recorded"] == ["fails: wrong data of 4 bytes"] * 3
    assert difference["outcomes"]["native"] == ["passes: 1 results"] * 3
