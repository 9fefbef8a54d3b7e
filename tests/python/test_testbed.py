# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The emulated cluster: hosts, rates, isolation, and that nothing survives it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hocket import Error, InvalidInput, Network
from hocket.testbed import Testbed, available
from hocket.testbed.layout import make_layout
from hocket.testbed.names import names

AVAILABLE, REASON = available()
needs_namespaces = pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable

# Two hosts a switch, the switches joined; h3 relays to h4.
NETWORK = """
format = "hocket.network/1"
name = "five"
node = [
  { name = "h1", kind = "host" }, { name = "h2", kind = "host" }, { name = "h3", kind = "host" },
  { name = "h4", kind = "host" }, { name = "left", kind = "switch" }, { name = "right", kind = "switch" },
]
link = [
  { between = ["h1", "left"], bandwidth = "50 Mbit/s" }, { between = ["h2", "left"], bandwidth = "50 Mbit/s" },
  { between = ["left", "right"], bandwidth = "40 Mbit/s", bandwidth_back = "20 Mbit/s" },
  { between = ["right", "h3"], bandwidth = "50 Mbit/s" }, { between = ["h3", "h4"], bandwidth = "30 Mbit/s" },
]
"""

# Sends for some seconds; the receiver prints Mbit/s of payload over the time after the first half second.
STREAM = """
import socket, sys, time
role, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
if role == "receive":
    connection, _ = socket.create_server(("0.0.0.0", port)).accept()
    start, first, last, size, buffer = time.monotonic(), None, None, 0, bytearray(1 << 20)
    while count := connection.recv_into(buffer):
        now = time.monotonic()
        if first is None and now - start > 0.5:
            first = now
        elif first is not None:
            size, last = size + count, now
    print(host, size * 8e-6 / (last - first), flush=True)
else:
    for attempt in range(200):
        try:
            connection = socket.create_connection((host, port))
            break
        except OSError:
            time.sleep(0.02)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        connection.sendall(bytes(1 << 16))
"""


@pytest.fixture(scope="module")
def network() -> Network:
    return Network.from_text(NETWORK, "five.toml")


@pytest.fixture
def bed(network: Network) -> Iterator[Testbed]:
    with Testbed(network) as bed:
        yield bed


def stream_rates(bed: Testbed, folder: Path, pairs: list[tuple[str, str]]) -> dict[str, float]:
    """Payload rate in Mbit/s, by receiver, of simultaneous TCP streams between (sender, receiver)."""
    script = folder / "stream.py"
    script.write_text(STREAM)
    lines = []
    for port, (sender, receiver) in enumerate(pairs, start=5000):
        lines.append(f"ssh {receiver} {PYTHON} {script} receive {receiver} {port} &")
        lines.append(f"ssh {sender} {PYTHON} {script} send {receiver} {port} &")
    result = bed.run(["sh", "-c", "\n".join([*lines, "wait"])], timeout=30)
    assert result.returncode == 0, result.stderr
    words = result.stdout.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


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


def eventually(condition: object, limit_s: float = 10) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


@needs_namespaces
def test_hosts_have_their_names_and_reach_each_other(bed: Testbed) -> None:
    ask = "ssh -x -l root $host 'hostname; cat /proc/sys/kernel/hostname'"
    script = f"hostname; for host in h2 h3 h4 10.0.0.4; do {ask}; done"
    result = bed.run(["sh", "-c", script])
    assert result.stdout.split() == ["h1", "h2", "h2", "h3", "h3", "h4", "h4", "h4", "h4"]
    assert bed.run(["hostname"], host="h3").stdout == "h3\n"
    assert bed.hosts == ["h1", "h2", "h3", "h4"]


@needs_namespaces
def test_environment_folder_status_and_streams_of_a_command(bed: Testbed, tmp_path: Path) -> None:
    script = 'echo "$COLOUR $PWD"; echo problem >&2; exit 7'
    result = bed.run(["sh", "-c", script], env={"COLOUR": "red"}, cwd=tmp_path)
    assert (result.stdout, result.stderr, result.returncode) == (f"red {tmp_path}\n", "problem\n", 7)
    assert bed.run(["sh", "-c", "kill -SEGV $$"]).returncode == -signal.SIGSEGV
    assert result.bytes_crossed == 0


