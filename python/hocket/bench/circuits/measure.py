# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Launches hocket-circuits, which runs schedules on the circuit switch of a testbed."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.circuits.schedules import CircuitInstance
from hocket.errors import Error
from hocket.io.leftovers import working_folder
from hocket.mpi.build import build_probe

if TYPE_CHECKING:
    from hocket.measure.testbed import TestbedRunner

_SIZES = (1, 2, 4)  # of messages that are measured, in those of the collective
_REPETITIONS = 6  # of each size while a circuit is up
_ROUNDS = 3


@dataclass(frozen=True)
class RunTimes:
    """Of one run of a schedule, in seconds from its first set-up."""

    time_s: float  #: the last teardown
    circuits_s: list[float]  #: set-up, open, teardown and down of each
    messages_s: list[float]  #: begin and answer of each, in the order of their begins in the schedule


def run_schedules(
    schedules: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    rounds: int,
    runner: TestbedRunner,
    timeout_s: float,
    libraries: Sequence[Path] = (),
) -> list[list[RunTimes]]:
    """Of each schedule with its instance, each round; all data are checked. Raises Error."""
    ranks = len(runner.testbed.hosts)
    with working_folder("hocket-circuits-", Path(tempfile.gettempdir())) as folder:
        file = folder / "runs.json"
        runs = [{"instance": instance, "schedule": schedule} for instance, schedule in schedules]
        file.write_text(json.dumps({"format": "hocket.circuit-runs/1", "rounds": rounds, "runs": runs}))
        program = build_probe(runner.mpi, "hocket-circuits")
        command = [str(runner.mpi.mpiexec), "-n", str(ranks), str(program), str(runner.testbed.controller)]
        what = "the run of schedules on circuits"
        run = runner.run([*command, str(file)], libraries, timeout_s=timeout_s, what=what)
    try:
        return [[RunTimes(**one) for one in of_run] for of_run in json.loads(run.stdout)["runs"]]
    except (ValueError, KeyError, TypeError) as error:
        raise Error(f"hocket-circuits gave no result that can be read: {run.stdout[:200]!r}") from error


@dataclass(frozen=True)
class MessageCost:
    """A message of n bytes takes alpha + n beta, with the answer of its receiver."""

    alpha_s: float
    beta_s_per_byte: float
    points: list[tuple[int, float]]  #: bytes and median time


def measure_messages(size_bytes: int, runner: TestbedRunner, timeout_s: float) -> MessageCost:
    """Of `size_bytes` and more, as schedules have them, by every other host to the next one: all share the cores."""
    ranks = len(runner.testbed.hosts)
    instance = CircuitInstance("bcast", ranks, 1, _SIZES[-1] * size_bytes, 1e-3, 1e-3, 0.0, 0.0)
    counts = _SIZES * _REPETITIONS
    pairs = [(node, node + 1) for node in range(0, ranks - 1, 2)]
    messages: list[dict[str, Any]] = [
        {"circuit": circuit, "from": a, "to": b, "blocks": list(range(count)), "time_s": [number, number + 1]}
        for number, count in enumerate(counts)
        for circuit, (a, b) in enumerate(pairs)
    ]
    end = len(counts)
    circuits = [
        {"nodes": list(pair), "configuration": 0, "setup_s": [-1, 0], "teardown_s": [end, end + 1]} for pair in pairs
    ]
    schedule = {"blocks": _SIZES[-1], "block_bytes": size_bytes, "circuits": circuits, "messages": messages}
    of_no_collective = {**asdict(instance), "collective": "transfers"}
    (rounds,) = run_schedules([(of_no_collective, schedule)], _ROUNDS, runner, timeout_s)
    times_s: dict[int, list[float]] = {count: [] for count in _SIZES}
    for one in rounds:
        for message, begin_s, end_s in zip(messages, one.messages_s[::2], one.messages_s[1::2], strict=True):
            times_s[len(message["blocks"])].append(end_s - begin_s)
    points = [(count * size_bytes, statistics.median(times)) for count, times in times_s.items()]
    return MessageCost(*_line(points), points)


def _line(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """alpha >= 0 and beta of the least relative squares.

    The shaper of a link lets some kilobytes pass at once after a pause, so that the line may cross zero above no bytes.
    """
    import numpy as np
    from scipy.optimize import nnls

    relative = np.array([(1 / time_s, size / time_s) for size, time_s in points])
    scale = relative.max(axis=0)  # alpha and beta differ by orders of magnitude
    (alpha, beta), _ = nnls(relative / scale, np.ones(len(points)))
    return float(alpha / scale[0]), float(beta / scale[1])
