# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket simulate WHAT`: finds out what WHAT is, and simulates it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket._core import CircuitTimeline
from hocket.errors import InvalidInput
from hocket.interop.programs import read_program
from hocket.interop.sources import PROGRAMS, Sources, find_sources, recognise, start_of
from hocket.plan import Plan
from hocket.simulation.circuits import CircuitUse, circuit_values
from hocket.simulation.parallel import OnProgress, run_each
from hocket.simulation.patterns import ACCEPTED as PATTERNS
from hocket.simulation.what_if import AS_RECORDED, WhatIf

if TYPE_CHECKING:
    from hocket import CostModel, Network, Program, Schedule, Timeline, Trace
    from hocket._core import LeftOut
    from hocket.traces.rank_summary import RankEnd

ACCEPTED = (
    f"accepted: a traffic pattern ({PATTERNS}), a schedule (JSON), a program (GOAL text or binary, Chakra), "
    "a trace folder, a collective (bcast), or a collective and an algorithm (bcast:pipelined_chain)"
)

MOST_FILE_BYTES = 2**32  #: of a schedule or a program
_MOST_KEPT = 2**18  # messages of a schedule that is kept; as many as there may be, one a pair of ranks and segment


@dataclass(frozen=True)
class Request:
    """How a schedule is to be made and lowered; unused for programs and traces."""

    size_bytes: int | None = None
    root: int = 0
    segments: int = 1
    depth_first: bool = False  # rank order


@dataclass(frozen=True)
class Recorded:
    """What is known of a trace beside its program."""

    span_s: float  #: from the first return from MPI_Init to the last call of MPI_Finalize, as recorded
    left_out: tuple[LeftOut, ...]  #: calls that are not simulated
    incomplete: tuple[RankEnd, ...]  #: ranks whose trace is a part
    filters: tuple[str, ...] = ()  #: a line if calls were left out of the trace on purpose

    def to_dict(self) -> dict[str, Any]:
        return {
            "complete": not self.incomplete,
            "incomplete_ranks": [one.rank for one in self.incomplete],
            "filters": list(self.filters),
            "recorded_span_s": self.span_s,
            "left_out": [
                {"function": one.function, "reason": one.reason, "calls": one.calls, "bytes": one.bytes}
                for one in self.left_out
            ],
        }

    @property
    def sentences(self) -> list[str]:
        span = f"{self.span_s:.3f}" if self.span_s >= 0.1 else f"{self.span_s:.3g}"
        what = "The simulated time begins when MPI_Init returns and ends with the call of MPI_Finalize"
        sentences = [
            f"{what}, which took {span} s in the recorded run. The launcher, start-up and what comes "
            "after are left out."
        ]
        return sentences + self.left_out_sentences

    @property
    def left_out_sentences(self) -> list[str]:
        if not self.left_out:
            return ["Every recorded call that moves data is simulated."]
        return [f"Not simulated: {described(one)}." for one in self.left_out]


def described(left_out: LeftOut) -> str:
    """ "12 calls of MPI_Put, 4,800 bytes: the making of its window was not recorded"."""
    what = left_out.function
    if what.startswith("MPI_"):
        what = f"call{'s' * (left_out.calls != 1)} of {what}"
    size = f", {left_out.bytes:,} bytes" if left_out.bytes else ""
    return f"{left_out.calls:,} {what}{size}: {left_out.reason}"


@dataclass(frozen=True)
class Simulated:
    name: str
    program: Program | None  #: None = a trace whose operations were not kept
    timeline: Timeline
    recorded: Recorded | None = None  #: None = it is not a trace
    circuit_policy: str | None = None
    notes: tuple[str, ...] = ()  #: of ReadProgram

    @property
    def end_s(self) -> float:
        """Of the program, and of the last teardown of a circuit."""
        return self.timeline.circuits_end_s if isinstance(self.timeline, CircuitTimeline) else self.timeline.makespan_s

    def to_dict(self, network: Network) -> dict[str, Any]:
        from hocket import Fabric
        from hocket.simulation.statistics import bottlenecks, finish_quantiles

        loads = bottlenecks(Fabric.from_network(network), self.timeline.link_bytes, self.timeline.makespan_s)
        finish_s = self.timeline.finish_s
        known = finish_s[finish_s >= 0]
        values: dict[str, Any] = {"name": self.name}
        if self.notes:
            values["notes"] = list(self.notes)
        if self.recorded is not None:
            values |= self.recorded.to_dict()
        if self.circuit_policy is not None and isinstance(self.timeline, CircuitTimeline):
            values["circuits"] = circuit_values(self.circuit_policy, self.timeline)
        return values | {
            "completed": self.timeline.completed,
            "makespan_s": self.timeline.makespan_s,
            "mean_finish_s": float(known.mean()) if len(known) else None,
            "finish_quantiles_s": finish_quantiles(finish_s),
            "events": self.timeline.num_events,
            "links": [
                # if stopped, the bytes are also those that have not passed yet
                {
                    "source": load.source,
                    "target": load.target,
                    "half_duplex": load.half_duplex,
                    "bytes": load.bytes,
                    "use": load.utilisation if self.timeline.completed else None,
                }
                for load in loads
            ],
        }


