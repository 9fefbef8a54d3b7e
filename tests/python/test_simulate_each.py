# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Independent simulations on several threads: the same results, and one way to stop them all."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

from hocket import (
    CostModel,
    Fabric,
    InvalidInput,
    Network,
    Schedule,
    Traffic,
    lower,
    simulate,
    simulate_each,
    simulate_traffic,
)

NETWORK = Network.generate("fat-tree:4x4x8", bandwidth="1 GB/s")
FABRIC = Fabric.from_network(NETWORK)
PROGRAMS = [lower(Schedule.build("allreduce", name, 128), 10**6) for name in ("ring", "recursive_doubling")] * 3
LONG = [Traffic.random_permutation(128, messages=20_000, spread=0.5, seed=seed) for seed in range(4)]


@pytest.mark.parametrize("threads", [1, 2, 3, 8, None])
def test_each_is_what_it_is_alone(threads: int | None) -> None:
    options: dict[str, Any] = {"costs": CostModel(send_overhead_s=1e-6), "sharing": "equal"}
    found = simulate_each(PROGRAMS, NETWORK, threads=threads, **options)
    alone = [simulate(program, NETWORK, **options) for program in PROGRAMS]
    assert [one.makespan_s for one in found] == [one.makespan_s for one in alone]
    assert all(np.array_equal(a.finish_s, b.finish_s) for a, b in zip(found, alone, strict=True))
    traffics = [Traffic.random_ring(128, messages=50, spread=0.5, seed=seed) for seed in range(5)]
    rings = simulate_each(traffics, FABRIC, threads=threads, sharing="equal")
    assert [r.makespan_s for r in rings] == [simulate_traffic(t, FABRIC, sharing="equal").makespan_s for t in traffics]
    assert simulate_each([], NETWORK, threads=threads) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_is_told_in_the_calling_thread_and_stops_all(threads: int) -> None:
    calls: list[tuple[int, int, float]] = []

    def listen(*progress: Any) -> bool:
        assert threading.current_thread() is threading.main_thread()
        calls.append(progress)
        return False

    found = simulate_each(LONG, FABRIC, threads=threads, on_progress=listen)
    assert not any(one.completed for one in found)
    assert len(calls) == 1
    done, total, simulated_s = calls[0]
    assert 0 < done < total
    assert total % (128 * 20_000) == 0
    assert simulated_s > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_what_goes_wrong_ends_all(threads: int) -> None:
    def fail(*_progress: Any) -> bool:
        raise KeyError("told")

    with pytest.raises(KeyError, match="told"):
        simulate_each(LONG, FABRIC, threads=threads, on_progress=fail)
    too_large = Traffic.random_ring(129)
    with pytest.raises(InvalidInput, match="129 ranks"):
        simulate_each([LONG[0], too_large, LONG[1]], FABRIC, threads=max(threads, 2))
    with pytest.raises(InvalidInput, match="0 threads"):
        simulate_each(PROGRAMS, NETWORK, threads=0)
    with pytest.raises(TypeError):
        simulate_each(PROGRAMS, NETWORK, threads=threads, no_such_option=1)


def test_an_interrupt_ends_all() -> None:
    """It comes while the calling thread waits for those that simulate."""
    endless = [Traffic.random_permutation(128, messages=10**9, spread=0.5, seed=seed) for seed in range(4)]
    begun = threading.Event()

    def interrupt() -> None:
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    others = set(threading.enumerate())
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        simulate_each(endless, FABRIC, threads=2, on_progress=lambda *_: begun.set())
    interrupter.join()
    assert set(threading.enumerate()) <= others
