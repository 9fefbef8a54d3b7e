# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hocket import CostModel, Network
from hocket.mpi.build import build_mpi_parts
from hocket.plan import Plan
from hocket.report.result import read_result
from hocket.reporter import Messages
from hocket.tune import budget, evidence, launcher, measurement, trial, tune
from mpis import sessions_program

# The command line; what reaches an MPI, tests/mpi and tests/python/test_launch.py run with all.
pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]

NETWORK = Path(__file__).resolve().parents[2] / "networks/two-clusters.toml"


def refused(done, message, status):
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    assert message in errors[0]
    assert "Traceback" not in done.stderr


def left_behind(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith((".", "hocket-"))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("bandwidth", "bandwith"), "bandwith"),
        (
            ('[[link]]\nbetween = ["s0", "s1"]\nbandwidth = "93 Mbit/s"\n', ""),
            "no path in both directions",
        ),
        (("93 Mbit/s", "93"), "93"),
        (('format = "hocket.network/1"', 'format = "hocket.network/9"'), "hocket.network/9"),
    ],
)
def test_a_wrong_network_file(hocket_cli, tmp_path, change, message):
    (tmp_path / "net.toml").write_text(NETWORK.read_text().replace(*change))
    done = hocket_cli("tune", "--network", "net.toml", "--", "mpiexec", "-n", "2", "true")
    refused(done, message, 2)
    assert left_behind(tmp_path) == []


def test_a_missing_network(hocket_cli):
    refused(hocket_cli("tune", "--network", "none.toml", "--", "mpiexec", "-n", "2", "true"), "none.toml", 2)


def test_more_ranks_than_the_network_has(runner, hocket_cli, tmp_path):
    done = hocket_cli("tune", "--network", NETWORK, "--", *runner.command(9, "true"))
    refused(done, "9 ranks", 2)
    assert left_behind(tmp_path) == []


def test_a_missing_launcher(hocket_cli):
    refused(hocket_cli("tune", "--network", NETWORK, "--", "no-such-mpiexec", "-n", "2", "true"), "no-such-mpiexec", 2)


def test_a_launcher_beside_hocket_that_is_not_in_path(hocket_cli, monkeypatch):
    beside = Path(sys.executable).parent / "mpiexec"
    if not beside.exists():
        pytest.skip("no MPI was installed with hocket")
    monkeypatch.setenv("PATH", "/nowhere")
    done = hocket_cli("tune", "--network", NETWORK, "--", "mpiexec", "-n", "2", "true")
    refused(done, "mpiexec: command not found", 2)
    assert f"{beside} was installed with hocket" in done.stderr


def test_the_current_folder_is_no_mount(runner, hocket_cli, tmp_path):
    (tmp_path / "thesis.txt").write_text("words")
    done = hocket_cli("tune", "--network", NETWORK, "-o", ".", "--", *runner.command(2, "true"))
    refused(done, "exists and is not a result of hocket", 2)


def test_a_command_without_the_dashes_before_it(hocket_cli):
    done = hocket_cli("tune", "--network", NETWORK, "mpiexec", "-n", "2", "true")
    refused(done, "No such option", 2)
    assert "write -- before the command" in done.stderr


def test_a_program_that_fails(runner, hocket_cli, tmp_path):
    program = runner.compile(
        "#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Abort(MPI_COMM_WORLD, 7); return 0; }"
    )
    done = hocket_cli("tune", "--network", NETWORK, "--", *runner.command(2, program))
    refused(done, "the program failed", 1)
    assert left_behind(tmp_path) == []


@pytest.mark.one_of_each_family
def test_a_program_that_fails_on_its_second_run(runner, hocket_cli, tmp_path):
    program = runner.compile("""
        #include <mpi.h>
        #include <stdio.h>
        int main(int c, char** v) {
            int rank, found;
            MPI_Init(&c, &v);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            found = fopen("output", "r") != NULL;
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) fclose(fopen("output", "w"));
            MPI_Finalize();
            return found ? 9 : 0;
        }""")
    done = hocket_cli("tune", "--network", NETWORK, "--no-fit", "--", *runner.command(2, program))
    refused(done, "the program failed", 1)
    assert "find what an earlier run of it has written?" in done.stderr
    assert "all of them in this folder" in done.stderr
    assert {"plan.json", "trace"} <= {path.name for path in (tmp_path / "hocket-result-2").iterdir()}


