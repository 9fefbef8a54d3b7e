# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket simulate` ended by Ctrl-C or a signal, at every stage."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hocket import Fabric, InvalidInput, Schedule, Traffic, lower, simulate_traffic
from hocket.cli.simulate.progress import ended, watched
from mpis import LIMIT_S

HOCKET = str(Path(sys.executable).with_name("hocket"))


def _interrupted(arguments: list[str], cwd: Path) -> tuple[int, str, str]:
    """Starts a simulation that would take hours, and presses Ctrl-C once its progress bar is there."""
    terminal, stderr = os.openpty()
    with (cwd / "stdout").open("wb") as stdout:
        process = subprocess.Popen(
            [HOCKET, "simulate", *arguments], cwd=cwd, stdout=stdout, stderr=stderr,
            env={**os.environ, "COLUMNS": "150", "TERM": "xterm"},
        )  # fmt: skip
    os.close(stderr)
    seen = b""

    def read() -> bool:
        nonlocal seen
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            return False
        seen += part
        return bool(part)

    try:
        while not re.search(rb"s/s", seen) and read():
            pass
        process.send_signal(signal.SIGINT)
        while read():
            pass
        process.wait(LIMIT_S)
    finally:
        process.kill()
        os.close(terminal)
    return process.returncode, (cwd / "stdout").read_text(), seen.decode()


LONG = ["all-to-all", "--network", "fat-tree:16x16x32", "--bandwidth", "1GB/s", "--bytes-spread", "0.5"]


def test_ctrl_c_gives_what_is_known(tmp_path: Path) -> None:
    status, out, err = _interrupted([*LONG, "--json"], tmp_path)
    assert status == 130, err
    found = json.loads(out)
    assert found["completed"] is False
    assert (found["finished"], found["mean_finish_s"]) == (0, None)
    assert found["events"] > 0
    assert found["makespan_s"] > 0
    assert found["finish_quantiles_s"] == {"p50": None, "p90": None, "p99": None}
    assert re.search(r"\d messages/s.*\d:\d\d:\d\d left", err)
    assert "hocket: interrupted: this is what was known at" in err


def test_ctrl_c_prints_a_table_and_writes_a_folder(tmp_path: Path) -> None:
    status, out, err = _interrupted([*LONG, "-o", "out"], tmp_path)
    assert status == 130, err
    assert "reached" in out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "result.json", "result.npz", "report.html", "trace.json"
    }  # fmt: skip
    assert json.loads((tmp_path / "out/result.json").read_text())["completed"] is False
    assert "The simulation was stopped" in (tmp_path / "out/report.html").read_text()


def test_ctrl_c_in_a_program(tmp_path: Path) -> None:
    arguments = ["alltoall:pairwise", "--network", "two-clusters:300+340", "--latency", "10us", "--bytes", "1MB",
                 "--json", "-o", "out"]  # fmt: skip
    status, out, err = _interrupted(arguments, tmp_path)
    assert status == 130, err
    values = json.loads(out)
    assert values["completed"] is False
    assert values["results"][0]["finish_quantiles_s"]["p50"] is None
    assert "The simulation was stopped" in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_set_up_that_never_ends_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    """The core reads a network file to which nobody ever writes."""
    os.mkfifo(tmp_path / "network.toml")
    arguments = ["simulate", "random-ring", "--network", "network.toml"]
    process = subprocess.Popen([HOCKET, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        with (tmp_path / "network.toml").open("w"):  # once the other side is open too
            process.send_signal(number)
            _, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert err == ("error: interrupted\n" if number == signal.SIGINT else f"error: ended by {number.name}\n")


def _first_messages() -> None:
    fabric = Fabric.generate("torus:128x128x128", bandwidth="1 GB/s")
    traffic = Traffic.nearest_neighbour([128, 128, 128], rounds=9)
    simulate_traffic(traffic, fabric, on_progress=lambda *_: False)


SET_UP: dict[str, Callable[[], object]] = {  # that take a second or more, and call no Python
    "a program": lambda: lower(Schedule.build("alltoall", "linear", 2000), 10**6),
    "first messages": _first_messages,
}


@pytest.mark.parametrize("what", SET_UP)
def test_a_set_up_leaves_other_threads_their_turns(what: str) -> None:
    """That which listens for signals is one."""
    over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(SET_UP[what])
        running.add_done_callback(lambda _: over.set())
        assert not any(over.wait(0.001) for _ in range(20))
        running.result()


@pytest.mark.parametrize("what", ["all-to-all", "alltoall:linear"])
def test_ctrl_c_in_a_step_of_the_reference(tmp_path: Path, what: str) -> None:
    """The first rates take minutes here."""
    arguments = [what, "--network", "fat-tree:16x16x32" if what == "all-to-all" else "fat-tree:8x8x8", "--reference"]
    size = [] if what == "all-to-all" else ["--bytes", "1 MB", "--order", "depth-first"]
    status, out, err = _interrupted([*arguments, *size, "--json"], tmp_path)
    assert status == 130, err
    assert json.loads(out)["completed"] is False
    assert "hocket: interrupted: this is what was known at" in err


def test_a_late_ctrl_c_is_not_lost() -> None:
    with watched("simulating", "messages") as watch:
        assert watch(1, 2, 0.5)
        os.kill(os.getpid(), signal.SIGINT)
    assert watch.interrupted
    assert ended(watch, None) == 130

    def refuse() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        raise InvalidInput("too large")

    with pytest.raises(KeyboardInterrupt), watched("simulating", "messages"):
        refuse()
    with watched("simulating", "messages") as watch:
        pass
    assert ended(watch, None) == 0
