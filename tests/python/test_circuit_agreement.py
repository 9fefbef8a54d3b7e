# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`simulate`, `schedule --circuits` and `cost` have one model: no simulated time is below a bound that is proven."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from hocket import (
    CostModel,
    Network,
    Schedule,
    algorithms,
    circuit_algorithms,
    circuit_cost,
    circuit_schedule,
    lower,
    simulate,
)

_SEED = 20261125
_NETWORK = """format = "hocket.network/1"
[generate]
kind = "star"
shape = "{p}"
bandwidth = "1 Gbit/s"
latency = "50 us"
[circuits]
setup = "{s_ms} ms"
teardown = "{d_ms} ms"
ports = {k}
accounting = "{accounting}"
injection = "{injection}"
stop = "{stop}"
controller = "{controller}"
"""
_CIRCUIT_COLLECTIVES = ("bcast", "reduce", "allgather", "allreduce", "alltoall")


def _network(folder: Path, **rules: Any) -> Network:
    (folder / "circuits.toml").write_text(_NETWORK.format(**rules))
    return Network.from_file(folder / "circuits.toml")


def _end_s(program: Any, network: Network, policy: str) -> float:
    return float(simulate(program, network, costs=CostModel(), circuit_policy=policy).circuits_end_s)


def test_no_simulated_time_is_below_the_lower_bound(tmp_path: Path) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(60):
        collective = chance.choice(_CIRCUIT_COLLECTIVES)
        p, size = chance.choice([2, 3, 4, 5, 7, 8, 12, 16]), chance.choice([1, 1000, 48_000, 10**6])
        rules = {
            "p": p, "k": chance.randint(1, 4), "s_ms": chance.choice([0, 1, 10]), "d_ms": chance.choice([0, 2, 5]),
            "accounting": chance.choice(["equations", "hidden"]), "injection": chance.choice(["one", "all"]),
            "stop": chance.choice(["all", "circuit"]), "controller": chance.choice(["parallel", "serial"]),
        }  # fmt: skip
        network = _network(tmp_path, **rules)
        found = circuit_schedule(
            collective=collective, p=p, k=rules["k"], bytes=size, s=rules["s_ms"] / 1e3, d=rules["d_ms"] / 1e3,
            alpha=1e-4, beta=8e-9, segments=None if collective in ("bcast", "reduce") else 1, time_limit_s=0.01,
            **{name: rules[name] for name in ("accounting", "injection", "stop", "controller")},
        )  # fmt: skip
        for algorithm in [one.name for one in algorithms() if one.collective == collective]:
            program = lower(Schedule.build(collective, algorithm, p), size)
            for policy in ("naive", "batch", "lazy"):
                end_s = _end_s(program, network, policy)
                assert end_s >= found["lower_bound_s"] * (1 - 1e-9), (collective, algorithm, policy, rules, size)


@pytest.mark.parametrize("accounting", ["equations", "hidden"])
def test_closed_forms_are_the_simulated_times(tmp_path: Path, accounting: str) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(10):
        p, k, size = 2 ** chance.randint(1, 5), chance.randint(1, 5), chance.choice([1, 1000, 10**6])
        rules = {"p": p, "k": k, "s_ms": chance.randint(0, 10), "d_ms": chance.randint(0, 10)}
        network = _network(tmp_path, **rules, accounting=accounting, injection="one", stop="all", controller="parallel")
        for collective, algorithm in (
            ("bcast", "linear"), ("bcast", "binomial"), ("reduce", "linear"), ("reduce", "binomial"),
            ("gather", "linear"), ("scatter", "linear"), ("allgather", "recursive_doubling"),
        ):  # fmt: skip
            assert algorithm in circuit_algorithms(collective)
            program = lower(Schedule.build(collective, algorithm, p), size)
            for policy, ports in (("batch", k), ("naive", None)):
                expected_s = circuit_cost(
                    collective=collective, algorithm=algorithm, num_ranks=p, ports=ports, bytes=size, latency_s=1e-4,
                    bandwidth_bytes_per_s=125e6, setup_s=rules["s_ms"] / 1e3, teardown_s=rules["d_ms"] / 1e3,
                    accounting=accounting,
                )["total_s"]  # fmt: skip
                assert _end_s(program, network, policy) == pytest.approx(expected_s, rel=1e-9), (algorithm, p, k)