@dataclass(frozen=True)
class Refused:
    """An algorithm that cannot be simulated where others can."""

    name: str
    reason: str


@dataclass(frozen=True)
class ProgramOptions:
    """What goes beside a Program and the costs of its messages."""

    reference: bool = False
    record: bool = False  #: the use of links over time
    threads: int = 1  #: algorithms at once
    on_progress: OnProgress | None = None
    circuits: CircuitUse | None = None  #: None = the network has none
    what_if: WhatIf = AS_RECORDED


def simulate_what(
    what: str,
    network: Network,
    request: Request,
    costs: CostModel,
    plan: Plan | None = None,
    options: ProgramOptions | None = None,
) -> tuple[list[Simulated], list[Refused]]:
    """One result, or one an algorithm where WHAT is a collective, sorted by time. None follows one that was stopped.

    Algorithms that fail are beside them. @raises InvalidInput if all fail, or there is only one.
    """
    options = options or ProgramOptions()
    kind = kind_of(what)
    if kind == "trace" and not options.record and options.circuits is None and costs.cores == 0:
        return [_simulated_trace(what, network, costs, plan, options)], []
    read = None
    if kind != "collective":
        read = program_of(what, request, costs, plan)
        programs = [(what, options.what_if.changed(read.program))]
    else:
        if plan is not None:
            raise InvalidInput(f"{what}: a plan goes with a trace only")
        programs = [(s.algorithm, _lowered(s, request)) for s in _schedules(what, network, request)]
    if options.record and len(programs) > 1:
        raise InvalidInput(
            f"{what}: a folder or a trace holds one simulation; there are {len(programs)} algorithms",
            f"name one: {what}:{programs[0][0]}",
        )
    recording: dict[str, Any] = {"reference": options.reference}
    if options.circuits is not None:
        recording |= {"pinned": options.circuits.pinned}
    if options.record:
        from hocket import Fabric
        from hocket.networks.link_groups import group_links, rows_of

        rows = rows_of(group_links(Fabric.from_network(network)))
        recording |= {"record_links": True, "link_bins": rows.bins, "link_rows": rows.row_of_link}
    timelines = run_each(
        [
            partial(_simulated, program, network, costs, recording | _policy(options.circuits, program))
            for _, program in programs
        ],
        options.threads,
        options.on_progress,
    )
    failed = [one for one in timelines if isinstance(one, InvalidInput)]
    if failed and len(failed) == len(timelines):
        raise failed[0]
    found, refused = [], []
    for (name, program), timeline in zip(programs, timelines, strict=True):
        if isinstance(timeline, InvalidInput):
            refused.append(Refused(name, str(timeline)))
        else:
            policy = _policy(options.circuits, program).get("circuit_policy")
            recorded, notes = (read.recorded, read.notes) if read else (None, ())
            found.append(Simulated(name, program, timeline, recorded, policy, notes))
    stopped = [one for one in found if not one.timeline.completed]
    return sorted([one for one in found if one not in stopped[1:]], key=lambda one: one.end_s), refused


def _simulated_trace(
    what: str, network: Network, costs: CostModel, plan: Plan | None, options: ProgramOptions
) -> Simulated:
    from hocket.traces.replay import simulate_trace
    from hocket.traces.trace import TraceFiles

    files = TraceFiles(what)
    if plan is not None:
        plan.check_ranks(files.ranks)
    found = simulate_trace(
        files, network, costs, plan, options.what_if.core, reference=options.reference, on_progress=options.on_progress
    )
    incomplete = files.incomplete() if found.timeline.completed else ()
    recorded = Recorded(found.recorded_span_s, tuple(found.left_out), incomplete, tuple(files.filters()))
    return Simulated(what, None, found.timeline, recorded)


def _policy(circuits: CircuitUse | None, program: Program) -> dict[str, str]:
    return {} if circuits is None else {"circuit_policy": circuits.policy_of(program)}


def _simulated(
    program: Program, network: Network, costs: CostModel, recording: dict[str, Any], on_progress: OnProgress
) -> Timeline | InvalidInput:
    from hocket import simulate

    try:
        return simulate(program, network, costs, on_progress=on_progress, **recording)
    except InvalidInput as error:
        return error


