# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How `make mpich-suite` reads the lists of MPICH's tests, tells their outcomes and stops them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from slots import Command, Ended, run_cases
from source import checked, with_sources
from testlist import DOES_NOT_END, FAILS, PASSES, SuiteTest, read_tests

from hocket.errors import InvalidInput

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
