# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Independent simulations at once, each on a thread of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar, overload

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Fabric, Network, Program, Timeline, Traffic, TrafficResult

Result = TypeVar("Result")
OnProgress = Callable[[int, int, float], object]  #: False, 0, ..., but not None: stop
_LOOKS_AFTER_S = 0.05


_most_cores = 1024  # as many threads as `hocket simulate --threads` accepts


def available_cores() -> int:
    """Of the machine, those that this process may use."""
    return min(len(os.sched_getaffinity(0)), _most_cores)


def use_one_core() -> None:
    """For a process beside others that share the machine: `available_cores()` is 1 from now on."""
    global _most_cores
    _most_cores = 1


@overload
def simulate_each(
    what: Sequence[Program], where: Network, *, threads: int | None = None, on_progress: OnProgress | None = None,
    **options: Any,
) -> list[Timeline]: ...  # fmt: skip
@overload
def simulate_each(
    what: Sequence[Traffic], where: Fabric, *, threads: int | None = None, on_progress: OnProgress | None = None,
    **options: Any,
) -> list[TrafficResult]: ...  # fmt: skip
def simulate_each(
    what: Sequence[Any],
    where: Any,
    *,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> list[Any]:
    """The results of simulating many programs on a network, or many traffics on a fabric, in their order.

    Up to `threads` (None = the cores) run at once, each in the memory that it takes alone. `options` are those of
    `simulate` or `simulate_traffic`. `on_progress(done, total, simulated_s)` is called in the calling thread, with sums
    over those that have reported, and the latest time of any; where it returns a false value other
    than None, all end soon with what is known by then. The first that fails ends the others, and its exception is
    raised.
    """
    from hocket import Fabric, simulate, simulate_traffic

    simulate_one: Callable[..., Any] = simulate_traffic if isinstance(where, Fabric) else simulate
    return run_each([_bound(simulate_one, one, where, options) for one in what], threads, on_progress)


def run_each(
    simulations: Sequence[Callable[[OnProgress], Result]],
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[Result]:
    """As `simulate_each`; each simulation is called with what it is to call as its `on_progress`."""
    threads = len(os.sched_getaffinity(0)) if threads is None else threads
    if threads < 1:
        raise InvalidInput(f"{threads} threads", "accepted: 1 or more")
    threads = min(threads, len(simulations))
    stops = False
    reported: dict[int, tuple[int, int, float]] = {}

    def report() -> None:
        nonlocal stops
        if on_progress is None or stops or not reported:
            return
        done, total, simulated_s = zip(*list(reported.values()), strict=True)
        answer = on_progress(sum(done), sum(total), max(simulated_s))
        stops = answer is not None and not answer

    def run(number: int) -> Result:
        def listen(*progress: Any) -> bool:
            reported[number] = progress
            if threads == 1:
                report()
            return not stops

        return simulations[number](listen)

    if threads <= 1:
        return [run(number) for number in range(len(simulations))]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(run, number) for number in range(len(simulations))]
        try:
            for _ in _until_done(futures):
                report()
        except BaseException:  # Ctrl-C is one; the pool waits for all on its way out
            stops = True
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def _until_done(futures: Sequence[Future[Any]]) -> Iterator[None]:
    """Yields again and again until all are done. @raises what the first that failed has raised."""
    left = set(futures)
    while left:
        done, left = wait(left, _LOOKS_AFTER_S, return_when="FIRST_COMPLETED")
        for future in done:
            future.result()
        yield


def _bound(
    simulate_one: Callable[..., Result], what: Any, where: Any, options: dict[str, Any]
) -> Callable[[OnProgress], Result]:
    return lambda listen: simulate_one(what, where, on_progress=listen, **options)
