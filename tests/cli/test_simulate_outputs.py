# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket simulate` writes: folders and traces, of patterns, schedules and programs."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hocket import Error, Fabric, Schedule
from hocket.cli.simulate.outputs import checked_outputs
from hocket.io.files import whole_folder
from hocket.simulation.patterns import Pattern
from hocket.simulation.record import recorded_traffic
from hocket.simulation.traffic import RunOptions, simulate_pattern
from mpis import LIMIT_S

FILES = {"result.json", "result.npz", "report.html", "trace.json"}
RING = ("random-ring", "--network", "fat-tree:4x4x8", "--messages", "4", "--bytes-spread", "0.5")
PROGRAM = "num_ranks 2\nrank 0 {\nl1: send 1000b to 1 tag 0\n}\nrank 1 {\nl1: recv 1000b from 0 tag 0\n}\n"


def checked(folder: Path) -> dict[str, Any]:
    """The arrays and numbers of a folder agree with each other."""
    assert {path.name for path in folder.iterdir()} == FILES
    values: dict[str, Any] = json.loads((folder / "result.json").read_text())
    assert values["format"] == "hocket.simulation/1"
    one = values["results"][0] if "results" in values else values
    arrays = np.load(folder / "result.npz")
    assert np.nanmax(arrays["finish_s"]) == one["makespan_s"]
    by_row = np.bincount(arrays["link_row"], weights=arrays["link_bytes"], minlength=len(arrays["row_group"]))
    np.testing.assert_allclose(arrays["row_bin_bytes"].sum(axis=1), by_row, rtol=1e-5)
    assert arrays["row_group"].max() < len(arrays["group_names"])
    assert arrays["link_bandwidth_bytes_per_s"].shape == arrays["link_bytes"].shape == arrays["link_row"].shape
    assert json.loads((folder / "trace.json").read_text())["otherData"]["makespan_s"] == one["makespan_s"]
    assert one.get("pattern", one.get("name")) in (folder / "report.html").read_text()
    return values


