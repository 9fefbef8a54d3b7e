# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Launching real programs: what reaches the ranks, what the launcher must not see, and that nothing is left behind."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hocket.errors import Error, InvalidInput
from hocket.mpi import guard, launch
from hocket.mpi.discover import Mpi
from hocket.mpi.of_command import mpi_of_command
from mpis import ALL_MPIS, LIMIT_S

SHOW = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Until the file argv[2] exists. */
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("%s: rank %d: %s|%s\\n", argv[1], rank, getenv("LD_PRELOAD"), getenv("HOCKET_PROBE"));
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    while (access(argv[2], F_OK) != 0) usleep(1000);
    MPI_Finalize();
}
"""


def environments(marker: str) -> dict[str, list[dict[str, str]]]:
    """The environment of every process that has the variable HOCKET_TEST_MARKER=marker, by the process's name."""
    found: dict[str, list[dict[str, str]]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            name = (folder / "comm").read_text().strip()
        except OSError:
            continue
        variables = dict(word.split("=", 1) for word in words if "=" in word)
        if variables.get("HOCKET_TEST_MARKER") == marker:
            found.setdefault(name, []).append(variables)
    return found


def wait_until(condition, timeout_s: float = LIMIT_S) -> bool:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def library(tmp_path: Path) -> Path:
    source = tmp_path / "empty.c"
    source.write_text("int hocket_test_empty;\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "empty.so", source], check=True)
    return tmp_path / "empty.so"


def test_the_environment_reaches_the_programs_of_both_parts_and_no_launcher(runner, library, monkeypatch, tmp_path):
    program = runner.compile(SHOW, name="show_environment")
    marker = str(os.getpid())
    monkeypatch.setenv("HOCKET_TEST_MARKER", marker)
    seen = str(tmp_path / "seen")
    plain = [*runner.command(2, program, "first", seen), ":", "-n", "1", str(program), "second", seen]
    command, needed = launch.with_preload(plain, runner.mpi, [library], {"HOCKET_PROBE": "a b;c"})
    process = subprocess.Popen(
        command, env={**os.environ, **needed}, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        name = program.name[:15]  # as the kernel cuts it
        assert wait_until(lambda: len(environments(marker).get(name, [])) == 3), environments(marker).keys()
        found = environments(marker)
        Path(seen).touch()
        output, _ = process.communicate(timeout=LIMIT_S)
    finally:
        launch.stop_process_group(process)
    assert sorted(output.splitlines()) == [
        f"first: rank 0: {library}|a b;c",
        f"first: rank 1: {library}|a b;c",
        f"second: rank 2: {library}|a b;c",
    ]
    assert all(variables["LD_PRELOAD"] == str(library) for variables in found.pop(name))
    found.pop(Path(sys.executable).name, None)
    found.pop("pytest", None)
    assert found, "the launcher was not seen"
    for launcher, copies in found.items():
        for variables in copies:
            assert "LD_PRELOAD" not in variables, launcher
            assert "HOCKET_PROBE" not in variables, launcher


def test_more_ranks_than_cores_run(runner):
    program = runner.compile(SHOW, name="show_environment")
    ranks = 2 * (os.cpu_count() or 1) + 1
    assert len(runner.run(ranks, program, "x", "/").stdout.splitlines()) == ranks


def test_a_timeout_stops_every_process(runner, monkeypatch):
    program = runner.compile(SHOW, name="sleeps_long")
    marker = f"timeout-{os.getpid()}"
    monkeypatch.setenv("HOCKET_TEST_MARKER", marker)
    with pytest.raises(Error, match="did not end within 3 s"):
        runner.run(2, program, "x", "never", timeout=3)
    monkeypatch.delenv("HOCKET_TEST_MARKER")
    assert wait_until(lambda: not environments(marker)), environments(marker).keys()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_killed_caller_leaves_nothing(runner, number):
    program = runner.compile(SHOW, name="sleeps_long")
    marker = f"kill-{os.getpid()}-{number}"
    command, needed = launch.with_preload(runner.command(2, program, "x", "never"), runner.mpi, [], {})
    script = "import signal, sys; from hocket.mpi.launch import run_command\n"
    script += "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\nrun_command(sys.argv[1:])"
    caller = subprocess.Popen(
        [sys.executable, "-c", script, *command],
        env={**os.environ, **needed, "HOCKET_TEST_MARKER": marker},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert wait_until(lambda: len(environments(marker).get(program.name, [])) == 2)
    caller.send_signal(number)
    caller.wait(LIMIT_S)
    assert wait_until(lambda: not environments(marker)), environments(marker).keys()


@pytest.mark.parametrize("victim", ["launcher", "guard"])
def test_a_killed_launcher_leaves_nothing(runner, victim):
    program = runner.compile(SHOW, name="sleeps_long")
    marker = f"{victim}-{os.getpid()}"
    command, needed = launch.with_preload(runner.command(2, program, "x", "never"), runner.mpi, [], {})
    script = (
        "import os, signal, sys, threading; from hocket.mpi import launch\n"
        "def children(pid): return [*map(int, open(f'/proc/{pid}/task/{pid}/children').read().split())]\n"
        "def kill():\n"
        "    sys.stdin.readline()\n"
        "    guard = children(os.getpid())[0]\n"
        f"    os.kill(guard if {victim == 'guard'} else children(guard)[0], signal.SIGKILL)\n"
        "threading.Thread(target=kill).start()\n"
        "print(launch.run_command(sys.argv[1:], capture=True).returncode)"
    )
    caller = subprocess.Popen(
        [sys.executable, "-c", script, *command],
        env={**os.environ, **needed, "HOCKET_TEST_MARKER": marker},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert wait_until(lambda: len(environments(marker).get(program.name, [])) == 2)
        output, errors = caller.communicate("now\n", timeout=LIMIT_S)
    finally:
        caller.kill()
    assert output.strip() == "-9", errors
    assert wait_until(lambda: not environments(marker)), environments(marker).keys()


def test_a_killed_caller_leaves_no_launcher_that_hangs(tmp_path):
    """Nor a daemon, which has no parent and is in a session of its own."""
    ignores = "trap '' TERM HUP INT; echo $$ >> pids; while :; do sleep 0.2; done"
    script = f"from hocket.mpi.launch import run_command; run_command(['sh', 'launcher.sh'], cwd={str(tmp_path)!r})"
    (tmp_path / "daemon.sh").write_text(ignores)
    (tmp_path / "launcher.sh").write_text(f"(setsid sh daemon.sh &)\n{ignores}")
    caller = subprocess.Popen([sys.executable, "-c", script])
    pids = tmp_path / "pids"
    try:
        assert wait_until(lambda: pids.exists() and len(pids.read_text().splitlines()) == 2)
    finally:
        caller.kill()
        caller.wait()
    assert wait_until(lambda: not any(Path("/proc", pid).exists() for pid in pids.read_text().split()))


def test_a_killed_guard_leaves_no_launcher_that_ignores_signals(tmp_path):
    """Not where its output is awaited, either, which the launcher holds open."""
    ignores = "trap '' TERM HUP INT; cut -d ' ' -f 4 /proc/$$/stat > guard; echo $$ > pid; while :; do sleep 0.2; done"
    folder = repr(str(tmp_path))
    script = f"from hocket.mpi.launch import run_command; from pathlib import Path; folder = Path({folder})\n"
    script += f"print(run_command(['sh', '-c', {ignores!r}], cwd=folder, capture=True).returncode)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as caller:
        pid = tmp_path / "pid"
        try:
            assert wait_until(lambda: pid.exists() and pid.read_text().strip())
            os.kill(int((tmp_path / "guard").read_text()), signal.SIGKILL)
            assert caller.communicate(timeout=LIMIT_S)[0] == "-9\n"
        finally:
            caller.kill()
    assert wait_until(lambda: not Path("/proc", pid.read_text().strip()).exists())


def test_a_daemon_that_a_command_has_started_is_not_left(tmp_path):
    (tmp_path / "daemon.sh").write_text("echo $$ > pid; exec sleep 1000")
    script = "(setsid sh daemon.sh &); until test -s pid; do sleep 0.01; done; echo started"
    # It has the pipe that is read here, too.
    done = launch.run_command(["sh", "-c", script], cwd=tmp_path, capture=True, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (0, "started\n")
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGKILL])
def test_the_signal_that_ended_a_command_is_reported(number):
    assert launch.run_command(["sh", "-c", f"kill -{int(number)} $$"], capture=True).returncode == -number


def test_an_end_is_seen_where_the_caller_ignores_the_ends_of_processes():
    script = "import signal; from hocket.mpi.launch import run_command; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    script += f"run_command(['true'], timeout={LIMIT_S})"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_guard_keeps_no_file_open(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with (tmp_path / "file").open("w") as file:
        high = os.dup2(file.fileno(), 200)
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))  # the number lies above
        try:
            script = "until test $(ls /proc/$PPID/fd | wc -l) = 3; do sleep 0.01; done; readlink /proc/$PPID/fd/1"
            done = launch.run_command(["sh", "-c", script], capture=True, timeout=LIMIT_S)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            os.close(high)
    assert done.stdout == "/dev/null\n"


def test_no_room_for_another_process_is_told(monkeypatch):
    def fork():
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(guard.os, "fork", fork)  # of the guard, which was forked itself
    with pytest.raises(InvalidInput, match="true: cannot be started: Resource temporarily unavailable") as caught:
        launch.run_command(["true"])
    assert "ulimit -u" in caught.value.hint


def test_what_the_launcher_started_has_time_to_remove_its_files(tmp_path):
    """MPICH's launcher ends at once, before its helpers have removed files of theirs in /tmp."""
    helper = "(trap 'sleep 0.1; rm made; exit' TERM; touch made; sleep 60 & wait)"
    process = launch.start_process(["sh", "-c", f"trap exit TERM; {helper} & wait"], cwd=tmp_path)
    try:
        assert wait_until((tmp_path / "made").exists)
    finally:
        launch.stop_process_group(process)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_launcher_is_started_is_not_lost(number):
    """Python drops what a signal handler raises in the hooks that run around a fork."""
    script = f"""
import os, signal, time
from hocket.mpi.launch import run_command
def end(number, frame): raise SystemExit(7)
signal.signal({int(number)}, end)
os.register_at_fork(after_in_parent=lambda: (os.kill(os.getpid(), {int(number)}), time.sleep(0.1)))
run_command(["sleep", "60"])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert (done.returncode, done.stderr) == (7, "")


def test_a_program_of_another_mpi_is_refused(mpi: Mpi, runner):
    program = runner.compile("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }")
    for other in ALL_MPIS:
        if other.library.resolve() != mpi.library.resolve():
            with pytest.raises(InvalidInput) as refused:
                mpi_of_command([str(other.mpiexec), "-n", "2", str(program)])
            assert f"is linked with {mpi.name}" in refused.value.message
            assert str(mpi.mpiexec) in refused.value.hint


def test_the_launcher_tells_its_mpi(mpi: Mpi):
    assert mpi_of_command([str(mpi.mpiexec), "-n", "1", "true"]).library == mpi.library


def test_the_exit_status_of_the_program_is_passed_on(runner):
    program = runner.compile("int main(void) { return 7; }", name="fails")
    assert runner.run(1, program, check=False).returncode == 7


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([], "empty"),
        (["no-such-mpiexec", "-n", "2"], "no-such-mpiexec: command not found"),
        (["true"], "not an MPI launcher"),
    ],
)
def test_a_wrong_launcher_is_told(command, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        mpi_of_command(command)
    assert caught.value.hint


def test_a_command_that_sets_the_preload_itself_is_refused(mpi):
    with pytest.raises(InvalidInput, match="LD_PRELOAD"):
        launch.with_preload([str(mpi.mpiexec), "-x", "LD_PRELOAD=/a.so", "./a"], mpi, [], {})


def test_what_a_module_of_a_site_preloads_does_not_reach_the_ranks(mpi, monkeypatch):
    """Else the native times that hocket measures would be those of its own library."""
    site = "/s/lib/libhocket_site.so"
    for inherited, expected in ((site, ""), (f"{site}:/b.so /c.so", "/b.so:/c.so")):
        monkeypatch.setenv("LD_PRELOAD", inherited)
        words, _ = launch.with_preload([str(mpi.mpiexec), "-n", "1", "true"], mpi, [], {})
        assert words[1:-3] == (
            ["-x", f"LD_PRELOAD={expected}"] if mpi.family == "openmpi" else ["-genv", "LD_PRELOAD", expected]
        )
        assert launch.run_command(words, env=launch.launch_environment(words, mpi), capture=True).returncode == 0


def test_a_library_that_cannot_be_preloaded_is_refused(mpi):
    with pytest.raises(InvalidInput, match="space") as caught:
        launch.with_preload(["mpiexec", "./a"], mpi, [Path("/a b/c.so")], {})
    assert "HOCKET_CACHE_DIR" in caught.value.hint


def test_a_missing_command_is_told():
    with pytest.raises(InvalidInput, match="no-such-program: command not found"):
        launch.run_command(["no-such-program"])


def test_a_folder_of_the_path_that_may_not_be_searched_is_passed_over(monkeypatch, tmp_path):
    """As an ordinary user with root's PATH. A file that is there and cannot be started is told as such."""
    (tmp_path / "file").write_text("no program")
    monkeypatch.setenv("PATH", f"{tmp_path / 'file'}:{tmp_path}:{os.environ['PATH']}")
    denied = PermissionError(errno.EACCES, "Permission denied")
    assert launch._cannot_start("no-such-program", denied)[0] == "no-such-program: command not found"
    assert launch._cannot_start("file", denied)[0] == "file: cannot be started: Permission denied"
    assert launch._cannot_start(str(tmp_path / "file"), denied)[0].endswith("cannot be started: Permission denied")
