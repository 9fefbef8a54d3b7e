# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How testbeds and the commands in them end: nothing is left, whatever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hocket import Error, Network
from hocket.testbed import Testbed, available
from hocket.testbed.layout import make_layout
from hocket.testbed.names import names
from mpis import LIMIT_S

AVAILABLE, REASON = available()
needs_namespaces = pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")


@pytest.fixture(scope="module")
def network() -> Network:
    return Network.generate("star:4", bandwidth="100 Mbit/s")


@pytest.fixture
def bed(network: Network) -> Iterator[Testbed]:
    with Testbed(network) as bed:
        yield bed


# Looked for among all processes of this machine: another worker, or another checkout, looks for its own.
LONG_SLEEP = f"sleep {10**6 + os.getpid()}"
LONGER_SLEEP = f"sleep {10**8 + os.getpid()}"


def processes_with(text: str) -> list[str]:
    """Command lines on this machine that contain `text`, of processes other than this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line and path.parent.name != str(os.getpid()):
            found.append(line)
    return found


def namespaces_of(process: int) -> set[str]:
    """Those that the process is in or holds open."""
    found = set()
    for path in (*Path(f"/proc/{process}/ns").iterdir(), *Path(f"/proc/{process}/fd").iterdir()):
        with suppress(OSError):
            target = os.readlink(path)
            if target.startswith(("net:", "mnt:", "uts:", "ipc:", "pid:")):
                found.add(target)
    return found


def namespaces_in_use() -> set[str]:
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found |= namespaces_of(int(path.name))
    return found


def eventually(condition: Callable[[], object], limit_s: float = LIMIT_S) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


@needs_namespaces
def test_what_a_command_leaves_is_gone_when_it_ends(bed: Testbed, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    away = f'setsid sh -c "touch {begun}; exec sleep 1000"'
    script = f"sleep 1000 & ssh h1 '{away}' & touch $TMPDIR/x /dev/shm/y; until [ -e {begun} ]; do sleep 0.01; done"
    bed.run(["sh", "-c", script], timeout=LIMIT_S)
    result = bed.run(["sh", "-c", "ls $TMPDIR /dev/shm; pgrep sleep"])
    assert result.stdout.split() == ["/dev/shm:", "hocket", "tmp", "/dev/shm/tmp:"]


@needs_namespaces
def test_a_command_that_hangs_is_killed_with_everything(bed: Testbed) -> None:
    with pytest.raises(Error, match="did not end within 0.5 s"):
        bed.run(["sh", "-c", f"trap '' TERM INT; {LONGER_SLEEP} & {LONGER_SLEEP}"], timeout=0.5)
    assert not processes_with(LONGER_SLEEP)
    assert bed.run(["true"]).returncode == 0  # the testbed still works


CALLER = f"""
import sys, threading
from hocket.testbed import Testbed
from hocket.testbed.layout import Layout
import json
with Testbed(Layout.from_json(json.load(open(sys.argv[1])))) as bed:
    print("up", flush=True)
    bed.run(["sh", "-c", "ssh h1 'setsid {LONG_SLEEP}' & {LONG_SLEEP}"])
"""


def start_caller(network: Network, folder: Path) -> subprocess.Popen[str]:
    layout = folder / "layout.json"
    layout.write_text(json.dumps(make_layout(network).to_json()))
    command = [sys.executable, "-c", CALLER, str(layout)]
    caller = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    assert caller.stdout.readline() == "up\n"
    assert eventually(lambda: len(processes_with(LONG_SLEEP)) >= 3)
    return caller


@needs_namespaces
@pytest.mark.parametrize("victim", ["caller", "supervisor", "process 1"])
def test_kill_leaves_no_process_and_no_namespace(network: Network, tmp_path: Path, victim: str) -> None:
    caller = start_caller(network, tmp_path)
    supervisor = int(subprocess.check_output(["pgrep", "-P", str(caller.pid)], text=True))
    first = int(subprocess.check_output(["pgrep", "-P", str(supervisor)], text=True))
    made = namespaces_of(first) - namespaces_of(os.getpid())
    assert len(made) >= 4 * 4
    os.kill({"caller": caller.pid, "supervisor": supervisor, "process 1": first}[victim], signal.SIGKILL)
    assert eventually(lambda: not processes_with(LONG_SLEEP))
    assert eventually(lambda: not made & namespaces_in_use())
    _, errors = caller.communicate(timeout=LIMIT_S)
    assert victim == "caller" or "the testbed ended unexpectedly" in errors
    assert eventually(lambda: not Path(f"/proc/{supervisor}").exists())


@needs_namespaces
def test_interrupt_ends_the_command_and_the_testbed(network: Network, tmp_path: Path) -> None:
    caller = start_caller(network, tmp_path)
    caller.send_signal(signal.SIGINT)
    _, errors = caller.communicate(timeout=LIMIT_S)
    assert "KeyboardInterrupt" in errors
    assert not processes_with(LONG_SLEEP)


@needs_namespaces
def test_a_testbed_started_in_a_thread_outlives_the_thread(network: Network) -> None:
    beds: list[Testbed] = []
    thread = threading.Thread(target=lambda: beds.append(Testbed(network)))
    thread.start()
    thread.join()
    time.sleep(0.2)
    with beds[0] as bed:
        assert bed.run(["hostname"]).stdout == "h0\n"


@needs_namespaces
def test_a_named_testbed_stays_until_it_is_taken_down(network: Network, tmp_path: Path) -> None:
    name = f"test-{os.getpid()}"
    os.mkfifo(tmp_path / "read")
    with Testbed(network, name=name):
        pass
    try:
        assert name in names()
        with pytest.raises(Error, match="already up"):
            Testbed(network, name=name)
        with Testbed.attach(name) as bed, Testbed.attach(name) as other:
            assert bed.run(["hostname"]).stdout == "h0\n"
            thread = threading.Thread(target=lambda: bed.run(["cat", str(tmp_path / "read")]))
            thread.start()
            # The command reads by the time the file is open here, and ends when it is closed.
            with (tmp_path / "read").open("w"), pytest.raises(Error, match="busy with: cat"):
                other.run(["true"])
            thread.join()
    finally:
        Testbed.attach(name).down()
    assert name not in names()
    with pytest.raises(Error, match="no testbed named"):
        Testbed.attach(name)
