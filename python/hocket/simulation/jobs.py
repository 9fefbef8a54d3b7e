# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Several jobs at once on one network: what each takes beside the others, and alone."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cost.source import OF_NETWORK, CostSource
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter
from hocket.simulation.parallel import available_cores, run_each
from hocket.simulation.programs import Recorded, Request, kind_of, program_of

if TYPE_CHECKING:
    from hocket import CostModel, Network, Program, Timeline
    from hocket.simulation.parallel import OnProgress

_HINT = "write each as WHAT@RANKS, such as job.trace@0-63 or job.goal@0-7,16-23: rank i of it runs on the i-th of RANKS"
MOST_RANKS = 2**24


@dataclass(frozen=True)
class Job:
    """A trace, a program, a schedule or COLLECTIVE:ALGORITHM. Its rank i runs on the i-th of the network's `ranks`."""

    what: str
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class JobsRequest:
    jobs: tuple[Job, ...]
    network: NetworkSource
    costs: CostSource = OF_NETWORK
    bytes: int | None = None  #: of the jobs that are schedules or collectives
    threads: int | None = None  #: at once: the jobs alone, and all together; None = the cores


@dataclass(frozen=True)
class JobTimes:
    job: Job
    alone_s: float
    together_s: float
    recorded: Recorded | None  #: None = it is no trace

    @property
    def slow_down(self) -> float:
        return self.together_s / self.alone_s if self.alone_s > 0 else 1.0

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "what": self.job.what,
            "ranks": list(self.job.ranks),
            "alone_s": self.alone_s,
            "together_s": self.together_s,
            "slow_down": self.slow_down,
        }
        return values if self.recorded is None else values | self.recorded.to_dict()


@dataclass(frozen=True)
class JobsResult:
    values: dict[str, Any]  #: what JSON has; documented in docs/reference/simulation.md
    jobs: tuple[JobTimes, ...]
    completed: bool
    simulated_s: float  #: of all together, until the end or until it was stopped


def has_ranks(what: str) -> bool:
    """Whether WHAT ends with @RANKS, and is no file or folder of that name."""
    return re.search(r"@[0-9,-]+$", what) is not None and not Path(what).exists()


def job_from(text: str) -> Job:
    """Of "job.trace@0-63". @raises InvalidInput"""
    what, at, ranks = text.rpartition("@")
    if not at or not what or not has_ranks(text):
        raise InvalidInput(f"{text}: it does not say on which ranks", _HINT)
    found: list[int] = []
    for part in ranks.split(","):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        if ends is None or int(ends[2] or ends[1]) < int(ends[1]):
            raise InvalidInput(f"{text}: {part!r} are no ranks", _HINT)
        found.extend(range(int(ends[1]), min(int(ends[2] or ends[1]), int(ends[1]) + MOST_RANKS) + 1))
        if len(found) > MOST_RANKS:
            raise InvalidInput(f"{text}: more than {MOST_RANKS} ranks")
    return Job(what, tuple(found))


def run(request: JobsRequest, reporter: Reporter = SILENT) -> JobsResult:
    """@raises InvalidInput if jobs overlap, do not fit on the network or into their ranks, or cannot be simulated."""
    from hocket import _core

    begin_s = time.perf_counter()
    network = request.network.load()
    if network.has_circuits:
        raise InvalidInput(f"{network.name} has circuits: several jobs are not simulated there", "name one job")
    costs = request.costs.model(network)
    check_ranks(request.jobs, network)
    parts = [_part(job, request, costs) for job in request.jobs]
    programs = [program for program, _ in parts]
    places = [list(job.ranks) for job in request.jobs]
    placed = [_core.place(*one, network.num_ranks) for one in zip(programs, places, strict=True)]
    setup_s = time.perf_counter() - begin_s
    *alone, together = run_each(
        [
            partial(_simulated, program, network, costs)
            for program in (*placed, _core.place_all(programs, places, network.num_ranks))
        ],
        request.threads or available_cores(),
        reporter.progress,
    )
    completed = all(one.completed for one in (*alone, together))
    jobs = tuple(
        JobTimes(job, _end_s(own, job), _end_s(together, job), recorded)
        for job, own, (_, recorded) in zip(request.jobs, alone, parts, strict=True)
    )
    values = {
        "network": network.name,
        "sharing": costs.sharing,
        "completed": completed,
        "makespan_s": together.makespan_s,
        "setup_s": setup_s,
        "solve_s": time.perf_counter() - begin_s - setup_s,
        "jobs": [one.to_dict() for one in jobs] if completed else [],
    }
    return JobsResult(values, jobs if completed else (), completed, together.makespan_s)


def check_ranks(jobs: Sequence[Job], network: Network) -> None:
    owner: dict[int, Job] = {}
    for job in jobs:
        for rank in job.ranks:
            if rank >= network.num_ranks:
                raise InvalidInput(
                    f"{job.what}: rank {rank}: {network.name} has ranks 0 to {network.num_ranks - 1}",
                    "name other ranks, or a larger network",
                )
            if rank in owner:
                twice = "twice" if owner[rank] is job else f"and also for {owner[rank].what}"
                raise InvalidInput(f"{job.what}: rank {rank} is named {twice}", "name each rank once")
            owner[rank] = job


def _part(job: Job, request: JobsRequest, costs: CostModel) -> tuple[Program, Recorded | None]:
    if kind_of(job.what) == "collective":
        return _collective(job, request.bytes), None
    program, recorded = program_of(job.what, Request(request.bytes), costs)
    if program.num_ranks != len(job.ranks):
        raise InvalidInput(
            f"{job.what}: has {program.num_ranks} ranks, and is to run on {len(job.ranks)}",
            "name as many ranks of the network as it has",
        )
    return program, recorded


def _collective(job: Job, size_bytes: int | None) -> Program:
    from hocket import Schedule, lower

    collective, _, algorithm = job.what.partition(":")
    if not algorithm:
        raise InvalidInput(f"{job.what}: no such file or folder", "a collective needs its algorithm: bcast:binomial")
    if size_bytes is None and collective != "barrier":
        raise InvalidInput(f"{job.what}: give --bytes", 'for instance --bytes "1 MB"')
    return lower(Schedule.build(collective, algorithm, len(job.ranks)), size_bytes or 0)


def _simulated(program: Program, network: Network, costs: CostModel, on_progress: OnProgress) -> Timeline:
    from hocket import simulate

    return simulate(program, network, costs, on_progress=on_progress)


def _end_s(timeline: Timeline, job: Job) -> float:
    return float(timeline.finish_s[list(job.ranks)].max())
