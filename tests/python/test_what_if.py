# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What if: `hocket simulate` of a program whose computations are scaled, late or noisy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.cost.source import CostSource
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.requests import from_json, to_json
from hocket.simulation.request import SimulateRequest, run
from hocket.simulation.what_if import AS_RECORDED, RankDelay, RankScale, WhatIf, what_if_from

#: Both ranks compute 4 times 1 ms; then rank 1 waits for rank 0.
GOAL = "num_ranks 2\n" + "".join(
    f"rank {rank} {{\n"
    + "".join(f"c{i}: calc 1000000\n" for i in range(4))
    + f"m: {'send 0b to 1' if rank == 0 else 'recv 0b from 0'} tag 0\n"
    + "".join(f"c{i} requires c{i - 1}\n" for i in range(1, 4))
    + "m requires c3\n}\n"
    for rank in range(2)
)
FREE = CostSource(send_overhead_s=0.0, receive_overhead_s=0.0)


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.goal"
    path.write_text(GOAL)
    return str(path)


def makespan_s(program: str, what_if: WhatIf) -> float:
    request = SimulateRequest(program, NetworkSource("star:2", bandwidth="1GB/s", latency="0s"), FREE, what_if=what_if)
    assert from_json(to_json(request)) == request
    return float(run(request).values["results"][0]["makespan_s"])


@pytest.mark.parametrize(
    ("what_if", "expected_ms"),
    [
        (AS_RECORDED, 4),
        (WhatIf(cpu_scale=0.5), 2),
        (WhatIf(rank_cpu_scales=(RankScale(0, 1.2),)), 4.8),
        (WhatIf(0.5, (RankScale(1, 1.0),)), 4),
        (WhatIf(delays=(RankDelay(0, 0.003, 0.0025),)), 7),
        (WhatIf(delays=(RankDelay(1, 0.001), RankDelay(0, 0.003))), 7),
        (WhatIf(noise="uniform:0"), 4),
    ],
)
def test_a_rank_that_is_slower_or_late_holds_up_those_that_wait_for_it(
    program: str, what_if: WhatIf, expected_ms: float
) -> None:
    assert makespan_s(program, what_if) == pytest.approx(expected_ms * 1e-3)


def test_noise_follows_its_seed(program: str) -> None:
    one = makespan_s(program, WhatIf(noise="exponential:0.5", noise_seed=1))
    assert one > 4e-3
    assert one == makespan_s(program, WhatIf(noise="exponential:0.5", noise_seed=1))
    assert one != makespan_s(program, WhatIf(noise="exponential:0.5", noise_seed=2))


def test_texts() -> None:
    assert what_if_from() == AS_RECORDED
    assert what_if_from(["0.5", "0-2=1.1", "1=3"], ["7=200ms@1.5s", "3=1s"], "normal:0.1", 4) == WhatIf(
        0.5,
        (RankScale(0, 1.1), RankScale(1, 3.0), RankScale(2, 1.1)),
        (RankDelay(7, 0.2, 1.5), RankDelay(3, 1.0)),
        "normal:0.1",
        4,
    )


@pytest.mark.parametrize("text", ["", "x", "-1", "nan", "inf", "=2", "a=2", "3-1=2", "1=", "1-=2", "0-99999999=1"])
def test_wrong_scales_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="cpu-scale"):
        what_if_from([text])


@pytest.mark.parametrize("text", ["", "7", "7=", "=1s", "7=1s@", "7=1", "x=1s", "7=1s@1s@1s", "7=-1s"])
def test_wrong_delays_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        what_if_from(delays=[text])


@pytest.mark.parametrize(
    ("what_if", "message"),
    [
        (WhatIf(rank_cpu_scales=(RankScale(2, 1.0),)), "no rank 2"),
        (WhatIf(delays=(RankDelay(1, 1.0, 0.004),)), "does not compute for so long"),
        (WhatIf(noise="gauss:1"), "normal:X"),
        (WhatIf(cpu_scale=-1.0), "CPU scale"),
    ],
)
def test_what_does_not_fit_the_program_is_refused(program: str, what_if: WhatIf, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        makespan_s(program, what_if)
    assert message in f"{caught.value.message} {caught.value.hint}"


def test_the_command_prints_what_was_changed(program: str, hocket_cli: Callable[..., Any]) -> None:
    command = ("simulate", program, "--network", "star:2", "--cpu-scale", "0=1.2", "--noise", "normal:0.1")
    shown = hocket_cli(*command, "--noise-seed", "9")
    assert shown.returncode == 0, shown.stderr
    assert "What if: those of rank 0 1.2 times; noise normal:0.1, seed 9." in shown.stdout
    values = json.loads(hocket_cli(*command, "--json").stdout)
    assert values["what_if"]["rank_cpu_scales"] == {"0": 1.2}
    assert values["what_if"]["noise_seed"] == 1
    refused = hocket_cli("simulate", "bcast:binomial", *command[2:4], "--bytes", "1 kB", "--cpu-scale", "2")
    assert refused.returncode == 2
    assert "--cpu-scale does not apply" in refused.stderr
