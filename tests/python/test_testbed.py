# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The emulated cluster: hosts, rates, isolation, and that nothing survives it."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hocket import Error, InvalidInput, Network
from hocket.testbed import Testbed, available
from hocket.testbed.layout import make_layout
from mpis import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]

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
    result = bed.run(["sh", "-c", "\n".join([*lines, "wait"])], timeout=LIMIT_S)
    assert result.returncode == 0, result.stderr
    words = result.stdout.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


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
def test_the_machine_needs_no_ssh(bed: Testbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("sh", "nsenter", "hostname"):
        (tmp_path / program).symlink_to(str(shutil.which(program)))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("ssh") is None
    assert bed.run(["ssh", "h2", "hostname"]).stdout == "h2\n"


@needs_namespaces
def test_a_time_limit_may_be_of_months(bed: Testbed) -> None:
    """One call of poll(2) waits 24 days at most."""
    assert bed.run(["sh", "-c", "echo ended"], timeout=100 * 86400.0).stdout == "ended\n"


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
    assert 0.85 < stream_rates(bed, tmp_path, [(sender, receiver)])[receiver] / rate <= 1.05


@needs_namespaces
def test_both_directions_of_a_cable_have_their_rate_at_once(bed: Testbed, tmp_path: Path) -> None:
    rates = stream_rates(bed, tmp_path, [("h1", "h2"), ("h2", "h1")])
    assert 0.8 < rates["h1"] / 50 <= 1.05
    assert 0.8 < rates["h2"] / 50 <= 1.05


@needs_namespaces
def test_latency_is_emulated_or_said_not_to_be(tmp_path: Path) -> None:
    network = changed('bandwidth_back = "20 Mbit/s"', 'latency = "20 ms"')
    script = tmp_path / "connect.py"
    script.write_text(
        "import socket, time\nstart = time.monotonic()\n"
        "try: socket.create_connection(('h3', 9))\nexcept ConnectionRefusedError: print(time.monotonic() - start)\n"
    )
    with Testbed(network) as bed:
        round_trip_s = float(bed.run([PYTHON, str(script)], timeout=LIMIT_S).stdout)
        assert round_trip_s >= 0.04 or any("lacks sch_netem" in note for note in bed.notes)


@needs_namespaces
def test_counters_tell_which_links_carried_the_bytes(bed: Testbed, network: Network, tmp_path: Path) -> None:
    script = tmp_path / "stream.py"
    script.write_text(STREAM)
    command = f"ssh h4 {PYTHON} {script} receive h4 5000 & {PYTHON} {script} send h4 5000; wait"
    result = bed.run(["sh", "-c", command], timeout=LIMIT_S)
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
        assert all(0.8 < rates[name] / 40 <= 1.05 for name in ("one", "two"))
        assert one.run(["sh", "-c", "touch /dev/shm/mine; ls /dev/shm"]).stdout.split() == ["hocket", "mine", "tmp"]
        assert two.run(["ls", "/dev/shm"]).stdout.split() == ["hocket", "tmp"]


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
            "    result = bed.run(['sh', '-c', f'hostname; id -u; {stream}'], timeout=250)\n"
            "    print(result.stdout, result.stderr)\n"
        )
        os.chown(home, 65534, 65534)
        environment = {"HOME": str(home), "PATH": os.defpath, "PYTHONPATH": f"{package}{os.pathsep}{site}"}
        command = [*as_nobody, "try.py"]
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    finally:
        shutil.rmtree(home)
    if "refuses namespaces" in done.stderr:
        pytest.skip(f"user namespaces are refused: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert words[:3] == ["h1", "0", "h3"], done.stdout
    assert 0.85 < float(words[3]) / 40 <= 1.05


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
        (lambda: Network.generate("star:2", bandwidth="1 bit/s"), "too slow"),
        (lambda: Network.generate("star:2", bandwidth="1 Gbit/s", latency="300 s"), "too slow"),
    ],
)
def test_networks_that_cannot_be_emulated(network: object, message: str) -> None:
    assert callable(network)
    with pytest.raises(InvalidInput, match=message) as caught:
        make_layout(network())
    assert caught.value.hint


@pytest.mark.parametrize("name", ["dual", "two_clusters", "unequal"])
def test_the_clusters_of_the_benchmarks_can_be_emulated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "perf"))
    clusters = importlib.import_module("clusters")
    assert len(make_layout(getattr(clusters, name)(4).network()).hosts) in (4, 8)
