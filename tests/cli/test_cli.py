# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The frame of the command line: help, failures, exit statuses, speed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

import hocket
from hocket.cli import main as cli_main
from hocket.cli.options import Duration
from mpis import LIMIT_S

HOCKET = str(Path(sys.executable).with_name("hocket"))


@pytest.fixture
def run_main(monkeypatch, capsys):
    """Calls main() with a verb `probe` that does what the test says; gives (exit status, stdout, stderr)."""

    def call(body, *arguments: str):
        command = click.Command("probe", callback=body)
        monkeypatch.setattr(cli_main.Verbs, "list_commands", lambda self, context: ["probe"])
        monkeypatch.setattr(cli_main.Verbs, "get_command", lambda self, context, name: command)
        monkeypatch.setitem(cli_main.VERBS, "probe", "A probe.")
        monkeypatch.setattr(sys, "argv", ["hocket", *(arguments or ("probe",))])
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        with pytest.raises(SystemExit) as caught:
            cli_main.main()
        for number, handler in before.items():
            signal.signal(number, handler)
        captured = capsys.readouterr()
        return caught.value.code, captured.out, captured.err

    return call


def raises(error: BaseException):
    def body():
        raise error

    return body


def test_wrong_input_is_status_2_with_a_hint(run_main):
    assert run_main(raises(hocket.InvalidInput("a.toml:3: odd", "write even"))) == (
        2,
        "",
        "error: a.toml:3: odd\nhint: write even\n",
    )


def test_a_failure_is_status_1(run_main):
    assert run_main(raises(hocket.Error("it failed"))) == (1, "", "error: it failed\n")


def test_our_own_bug_is_one_line_without_a_traceback(run_main):
    status, out, err = run_main(raises(ValueError("first\nsecond")))
    assert (status, out) == (1, "")
    assert err.splitlines()[0] == "error: internal error: ValueError: first"
    assert "--debug" in err
    assert "Traceback" not in err


def test_a_full_disk_is_not_our_bug(run_main):
    status, out, err = run_main(raises(OSError(28, "No space left on device", "plan.json")))
    assert (status, out) == (1, "")
    assert err.splitlines()[0] == "error: plan.json: No space left on device"


