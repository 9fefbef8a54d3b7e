# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The formats that `hocket schedule` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hocket.cli.common import print_table
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Network, Program, Schedule
    from hocket.schedules.transfers import TimedTransfer


@dataclass(frozen=True)
class Printed:
    """A schedule and what some formats need beside it."""

    schedule: Schedule
    bytes: int | None = None
    network: Network | None = None
    order: Sequence[int] | None = None  # of the ranks, if it has one

    def program(self) -> Program:
        from hocket import lower

        if self.bytes is None:
            raise InvalidInput("this --format needs a size", 'add --bytes "1 MB"')
        return lower(self.schedule, self.bytes)

    def on_network(self) -> Network:
        if self.network is None:
            raise InvalidInput("this --format needs a network", "add --network star:8, and leave out --algorithm")
        return self.network

    def rank_order(self) -> Sequence[int]:
        if self.order is None:
            raise InvalidInput("this schedule has no order of ranks", "a chain or a ring has one: add --network FILE")
        return self.order


def print_schedule(what: Printed, form: str) -> None:
    for line in FORMATS[form](what):
        print(line)


def _list(what: Printed) -> Iterable[str]:
    from hocket.schedules import schedule as schedules

    return schedules.listing(what.schedule)


def _json(what: Printed) -> Iterable[str]:
    return what.schedule.to_json().splitlines()


def _goal(what: Printed) -> Iterable[str]:
    return what.program().to_goal().splitlines()


def _sends(what: Printed) -> Iterable[str]:
    from hocket.interop.schedules import send_list, transfers

    what.program()
    return send_list(transfers(what.schedule, what.bytes or 0, what.on_network()))


def _msccl(what: Printed) -> Iterable[str]:
    from hocket.interop.schedules import to_msccl_xml

    return to_msccl_xml(what.schedule).splitlines()


def _ranks(what: Printed) -> Iterable[str]:
    from hocket.interop.schedules import rank_list

    return rank_list(what.rank_order()).splitlines()


def _openmpi(what: Printed) -> Iterable[str]:
    from hocket.interop.schedules import openmpi_rankfile

    return openmpi_rankfile(what.on_network(), what.rank_order()).splitlines()


def _hydra(what: Printed) -> Iterable[str]:
    from hocket.interop.schedules import hydra_hostfile

    return hydra_hostfile(what.on_network(), what.rank_order()).splitlines()


FORMATS: dict[str, Callable[[Printed], Iterable[str]]] = {
    "list": _list,
    "json": _json,
    "goal": _goal,
    "msccl": _msccl,
    "sends": _sends,
    "ranks": _ranks,
    "openmpi-rankfile": _openmpi,
    "hydra-hosts": _hydra,
}


def print_transfers(transfers: Iterable[TimedTransfer]) -> None:
    from hocket.report import text

    rows = [(text.seconds(t.start_s), text.seconds(t.end_s), t.source, t.target, t.chunk) for t in transfers]
    print_table(["start", "end", "from", "to", "chunk"], rows)