def test_a_folder_that_is_not_ours_is_left_alone(runner, hocket_cli, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("words")
    done = hocket_cli("tune", "--network", NETWORK, "-o", "mine", "--", *runner.command(2, "true"))
    refused(done, "exists and is not a result of hocket", 2)
    assert (tmp_path / "mine/thesis.txt").read_text() == "words"


def test_an_earlier_result_is_kept(runner, hocket_cli, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/result.json").write_text("{}")
    done = hocket_cli("tune", "--network", NETWORK, "-o", "mine", "--", *runner.command(2, "true"))
    refused(done, "holds an earlier result", 2)
    assert "--force" in done.stderr
    assert (tmp_path / "mine/result.json").read_text() == "{}"


def test_a_program_without_mpi_calls_for_us(runner, hocket_cli, tmp_path):
    done = hocket_cli("tune", "--network", NETWORK, "--", *runner.command(2, "true"))
    refused(done, "", 1 if done.returncode == 1 else 2)
    assert left_behind(tmp_path) == []


ONE_BROADCAST = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int rank, value = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) puts(argv[1]);
    MPI_Finalize();
}
"""


def test_a_program_that_starts_by_a_session(runner, hocket_cli, tmp_path):
    program, _ = sessions_program(runner, 2)
    done = hocket_cli("tune", "--network", NETWORK, "--", *runner.command(2, program))
    refused(done, "the program starts MPI by MPI_Session_init alone", 2)
    assert left_behind(tmp_path) == []


def test_where_nothing_is_faster_nothing_is_changed_and_names_may_be_strange(runner, hocket_cli, tmp_path):
    (tmp_path / 'my "net\'work".toml').write_text(NETWORK.read_text())
    compiled = runner.compile(ONE_BROADCAST)
    program = tmp_path / "my 'pro\"gram"
    compiled.rename(program)
    arguments = ("--json", "--network", 'my "net\'work".toml', "-o", 'my "res\'ult" dir')
    done = hocket_cli("tune", *arguments, "--", *runner.command(2, program), "a 'b\" c", timeout=360)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["tuned_s"], found["speedup"], found["predicted_s"]) == (None, None, None)
    assert found["native_s"] > 0
    assert any("nothing was changed" in note for note in found["notes"])
    assert all(entry["reason"] for entry in found["left_native"])
    assert found["left_native"]
    assert "tuned" not in done.stderr
    assert found["costs"]["source"] == "fitted"
    folder = tmp_path / 'my "res\'ult" dir'
    page = (folder / "report.html").read_text()
    assert "Nothing was changed" in page
    assert "Native: where predicted and measured part" in page
    assert "With the plan: where" not in page
    assert found["replayed_native_s"] > 0
    assert found["replayed_tuned_s"] is None
    assert Plan.from_file(folder / "plan.json").entries == ()
    done = hocket_cli("run", "--plan", folder / "plan.json", "--", *runner.command(2, program), "a 'b\" c")
    assert (done.returncode, done.stdout) == (0, "a 'b\" c\n"), done.stderr
    assert left_behind(tmp_path) == []


# Which MPI starts the program makes no difference to when no more is started.
@pytest.mark.one_of_each_family
def test_where_the_time_is_over_the_program_runs_three_times_each_way(runner, tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "USUAL_S", 0.0)
    monkeypatch.setattr(budget, "USUAL_RUNS", 1)
    command = runner.command(2, runner.compile(ONE_BROADCAST), "words")
    options = tune.TuneOptions(timeout_s=200, fit=False, progress="auto")  # progress makes a tuned run of any plan
    result = tune.tune(command, Network.from_file(str(NETWORK)), tmp_path / "result", options)
    assert (len(result.program.native_s), len(result.program.tuned_s)) == (3, 3)


@pytest.mark.parametrize(
    ("script", "reason", "source", "send_overhead_s"),
    [
        ("echo it crashed >&2; exit 3", "failed with exit status", "usual", 15e-6),
        ("exec sleep 100", "", "calibrated", 7e-6),
    ],
)
def test_measuring_what_messages_cost_may_fail(runner, tmp_path, monkeypatch, script, reason, source, send_overhead_s):
    built = build_mpi_parts(runner.mpi)
    parts = replace(built, folder=tmp_path / "parts")
    parts.compare.parent.mkdir(parents=True)
    (parts.folder / "lib").symlink_to(built.folder / "lib")
    parts.eager.symlink_to(built.eager)
    parts.compare.write_text(f"#!/bin/sh\n{script}\n")
    parts.compare.chmod(0o755)
    monkeypatch.setattr(tune, "build_mpi_parts", lambda *_, **__: parts)
    monkeypatch.setattr(launcher, "TRAINING_TIMEOUT_S", 5.0)
    command = runner.command(2, runner.compile(ONE_BROADCAST), "words")
    options = tune.TuneOptions(
        timeout_s=200, costs=CostModel.usual().replace(send_overhead_s=send_overhead_s), costs_source=source
    )
    result = tune.tune(command, Network.from_file(str(NETWORK)), tmp_path / "result", options, Messages(print))
    (note,) = [note for note in result.notes if "what messages cost could not be measured" in note]
    assert reason in note
    assert result.costs.source == source
    assert result.costs.send_overhead_s == send_overhead_s
    assert read_result(tmp_path / "result") == result


def test_costs_that_are_given_or_refused_are_not_measured(runner, hocket_cli, tmp_path):
    program = runner.compile(ONE_BROADCAST)
    command = ["--", *runner.command(2, program, "words")]
    (tmp_path / "calibrated.toml").write_text(NETWORK.read_text() + '\n[calibration]\nsend_overhead = "7 us"\n')
    for network, options, source, send_overhead_s in (
        (NETWORK, ["--send-overhead", "3 us"], "given", 3e-6),
        (NETWORK, ["--costs", "hocket-result", "-o", "other"], "given", 3e-6),
        ("calibrated.toml", ["--force", "--no-fit"], "calibrated", 7e-6),
        (NETWORK, ["--force", "--no-fit"], "usual", 15e-6),
    ):
        done = hocket_cli("tune", "--json", "--network", network, *options, *command)
        assert done.returncode == 0, done.stderr
        assert "measuring what messages cost" not in done.stderr
        found = json.loads(done.stdout)["costs"]
        assert found["source"] == source
        assert found["send_overhead_s"] == pytest.approx(send_overhead_s)
        assert found["training_error_median"] is None


SLOWER_WITH_A_PLAN = ONE_BROADCAST.replace(
    "#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>"
)
SLOWER_WITH_A_PLAN = SLOWER_WITH_A_PLAN.replace(
    "MPI_Finalize", 'if (getenv("HOCKET_PLAN")) sleep(3);\n    MPI_Finalize'
)


def test_a_plan_with_which_the_program_is_slower_is_withdrawn(runner, hocket_cli, tmp_path):
    command = runner.command(2, runner.compile(SLOWER_WITH_A_PLAN), "words")
    options = ["--no-fit", "--progress", "on", "--json"]
    done = hocket_cli("tune", *options, "--network", NETWORK, "--", *command)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["speedup_quartiles"][1] < 1
    assert any("withdrawn-plan.json has what was tried" in note for note in found["notes"])
    folder = tmp_path / "hocket-result"
    assert Plan.from_file(folder / "plan.json").progress == "off"
    assert Plan.from_file(folder / "withdrawn-plan.json").progress == "on"


STARTED_REDUCTIONS = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static double from[125000], to[125000];
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; ++i) {
        MPI_Request request;
        from[i] = i;
        MPI_Iallreduce(from, to, 125000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%g\\n", to[7]);
    const char* plan = getenv("HOCKET_PLAN");
    if (!plan || strstr(plan, argv[1])) sleep(2);
    MPI_Finalize();
}
"""


