# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket sweep`: the same rows on any number of workers, on Dask, after kills; failures are named; what is shown."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas
import psutil
import pytest
from distributed import Client, LocalCluster
from filelock import FileLock

from hocket import CostModel, Network, Schedule, lower, simulate
from hocket.sweep import frame
from hocket.sweep.dask_engine import inputs_plugin
from hocket.sweep.files import digest_of_path, packed
from mpis import LIMIT_S, LONG

HOCKET = str(Path(sys.executable).with_name("hocket"))
CAMPAIGN = """
format = "hocket.campaign/1"
request = "simulate"
[product]
network.from = ["fat-tree:4x4"]
network.scale = [1, 0.5]
what = ["bcast:binomial", "allreduce:recursive_doubling", "allreduce:ring"]
bytes = { from = 1000, to = 20000, step = 1000 }
[[show]]
kind = "crossover"
title = "Best"
x = "bytes"
y = "network.scale"
by = "what"
where = { what = "allreduce:ring" }
"""
TASKS = 120


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("campaign") / "c.toml"
    path.write_text(CAMPAIGN)
    return path


@pytest.fixture(scope="module")
def expected(campaign: Path) -> pandas.DataFrame:
    """Of one worker, without interruption."""
    folder = campaign.with_name("alone")
    subprocess.run([HOCKET, "sweep", str(campaign), "-o", str(folder), "--workers", "1"], check=True, timeout=LIMIT_S)
    return frame(folder)


def test_rows_are_what_each_simulation_gives(expected: pandas.DataFrame) -> None:
    assert len(expected) == TASKS
    assert list(expected["task"]) == list(range(TASKS))
    for row in expected.iloc[::17].to_dict("records"):
        network = Network.generate("fat-tree:4x4", bandwidth=1.25e8 * row["network.scale"])
        program = lower(Schedule.build(*row["what"].split(":"), network.num_ranks), row["bytes"])
        assert simulate(program, network, CostModel.of(network)).makespan_s == row["makespan_s"]


