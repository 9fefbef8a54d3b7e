# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Campaign files: which tasks they stand for, which networks, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket import CostModel, InvalidInput, Network
from hocket.networks.source import NetworkSource
from hocket.networks.variation import VariedNetwork
from hocket.sweep.campaign import Campaign, read_campaign
from hocket.sweep.files import packed, unpacked, with_places
from hocket.sweep.store import bytes_to_rows
from hocket.sweep.worker import run_batch, take_networks

ROOT = Path(__file__).resolve().parents[2]
HEAD = 'format = "hocket.campaign/1"\nrequest = "simulate"\n'
SIMULATION = HEAD + '[fixed]\nwhat = "bcast:binomial"\nnetwork = "star:4"\n'


def campaign(tmp_path: Path, text: str) -> Campaign:
    path = tmp_path / "c.toml"
    path.write_text(text)
    return read_campaign(path)


def test_tasks_are_the_product_with_cases_in_order(tmp_path: Path) -> None:
    read = campaign(
        tmp_path,
        HEAD + "[fixed]\ncosts.send_overhead_s = '3 us'\n"
        "[networks.slow]\nfrom = 'star:4'\nbandwidth = '1 Mbit/s'\n"
        "[product]\nnetwork = ['slow', 'star:8']\nbytes = { from = '1 KiB', to = '16 KiB', factor = 4 }\n"
        "[[cases]]\nwhat = 'bcast:binomial'\n[[cases]]\nwhat = 'allreduce:ring'\n",
    )
    expected = [
        (what, network, size)
        for what in ("bcast:binomial", "allreduce:ring")
        for network in ("slow", "star:8")
        for size in (1024, 4096, 16384)
    ]
    assert [tuple(task.parameters.values()) for task in read.tasks] == expected
    assert [(task.request.what, task.request.bytes) for task in read.tasks] == [(w, b) for w, _, b in expected]
    assert {task.request.costs.send_overhead_s for task in read.tasks} == {3e-6}
    assert len({task.key for task in read.tasks}) == 12
    sizes = {name: varied.load().num_ranks for name, varied in read.networks.items()}
    assert [sizes[task.request.network.name] for task in read.tasks] == [
        4 if n == "slow" else 8 for _, n, _ in expected
    ]