def test_a_folder_of_a_pattern(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    done = hocket_cli("simulate", *RING, "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.rstrip().endswith("out/report.html")
    values = checked(tmp_path / "out")
    printed = json.loads(hocket_cli("simulate", *RING, "--json", "--links").stdout)
    measured = {"format", "setup_s", "solve_s", "cpu_s", "peak_rss_bytes", "rates"}
    assert {k: v for k, v in values.items() if k not in measured} == {
        k: v for k, v in printed.items() if k not in measured
    }
    # a second time into the same folder
    assert hocket_cli("simulate", *RING, "-o", "out", "--seed", "2").returncode == 0
    assert checked(tmp_path / "out")["makespan_s"] != values["makespan_s"]


@pytest.mark.parametrize("what", ["bcast:binomial", "allreduce:ring", "program.goal", "schedule.json"])
def test_a_folder_of_a_program(hocket_cli: Callable[..., Any], tmp_path: Path, what: str) -> None:
    (tmp_path / "program.goal").write_text(PROGRAM)
    (tmp_path / "schedule.json").write_text(Schedule.build("bcast", "chain", 4).to_json())
    size = () if what == "program.goal" else ("--bytes", "1MB")
    done = hocket_cli("simulate", what, "--network", "star:4", *size, "-o", "out", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    values = checked(tmp_path / "out")
    printed = json.loads(done.stdout)
    assert printed["results"] == values["results"]
    assert printed.keys() >= {"network", "sharing", "completed", "setup_s", "solve_s", "peak_rss_bytes"}
    assert values["results"][0].keys() >= {"makespan_s", "mean_finish_s", "finish_quantiles_s", "events", "links"}


def test_what_one_piece_hides_is_told(hocket_cli: Callable[..., Any]) -> None:
    told = "(in 1 segment: --segments N cuts it into N; `hocket schedule bcast` finds the best)"
    where = ("--network", "star:4", "--bytes", "1MB")
    for what, more, expected in (
        ("bcast", (), True),
        ("bcast", ("--segments", "4"), False),
        ("bcast:pipelined_chain", (), True),
        ("bcast:linear", (), False),
    ):
        assert (told in hocket_cli("simulate", what, *where, *more).stdout) == expected, what
    assert "as if no link were shared" in hocket_cli("cost", "bcast", *where).stdout


def test_a_folder_holds_one_algorithm(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    done = hocket_cli("simulate", "bcast", "--network", "star:4", "--bytes", "1MB", "-o", "out")
    assert done.returncode == 2
    assert "holds one simulation" in done.stderr
    assert "hint: name one: bcast:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_trace_alone(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    done = hocket_cli("simulate", *RING, "--trace-json", "trace.json", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 4 * 64


def test_reference_of_a_program(hocket_cli: Callable[..., Any]) -> None:
    arguments = ("simulate", "alltoall:linear", "--network", "fat-tree:2x2x4", "--bytes", "1MB", "--json")
    fast, slow = (json.loads(hocket_cli(*arguments, *more).stdout) for more in ((), ("--reference",)))
    assert slow["reference"] is True
    assert slow["results"][0]["makespan_s"] == pytest.approx(fast["results"][0]["makespan_s"], rel=1e-9)


def test_routing_of_a_program(hocket_cli: Callable[..., Any]) -> None:
    arguments = ("simulate", "alltoall:linear", "--network", "fat-tree:2x2x4", "--bytes", "1MB", "--json")
    assert hocket_cli(*arguments, "--routing", "ecmp", "--seed", "3").returncode == 0
    done = hocket_cli(*arguments, "--seed", "3")
    assert done.returncode == 2
    assert "seed" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("random-ring", "--network", "star:1"),
        ("random-ring", "--network", "star:4", "--bytes", "0 B"),
        ("shift", "--network", "star:4", "--distance", "4"),
        ("all-to-all", "--network", "star:1"),
        ("incast", "--network", "star:3", "--latency", "5 us", "--bytes", "0 B"),
    ],
)
def test_traffic_that_takes_no_bandwidth(
    hocket_cli: Callable[..., Any], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = hocket_cli("simulate", *arguments, "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


@pytest.mark.parametrize("latency", ["0 s", "5 us"])
@pytest.mark.parametrize("what", ["incast", "bcast:linear"])
def test_links_without_a_limit(hocket_cli: Callable[..., Any], tmp_path: Path, what: str, latency: str) -> None:
    host = f'[[node]]\nname = "h0"\nkind = "host"\nranks = 3\nmemory_latency = "{latency}"\n'
    (tmp_path / "fast.toml").write_text(f'format = "hocket.network/1"\nname = "fast"\n{host}')
    done = hocket_cli("simulate", what, "--network", "fast.toml", "--bytes", "1kB", "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def test_a_folder_that_cannot_be_written(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = hocket_cli("simulate", *RING, "-o", "file")
    assert done.returncode == 2
    assert "file: is not a folder" in done.stderr
    assert hocket_cli("simulate", *RING, "-o", "out").returncode == 0
    (tmp_path / "out" / "trace.json").unlink()
    (tmp_path / "out" / "trace.json").mkdir()
    for output, part in (
        ("out", "out/trace.json: is a folder"), ("", "the name is empty"), ("x" * 300, "File name too long"),
        ("no/such", "no: no such folder"), ("dangling", "dangling: is not a folder"),
    ):  # fmt: skip
        (tmp_path / "dangling").is_symlink() or (tmp_path / "dangling").symlink_to("nowhere")
        for option in ("-o", "--trace-json") if output in ("", "x" * 300, "no/such") else ("-o",):
            done = hocket_cli("simulate", *RING, option, output)
            assert done.returncode == 2, done.stderr
            assert part in done.stderr
            assert "hint: " in done.stderr
            assert len(done.stderr.splitlines()) == 2


def test_a_foreign_folder_is_left_alone(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    other = tmp_path / "out"
    other.mkdir()
    for text in ("", "{}", '{"format": "hocket.tune/1"}', '{"mine": "hocket.simulation/1"}'):
        (other / "result.json").write_text(text)
        done = hocket_cli("simulate", *RING, "-o", "out")
        assert done.returncode == 2
        assert "out: the folder holds files that are no result of hocket simulate: result.json" in done.stderr
        assert (other / "result.json").read_text() == text
    (other / "result.json").unlink()  # an empty folder will do
    assert hocket_cli("simulate", *RING, "-o", "out").returncode == 0
    checked(other)


def test_no_link_is_followed(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    assert hocket_cli("simulate", *RING, "-o", "out").returncode == 0
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "out/report.html").unlink()
    (tmp_path / "out/report.html").symlink_to(precious)
    assert hocket_cli("simulate", *RING, "-o", "out").returncode == 0
    checked(tmp_path / "out")
    assert not (tmp_path / "out/report.html").is_symlink()
    assert precious.read_text() == "mine"
    earlier = (tmp_path / "out/result.json").rename(tmp_path / "earlier.json")
    (tmp_path / "out/result.json").symlink_to(earlier)
    done = hocket_cli("simulate", *RING, "-o", "out")
    assert done.returncode == 2
    assert "no result of hocket simulate" in done.stderr


class Full(Exception):
    pass


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), Full()])
def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path, there: bool, failure: BaseException) -> None:
    out = tmp_path / "out"
    if there:
        out.mkdir()
        (out / "a").write_text("old")

    def write(text: str, fails: bool = False) -> None:
        with whole_folder(out) as aside:
            (aside / "a").write_text(text)
            (aside / "b").write_text(text)
            if fails:
                raise failure

    with pytest.raises(type(failure)):
        write("new", fails=True)
    assert sorted(path.name for path in tmp_path.rglob("*")) == (["a", "out"] if there else [])
    write("new")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "out"]
    assert (out / "a").read_text() == (out / "b").read_text() == "new"


def test_a_signal_waits_for_the_end_of_the_renaming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    replace = Path.replace

    def slow(self: Path, target: Path) -> Path:
        os.kill(os.getpid(), signal.SIGINT)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", slow)

    def write() -> None:
        with whole_folder(tmp_path / "out") as aside:
            (aside / "a").write_text("")
            (aside / "b").write_text("")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "out"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_is_left_when_ended_while_writing(tmp_path: Path, number: signal.Signals) -> None:
    """A large folder takes a while to write; its scratch folder tells when that begins."""
    hocket = str(Path(sys.executable).with_name("hocket"))
    arguments = ["simulate", "random-ring", "--network", "fat-tree:16x16x32", "--messages", "9", "-o", "out"]
    process = subprocess.Popen([hocket, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        while process.poll() is None and not list(tmp_path.glob(".hocket-*/new")):
            time.sleep(0.005)
        process.send_signal(number)
        _, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    assert process.returncode == 128 + number, err
    assert list(tmp_path.iterdir()) == []


HALF_DUPLEX = """format = "hocket.network/1"
node = [{name = "a", kind = "host"}, {name = "b", kind = "host"}, {name = "s", kind = "switch"}]
[[link]]
between = ["a", "s"]
bandwidth = "1 GB/s"
duplex = "half"
[[link]]
between = ["s", "b"]
bandwidth = "1 GB/s"
"""


def test_a_full_half_duplex_cable_is_full_once(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "half.toml").write_text(HALF_DUPLEX)
    done = hocket_cli("simulate", "shift", "--network", "half.toml", "--messages", "4", "--json", "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)["bottlenecks"]
    assert found == [
        {"source": "a", "target": "s", "half_duplex": True, "bytes": 8e6, "utilisation": pytest.approx(1)},
        {"source": "s", "target": "b", "half_duplex": False, "bytes": 4e6, "utilisation": pytest.approx(0.5)},
        {"source": "b", "target": "s", "half_duplex": False, "bytes": 4e6, "utilisation": pytest.approx(0.5)},
    ]
    checked(tmp_path / "out")
    arrays = np.load(tmp_path / "out/result.npz")
    assert arrays["link_row"].tolist() == [0, 0, 1, 2]
    assert arrays["link_bytes"].tolist() == [4e6] * 4
    assert list(arrays["group_names"]) == ["hosts → level 1", "level 1 → hosts", "hosts ↔ level 1"]
    counters: dict[str, float] = {}
    for event in json.loads((tmp_path / "out/trace.json").read_text())["traceEvents"]:
        if event["ph"] == "C":
            counters[event["name"]] = max(counters.get(event["name"], 0), event["args"]["percent"])
    assert counters == {"a ↔ s": pytest.approx(100), "s → b": pytest.approx(50), "b → s": pytest.approx(50)}
    done = hocket_cli("simulate", "alltoall:linear", "--network", "half.toml", "--bytes", "100 MB", "--json")
    (first, *others) = json.loads(done.stdout)["results"][0]["links"]
    assert (first["source"], first["half_duplex"], first["bytes"]) == ("a", True, 2e8)
    assert first["use"] == pytest.approx(1, rel=1e-3)
    assert [one["use"] for one in others] == [pytest.approx(0.5, rel=1e-3)] * 2


@pytest.mark.parametrize("more", [(), ("--json",)])
@pytest.mark.parametrize("redirected", [">&-", ">&- 2>&- <&-", "| head -1 | head -1 >&2", "| true"])
def test_a_reader_that_leaves(tmp_path: Path, redirected: str, more: tuple[str, ...]) -> None:
    hocket = Path(sys.executable).with_name("hocket")
    command = f"{hocket} simulate {' '.join((*RING, *more))} {redirected}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == ("2>" not in redirected and "head" in redirected)
    done = subprocess.run(["bash", "-c", f"{hocket} simulate shift -N star:0 2>&-"], cwd=tmp_path, check=False)
    assert done.returncode == 2


def test_a_table_behind_other_output_does_not_end_the_process_where_the_reader_has_left() -> None:
    program = "import os; from hocket.cli.common import print_table; print('before'); print_table(['a'], [['b']])"
    reader, writer = os.pipe()
    os.close(reader)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; os._exit(7)"], stdout=writer, stderr=subprocess.PIPE, env=env, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (7, b"")


def test_a_full_disk(tmp_path: Path) -> None:
    command = f"{Path(sys.executable).with_name('hocket')} simulate {' '.join(RING)} > /dev/full"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        1,
        "error: standard output: No space left on device",
    )
    assert "make room" in done.stderr


def _in_a_small_file_system(folder: Path, size: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `hocket simulate` beside a file system `small` of its own."""
    (folder / "small").mkdir(exist_ok=True)
    hocket = Path(sys.executable).with_name("hocket")
    mount = f"mount -t tmpfs -o {size} none small && exec {hocket} simulate {' '.join(arguments)}"
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_S)


@pytest.mark.parametrize("option", ["-o small/out", "--trace-json small/trace.json"])
@pytest.mark.parametrize(("size", "reason"), [("size=4k", "No space left"), ("ro", "Read-only file system")])
def test_what_cannot_be_written_is_found_before(tmp_path: Path, option: str, size: str, reason: str) -> None:
    endless = ("all-to-all", "--network", "fat-tree:64x64x64", "--messages", "1000")
    done = _in_a_small_file_system(tmp_path, size, *endless, option)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert f"cannot be written: {reason}" in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("option", ["-o small/out", "--trace-json small/trace.json"])
def test_a_result_that_cannot_be_written_is_printed(tmp_path: Path, option: str) -> None:
    many = ("random-ring", "--network", "fat-tree:4x4x8", "--messages", "400")
    done = _in_a_small_file_system(tmp_path, "size=80k", *many, option, "--json")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["completed"] is True
    assert "cannot be written: No space left on device" in done.stderr
    assert "hint: what was found is printed above" in done.stderr
    assert "makespan" in _in_a_small_file_system(tmp_path, "size=80k", *many, option).stdout


@pytest.mark.parametrize("there", [False, True])
def test_of_two_runs_at_once_the_later_one_says_so(tmp_path: Path, there: bool) -> None:
    fabric = Fabric.generate("star:4")
    done = simulate_pattern(Pattern("shift"), lambda: fabric, RunOptions(record=True))
    folder = tmp_path / "out"
    if there:
        folder.mkdir()
    first, second = checked_outputs(folder, None), checked_outputs(folder, None)
    first.write(lambda: recorded_traffic(done, done.to_dict()))
    first.finish(quiet=True)
    content = (folder / "result.json").read_text()
    second.write(lambda: recorded_traffic(done, done.to_dict() | {"pattern": "the second"}))
    with pytest.raises(Error, match="another run has written there meanwhile"):
        second.finish(quiet=True)
    assert (folder / "result.json").read_text() == content
    checked(folder)
    again = checked_outputs(folder, None)  # over an earlier result, as always
    again.write(lambda: recorded_traffic(done, done.to_dict()))
    again.finish(quiet=True)
    assert list(tmp_path.iterdir()) == [folder]


def test_not_enough_memory(tmp_path: Path) -> None:
    hocket = Path(sys.executable).with_name("hocket")
    command = f"ulimit -v 1500000; {hocket} simulate all-to-all --network star:4000000 --in-flight 100"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, "error: not enough memory")
    assert "smaller network" in done.stderr