@needs_namespaces
def test_user_settings_win_over_those_of_the_testbed(bed: Testbed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UCX_TLS", "all")
    result = bed.run(["sh", "-c", "echo $UCX_TLS $OMPI_MCA_btl $OMPI_MCA_pml"], env={"OMPI_MCA_btl": "self"})
    assert result.stdout == "all self ob1\n"


@needs_namespaces
@pytest.mark.parametrize(
    ("sender", "receiver", "rate"), [("h1", "h2", 50), ("h1", "h3", 40), ("h3", "h1", 20), ("h2", "h4", 30)]
)
def test_a_tcp_stream_gets_the_rate_of_the_slowest_link(
    bed: Testbed, tmp_path: Path, sender: str, receiver: str, rate: float
) -> None:
    assert 0.85 < stream_rates(bed, tmp_path, [(sender, receiver)])[receiver] / rate <= 1.0


@needs_namespaces
def test_both_directions_of_a_cable_have_their_rate_at_once(bed: Testbed, tmp_path: Path) -> None:
    rates = stream_rates(bed, tmp_path, [("h1", "h2"), ("h2", "h1")])
    assert 0.8 < rates["h1"] / 50 <= 1.0
    assert 0.8 < rates["h2"] / 50 <= 1.0


@needs_namespaces
def test_counters_tell_which_links_carried_the_bytes(bed: Testbed, network: Network, tmp_path: Path) -> None:
    script = tmp_path / "stream.py"
    script.write_text(STREAM)
    command = f"ssh h4 {PYTHON} {script} receive h4 5000 & {PYTHON} {script} send h4 5000; wait"
    result = bed.run(["sh", "-c", command], timeout=30)
    route = network.route(0, 3)
    away = {index for index in range(len(network.links)) if "h2" in (network.nodes[network.links[index].source].name,)}
    on_route = [result.link_bytes[index] for index in route]
    assert min(on_route) > 1_000_000
    assert all(result.link_bytes[index] == 0 for index in away)
    assert result.bytes_crossed == sum(result.link_bytes) >= sum(on_route)


@needs_namespaces
def test_two_testbeds_do_not_see_each_other(network: Network, tmp_path: Path) -> None:
    with Testbed(network) as one, Testbed(network) as two:
        rates: dict[str, float] = {}

        def work(name: str, bed: Testbed) -> None:
            folder = tmp_path / name
            folder.mkdir()
            rates[name] = stream_rates(bed, folder, [("h1", "h3")])["h3"]

        threads = [threading.Thread(target=work, args=(name, bed)) for name, bed in (("one", one), ("two", two))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(0.8 < rates[name] / 40 <= 1.0 for name in ("one", "two"))
        assert one.run(["sh", "-c", "touch /dev/shm/mine; ls /dev/shm"]).stdout.split() == ["hocket", "mine", "tmp"]
        assert two.run(["ls", "/dev/shm"]).stdout.split() == ["hocket", "tmp"]


@needs_namespaces
def test_what_a_command_leaves_is_gone_when_it_ends(bed: Testbed) -> None:
    bed.run(["sh", "-c", "sleep 1000 & ssh h2 'setsid sleep 1000' & touch $TMPDIR/x /dev/shm/y; sleep 0.3"], timeout=20)
    result = bed.run(["sh", "-c", "ls $TMPDIR /dev/shm; pgrep sleep"])
    assert result.stdout.split() == ["/dev/shm:", "hocket", "tmp", "/dev/shm/tmp:"]


@needs_namespaces
def test_a_command_that_hangs_is_killed_with_everything(bed: Testbed) -> None:
    with pytest.raises(Error, match="did not end within 0.5 s"):
        bed.run(["sh", "-c", "trap '' TERM INT; sleep 4321 & sleep 4321"], timeout=0.5)
    assert not processes_with("sleep 4321")
    assert bed.run(["true"]).returncode == 0  # the testbed still works


CALLER = """
import sys, threading
from hocket.testbed import Testbed
from hocket.testbed.layout import Layout
import json
with Testbed(Layout.from_json(json.load(open(sys.argv[1])))) as bed:
    print("up", flush=True)
    bed.run(["sh", "-c", "ssh h2 'setsid sleep 98765' & sleep 98765"])
"""


def start_caller(network: Network, folder: Path) -> subprocess.Popen[str]:
    layout = folder / "layout.json"
    layout.write_text(json.dumps(make_layout(network).to_json()))
    command = [sys.executable, "-c", CALLER, str(layout)]
    caller = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    assert caller.stdout.readline() == "up\n"
    assert eventually(lambda: len(processes_with("sleep 98765")) >= 3)
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
    assert eventually(lambda: not processes_with("sleep 98765"))
    assert eventually(lambda: not made & namespaces_in_use())
    _, errors = caller.communicate(timeout=10)
    assert victim == "caller" or "the testbed ended unexpectedly" in errors
    assert eventually(lambda: not Path(f"/proc/{supervisor}").exists())


@needs_namespaces
def test_interrupt_ends_the_command_and_the_testbed(network: Network, tmp_path: Path) -> None:
    caller = start_caller(network, tmp_path)
    caller.send_signal(signal.SIGINT)
    _, errors = caller.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors
    assert not processes_with("sleep 98765")


@needs_namespaces
def test_a_testbed_started_in_a_thread_outlives_the_thread(network: Network) -> None:
    beds: list[Testbed] = []
    thread = threading.Thread(target=lambda: beds.append(Testbed(network)))
    thread.start()
    thread.join()
    time.sleep(0.2)
    with beds[0] as bed:
        assert bed.run(["hostname"]).stdout == "h1\n"


@needs_namespaces
def test_a_named_testbed_stays_until_it_is_taken_down(network: Network) -> None:
    name = f"test-{os.getpid()}"
    with Testbed(network, name=name):
        pass
    try:
        assert name in names()
        with pytest.raises(Error, match="already up"):
            Testbed(network, name=name)
        with Testbed.attach(name) as bed, Testbed.attach(name) as other:
            assert bed.run(["hostname"]).stdout == "h1\n"
            thread = threading.Thread(target=lambda: bed.run(["sleep", "1"]))
            thread.start()
            time.sleep(0.3)
            with pytest.raises(Error, match="busy with: sleep 1"):
                other.run(["true"])
            thread.join()
    finally:
        Testbed.attach(name).down()
    assert name not in names()
    with pytest.raises(Error, match="no testbed named"):
        Testbed.attach(name)


@needs_namespaces
@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        (["no-such-program"], {}, "command not found: 'no-such-program'"),
        (["/etc/passwd"], {}, "command not found: '/etc/passwd'"),
        (["true"], {"host": "h9"}, "the testbed has no host 'h9'"),
        (["true"], {"cwd": "/no/such/folder"}, "cannot start 'true' on host h1"),
    ],
)
def test_commands_that_cannot_start(bed: Testbed, command: list[str], options: dict[str, str], message: str) -> None:
    with pytest.raises(Error, match=message):
        bed.run(command, **options)  # type: ignore[arg-type]
    assert bed.run(["true"]).returncode == 0