def test_current_folder_is_gone(run_main, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    status, out, err = run_main(lambda: None)
    assert (status, out) == (1, "")
    assert err.splitlines()[0] == "error: the current folder does not exist any more"


def test_debug_shows_the_traceback(run_main):
    assert "Traceback" in run_main(raises(ValueError("x")), "probe", "--debug")[2]
    assert "Traceback" in run_main(raises(ValueError("x")), "--debug", "probe")[2]


def test_an_interrupt_is_status_130(run_main):
    assert run_main(raises(KeyboardInterrupt()))[0] == 130


def test_sigterm_unwinds(run_main):
    cleaned = []

    def body():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        finally:
            cleaned.append(True)

    assert run_main(body)[0] == 143
    assert cleaned


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_that_the_caller_ignores_stays_ignored(run_main, number):
    """nohup, and shells that go on after their terminal has gone."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        assert run_main(lambda: os.kill(os.getpid(), number))[0] == 0
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_no_arguments_is_the_help():
    result = subprocess.run([HOCKET], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert result.stdout.startswith("Usage: hocket")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["doctr"], "did you mean `hocket doctor`?"),
        (["--odd"], "No such option"),
        (["doctor", "--odd"], "hocket doctor --help"),
    ],
)
def test_a_wrong_command_line_is_status_2(arguments, message):
    result = subprocess.run([HOCKET, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("error: ")


def test_a_reader_that_leaves_is_no_failure():
    result = subprocess.run(
        ["bash", "-c", f"'{HOCKET}' doctor --json | head -c 1; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    assert result.stdout == "{0\n"
    assert result.stderr == ""


def test_version():
    result = subprocess.run([HOCKET, "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"hocket {hocket.__version__}\n"
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f'version = "{hocket.__version__}"' in project


def verbs() -> list[str]:
    return cli_main.cli.list_commands(click.Context(cli_main.cli))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize(
    "arguments",
    [("calibrate", "--timeout"), ("tune", "--timeout"), ("testbed", "run", "--timeout"), ("schedule", "--time-limit")],
)
def test_times_are_finite(arguments, value):
    done = subprocess.run([HOCKET, *arguments, value], capture_output=True, text=True)
    assert done.returncode == 2
    assert "accepted: a time" in done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("20", 20), ("20s", 20), ("1.5 s", 1.5), ("500ms", 0.5), ("2min", 120), (".5h", 1800)]
)
def test_times_have_units_or_are_seconds(text, seconds):
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1s", "5 days", "2 m", "1e3", "0.5s"])
def test_times_that_are_refused(text):
    with pytest.raises(click.BadParameter, match="accepted: a time of at least 1 s, such as 20, 20s, 2min or 1h"):
        Duration(1).convert(text, None, None)


@pytest.mark.parametrize("verb", verbs())
def test_every_command_has_a_help_with_an_example(verb):
    result = subprocess.run([HOCKET, verb, "--help"], capture_output=True, text=True, check=True)
    assert "xample" in result.stdout
    assert f"hocket {verb}" in result.stdout


def test_every_command_file_is_a_verb_of_the_table():
    others = {"__init__", "main", "analysis_tables", "common", "options", "reporter", "version", "watch"}
    files = {path.stem for path in Path(cli_main.__file__).parent.glob("*.py")} - others
    assert files <= set(cli_main.VERBS)


def test_the_help_loads_nothing_heavy():
    script = (
        "import sys; from hocket.cli.main import cli\ntry: cli(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    for heavy in ("numpy", "rich", "jinja2", "pyroute2", "hocket._core", "psutil"):
        assert f"'{heavy}'" not in result.stderr, heavy


def test_the_help_imports_nothing_heavy():
    code = """
import sys
from hocket.cli.main import main
sys.argv = ["hocket", "--help"]
try:
    main()
except SystemExit:
    heavy = {"numpy", "rich", "jinja2", "pyroute2", "hocket._core"}
    print(sorted(heavy & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_doctor_json_is_one_object_that_agrees_with_the_machine():
    result = subprocess.run([HOCKET, "doctor", "--json"], capture_output=True, text=True, check=True)
    found = json.loads(result.stdout)
    assert result.stderr == ""
    assert found["machine"]["user"] == ("root" if os.geteuid() == 0 else "ordinary user")
    assert found["machine"]["hardware_threads"] == len(os.sched_getaffinity(0))
    from mpis import ALL_MPIS

    assert [mpi["name"] for mpi in found["mpis"]] == [mpi.name for mpi in ALL_MPIS]
    assert set(found["works"]) == {"record, run, tune", "testbed", "demo", "compile Fortran programs"}


def test_doctor_without_any_tool_says_what_to_install(tmp_path):
    # A PATH that has nothing, and an environment without the mpich wheel's mpicc beside its Python.
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    site = re.sub(r"/__init__\.py$", "", click.__file__).rpartition("/")[0]
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": f"{site}:{Path(hocket.__file__).parents[1]}"}
    result = subprocess.run(
        [str(python), "-m", "hocket", "doctor", "--json"], capture_output=True, text=True, check=False, env=env
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["mpis"] == []
    assert found["works"]["record, run, tune"].startswith("no: no MPI was found; install one:")


def test_doctor_tells_why_an_mpi_is_unusable(tmp_path, hocket_cli):
    wrapper = tmp_path / "mpicc"
    wrapper.write_text("#!/bin/sh\necho 'mpicc: no compiler behind me' >&2; exit 1\n")
    wrapper.chmod(0o755)
    result = hocket_cli("doctor", env={"HOCKET_MPI_PATH": str(tmp_path)})
    assert result.returncode == 0
    assert f"unusable: `{wrapper} -show` failed: mpicc: no compiler behind me" in result.stdout


def test_ctrl_c_while_the_command_is_imported_shows_no_traceback(tmp_path):
    # Its first import of any module stands still until the signal has come.
    (tmp_path / "click.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [HOCKET, "--help"], capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_a_third_ctrl_c_does_not_end_threads_inside_the_core(tmp_path):
    """The second one ends the wait for them; Python's own end would be interrupted by the third, and abort."""
    script = tmp_path / "interrupted.py"
    script.write_text("""
import os, signal, sys, threading
from concurrent.futures import ThreadPoolExecutor
import hocket
import hocket.cli.main
from hocket.__main__ import main

program = hocket.lower(hocket.Schedule.build("allgather", "ring", 32), 1000)
network = hocket.Network.generate("star:32", "1 GB/s")
begun = threading.Event()

def simulate():
    while True:
        hocket.simulate(program, network)
        begun.set()

def press():
    while True:
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(0.05)

def interrupted():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pool = ThreadPoolExecutor(2)
    for _ in range(2):
        pool.submit(simulate)
    begun.wait()
    try:
        threading.Thread(target=press, daemon=True).start()
        pool.shutdown()
    except KeyboardInterrupt:
        sys.exit(130)

hocket.cli.main.main = interrupted
main()
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["schedule", "bcast"],
        ["schedule", "bcast", "--json"],
        ["network", "show", "fat-tree:8x8x8", "--all"],
        ["network", "generate", "star:800"],
        ["simulate", "bcast:binomial", "--network", "star:4", "--bytes", "1 kB"],
        ["cost", "bcast", "--bytes", "1 MB", "--network", "star:4"],
    ],
)
def test_a_full_disk_under_the_output_is_one_message(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([HOCKET, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "error: standard output: No space left on device\nhint: make room, or write to another disk\n"
    )