@pytest.mark.parametrize("slower", ["without them", "with them"])
def test_whole_runs_decide_on_started_calls_whose_schedule_is_not_shown_to_be_faster(
    runner, tmp_path, monkeypatch, slower
):
    for module in (measurement, trial):
        monkeypatch.setattr(module, "ratio_of", lambda *_: evidence.Ratio(1.0, 0.5, 2.0))
    command = runner.command(2, runner.compile(STARTED_REDUCTIONS), f"plan {slower}")
    options = tune.TuneOptions(timeout_s=200, fit=False, progress="on", measure_s=5.0)
    result = tune.tune(command, Network.from_file(str(NETWORK)), tmp_path / "result", options)
    (note,) = [note for note in result.notes if "did not gain enough in calls that are waited for at once" in note]
    (found,) = result.collectives
    plan = Plan.from_file(tmp_path / "result/plan.json")
    served = plan.entry_for("allreduce", (0, 1), 1_000_000, 0)
    assert (found.nonblocking_calls, found.ratio, found.output_identical) == (100, 1.0, True)
    if slower == "without them":
        assert found.kept, note
        assert "the plan has them" in note
        assert served.evidence is None
        assert not any("progress alone gains was not measured" in note for note in result.notes)
    else:
        assert served is None, note
        assert "these calls stay native" in note
        # What is said of the calls alone depends on their times.
        assert found.reason.endswith("; nor was the program with its schedule")
    assert left_behind(tmp_path) == []


def test_where_a_run_that_decides_fails_the_rest_goes_on(runner, tmp_path, monkeypatch):
    for module in (measurement, trial):
        monkeypatch.setattr(module, "ratio_of", lambda *_: evidence.Ratio(1.0, 0.5, 2.0))
    program = STARTED_REDUCTIONS.replace("!plan ||", "plan &&").replace("sleep(2)", "MPI_Abort(MPI_COMM_WORLD, 3)")
    command = runner.command(2, runner.compile(program), "plan with them")
    options = tune.TuneOptions(repetitions=3, timeout_s=200, fit=False, progress="on", measure_s=5.0)
    result = tune.tune(command, Network.from_file(str(NETWORK)), tmp_path / "result", options)
    (note,) = [note for note in result.notes if "were left out, since one of the runs that decide" in note]
    assert "the program in a run with them failed with exit status 3" in note
    assert [found.kept for found in result.collectives] == [False]
    assert len(result.program.tuned_s) == 3


@pytest.mark.parametrize("text", ["0", "0.5s", "-3", "5 minutes", "nan", "1e99h", ""])
def test_times_for_measuring_that_are_refused(hocket_cli, text):
    done = hocket_cli("tune", "--network", NETWORK, "--measure-time", text, "--", "mpiexec", "-n", "2", "true")
    refused(done, "--measure-time", 2)
    assert "accepted: a time of at least 1 s, such as 20, 20s" in done.stderr


def test_costs_of_a_folder_that_is_no_result(hocket_cli, tmp_path):
    done = hocket_cli("simulate", "bcast", "--network", "star:4", "--bytes", "1 kB", "--costs", "nowhere")
    refused(done, "nowhere: no such folder", 2)
