# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What messages cost, as Python has it."""

from __future__ import annotations

import copy
import math
import pickle

import pytest

from hocket import CostModel, InvalidInput, Network, Schedule, lower, simulate
from hocket.cost.source import CostSource

MEASURED = CostModel(
    9e-6, 8e-6, 3e9, 65536, "equal", host_overhead_s=1e-6, wake_s=4e-5, copy_bytes_per_s=1e9, link_efficiency=0.98,
    cores=2, burst_bytes=8688.0, burst_s=250e-6,
)  # fmt: skip
HOST = 'format = "hocket.network/1"\n[[node]]\nname = "a"\nkind = "host"\n'


@pytest.mark.parametrize("costs", [CostModel(), CostModel.usual(), MEASURED])
def test_costs_are_a_value(costs: CostModel) -> None:
    same = [
        CostModel(**costs.to_dict()),  # type: ignore[arg-type]
        eval(repr(costs)),
        copy.deepcopy(costs),
        pickle.loads(pickle.dumps(costs)),
        costs.replace(wake_s=1.0).replace(wake_s=costs.wake_s),
    ]
    for other in same:
        assert other == costs
        assert hash(other) == hash(costs)
    for name, value in costs.to_dict().items():
        assert getattr(costs, name) == value
        with pytest.raises(AttributeError):
            setattr(costs, name, value)
    assert costs.replace(link_efficiency=0.5) != costs
    assert costs != costs.to_dict()


def test_what_is_not_the_default_is_printed() -> None:
    assert repr(CostModel()) == "CostModel()"
    assert repr(CostModel(sharing="equal", cores=2)) == "CostModel(sharing='equal', cores=2)"
    assert repr(CostModel.usual()) == (
        "CostModel(send_overhead_s=1.5e-05, receive_overhead_s=1.5e-05, reduce_bytes_per_s=2000000000.0, "
        "rendezvous_bytes=None)"
    )


def test_values_out_of_range_are_refused() -> None:
    for values, message in (
        ({"send_overhead_s": -1.0}, "overhead of a message: -1 s is out of range"),
        ({"host_overhead_s": math.nan}, "overhead within a host is not 0 or more"),
        ({"link_efficiency": 1.5}, "link efficiency 1.5"),
        ({"sharing": "maxmim"}, "did you mean"),
    ):
        with pytest.raises(InvalidInput) as refused:
            MEASURED.replace(**values)  # type: ignore[arg-type]
        assert message in f"{refused.value} {refused.value.hint}"
    with pytest.raises(TypeError):
        MEASURED.replace(overhead_s=1.0)


def test_simulate_takes_costs() -> None:
    network = Network.generate("star:2", bandwidth="8 Mbit/s")
    program = lower(Schedule.build("bcast", "linear", 2), 1_000_000)
    assert simulate(program, network).makespan_s == pytest.approx(1)
    costs = CostModel(send_overhead_s=2, receive_overhead_s=3, link_efficiency=0.5)
    assert simulate(program, network, costs).makespan_s == pytest.approx(2 + 2 + 3)
    assert simulate(program, network, costs=costs.replace(rendezvous_bytes=10**6)).makespan_s == pytest.approx(17)
    one_to_all, star = lower(Schedule.build("scatter", "linear", 3), 1_000_000), Network.generate("star:3")
    alone, equal = (simulate(one_to_all, star, CostModel(sharing=law)).makespan_s for law in ("none", "equal"))
    assert alone < equal
    assert simulate(one_to_all, star, CostModel(sharing="none"), sharing="equal").makespan_s == equal


def test_what_is_calibrated_replaces_the_usual_costs() -> None:
    usual = CostModel.usual()
    assert CostModel.of(Network.generate("star:8")) == usual
    tables = '[calibration]\nsend_overhead = "5 us"\nrendezvous_bytes = 7\n[[calibration.link]]\ny = 2\n'
    network = Network.from_text(HOST + tables)
    assert CostModel.of(network) == usual.replace(send_overhead_s=5e-6, rendezvous_bytes=7)
    assert CostModel.of(Network.from_text(network.to_toml())) == CostModel.of(network)
    given = CostSource(receive_overhead_s=3e-6, rendezvous_bytes=1000, sharing="equal").model(network)
    assert given == CostModel(5e-6, 3e-6, usual.reduce_bytes_per_s, 1000, "equal")
    network = Network.from_text(HOST + '[calibration]\nburst = "9 kB"\nburst_time = "250 us"\n')
    assert CostModel.of(network) == usual.replace(burst_bytes=9000, burst_s=250e-6)
    network = Network.from_text(HOST + '[calibration]\nreduce_bandwidth = "4 GB/s"\n')
    assert CostModel.of(network) == usual.replace(reduce_bytes_per_s=4e9)
    with pytest.raises(InvalidInput, match=r"n.toml:6: send_overhead is the number 5, without a unit"):
        Network.from_text(HOST + "[calibration]\nsend_overhead = 5\n", "n.toml")