def test_keys_follow_what_files_hold(tmp_path: Path) -> None:
    network = tmp_path / "n.toml"
    network.write_text(Network.generate("star:4").to_toml())
    text = HEAD + "[fixed]\nwhat = 'bcast:binomial'\nbytes = 8\n[product]\nnetwork = ['n.toml', 'star:4']\n"
    before = [task.key for task in campaign(tmp_path, text).tasks]
    assert [task.key for task in campaign(tmp_path, text).tasks] == before
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/n.toml").write_text(network.read_text())
    assert [task.key for task in campaign(tmp_path / "sub", text).tasks] == before
    network.write_text(Network.generate("star:4", bandwidth="2 Gbit/s").to_toml())
    after = [task.key for task in campaign(tmp_path, text).tasks]
    assert after[0] != before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "format is missing"),
        ("[", "c.toml: "),
        (HEAD + f"[product]\nbytes = {'[' * 3000}{']' * 3000}", "nested too deep"),
        (HEAD.replace('request = "simulate"', ""), "request is missing"),
        (
            SIMULATION + f"[product]\nbytes = [{10**24}]",
            f"product.bytes[0]: {10**24}; accepted: whole numbers below 2^63",
        ),
        (SIMULATION + "[product]\nbytes = [nan]", "product.bytes[0]: nan; accepted: a whole number"),
        (HEAD.replace("simulate", "juggle"), "request is 'juggle'"),
        (HEAD.replace("simulate", "sweep"), "request is 'sweep'"),
        (SIMULATION + "size = 3", "fixed.size: unknown 'size'"),
        (SIMULATION + "[product]\nbytes = []", "product.bytes: []"),
        (SIMULATION + "[product]\nbytes = ['1 KiB', 'x']", "product.bytes[1]: "),
        (SIMULATION + "[product]\nbytes = [1.5]", "product.bytes[0]: 1.5; accepted: a whole number"),
        (SIMULATION + "[product]\nbytes = { from = 4, to = 1, step = 1 }", "the range is empty"),
        (SIMULATION + "[product]\nbytes = { from = 0, to = 9, factor = 2 }", "the range is empty"),
        (SIMULATION + "[product]\nwhat = ['bcast']", "what is in [product] and elsewhere"),
        (HEAD + "[fixed]\nnetwork = 'star:4'\n", "task 0: 'what' is missing"),
        (SIMULATION + "costs.sharing.x = 1", "unknown 'x'"),
        (HEAD + "[fixed]\nwhat = 'bcast'\nnetwork = 'nothing.toml'\n", "nothing.toml': No such file"),
        (SIMULATION + "network = 3", "c.toml: "),
        (SIMULATION + "[networks.a]\nwidth = 1", "unknown networks.a.width"),
        (SIMULATION + "[networks.a]\nfrom = 'star:4'\n[product]\nnetwork.scale = ['x']", "product.network.scale"),
        (SIMULATION + "[run]\nworkers = 0", "run.workers: 0"),
        (SIMULATION + "[[show]]\nkind = 'cake'", "show[0].kind: 'cake'"),
        (SIMULATION + "[run]\nmemory = 8", "run.memory: 8; accepted: text"),
        (SIMULATION + "[[show]]\nkind = 'heat'\nx = 'bytes'", "show[0]: y is missing"),
        (SIMULATION + "[product]\nroot = { from = 1, to = 4000000, step = 1 }", "more than 1000000 values"),
        (
            SIMULATION + "[product]\nbytes = { from = 1, to = inf, factor = 2 }",
            "product.bytes.to: inf; accepted: a number",
        ),
        (SIMULATION + "[product]\nbytes = { from = 1, to = nan, factor = 2 }", "product.bytes.to: nan"),
        (SIMULATION + "[product]\nbytes = { from = 1.0, to = 1e308, factor = 10.0 }", "product.bytes[0]: 1.0"),
        (SIMULATION + "[product]\nbytes = [1979-05-27]", "product.bytes[0]: datetime.date"),
        (SIMULATION + "[product]\nbytes = [8, '8 B']", "tasks 0 and 1 are the same: bytes = 8"),
        (SIMULATION + "[[cases]]\nbytes = 8\n[[cases]]\nbytes = 8", "tasks 0 and 1 are the same: bytes = 8"),
        (HEAD + f"[fixed]\nwhat = 'bcast'\nnetwork = '{'a' * 5000}'\n", "File name too long"),
        (HEAD + "[fixed]\nwhat = 'bcast'\nnetwork = \"a\\u0000b\"\n", "no name of a file"),
        ("title = [1]\n" + SIMULATION, "title: [1]; accepted: text"),
        (SIMULATION + "[dask]\nslurm = 3", "dask.slurm: 3"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        campaign(tmp_path, text)
    assert str(tmp_path / "c.toml") in str(refused.value)
    assert message in str(refused.value)


def test_a_mark_of_utf8_may_come_first(tmp_path: Path) -> None:
    assert len(campaign(tmp_path, "\ufeff" + SIMULATION + "[product]\nbytes = [8, 16]\n").tasks) == 2


def test_an_empty_name_is_no_folder(tmp_path: Path) -> None:
    (task,) = campaign(tmp_path, HEAD + "[fixed]\nwhat = ''\nnetwork = 'star:4'\n").tasks
    (failure,) = run_batch([task]).failures
    assert failure.message.startswith("WHAT is empty; accepted: ")


def test_text_may_be_too_long_for_a_file(tmp_path: Path) -> None:
    (task,) = campaign(tmp_path, HEAD + f"[fixed]\nwhat = '{'a' * 5000}'\nnetwork = 'star:4'\n").tasks
    assert task.request.what == "a" * 5000


@pytest.mark.parametrize("path", sorted((ROOT / "examples/campaigns").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_run_in_small(path: Path) -> None:
    """A few tasks of each, the cheapest ones; all that the file wants to show can be shown of their rows."""
    read = read_campaign(path)
    assert len(read.tasks) > 1
    assert read.views
    take_networks(read.networks)
    cheap = sorted(read.tasks, key=lambda task: int(task.parameters.get("bytes", 0)))[:60]
    wanted = [cheap[at] for at in sorted({0, 1, len(cheap) // 2, len(cheap) - 1})]
    ran = run_batch(wanted)
    assert ran.failures == ()
    rows = bytes_to_rows(ran.rows)
    assert rows.num_rows >= len(wanted)
    for view in read.views:
        assert set(view.columns) <= set(rows.column_names)


def test_changes_of_bandwidth_leave_routes_alone() -> None:
    whole = Network.generate("fat-tree:4x4")
    varied = VariedNetwork(NetworkSource("fat-tree:4x4"), scale=0.5, taper=4, latency_scale=2).load()
    kinds = [node.kind for node in whole.nodes]
    for before, after in zip(whole.links, varied.links, strict=True):
        inner = kinds[before.source] == kinds[before.target] == "switch"
        assert after.bandwidth_bytes_per_s == before.bandwidth_bytes_per_s * 0.5 / (4 if inner else 1)
    pairs = [(a, b) for a in range(16) for b in range(16) if a != b]
    assert [varied.route(*pair) for pair in pairs] == [whole.route(*pair) for pair in pairs]


def test_failed_cables_are_gone_and_their_number_is_right() -> None:
    source = NetworkSource("fat-tree:4x4")
    whole = source.load()
    some = VariedNetwork(source, failures=3, failure_seed=5)
    assert len(some.load().links) == len(whole.links) - 6
    assert some.load() == some.load()
    assert some.load() != VariedNetwork(source, failures=3, failure_seed=6).load()
    names = [node.name for node in whole.nodes]
    inner = next(
        link for link in whole.links if {whole.nodes[link.source].kind, whole.nodes[link.target].kind} == {"switch"}
    )
    one = VariedNetwork(source, failed=(f"{names[inner.target]}-{names[inner.source]}",)).load()
    ends = {frozenset((link.source, link.target)) for link in whole.links}
    assert ends - {frozenset((link.source, link.target)) for link in one.links} == {
        frozenset((inner.source, inner.target))
    }
    with pytest.raises(InvalidInput, match="no cable 'h0-h9'"):
        VariedNetwork(source, failed=("h0-h9",)).load()
    with pytest.raises(InvalidInput, match="no path in both directions"):
        VariedNetwork(NetworkSource("star:4"), failed=("h0-s0",)).load()


def test_rails_are_other_switches_that_share_the_pairs() -> None:
    network = VariedNetwork(NetworkSource("star:8"), rails=3).load()
    switches = [number for number, node in enumerate(network.nodes) if node.kind == "switch"]
    assert len(switches) == 3
    used = {network.links[network.route(a, b)[0]].target for a in range(8) for b in range(8) if a != b}
    assert used == set(switches)
    with pytest.raises(InvalidInput, match="no switches"):
        VariedNetwork(NetworkSource("torus:4x4"), rails=2).load()


def test_ranks_are_placed() -> None:
    source = NetworkSource("four", toml=(ROOT / "networks/four-by-two.toml").read_text())
    hosts = lambda **changes: [  # noqa: E731
        VariedNetwork(source, **changes).load().rank_hosts, VariedNetwork(source, **changes).load().nodes
    ]  # fmt: skip
    assert hosts()[0] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert hosts(placement="cyclic")[0] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert hosts(placement="cyclic", ranks=3)[0] == [0, 1, 2]
    shuffled = hosts(placement="random", placement_seed=3)[0]
    assert sorted(shuffled) == [0, 0, 1, 1, 2, 2, 3, 3] != shuffled
    assert hosts(placement=("h3", "h1"))[0] == [3, 1]
    for wrong in ({"placement": "spiral"}, {"ranks": 9}, {"placement": ("h7",)}):
        with pytest.raises(InvalidInput, match="four"):
            VariedNetwork(source, **wrong).load()  # type: ignore[arg-type]


def test_a_changed_network_keeps_its_costs(tmp_path: Path) -> None:
    text = Network.generate("star:4").to_toml() + '\n[calibration]\nsend_overhead = "3 us"\n'
    (tmp_path / "n.toml").write_text(text)
    read = campaign(
        tmp_path,
        HEAD + "[fixed]\nwhat = 'bcast:binomial'\nbytes = 8\nnetwork.from = 'n.toml'\ncosts.receive_overhead_s = 1e-6\n"
        "[product]\nnetwork.scale = [1, 0.5]\n",
    )
    for task in read.tasks:
        model = task.request.costs.model(read.networks[task.request.network.name].load())
        assert (model.send_overhead_s, model.receive_overhead_s) == (3e-6, 1e-6)
    assert CostModel().send_overhead_s != 3e-6


def test_files_go_to_workers_that_do_not_have_them(tmp_path: Path) -> None:
    """A folder that is gone by then, as on another machine, is read from what was sent."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "p.goal").write_text(
        "num_ranks 2\nrank 0 { a: send 8b to 1 tag 0 }\nrank 1 { a: recv 8b from 0 tag 0 }\n"
    )
    text = HEAD + "[fixed]\nwhat = 'programs/p.goal'\n[product]\nnetwork = ['star:2', 'star:4']\n"
    read = campaign(tmp_path, text)
    assert list(read.files) == [str(folder / "p.goal")]
    sent = packed(read.files)
    assert unpacked(sent, str(tmp_path)) == {}
    (folder / "p.goal").unlink()
    places = unpacked(sent, str(tmp_path))
    assert Path(places[str(folder / "p.goal")]).read_text().startswith("num_ranks 2")
    moved = with_places(read.tasks[0].request, places)
    assert moved.what == places[str(folder / "p.goal")]
    assert moved.network == read.tasks[0].request.network


def test_advice_has_a_row_for_each_collective(tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    """Of a trace that another tool has recorded."""
    assert hocket_cli("trace", "import", ROOT / "tests/samples/traces/dumpi", "-o", "t").returncode == 0
    text = HEAD.replace("simulate", "advise") + "[fixed]\ntrace = 't'\n[product]\nnetwork = ['star:4']\n"
    read = campaign(tmp_path, text)
    take_networks(read.networks)
    rows = bytes_to_rows(run_batch(read.tasks).rows).to_pylist()
    advised = json.loads(hocket_cli("advise", "t", "--network", "star:4", "--json").stdout)["collectives"]
    assert len(rows) == len(advised) > 0
    for row, one in zip(rows, advised, strict=True):
        assert row | {name: one[name] for name in ("collective", "bytes", "algorithm", "predicted_s", "in_plan")} == row


def test_networks_to_emulate_are_files_beside_the_campaign(tmp_path: Path) -> None:
    text = 'format = "hocket.campaign/1"\nrequest = "bench-fidelity"\n[product]\nnetworks = [["star:4", "n.toml"]]\n'
    network = tmp_path / "n.toml"
    network.write_text(Network.generate("star:3").to_toml())
    (first,) = campaign(tmp_path, text).tasks
    assert first.request.networks == (NetworkSource("star:4"), NetworkSource(str(network)))
    network.write_text(Network.generate("star:5").to_toml())
    (second,) = campaign(tmp_path, text).tasks
    assert second.key != first.key
