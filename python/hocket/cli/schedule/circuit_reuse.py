# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule TRACE --circuits`: circuits that stay up between the collectives of a program."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cli.common import message, print_json, print_table
from hocket.cli.reporter import TerminalReporter
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket.circuits.reuse import CircuitReuse

_TABLE_ROWS = 40


def run(
    folder: Path,
    *,
    ports: int | None,
    setup_s: float | None,
    teardown_s: float | None,
    accounting: str,
    bandwidth: str | None,
    latency: str | None,
    used: tuple[str, ...],
    as_json: bool,
    **_: Any,
) -> int:
    from hocket import parse_bandwidth, parse_duration
    from hocket.circuits.network import CircuitNetwork
    from hocket.circuits.reuse import CircuitReuseRequest, calls_of
    from hocket.circuits.reuse import run as reuse
    from hocket.traces.trace import Trace

    if ports is None or setup_s is None or teardown_s is None or bandwidth is None or latency is None:
        raise InvalidInput(
            "--circuits with a trace needs --ports, --latency, --bandwidth, --setup and --teardown",
            'for instance: --ports 2 --latency "100 us" --bandwidth "1 Gbit/s" --setup 5ms --teardown 5ms',
        )
    trace = Trace.open(folder)
    calls, left_out = calls_of(trace)
    network = CircuitNetwork(
        trace.ranks,
        ports,
        setup_s,
        teardown_s,
        parse_duration(latency, "--latency"),
        parse_bandwidth(bandwidth, "--bandwidth"),
        accounting,
    )
    found = reuse(CircuitReuseRequest(calls, network, used), TerminalReporter())
    if as_json:
        print_json(found.values | {"left_out": left_out})
    else:
        _print(found)
    for sentence in (*trace.shortfalls(), *left_out):
        message(sentence)
    return 0


def _print(found: CircuitReuse) -> None:
    from hocket import print_bytes
    from hocket.report import text

    calls = sum(call.times for call in found.request.calls)
    print(
        f"{calls:,} collectives on {found.request.network.ranks} nodes with "
        f"{text.counted(found.request.network.ports, 'port')}: "
        f"{text.seconds(found.total_s)}, of it messages {text.seconds(found.messages_s)}, "
        f"set-up and teardown {text.seconds(found.connection_s)} in "
        f"{text.counted(found.configurations, 'configuration')}"
    )
    print(
        "no choice among these algorithms takes less" if found.is_least else "the best that was found, maybe not least"
    )
    print(
        f"each collective for itself: {text.seconds(found.batches_s)} with batches of circuits, "
        f"{text.seconds(found.naive_s)} with a circuit for each message"
    )
    folded = [(one, len(list(equal))) for one, equal in groupby(found.done)]
    rows = [
        (
            str(times),
            one.collective,
            print_bytes(one.bytes),
            one.algorithm,
            str(len(one.batches) - 1),
            " | ".join(",".join(map(str, batch.steps)) or "-" for batch in one.batches),
        )
        for one, times in folded[:_TABLE_ROWS]
    ]
    print_table(["calls", "collective", "bytes", "algorithm", "new configurations", "steps: still up | then"], rows)
    if len(folded) > _TABLE_ROWS:
        print(f"... and {len(folded) - _TABLE_ROWS:,} more: --json lists all")