def kind_of(what: str) -> str:
    """ "trace", "schedule", "program" or "collective", which is what no file or folder has the name of."""
    if not what:
        raise InvalidInput("WHAT is empty", ACCEPTED)
    try:
        mode = os.stat(what).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # a ValueError: a null byte in the name
        return "collective"
    except OSError as error:  # such as too long a name
        raise InvalidInput(f"{what}: {error.strerror}", ACCEPTED) from None
    path = Path(what)
    if stat.S_ISDIR(mode):
        return "trace" if _program_in(path) is None else "program"
    if not stat.S_ISREG(mode):
        return "collective"
    start = start_of(path)
    return "schedule" if recognise(start) is None and start.lstrip().startswith(b"{") else "program"


def _program_in(folder: Path) -> Sources | None:
    """The files of a program of another tool, if the folder is no trace."""
    if (folder / "meta.json").exists():
        return None
    try:
        sources = find_sources(folder)
    except InvalidInput:
        return None
    return sources if sources.format in PROGRAMS else None


def _replayed(trace: Trace, plan: Plan | None, costs: CostModel) -> ReadProgram:
    from hocket.traces.replay import replay_at

    if plan is not None:
        plan.check_ranks(trace.ranks)
    incomplete = tuple(trace.summary(rank) for rank in range(trace.ranks) if not trace.complete(rank))
    replayed = replay_at(costs, trace, plan)
    left_out = tuple(replayed.left_out)
    return ReadProgram(
        replayed.program, Recorded(replayed.recorded_span_s, left_out, incomplete, tuple(trace.filters()))
    )


@dataclass(frozen=True)
class ReadProgram:
    program: Program
    recorded: Recorded | None = None  #: what is known of it beside, if it is a trace
    notes: tuple[str, ...] = ()  #: what was left out or assumed of a program of another tool


def program_of(what: str, request: Request, costs: CostModel, plan: Plan | None = None) -> ReadProgram:
    """The program of a file or folder."""
    from hocket import Program, Schedule, Trace

    path = Path(what)
    if kind_of(what) == "trace":
        return _replayed(Trace.open(what), plan, costs)
    if plan is not None:
        raise InvalidInput(f"{what}: a plan goes with a trace only")
    if not path.is_dir() and path.stat().st_size > MOST_FILE_BYTES:
        raise InvalidInput(f"{what}: larger than {MOST_FILE_BYTES >> 30} GiB", "simulate a smaller one")
    if path.is_dir() or recognise(start_of(path)) in ("goal-binary", "chakra"):
        sources = find_sources(path)
        program, notes = read_program(sources.format, sources.read())
        return ReadProgram(program, notes=tuple(notes))
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{what}: neither JSON nor GOAL text", hint=ACCEPTED) from None
    if text.lstrip().startswith("{"):
        return ReadProgram(_lowered(Schedule.from_json(text, what), request))
    return ReadProgram(Program.from_goal(text, what))


@cache
def _algorithms() -> dict[str, dict[str, bool]]:
    """Of each collective its algorithms, and whether they pipeline segments."""
    from hocket import algorithms

    found: dict[str, dict[str, bool]] = {}
    for one in algorithms():
        found.setdefault(one.collective, {})[one.name] = one.pipelines
    return found


def _schedules(what: str, network: Network, request: Request) -> Sequence[Schedule]:
    collective, _, wanted = what.partition(":")
    known = _algorithms()
    if collective not in known:
        raise InvalidInput(
            f"{what}: no such file, folder, pattern or collective",
            hint=f"{ACCEPTED}; collectives: {', '.join(sorted(known))}",
        )
    names = known[collective]
    if ":" in what and wanted not in names:
        raise InvalidInput(
            f"{what}: {collective} has no algorithm {wanted!r}", f"accepted algorithms: {', '.join(names)}"
        )
    order = tuple(network.depth_first_order(request.root)) if request.depth_first else None
    # A small one is kept: the next simulation of a process is often one of another size.
    is_small = network.num_ranks**2 * request.segments <= _MOST_KEPT
    build = _last_schedule if is_small else _schedule
    return [
        build(collective, name, network.num_ranks, request.root, request.segments if pipelines else 1, order)
        for name, pipelines in names.items()
        if not wanted or name == wanted
    ]


def _schedule(
    collective: str, algorithm: str, num_ranks: int, root: int, segments: int, order: tuple[int, ...] | None
) -> Schedule:
    from hocket import Schedule

    return Schedule.build(collective, algorithm, num_ranks, root, segments, order and list(order))


_last_schedule = lru_cache(maxsize=1)(_schedule)


def _lowered(schedule: Schedule, request: Request) -> Program:
    from hocket import lower

    if request.size_bytes is None and schedule.collective != "barrier":
        raise InvalidInput("a schedule has no sizes, and no bytes are given", hint='for instance --bytes "1 MB"')
    return lower(schedule, request.size_bytes or 0)
