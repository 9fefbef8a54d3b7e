# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket schedule` asks for: a schedule that is built or read, or the best one on a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter
from hocket.schedules import schedule as schedules
from hocket.schedules.schedule import ROOTED

if TYPE_CHECKING:
    from hocket import Network, Schedule
    from hocket.report.schedule_page import DrawnSchedule
    from hocket.search import Found
    from hocket.search.crossover import Crossover
    from hocket.search.optimal import OptimalSchedule

# Ranks of a schedule whose transfers are simulated one by one: those of more are millions.
MOST_DRAWN = 256


@dataclass(frozen=True)
class ScheduleRequest:
    """A textbook algorithm, or a file of format hocket.schedule/1, of which nothing else is to be said."""

    what: str  #: a collective or a file
    algorithm: str | None = None
    ranks: int | None = None
    root: int = 0
    segments: int = 1
    order: tuple[int, ...] | None = None


@dataclass(frozen=True)
class SearchRequest:
    """The schedule that is predicted to be fastest."""

    collective: str
    network: NetworkSource
    bytes: int | None = None  #: None for a barrier alone
    root: int = 0
    chunks: int | None = None  #: None = as is predicted to be fastest


@dataclass(frozen=True)
class OptimalRequest:
    """The fastest broadcast or reduction of one segment on a tree; see `hocket.search.optimal.optimal_schedule`."""

    collective: str
    network: NetworkSource
    bytes: int | None
    root: int = 0
    time_limit_s: float = 60.0
    gap: float = 0.0
    threads: int = 1
    method: str = "hocket"
    cuts: str = "both"


@dataclass(frozen=True)
class CrossoverRequest:
    """From which size on pipelining pays."""

    collective: str
    network: NetworkSource
    root: int = 0


@dataclass(frozen=True)
class Built:
    schedule: Schedule

    @property
    def values(self) -> dict[str, Any]:
        return schedules.summary(self.schedule)


@dataclass(frozen=True)
class OnNetwork:
    values: dict[str, Any]
    build: Callable[[], Schedule]
    order: tuple[int, ...] | None  #: of the ranks, if it has one
    network: Network
    drawn: DrawnSchedule  #: of more than MOST_DRAWN ranks without transfers

    @cached_property
    def schedule(self) -> Schedule:
        return self.build()


@dataclass(frozen=True)
class Compared:
    crossover: Crossover
    network: Network
    collective: str

    @property
    def values(self) -> dict[str, Any]:
        return {"network": self.network.name, "collective": self.collective, **asdict(self.crossover)}


def run(
    request: ScheduleRequest | SearchRequest | OptimalRequest | CrossoverRequest, reporter: Reporter = SILENT
) -> Built | OnNetwork | Compared:
    """Each kind has a function of its own, whose result has a type of its own."""
    if isinstance(request, ScheduleRequest):
        return build(request)
    if isinstance(request, CrossoverRequest):
        return compare(request)
    return search(request) if isinstance(request, SearchRequest) else search_optimal(request, reporter)


def build(request: ScheduleRequest) -> Built:
    """It may be wrong: `values` has the violations."""
    from hocket._core import Schedule

    if schedules.is_file(request.what):
        return Built(schedules.read_schedule(request.what))
    if request.algorithm is None:
        raise InvalidInput("the algorithm is missing", f"`hocket schedule {request.what}` lists them")
    if request.ranks is None:
        raise InvalidInput("the number of ranks is missing", "add --ranks 8")
    order = None if request.order is None else list(request.order)
    return Built(Schedule.build(request.what, request.algorithm, request.ranks, request.root, request.segments, order))


def search(request: SearchRequest) -> OnNetwork:
    from hocket.search.best import best_schedule

    num_bytes = _bytes(request)
    network = _network(request)
    found = best_schedule(network, request.collective, num_bytes, request.root, request.chunks)
    drawn = _drawn_found(found, _title(request), num_bytes, network)
    values = found.to_dict() | {
        "network": network.name,
        "bytes": num_bytes,
        "root": request.root,
        "status": drawn.status,
        "makespan_s": found.predicted_s,
        "nodes_explored": found.tried,
        "transfers": [asdict(t) for t in drawn.transfers],
    }
    return OnNetwork(values, found.build, found.order, network, drawn)


