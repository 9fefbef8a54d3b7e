# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule` with a textbook algorithm or a file."""

from __future__ import annotations

from typing import Any

from hocket.cli.common import print_json, print_table
from hocket.cli.schedule.output import Printed, print_schedule
from hocket.errors import InvalidInput


def run(
    what: str,
    *,
    ranks: int | None,
    algorithm: str | None,
    root: int,
    pieces: int,
    order: str | None,
    form: str | None,
    bytes_text: str | None,
    network_text: str | None,
    as_json: bool,
    **_: Any,
) -> int:
    from hocket import schedule as schedules
    from hocket._core import Schedule

    if schedules.is_file(what):
        schedule = schedules.read_schedule(what)
    elif algorithm is None:
        _list_algorithms(what, as_json)
        return 0
    else:
        if ranks is None:
            raise InvalidInput("the number of ranks is missing", "add --ranks 8")
        schedule = Schedule.build(what, algorithm, ranks, root, pieces, schedules.parse_order(order))
    if as_json:
        result = schedules.summary(schedule)
        print_json(result)
        return 0 if result["ok"] else 1
    schedules.require_right(schedule, what)
    from hocket._core import parse_bytes
    from hocket.cli.options import load_network

    size = None if bytes_text is None else parse_bytes(bytes_text, "--bytes")
    network = None if network_text is None else load_network(network_text)
    print_schedule(Printed(schedule, size, network, schedules.parse_order(order)), form or "list")
    return 0


def _list_algorithms(collective: str, as_json: bool) -> None:
    from hocket import schedule as schedules

    found = schedules.algorithms_of(collective)
    if as_json:
        print_json({"algorithms": [{"collective": a.collective, "name": a.name, "source": a.source} for a in found]})
        return
    rows = [(a.name, "yes" if a.pipelines else "no", a.source) for a in found]
    print_table(["algorithm", "pipelines", "source"], rows, collective)
