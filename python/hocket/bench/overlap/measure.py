# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Launches hocket-overlap: the program of [Nanri15], which computes while collectives are under way."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket.bench.overlap.modes import ALGORITHMS
from hocket.errors import Error
from hocket.mpi.build import build_probe

if TYPE_CHECKING:
    from hocket.measure.runner import Runner


@dataclass(frozen=True)
class Case:
    collective: str
    size_bytes: int  # of a block, as MPI counts: of alltoall what a rank sends to each other one
    in_flight: int  # collectives at once
    compute_model: str

    def __str__(self) -> str:
        several = f"{self.in_flight} x " if self.in_flight > 1 else ""
        return f"{several}{self.collective} of {self.size_bytes} B, compute: {self.compute_model}"


@dataclass(frozen=True)
class OverlapOptions:
    ranks: int
    modes: tuple[str, ...] = ()  # none = all
    algorithm: str | None = None  # None = as ALGORITHMS
    segments: int = 1
    core: str = "any"
    ratio: float = 1.0  # computation / communication
    launches: int = 3
    repetitions: int = 5  # of each mode in a launch
    seconds: float = 30.0  # no repetition after the third starts later in a launch
    timeout_s: float = 300.0  # of a launch


def measure_case(
    case: Case,
    options: OverlapOptions,
    runner: Runner,
    following: Callable[[str], None],
) -> list[dict[str, Any]]:
    """What each launch of hocket-overlap printed; `following` is called before each."""
    found = []
    for _ in range(options.launches):
        following(f"{runner.mpi.name}, {case}")
        found.append(_launch(_arguments(case, options), options, runner))
    return found


def _arguments(case: Case, options: OverlapOptions) -> list[str]:
    given: dict[str, object] = {
        "collective": case.collective,
        "bytes": case.size_bytes,
        "in-flight": case.in_flight,
        "compute": case.compute_model,
        "ratio": options.ratio,
        "algorithm": options.algorithm or ALGORITHMS[case.collective],
        "segments": options.segments,
        "core": options.core,
        "repetitions": options.repetitions,
        "seconds": options.seconds,
    }
    if options.modes:
        given["modes"] = ",".join(options.modes)
    return [word for name, value in given.items() for word in (f"--{name}", str(value))]


def _launch(arguments: Sequence[str], options: OverlapOptions, runner: Runner) -> dict[str, Any]:
    program = build_probe(runner.mpi, "hocket-overlap")
    command = [str(runner.mpi.mpiexec), "-n", str(options.ranks), str(program), *arguments]
    threads = {name: os.environ[name] for name in ("OMP_NUM_THREADS",) if name in os.environ}
    run = runner.run(command, environment=threads, timeout_s=options.timeout_s, what="the overlapping program")
    try:
        times: dict[str, Any] = json.loads(run.stdout)
    except ValueError as error:
        raise Error(f"hocket-overlap gave no result that can be read: {run.stdout[:200]!r}") from error
    if times.get("format") != "hocket.overlap-times/1":
        raise Error(f"hocket-overlap gave no result that can be read: {run.stdout[:200]!r}")
    return times