def search_optimal(request: OptimalRequest, reporter: Reporter = SILENT) -> OnNetwork:
    from hocket.search.optimal import optimal_schedule

    num_bytes = _bytes(request)
    network = _network(request)
    best = optimal_schedule(
        network,
        request.collective,
        num_bytes,
        request.root,
        time_limit_s=request.time_limit_s,
        gap=request.gap,
        threads=request.threads,
        method=request.method,
        cuts=request.cuts,
        on_progress=reporter.progress,
    )
    return OnNetwork(best.to_dict(), lambda: best.schedule, None, network, _drawn_optimal(best, _title(request)))


def compare(request: CrossoverRequest) -> Compared:
    from hocket.search.best import one_piece_crossover
    from hocket.search.optimal import COLLECTIVES

    if request.collective not in COLLECTIVES:
        raise InvalidInput(
            f"--crossover is for {' and '.join(COLLECTIVES)}, not for {request.collective}", "leave it out"
        )
    network = _network(request)
    return Compared(one_piece_crossover(network, request.collective, request.root), network, request.collective)


def _bytes(request: SearchRequest | OptimalRequest) -> int:
    if request.collective == "barrier":
        if request.bytes is not None:
            raise InvalidInput("barrier: its messages are empty", "leave out --bytes")
        return 0
    if request.bytes is None:
        raise InvalidInput("the size of the message is missing", 'add --bytes "1 MB"')
    return request.bytes


def _network(request: SearchRequest | OptimalRequest | CrossoverRequest) -> Network:
    network = request.network.load()
    if not 0 <= request.root < network.num_ranks:
        raise InvalidInput(
            f"root is {request.root}: expected 0 to {network.num_ranks - 1}", "the network has no such rank"
        )
    return network


def _title(request: SearchRequest | OptimalRequest) -> str:
    from hocket import print_bytes

    collective = request.collective
    way = "from" if collective in ("bcast", "scatter") else "to"
    size = "" if request.bytes is None else f" of {print_bytes(request.bytes)}"
    return f"{collective}{size}" + (f" {way} rank {request.root}" if collective in ROOTED else "")


def _drawn_optimal(best: OptimalSchedule, title: str) -> DrawnSchedule:
    from hocket.report import text
    from hocket.report.schedule_page import DrawnSchedule

    effort = f"{best.nodes_explored:,} states in {text.seconds(best.search_s)}"
    if best.status == "optimal":
        how = f"{text.seconds(best.makespan_s)}, the least {best.claim}; proven with {effort}"
    elif best.lower_bound_s > 0:
        bound = f"none takes less than {text.seconds(best.lower_bound_s)}"
        how = (
            f"{text.seconds(best.makespan_s)}, at most {100 * best.gap:.3g} % more than the least {best.claim}: "
            f"{bound}; {effort}"
        )
    else:  # what --method paper says when it is stopped
        how = f"{text.seconds(best.makespan_s)}, the best that was found; {effort}"
    return DrawnSchedule(title, best.makespan_s, best.lower_bound_s, best.status, how, best.transfers)


def _drawn_found(found: Found, title: str, num_bytes: int, network: Network) -> DrawnSchedule:
    from hocket.interop.schedules import transfers
    from hocket.report import text
    from hocket.report.schedule_page import DrawnSchedule
    from hocket.schedules.transfers import timed

    how = (
        f"{found.how}: {text.seconds(found.predicted_s)} predicted, none takes less than "
        f"{text.seconds(found.lower_bound_s)}; {found.tried} tried in {text.seconds(found.search_s)}"
    )
    status = "optimal" if found.gap <= 1e-9 else "feasible"
    is_drawn = network.num_ranks <= MOST_DRAWN
    moved = timed(transfers(found.schedule, num_bytes, network)) if is_drawn else ()
    return DrawnSchedule(title, found.predicted_s, found.lower_bound_s, status, how, moved)
