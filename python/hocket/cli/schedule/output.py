# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The formats that `hocket schedule` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hocket.cli.common import print_table
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Network, Schedule
    from hocket.transfers import TimedTransfer


def print_schedule(schedule: Schedule, form: str, bytes_text: str | None, network: Network | None) -> None:
    from hocket import schedule as schedules
    from hocket._core import lower, parse_bytes

    if form == "json":
        print(schedule.to_json(), end="")
        return
    if form == "list":
        for line in schedules.listing(schedule):
            print(line)
        return
    if bytes_text is None:
        raise InvalidInput(f"--format {form} needs a size", 'add --bytes "1 MB"')
    program = lower(schedule, parse_bytes(bytes_text, "--bytes"))
    if form == "goal":
        print(program.to_goal(), end="")
        return
    if network is None:
        raise InvalidInput("--format transfers needs a network", "add --network star:8")
    from hocket.transfers import simulated_transfers

    print_transfers(simulated_transfers(schedule, program, network))


def print_transfers(transfers: Iterable[TimedTransfer]) -> None:
    from hocket.report import text

    rows = [(text.seconds(t.start_s), text.seconds(t.end_s), t.source, t.target, t.chunk) for t in transfers]
    print_table(["start", "end", "from", "to", "chunk"], rows)
