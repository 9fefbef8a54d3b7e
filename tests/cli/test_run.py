# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

import json
import os
import re
import socket

import pytest

from hocket.mpi.build import build_mpi_parts
from hocket.plan import Evidence, Plan, PlanEntry, write_plan
from mpis import LIMIT_S, ROOT

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

# The library is the same with each MPI (tests/mpi); what the command does with a plan does not depend on the version.
same_with_all = pytest.mark.one_of_each_family(usually=True)


def plan_file(folder, ranks, entries=(), progress="off"):
    path = folder / "plan.json"
    write_plan(Plan(ranks, "test", tuple(entries), progress=progress), path)
    return path


PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, values[5000];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 5000; ++i) values[i] = rank == 1 ? i : -1;
    MPI_Bcast(values, 5000, MPI_INT, 1, MPI_COMM_WORLD);
    long sum = 0, all = 0;
    for (int i = 0; i < 5000; ++i) sum += values[i];
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%ld\\n", all);
    MPI_Finalize();
    return argc > 1 && rank == 0 ? 3 : 0;
}
"""


def test_runs_with_the_plan_and_passes_the_exit_status_on(runner, hocket_cli, tmp_path):
    program = runner.compile(PROGRAM)
    entry = PlanEntry("bcast", (0, 1, 2, 3), 0, 1 << 20, "pipelined_chain", 4, (0, 2, 1, 3))
    plan = plan_file(tmp_path, 4, [entry])
    done = hocket_cli("run", "--plan", plan, "--", *runner.command(4, program))
    assert (done.returncode, done.stdout) == (0, f"{4 * 4999 * 5000 // 2}\n"), done.stderr
    assert "hocket: 1 collective call(s) of a rank rerouted, by 1 of 1 entries of the plan\n" in done.stderr
    done = hocket_cli("run", "--plan", plan, "--", *runner.command(4, program), "fail")
    assert done.returncode not in (0, 2)
    assert "Traceback" not in done.stderr


def without_compilers(folder):
    """A folder with everything of the path but compilers."""
    folder.mkdir()
    compiler = re.compile(r"(.*-)?(cc|gcc|c\+\+|g\+\+|clang|clang\+\+|c89|c99|tcc)(-[\d.]+)?")
    for of_path in os.get_exec_path():
        for tool in os.scandir(of_path) if os.path.isdir(of_path) else ():
            if compiler.fullmatch(tool.name) is None and not (folder / tool.name).is_symlink():
                (folder / tool.name).symlink_to(tool.path)
    return folder


@same_with_all
def test_where_no_compiler_is_installed_what_was_built_elsewhere_serves(runner, hocket_cli, tmp_path):
    """As on compute nodes, which share the cache folder with a machine that has one."""
    program = runner.compile(PROGRAM)
    parts = build_mpi_parts(runner.mpi)
    plan = plan_file(tmp_path, 2, [PlanEntry("bcast", (0, 1), 0, 1 << 20, "linear")])
    env = {"PATH": str(without_compilers(tmp_path / "tools"))}
    done = hocket_cli("run", "--plan", plan, "--", *runner.command(2, program), env=env)
    assert (done.returncode, done.stdout) == (0, f"{2 * 4999 * 5000 // 2}\n"), done.stderr
    assert "rerouted" in done.stderr
    assert "building" not in done.stderr
    found = json.loads(hocket_cli("doctor", "--json", env=env).stdout)["mpis"]
    assert str(parts.folder) in {one["parts"] for one in found}
    # Where the cache folder has parts for this MPI alone, `doctor` says so.
    only = tmp_path / "only/mpi"
    only.mkdir(parents=True)
    (only / parts.folder.name).symlink_to(parts.folder)
    env["HOCKET_CACHE_DIR"] = str(only.parent)
    works = json.loads(hocket_cli("doctor", "--json", env=env).stdout)["works"]
    assert works["record, run, tune"].startswith(f"yes, with {runner.mpi.library_name}" if len(found) > 1 else "yes")
    assert len(found) == 1 or "would need C compiler, C++ compiler" in works["record, run, tune"]
    # There is nothing for a user whose cache folder is empty.
    env["HOCKET_CACHE_DIR"] = str(tmp_path / "empty")
    done = hocket_cli("run", "--plan", plan, "--", *runner.command(2, program), env=env)
    assert done.returncode == 1, done.stderr
    assert "a C compiler, is not installed" in done.stderr


@same_with_all
def test_a_plan_that_serves_no_call_is_told(runner, hocket_cli, tmp_path):
    plan = plan_file(tmp_path, 2, [PlanEntry("bcast", (0, 1), 7, 7, "linear")])
    done = hocket_cli("run", "--plan", plan, "--", *runner.command(2, runner.compile(PROGRAM)), timeout=LIMIT_S)
    assert done.returncode == 0
    assert "no call was one that the plan is for" in done.stderr


@same_with_all
def test_why_nothing_is_served_is_told_as_it_is(runner, hocket_cli, tmp_path):
    nothing = runner.compile("#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); return MPI_Finalize(); }")
    plan = plan_file(tmp_path, 2, [PlanEntry("bcast", (0, 1), 7, 7, "linear")])
    done = hocket_cli("run", "--plan", plan, "--", *runner.command(2, nothing), timeout=LIMIT_S)
    assert done.returncode == 0
    assert "hocket: the program makes no blocking collective calls\n" in done.stderr
    assert "is it the plan" not in done.stderr
    network = ROOT / "networks/two-clusters.toml"  # of other hosts
    command = runner.command(2, runner.compile(PROGRAM))
    done = hocket_cli("run", "--network", network, "--", *command, timeout=LIMIT_S)
    assert done.returncode == 0
    assert "hosts that the network does not have" in done.stderr
    assert "predicted" not in done.stderr


@pytest.mark.one_of_each_family
def test_an_empty_plan_leaves_all_calls_native(runner, hocket_cli, tmp_path):
    """On whatever hosts the ranks are."""
    (tmp_path / "empty.json").write_text(Plan(2, "test", (), hosts=("elsewhere", "elsewhere")).to_json())
    done = hocket_cli("run", "--plan", "empty.json", "--", *runner.command(2, runner.compile(PROGRAM)), timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    assert "hocket: the plan has no entries: all collective calls stayed native\n" in done.stderr
    assert "other hosts" not in done.stderr


HALVES = """
#include <mpi.h>
int main(int argc, char** argv) {
    int rank, value = 0;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    for (int i = 0; i < (rank < 2 ? 3 : 5); ++i) MPI_Bcast(&value, 1, MPI_INT, 0, half);
    for (int i = 0; i < 2; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
"""


@same_with_all
def test_calls_are_counted_of_one_rank(runner, hocket_cli, tmp_path):
    entries = [PlanEntry("bcast", members, 0, 1 << 20, "linear") for members in ((0, 1), (2, 3), (0, 1, 2, 3))]
    plan = plan_file(tmp_path, 4, entries)
    command = runner.command(4, runner.compile(HALVES))
    done = hocket_cli("run", "--plan", plan, "--no-self-check", "--", *command)
    assert done.returncode == 0, done.stderr
    # Ranks 0 and 1 make 3 + 2 calls, ranks 2 and 3 make 5 + 2: no rank makes 3 + 5 + 2.
    assert "hocket: 7 collective call(s) of a rank rerouted, by 3 of 3 entries of the plan\n" in done.stderr


# Each byte of 16384 is a message of its own with the plans below: far slower than any MPI's own. Call 28 is the soonest
# from which it stays native.
MANY_BROADCASTS = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    static char data[16384];
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < atoi(argv[1]); ++i) {
        data[16383] = rank == 0 ? (char)i : -1;
        MPI_Bcast(data, 16384, MPI_CHAR, 0, MPI_COMM_WORLD);
        sum += data[16383];
    }
    if (rank == 1) printf("%d\\n", sum);
    MPI_Finalize();
}
"""


@pytest.mark.one_of_each_family  # as tests/mpi/test_self_check.py
@pytest.mark.parametrize(("option", "calls", "falls_back"), [((), 100, True), (("--no-self-check",), 40, False)])
def test_an_entry_that_is_slower_is_left(runner, hocket_cli, tmp_path, option, calls, falls_back):
    program = runner.compile(MANY_BROADCASTS)
    plan = plan_file(tmp_path, 2, [PlanEntry("bcast", (0, 1), 0, 1 << 20, "pipelined_chain", 16384)])
    done = hocket_cli("run", *option, "--plan", plan, "--", *runner.command(2, program), calls)
    assert (done.returncode, done.stdout) == (0, f"{(calls - 1) * calls // 2}\n"), done.stderr
    told = [line for line in done.stderr.splitlines() if "native from its call" in line]
    assert len(told) == falls_back, done.stderr
    assert (f"hocket: {calls} collective call(s) of a rank rerouted" in done.stderr) == (not falls_back)


@pytest.mark.one_of_each_family
def test_evidence_of_another_mpi_is_none(runner, hocket_cli, tmp_path):
    program = runner.compile(MANY_BROADCASTS)

    def fallen_back(mpi, calls):
        evidence = Evidence(mpi, 3, 5, 1.8, (1.7, 1.9))  # a native call would cost a hundredth of 80
        entry = PlanEntry("bcast", (0, 1), 0, 1 << 20, "pipelined_chain", 16384, evidence=evidence)
        plan = plan_file(tmp_path, 2, [entry])
        done = hocket_cli("run", "--plan", plan, "--", *runner.command(2, program), calls)
        assert done.returncode == 0, done.stderr
        notes = [line for line in done.stderr.splitlines() if "`hocket tune` again" in line]
        return notes, "native from its call" in done.stderr

    assert fallen_back(runner.mpi.library_name, 40) == ([], False)
    told = f"hocket: the plan was measured with MPICH 1.0, this is {runner.mpi.library_name}: `hocket tune` again"
    assert fallen_back("MPICH 1.0", 100) == ([told], True)


OVERLAPS = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
    static int from[100000], to[100000];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; ++i) {
        MPI_Request request;
        for (int j = 0; j < 100000; ++j) from[j] = rank + i;
        MPI_Ialltoall(from, 50000, MPI_INT, to, 50000, MPI_INT, MPI_COMM_WORLD, &request);
        usleep(1000);
        MPI_Bcast(&rank, 0, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (to[0] != i || to[99999] != i + 1) printf("wrong\\n");
    }
    if (rank == 0) printf("done\\n");
    MPI_Finalize();
    return 0;
}
"""


@same_with_all
def test_progress_with_and_without_a_plan(runner, hocket_cli, tmp_path):
    command = runner.command(2, runner.compile(OVERLAPS))
    done = hocket_cli("run", "--progress", "on", "--progress-core", "idle", "--", *command)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "hocket: 40 of 40 non-blocking calls of all ranks in the background" in done.stderr
    assert "rerouted" not in done.stderr
    plan = plan_file(tmp_path, 2, [PlanEntry("bcast", (0, 1), 0, 1 << 20, "linear")])
    done = hocket_cli("run", "--plan", plan, "--progress", "auto", "--", *command)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "of 40 non-blocking calls of all ranks in the background" in done.stderr
    assert "collective call(s) of a rank rerouted, by 1 of 1 entries of the plan" in done.stderr


@same_with_all
def test_progress_because_the_plan_says_so(runner, hocket_cli, tmp_path):
    command = runner.command(2, runner.compile(OVERLAPS))
    plan = plan_file(tmp_path, 2, [PlanEntry("alltoall", (0, 1), 0, 1 << 20, "linear")], progress="on")
    done = hocket_cli("run", "--plan", plan, "--no-self-check", "--", *command)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "hocket: 40 of 40 non-blocking calls of all ranks in the background" in done.stderr
    assert "hocket: 20 collective call(s) of a rank rerouted, by 1 of 1 entries of the plan" in done.stderr
    done = hocket_cli("run", "--plan", plan, "--progress", "off", "--", *command)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "in the background" not in done.stderr


@pytest.mark.one_of_each_family
def test_statistics_of_nothing_are_told_of(runner, hocket_cli, tmp_path):
    (tmp_path / "plan.json").write_text(Plan(1, "test", ()).to_json())
    for arguments, told in (
        (("--progress", "off"), True),
        (("--plan", "plan.json"), True),
        (("--progress", "on"), False),
    ):
        env = {"HOCKET_STATISTICS": str(tmp_path / "statistics.json")}
        done = hocket_cli("run", *arguments, "--", *runner.command(1, "true"), env=env)
        assert done.returncode == 0, done.stderr
        assert ("HOCKET_STATISTICS: nothing is written" in done.stderr) == told, done.stderr


def test_neither_plan_nor_progress(hocket_cli):
    refused(hocket_cli("run", "--", "mpiexec", "-n", "2", "true"), "nothing to run the program with")
    done = hocket_cli("run", "--progress", "on", "--progress-core", "warm", "--", "mpiexec", "-n", "2", "true")
    refused(done, "--progress-core: 'warm' is not a core")
    assert hocket_cli("run", "--progress", "fast", "--", "mpiexec", "-n", "2", "true").returncode == 2


def refused(done, message, status=2):
    assert done.returncode == status
    assert done.stdout == ""
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    assert message in errors[0]
    assert "Traceback" not in done.stderr


@same_with_all
def test_a_plan_for_other_ranks_starts_nothing(runner, hocket_cli, tmp_path):
    touched = tmp_path / "touched"
    plan = plan_file(tmp_path, 8)
    done = hocket_cli("run", "--plan", plan, "--", *runner.command(2, "touch", touched))
    refused(done, "is for 8 ranks, but the command starts 2")
    assert not touched.exists()


def test_a_missing_or_broken_plan(hocket_cli, tmp_path):
    refused(
        hocket_cli("run", "--plan", "none.json", "--", "mpiexec", "-n", "2", "true"), "none.json: cannot read the plan"
    )
    (tmp_path / "broken.json").write_text('{"format": "hocket.plan/1", "ranks": 2, "entr')
    refused(hocket_cli("run", "--plan", "broken.json", "--", "mpiexec", "-n", "2", "true"), "broken.json: not JSON")
    (tmp_path / "network.toml").write_text('format = "hocket.network/1"\nname = "n"\n')
    done = hocket_cli("run", "--plan", "network.toml", "--", "mpiexec", "-n", "2", "true")
    refused(done, "network.toml: this is a network file, not a plan")
    os.mkfifo(tmp_path / "pipe")
    refused(hocket_cli("run", "--plan", "pipe", "--", "mpiexec", "-n", "2", "true"), "pipe can be read only once")
    plan = plan_file(tmp_path, 2)
    document = json.loads(plan.read_text()) | {"colour": "red"}
    plan.write_text(json.dumps(document))
    refused(hocket_cli("run", "--plan", plan, "--", "mpiexec", "-n", "2", "true"), 'unknown key "colour"')


def test_a_missing_or_wrong_network(hocket_cli, tmp_path):
    def run_with(name):
        return hocket_cli("run", "--network", name, "--", "mpiexec", "-n", "2", "true")

    refused(run_with("none.toml"), "none.toml: cannot read the network file")
    refused(run_with("star:4"), "star:4: expected a network file: decisions need the names of the real hosts")
    (tmp_path / "wrong.toml").write_text('format = "hocket.network/1"\nhosts = 3\n')
    refused(run_with("wrong.toml"), 'wrong.toml:2: unknown key "hosts"')
    (tmp_path / "plan.json").write_text(Plan(2, "test", ()).to_json())
    refused(run_with("plan.json"), "plan.json")
    refused(run_with(ROOT / "networks/optical.toml"), "has circuits; decisions are made for networks whose links are")
    os.mkfifo(tmp_path / "pipe")
    refused(run_with("pipe"), "pipe can be read only once")


@pytest.mark.one_of_each_family
def test_a_network_without_a_plan(runner, hocket_cli, tmp_path):
    """Here all ranks are on one host, which the network has once with slow memory and once not at all."""
    program = runner.compile(PROGRAM)
    network = tmp_path / "cluster.toml"
    for host, told in (
        (socket.gethostname(), "hocket: 1 collective call(s) of a rank rerouted, by 1 of "),
        ("elsewhere", "hocket: 4 of 4 ranks are on hosts that network"),
    ):
        memory = 'ranks = 4\nmemory_bandwidth = "10 Mbit/s"'
        network.write_text(f'format = "hocket.network/1"\n[[node]]\nname = "{host}"\nkind = "host"\n{memory}\n')
        done = hocket_cli("run", "--network", network, "--", *runner.command(4, program))
        assert (done.returncode, done.stdout) == (0, f"{4 * 4999 * 5000 // 2}\n"), done.stderr
        assert told in done.stderr, done.stderr


def test_a_missing_launcher(hocket_cli, tmp_path):
    plan = plan_file(tmp_path, 2)
    refused(hocket_cli("run", "--plan", plan, "--", "no-such-mpiexec", "-n", "2", "true"), "no-such-mpiexec")


def test_no_command(hocket_cli, tmp_path):
    refused(hocket_cli("run", "--plan", plan_file(tmp_path, 2)), "")


# Of one rank alone: where several fail at once, the launcher of Open MPI 5.0.11 may not end, or may end with 213, which
# may be its own error -43 (its text is empty there).
ENDS = """
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 1 && strcmp(argv[1], "signal") == 0) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return rank == 1 ? atoi(argv[1]) : 0;
}
"""


@pytest.mark.parametrize("end", ["abort", "signal", "5"])
def test_the_exit_status_is_what_the_launcher_gives_without_hocket(runner, hocket_cli, tmp_path, end):
    program = runner.compile(ENDS)
    native = runner.run(2, program, end, check=False).returncode
    assert native != 0
    done = hocket_cli("run", "--plan", plan_file(tmp_path, 2), "--", *runner.command(2, program), end, timeout=300)
    assert done.returncode == (native if native > 0 else 128 - native)
    assert "Traceback" not in done.stderr


def test_several_programs_in_one_command(runner, hocket_cli, tmp_path):
    """`mpiexec -n 2 a : -n 2 b`: recorded and run as one; refused by tune before anything is started."""
    program = runner.compile(PROGRAM)
    command = [*runner.command(2, program), ":", "-n", "2", str(program)]
    printed = f"{4 * 4999 * 5000 // 2}\n"
    done = hocket_cli("record", "-o", "trace", "--", *command, timeout=300)
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
    assert "of 4 rank(s)" in done.stderr
    entry = PlanEntry("bcast", (0, 1, 2, 3), 0, 1 << 20, "pipelined_chain", 4, (0, 2, 1, 3))
    plan = plan_file(tmp_path, 4, [entry])
    done = hocket_cli("run", "--plan", plan, "--", *command, env={"HOCKET_VERBOSE": "1"})
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
    assert "1 calls rerouted" in done.stderr
    done = hocket_cli("tune", "--network", "star:4", "--", *command)
    refused(done, "the command starts several programs")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(("hocket", "."))) == []