@contextmanager
def running(*command: str | Path, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(list(map(str, command)), **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def parts(folder: Path) -> int:
    return len(list(folder.glob("rows/part-*.parquet")))


def wait_until(condition: Callable[[], object]) -> None:
    end_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_nothing_is_lost_at_kills(campaign: Path, expected: pandas.DataFrame, tmp_path: Path) -> None:
    """Of the command, at random times; and once of a worker. Temporary files do not stay either."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    folder, temporary = tmp_path / "killed", Path(tempfile.mkdtemp(dir="/tmp"))  # short: of sockets
    environment = {**os.environ, "TMPDIR": str(temporary)}
    processes: list[psutil.Process] = []
    for kill in range(4):
        before = parts(folder)
        command = (HOCKET, "sweep", campaign, "-o", folder, "--resume", "--workers", "2")
        with running(*command, env=environment) as process:
            wait_until(lambda before=before, process=process: parts(folder) > before or process.poll() is not None)
            time.sleep(chance.random() * 0.3)
            if process.poll() is not None:
                break
            started = psutil.Process(process.pid).children()  # that forks the workers, and a tracker of Python's
            processes += (below := psutil.Process(process.pid).children(recursive=True))
            forked = [one for one in below if one not in started]
            if kill == 1 and forked:
                forked[-1].kill()
                time.sleep(0.1)
    done = subprocess.run(
        [HOCKET, "sweep", str(campaign), "-o", str(folder), "--resume", "--json"],
        check=True, capture_output=True, timeout=LIMIT_S,
    )  # fmt: skip
    values = json.loads(done.stdout)
    assert values["failed"] == []
    assert values["ran"] + values["kept"] == TASKS
    pandas.testing.assert_frame_equal(frame(folder), expected, check_exact=True)
    wait_until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes))
    assert [one.name for one in temporary.iterdir() if one.suffix not in (".turn", ".tasks")] == []
    shutil.rmtree(temporary)


def test_only_what_changed_runs_again(tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    network = tmp_path / "n.toml"
    network.write_text(Network.generate("star:4").to_toml())
    text = (
        'format = "hocket.campaign/1"\nrequest = "cost"\n[fixed]\ncollective = "bcast"\n[product]\n'
        'network = ["n.toml", "star:8"]\nbytes = [1000, 2000]\n'
    )
    (tmp_path / "c.toml").write_text(text)
    assert hocket_cli("sweep", "c.toml").returncode == 0
    again = hocket_cli("sweep", "c.toml")
    assert again.returncode == 2
    assert "--resume" in again.stderr
    first = frame(tmp_path / "c.sweep")
    network.write_text(Network.generate("star:4", bandwidth="2 Gbit/s").to_toml())
    (tmp_path / "c.toml").write_text(text.replace("[1000, 2000]", "[2000]"))
    done = hocket_cli("sweep", "c.toml", "--resume", "--json")
    values = json.loads(done.stdout)
    assert (values["ran"], values["kept"]) == (1, 1)
    assert "c.sweep: rows of 3 tasks stay that c.toml does not have" in done.stderr
    second = frame(tmp_path / "c.sweep")
    assert sorted(set(second["bytes"])) == [2000]
    star = [one[one.network == "star:8"].hockney_s.tolist() for one in (first[first.bytes == 2000], second)]
    assert star[0] == star[1]
    changed = [one[one.network == "n.toml"].hockney_s.min() for one in (first[first.bytes == 2000], second)]
    assert changed[1] < changed[0]
    (tmp_path / "d.toml").write_text(text.replace("cost", "simulate").replace("collective", "what"))
    before = (tmp_path / "c.sweep/campaign.toml").read_text()
    other = hocket_cli("sweep", "d.toml", "--resume", "-o", "c.sweep")
    assert other.returncode == 2
    assert "c.sweep: has rows of another campaign: request is 'cost' there, 'simulate' here" in other.stderr
    assert (tmp_path / "c.sweep/campaign.toml").read_text() == before
    assert hocket_cli("sweep", "c.toml", "--resume").returncode == 0  # nothing is locked, nothing is lost


def test_a_damaged_file_is_named_and_the_rest_is_kept(
    campaign: Path, expected: pandas.DataFrame, tmp_path: Path, hocket_cli: Callable[..., Any]
) -> None:
    folder = tmp_path / "rows"
    assert hocket_cli("sweep", str(campaign), "-o", str(folder), "--workers", "1").returncode == 0
    parts = sorted((folder / "rows").glob("part-*"))
    whole, before = parts[0].read_bytes(), parts[1:]
    for content in (whole[: len(whole) // 2], b""):
        parts[0].write_bytes(content)
        for command in (["run", str(campaign), "-o", str(folder), "--resume"], ["show", str(folder)]):
            done = hocket_cli("sweep", *command)
            assert done.returncode == 2, done.stdout + done.stderr
            assert f"{parts[0]}: damaged" in done.stderr
            assert "Traceback" not in done.stderr
    assert sorted((folder / "rows").glob("part-*"))[1:] == before
    parts[0].rename(tmp_path / "damaged")
    again = hocket_cli("sweep", "run", str(campaign), "-o", str(folder), "--resume", "--json")
    assert json.loads(again.stdout)["ran"] > 0
    pandas.testing.assert_frame_equal(frame(folder), expected, check_exact=True)
    file = folder / "campaign.toml"
    for wrong, message in (("= [", "Invalid statement"), ("title = 'x'", "not as hocket sweep writes it")):
        file.write_text(wrong)
        done = hocket_cli("sweep", "show", str(folder))
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {file}: {message}")


def test_files_of_others_are_not_replaced(campaign: Path, tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    (tmp_path / "campaign.toml").write_text("of another\n")
    done = hocket_cli("sweep", str(campaign), "-o", str(tmp_path))
    assert done.returncode == 2
    assert f"{tmp_path / 'campaign.toml'}: not of hocket sweep" in done.stderr
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("campaign.toml", "of another\n")]


def test_one_command_at_a_time_writes_to_a_folder(
    campaign: Path, tmp_path: Path, hocket_cli: Callable[..., Any]
) -> None:
    with FileLock(tmp_path / ".lock"):
        for more in ([], ["--resume"]):
            done = hocket_cli("sweep", str(campaign), "-o", str(tmp_path), *more)
            assert done.returncode == 2
            assert f"{tmp_path}: another hocket sweep writes there" in done.stderr
    (tmp_path / "other/.lock").mkdir(parents=True)  # as where one may not write, which root may
    done = hocket_cli("sweep", str(campaign), "-o", str(tmp_path / "other"))
    assert done.returncode == 2
    assert f"{tmp_path / 'other'}: cannot be written: Is a directory" in done.stderr


@pytest.mark.parametrize("target", ["missing/folder", "."])
def test_the_folder_may_be_a_link(campaign: Path, tmp_path: Path, target: str, hocket_cli: Callable[..., Any]) -> None:
    folder = tmp_path / "link"
    folder.symlink_to(target)
    done = hocket_cli("sweep", str(campaign), "-o", str(folder), "--workers", "1")
    if target == ".":
        assert done.returncode == 0, done.stderr
        assert len(frame(tmp_path)) == TASKS
    else:
        assert done.returncode == 2
        assert f"{folder}: cannot be made" in done.stderr


def test_failures_are_named_and_the_rest_is_kept(tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    """One task is wrong, and one needs more memory than a worker may have."""
    (tmp_path / "c.toml").write_text(
        'format = "hocket.campaign/1"\nrequest = "simulate"\n[run]\nmemory = "600 MB"\n[fixed]\nbytes = 10\n'
        '[product]\nnetwork = ["star:4", "fat-tree:16x16x8"]\n'
        'what = ["bcast:binomial", "bcast:spiral", "alltoall:linear"]\n'
    )
    done = hocket_cli("sweep", "c.toml", "--workers", "2")
    assert done.returncode == 1
    assert (
        "task 1 (network = star:4, what = bcast:spiral): bcast:spiral: bcast has no algorithm 'spiral'" in done.stderr
    )
    assert "alltoall:linear): " in done.stderr
    assert "3 failed" in done.stdout
    assert list(frame(tmp_path / "c.sweep")["task"]) == [0, 2, 3]
    summary = json.loads((tmp_path / "c.sweep/summary.json").read_text())
    assert [(one["task"], one["attempts"]) for one in summary["failed"]] == [(1, 1), (4, 1), (5, 3)]


def test_memory_that_no_worker_can_do_with_is_refused(tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    (tmp_path / "c.toml").write_text(
        'format = "hocket.campaign/1"\nrequest = "cost"\n[run]\nmemory = "20 MB"\n'
        '[fixed]\ncollective = "bcast"\nnetwork = "star:4"\n[product]\nbytes = [1000, 2000]\n'
    )
    for given, found in ([], "20 MB"), (["--memory", "1 B"], "1 B"):
        done = hocket_cli("sweep", "c.toml", *given)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: memory of a worker: {found}; it needs ")
        assert '\nhint: give more: --memory "' in done.stderr
        assert done.stderr.count("\n") == 2


def test_ctrl_c_ends_all_and_says_so(campaign: Path, tmp_path: Path) -> None:
    folder = tmp_path / "interrupted"
    with running(HOCKET, "sweep", campaign, "-o", folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        wait_until(lambda: parts(folder) > 0 or process.poll() is not None)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT_S)
    if process.returncode != 0:
        assert process.returncode == 130
        assert b"error: interrupted\nhint: the same command with --resume goes on" in errors
        assert b"Traceback" not in errors
    wait_until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in children))


def test_pictures_and_tables(campaign: Path, expected: pandas.DataFrame, hocket_cli: Callable[..., Any]) -> None:
    folder = campaign.with_name("alone")
    assert (folder / "best.png").read_bytes().startswith(b"\x89PNG")
    assert "Best" in (folder / "page.html").read_text()
    done = hocket_cli("sweep", "show", folder, "--kind", "table", "--x", "what", "--by", "network.scale", "--json")
    assert len(json.loads(done.stdout)["rows"]) == TASKS
    done = hocket_cli("sweep", "show", folder, "--kind", "heat", "--x", "bytes", "--y", "speed")
    assert done.returncode == 2
    assert "no column 'speed'" in done.stderr
    assert hocket_cli("sweep", "show", campaign.parent).returncode == 2
    for condition, rows in (("what=allreduce:ring", TASKS // 3), ("network.scale=1", TASKS // 2), ("bytes=2000", 6)):
        for kind in ((), ("--kind", "table", "--x", "what", "--by", "network.scale")):
            done = hocket_cli("sweep", "show", folder, *kind, "--where", condition, "--json")
            assert len(json.loads(done.stdout)["rows"]) == rows
    for condition, message in (("what=spiral", "bcast:binomial"), ("speed=1", "no such column"), ("what", "no =")):
        done = hocket_cli("sweep", "show", folder, "--where", condition)
        assert done.returncode == 2
        assert message in done.stderr


def test_failed_cables_and_hosts_as_keys_of_their_own(tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    (tmp_path / "c.toml").write_text(
        'format = "hocket.campaign/1"\nrequest = "simulate"\n[fixed]\nnetwork.from = "fat-tree:4x4"\nbytes = 1000\n'
        'what = "bcast:binomial"\n[product]\nnetwork.failed = [[], ["h0-s1.0"]]\n'
        'network.placement = ["block", ["h1", "h2", "h3"]]\n'
    )
    done = hocket_cli("sweep", "c.toml", "--workers", "1")
    summary = json.loads((tmp_path / "c.sweep/summary.json").read_text())
    # Without its only cable h0 is alone.
    assert [one["task"] for one in summary["failed"]] == [2], done.stderr
    assert len(frame(tmp_path / "c.sweep")) == 3


def test_rows_of_patterns_are_the_same_again(tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    (tmp_path / "c.toml").write_text(
        'format = "hocket.campaign/1"\nrequest = "simulate"\n[product]\nnetwork = ["torus:4x4"]\n'
        'what = ["random-permutation", "nearest-neighbour"]\nbytes = [1000, 100000]\n'
    )
    for name in ("a", "b"):
        assert hocket_cli("sweep", "c.toml", "-o", name).returncode == 0
    pandas.testing.assert_frame_equal(frame(tmp_path / "a"), frame(tmp_path / "b"))


@contextmanager
def dask_cluster(folder: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """A scheduler and two workers, each a process of its own; and what kills one of them and starts another."""
    dask = str(Path(sys.executable).with_name("dask"))
    known = folder / "scheduler.json"
    quiet = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "env": {**os.environ, "DASK_LOGGING__DISTRIBUTED": "error"},
    }
    with running(
        dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", known, **quiet
    ):
        wait_until(lambda: known.exists() and known.stat().st_size)
        address = json.loads(known.read_text())["address"]
        worker = (dask, "worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1")
        workers = [subprocess.Popen(worker, **quiet) for _ in range(2)]  # type: ignore[call-overload]

        def replace() -> None:
            workers[0].kill()
            workers.append(subprocess.Popen(worker, **quiet))  # type: ignore[call-overload]

        try:
            yield address, replace
        finally:
            for one in workers:
                one.kill()
                one.wait()


@contextmanager
def local_cluster(folder: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Dask's LocalCluster of two workers with two threads each; it replaces a worker that is killed."""
    with LocalCluster(
        n_workers=2, threads_per_worker=2, dashboard_address=None, local_directory=folder, silence_logs="CRITICAL"
    ) as cluster:
        yield cluster.scheduler_address, lambda: os.kill(cluster.workers[0].pid, signal.SIGKILL)


@pytest.mark.begins_early
@pytest.mark.parametrize(
    "cluster",
    [dask_cluster, pytest.param(local_cluster, marks=pytest.mark.skipif(not LONG, reason="`make test-long` runs it"))],
)
def test_dask_gives_the_same_rows_also_after_kills(
    cluster: Callable[[Path], Any], campaign: Path, expected: pandas.DataFrame, tmp_path: Path
) -> None:
    """A worker is killed, then the client."""
    folder = tmp_path / "dask"
    with cluster(tmp_path) as (address, replace_worker):
        command = (HOCKET, "sweep", campaign, "-o", folder, "--scheduler", address, "--resume")
        with running(*command) as process:
            wait_until(lambda: parts(folder) > 0 or process.poll() is not None)
            replace_worker()
            before = parts(folder)
            wait_until(lambda: parts(folder) > before or process.poll() is not None)
        done = subprocess.run([*map(str, command), "--json"], check=True, capture_output=True, timeout=LIMIT_S)
        with Client(address, set_as_default=False) as client:
            kept = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.worker_plugins))
    values = json.loads(done.stdout)
    # Where the first client has run everything before it was killed, the second one needs no cluster.
    assert values["ran"] == 0 or [name for name in kept if "hocket" in name] == []
    assert values["failed"] == []
    assert values["ran"] + values["kept"] == TASKS
    pandas.testing.assert_frame_equal(frame(folder), expected, check_exact=True)


def test_files_stay_on_a_dask_worker_no_longer_than_their_campaign(tmp_path: Path) -> None:
    file = tmp_path / "p.goal"
    file.write_text("num_ranks 1\nrank 0 {\n}\n")
    sent = packed({str(file): digest_of_path(file)})
    file.unlink()  # as on another machine
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, local_directory=tmp_path, silence_logs="CRITICAL"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        for _ in range(2):  # the second one replaces the first, as that of --resume does after a kill
            client.register_plugin(inputs_plugin({}, sent), name="inputs")
            assert len(list(tmp_path.rglob("p.goal"))) == 1
        client.unregister_worker_plugin("inputs")
        assert list(tmp_path.rglob("p.goal")) == []


def test_no_scheduler_is_one_message(campaign: Path, tmp_path: Path) -> None:
    command = [HOCKET, "sweep", str(campaign), "-o", str(tmp_path / "x"), "--scheduler", "tcp://127.0.0.1:9"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 2
    assert done.stderr.startswith("error: --scheduler tcp://127.0.0.1:9: no Dask scheduler answers")
    assert "Traceback" not in done.stderr
