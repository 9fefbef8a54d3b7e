# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule` on a network: the search, and what it found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cli.common import print_json
from hocket.cli.options import load_network
from hocket.cli.schedule.output import print_schedule, print_transfers
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket.optimal import OptimalSchedule


def run(
    collective: str,
    *,
    network_text: str,
    bandwidth: str | None,
    latency: str | None,
    bytes_text: str | None,
    root: int,
    optimal: bool,
    time_limit_s: float,
    gap: float,
    form: str | None,
    drawing: Path | None,
    as_json: bool,
    **_: Any,
) -> int:
    from hocket._core import parse_bytes
    from hocket.optimal import optimal_schedule

    if bytes_text is None:
        raise InvalidInput("the size of the message is missing", 'add --bytes "1 MB"')
    if not optimal:
        raise InvalidInput("what to do on the network is missing", "add --optimal")
    network = load_network(network_text, bandwidth, latency)
    found = optimal_schedule(
        network, collective, parse_bytes(bytes_text, "--bytes"), root, time_limit_s=time_limit_s, gap=gap
    )
    if as_json:
        print_json(found.to_dict())
    elif form is None or form == "transfers":
        print(summary(found))
        print_transfers(found.transfers)
    else:
        print_schedule(found.schedule, form, bytes_text, network)
    return 0


def summary(found: OptimalSchedule) -> str:
    from hocket import print_bytes
    from hocket.report.text import duration

    root = f"{'from' if found.collective == 'bcast' else 'to'} rank {found.root}"
    head = f"{found.collective} of {print_bytes(found.bytes)} {root} on {found.network}: {duration(found.makespan_s)}"
    effort = f"{found.nodes_explored:,} states in {duration(found.search_s)}"
    if found.status == "optimal":
        return f"{head}, the least {found.claim}; proven with {effort}"
    bound = f"none takes less than {duration(found.lower_bound_s)}"
    return f"{head}, at most {100 * found.gap:.3g} % more than the least {found.claim}: {bound}; {effort}"
