# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule` with a textbook algorithm or a file."""

from __future__ import annotations

from typing import Any

from hocket.cli.common import print_json, print_table
from hocket.cli.schedule.output import Printed, print_schedule
from hocket.networks.source import NetworkSource


def run(
    what: str,
    *,
    ranks: int | None,
    algorithm: str | None,
    root: int,
    segments: int,
    order: str | None,
    form: str | None,
    bytes_text: str | None,
    network_text: str | None,
    as_json: bool,
    **_: Any,
) -> int:
    from hocket.schedules import schedule as schedules
    from hocket.schedules.request import ScheduleRequest, build

    if algorithm is None and not schedules.is_file(what):
        _list_algorithms(what, as_json)
        return 0
    ranks_in_order = schedules.parse_order(order)
    built = build(
        ScheduleRequest(
            what, algorithm, ranks, root, segments, None if ranks_in_order is None else tuple(ranks_in_order)
        )
    )
    if as_json:
        values = built.values
        print_json(values)
        return 0 if values["ok"] else 1
    schedules.require_right(built.schedule, what)
    from hocket._core import parse_bytes

    size = None if bytes_text is None else parse_bytes(bytes_text, "--bytes")
    network = None if network_text is None else NetworkSource(network_text).load()
    print_schedule(Printed(built.schedule, size, network, ranks_in_order), form or "list")
    return 0


def _list_algorithms(collective: str, as_json: bool) -> None:
    from hocket.schedules import schedule as schedules

    found = schedules.algorithms_of(collective)
    if as_json:
        print_json({"algorithms": [{"collective": a.collective, "name": a.name, "source": a.source} for a in found]})
        return
    rows = [(a.name, "yes" if a.pipelines else "no", a.source) for a in found]
    print_table(["algorithm", "pipelines", "source"], rows, collective)
