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
from hocket.simulation.programs import ReadProgram, Recorded, Request, kind_of, program_of
from hocket.simulation.ranks import MOST_RANKS, ranks_from

if TYPE_CHECKING:
    from hocket import CostModel, Network, Program, Timeline
    from hocket.simulation.parallel import OnProgress

_HINT = (
    "write each as WHAT@RANKS, such as job.trace@0-63 or job.goal@0-7,16-23: rank i of it runs on the i-th of RANKS; "
    "job.goal@0-7+10ms starts 10 ms after the others"
)
_PLACE = re.compile(r"@(?P<ranks>[0-9,-]+)(?:\+(?P<start>[^@+]*))?$")
MOST_START_S = 1e9


@dataclass(frozen=True)
class Job:
    """A trace, a program, a schedule or COLLECTIVE:ALGORITHM. Its rank i runs on the i-th of the network's `ranks`."""

    what: str
    ranks: tuple[int, ...]
    start_s: float = 0.0  #: when it begins, beside the others


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
    together_s: float  #: as alone_s from its start to its end
    recorded: Recorded | None  #: None = it is no trace
    notes: tuple[str, ...] = ()  #: what was left out or assumed of a program of another tool

    @property
    def slow_down(self) -> float:
        return self.together_s / self.alone_s if self.alone_s > 0 else 1.0

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "what": self.job.what,
            "ranks": list(self.job.ranks),
            "start_s": self.job.start_s,
            "alone_s": self.alone_s,
            "together_s": self.together_s,
            "slow_down": self.slow_down,
        }
        if self.notes:
            values["notes"] = list(self.notes)
        return values if self.recorded is None else values | self.recorded.to_dict()


@dataclass(frozen=True)
class JobsResult:
    values: dict[str, Any]  #: what JSON has; documented in docs/reference/simulation.md
    jobs: tuple[JobTimes, ...]
    completed: bool
    simulated_s: float  #: of all together, until the end or until it was stopped


def has_ranks(what: str) -> bool:
    """Whether WHAT ends with @RANKS or @RANKS+START, and is no file or folder of that name."""
    return _PLACE.search(what) is not None and not Path(what).exists()


def job_from(text: str) -> Job:
    """Of "job.trace@0-63" or "job.trace@0-63+10ms". @raises InvalidInput"""
    from hocket import parse_duration

    place = _PLACE.search(text)
    if place is None or not text[: place.start()] or not has_ranks(text):
        raise InvalidInput(f"{text}: it does not say on which ranks", _HINT)
    start_s = 0.0 if place["start"] is None else parse_duration(place["start"], f"{text}: its start")
    if not start_s <= MOST_START_S:
        raise InvalidInput(f"{text}: it starts after {start_s:g} s", f"accepted: up to {MOST_START_S:g} s")
    found: list[int] = []
    try:
        for part in place["ranks"].split(","):
            found.extend(ranks_from(part))
            if len(found) > MOST_RANKS:
                raise ValueError(f"more than {MOST_RANKS} ranks")
    except ValueError as error:
        raise InvalidInput(f"{text}: {error}", _HINT) from None
    return Job(text[: place.start()], tuple(found), start_s)


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
    programs = [part.program for part in parts]
    places = [list(job.ranks) for job in request.jobs]
    placed = [_core.place(*one, network.num_ranks) for one in zip(programs, places, strict=True)]
    setup_s = time.perf_counter() - begin_s
    starts_s = [0.0] * network.num_ranks
    for job in request.jobs:
        for rank in job.ranks:
            starts_s[rank] = job.start_s
    *alone, together = run_each(
        [
            *(partial(_simulated, program, network, costs, []) for program in placed),
            partial(_simulated, _core.place_all(programs, places, network.num_ranks), network, costs, starts_s),
        ],
        request.threads or available_cores(),
        reporter.progress,
    )
    completed = all(one.completed for one in (*alone, together))
    jobs = tuple(
        JobTimes(job, _end_s(own, job), max(0.0, _end_s(together, job) - job.start_s), part.recorded, part.notes)
        for job, own, part in zip(request.jobs, alone, parts, strict=True)
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


def _part(job: Job, request: JobsRequest, costs: CostModel) -> ReadProgram:
    if kind_of(job.what) == "collective":
        return ReadProgram(_collective(job, request.bytes))
    read = program_of(job.what, Request(request.bytes), costs)
    if read.program.num_ranks != len(job.ranks):
        raise InvalidInput(
            f"{job.what}: has {read.program.num_ranks} ranks, and is to run on {len(job.ranks)}",
            "name as many ranks of the network as it has",
        )
    return read


def _collective(job: Job, size_bytes: int | None) -> Program:
    from hocket import Schedule, lower

    collective, _, algorithm = job.what.partition(":")
    if not algorithm:
        raise InvalidInput(f"{job.what}: no such file or folder", "a collective needs its algorithm: bcast:binomial")
    if size_bytes is None and collective != "barrier":
        raise InvalidInput(f"{job.what}: bytes are missing", 'for instance --bytes "1 MB"')
    return lower(Schedule.build(collective, algorithm, len(job.ranks)), size_bytes or 0)


def _simulated(
    program: Program, network: Network, costs: CostModel, start_s: list[float], on_progress: OnProgress
) -> Timeline:
    from hocket import simulate

    return simulate(program, network, costs, start_s=start_s, on_progress=on_progress)


def _end_s(timeline: Timeline, job: Job) -> float:
    return float(timeline.finish_s[list(job.ranks)].max())