@needs_namespaces
@pytest.mark.skipif(os.geteuid() != 0, reason="the tests run as an ordinary user already")
def test_an_ordinary_user_needs_no_root(network: Network, tmp_path: Path) -> None:
    setpriv = shutil.which("setpriv")
    site = next(path for path in sys.path if (Path(path) / "pyroute2").is_dir())
    package = Path(__file__).resolve().parents[2] / "python"
    as_nobody = [str(setpriv), "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", PYTHON]
    if setpriv is None or subprocess.run([*as_nobody, "-c", ""], check=False, capture_output=True).returncode != 0:
        pytest.skip(f"user nobody cannot run {PYTHON} by setpriv here")
    home = Path("/tmp") / f"hocket-test-home-{os.getpid()}"
    home.mkdir(mode=0o755)
    try:
        (home / "layout.json").write_text(json.dumps(make_layout(network).to_json()))
        (home / "stream.py").write_text(STREAM)
        (home / "try.py").write_text(
            "import json, os, sys\n"
            "from hocket.testbed import Testbed, available\n"
            "from hocket.testbed.layout import Layout\n"
            "assert os.getuid() == 65534 and available() == (True, ''), available()\n"
            "with Testbed(Layout.from_json(json.load(open('layout.json')))) as bed:\n"
            "    script = os.path.abspath('stream.py')\n"
            f"    stream = f'ssh h3 {PYTHON} {{script}} receive h3 5000 & {PYTHON} {{script}} send h3 5000; wait'\n"
            "    result = bed.run(['sh', '-c', f'hostname; id -u; {stream}'], timeout=30)\n"
            "    print(result.stdout, result.stderr)\n"
        )
        os.chown(home, 65534, 65534)
        environment = {"HOME": str(home), "PATH": os.defpath, "PYTHONPATH": f"{package}{os.pathsep}{site}"}
        command = [*as_nobody, "try.py"]
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        shutil.rmtree(home)
    if "refuses namespaces" in done.stderr:
        pytest.skip(f"user namespaces are refused: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert words[:3] == ["h1", "0", "h3"], done.stdout
    assert 0.85 < float(words[3]) / 40 <= 1.0


def changed(old: str, new: str) -> Network:
    assert old in NETWORK
    return Network.from_text(NETWORK.replace(old, new), "changed.toml")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (lambda: changed('bandwidth_back = "20 Mbit/s"', 'duplex = "half"'), "half duplex"),
        (lambda: changed('"h2"', '"h 2"'), "'h 2' cannot be a host name"),
        (lambda: changed('"h2"', '"H1"'), "differ in case only"),
        (lambda: Network.generate("star:200", bandwidth="1 Gbit/s"), "at most 128 hosts"),
    ],
)
def test_networks_that_cannot_be_emulated(network: object, message: str) -> None:
    assert callable(network)
    with pytest.raises(InvalidInput, match=message) as caught:
        make_layout(network())
    assert caught.value.hint
