# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `tune` knows of messages: who takes part in measuring it, what the result tells, who reads it."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import pytest

from hocket import CostModel, InvalidInput, Network
from hocket.measure.emulation import emulated_costs
from hocket.report.costs import costs_of, describe_costs, read_costs
from hocket.report.result import CostsResult, ProgramResult, Result, write_result
from hocket.tune.costs import MOST_MEMBERS, UsedCosts, training_members

USED = UsedCosts(
    CostModel(9e-6, 8e-6, 3e9, 65536, wake_s=4e-5, host_overhead_s=1e-6, link_efficiency=0.98, cores=2),
    "fitted", (0.1, -0.2, 0.3),
)  # fmt: skip


def hosts_of(network: Network, ranks: tuple[int, ...]) -> list[str]:
    return [network.nodes[network.rank_nodes[rank]].name.split("/")[0] for rank in ranks]


def test_the_result_has_a_place_for_every_cost() -> None:
    names = {field.name for field in dataclasses.fields(CostsResult)}
    assert names - {"source", "training_error_median", "training_collectives"} == set(CostModel().to_dict())


@pytest.mark.parametrize("used", [USED, UsedCosts(CostModel.usual(), "usual")])
def test_costs_survive_the_result(tmp_path: Path, used: UsedCosts) -> None:
    result = used.to_result()
    assert costs_of(result) == used.costs
    assert result.copy_bytes_per_s is None  # JSON has no infinity
    program = ProgramResult.from_runs([1.0], [])
    whole = Result("0", "2025-11-21T20:41:00Z", ["a"], "MPI", 1, ["h"], "Linux", "n", False, program, [], costs=result)
    write_result(whole, tmp_path)
    assert read_costs(tmp_path) == used.costs
    write_result(dataclasses.replace(whole, costs=None), tmp_path)
    with pytest.raises(InvalidInput, match="does not say what messages cost"):
        read_costs(tmp_path)


@pytest.mark.parametrize(("name", "value"), [("cores", 2**31), ("cores", 10**400), ("rendezvous_bytes", 10**400)])
def test_costs_that_no_number_of_the_core_holds_are_refused(tmp_path: Path, name: str, value: int) -> None:
    program = ProgramResult.from_runs([1.0], [])
    costs = USED.to_result()
    whole = Result("0", "2025-11-21T20:41:00Z", ["a"], "MPI", 1, ["h"], "Linux", "n", False, program, [], costs=costs)
    write_result(whole, tmp_path)
    path = tmp_path / "result.json"
    path.write_text(re.sub(rf'"{name}": \d+', f'"{name}": {value}', path.read_text()))
    with pytest.raises(InvalidInput, match=name):
        read_costs(tmp_path)


def test_the_error_of_fitted_costs_is_told() -> None:
    assert USED.to_result().training_error_median == pytest.approx(0.2)
    sentence = describe_costs(USED.to_result())
    for part in ("3 collectives", "20 %", "9 µs to send", "8 µs to receive", "40 µs to wake up", "98 %", "2 cores"):
        assert part in sentence
    assert "not measured" in describe_costs(UsedCosts(CostModel.usual(), "usual").to_result())


def test_what_a_fit_leaves_of_0_is_not_told() -> None:
    costs = USED.costs.replace(receive_overhead_s=3.82e-17, wake_s=3.82e-17)
    sentence = describe_costs(dataclasses.replace(USED, costs=costs).to_result())
    assert "0 s to receive it" in sentence
    assert "wake" not in sentence


def test_few_ranks_all_take_part_in_the_training() -> None:
    network = Network.generate("star:32", bandwidth="1 Gbit/s")
    assert training_members(network, 12) == tuple(range(12))


def test_of_many_ranks_some_of_hosts_everywhere_take_part() -> None:
    network = Network.generate("fat-tree:4x4x8", bandwidth="1 Gbit/s")
    for ranks in (17, 100, 128):
        members = training_members(network, ranks)
        assert len(set(members)) == len(members) == MOST_MEMBERS
        assert max(members) < ranks
    assert {rank // 8 for rank in training_members(network, 128)} == set(range(16))  # one under each switch


def test_ranks_of_one_host_take_part_together_where_hosts_have_several() -> None:
    text = 'format = "hocket.network/1"\nname = "n"\n[[node]]\nname = "s"\nkind = "switch"\n' + "".join(
        f'[[node]]\nname = "h{i}"\nkind = "host"\nranks = 4\n[[link]]\nbetween = ["h{i}", "s"]\n'
        'bandwidth = "1 Gbit/s"\n'
        for i in range(20)
    )
    network = Network.from_text(text, "n")
    hosts = hosts_of(network, training_members(network, 80))
    assert len(hosts) == MOST_MEMBERS
    assert {hosts.count(host) for host in hosts} == {2}
    hosts = hosts_of(network, training_members(network, 20))  # five hosts
    assert len(hosts) == MOST_MEMBERS
    assert {hosts.count(host) for host in hosts} == {3, 4}


def test_on_a_testbed_ranks_share_cores_and_calibrated_bursts_stay() -> None:
    here = emulated_costs(CostModel.usual())
    assert here.cores >= 1
    assert 0 < here.burst_bytes < math.inf
    known = CostModel.usual().replace(burst_bytes=5e3, burst_s=1e-4)
    assert emulated_costs(known).replace(cores=0) == known
