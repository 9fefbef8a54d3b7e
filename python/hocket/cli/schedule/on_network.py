# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule` on a network: the search, and what it found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cli.common import message, print_json, print_table
from hocket.cli.reporter import TerminalReporter
from hocket.cli.schedule.output import Printed, print_schedule, print_transfers
from hocket.cli.schedule.progress import SearchBar
from hocket.cli.watch import INTERRUPTED, Bar, watched
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource

if TYPE_CHECKING:
    from hocket import Network
    from hocket.report.schedule_page import DrawnSchedule
    from hocket.schedules.request import CrossoverRequest, OnNetwork

_TABLE_ROWS = 40


def run(
    collective: str,
    *,
    network_text: str,
    bandwidth: str | None,
    latency: str | None,
    bytes_text: str | None,
    root: int,
    optimal: bool,
    crossover: bool,
    chunks: int | None,
    time_limit_s: float,
    gap: float,
    threads: int,
    method: str,
    cuts: str,
    form: str | None,
    drawing: Path | None,
    as_json: bool,
    **_: Any,
) -> int:
    from hocket._core import parse_bytes
    from hocket.schedules.request import CrossoverRequest, OptimalRequest, SearchRequest, search, search_optimal

    network = NetworkSource(network_text, bandwidth, latency)
    if crossover:
        return _print_crossover(CrossoverRequest(collective, network, root), as_json)
    if optimal and chunks not in (None, 1):
        raise InvalidInput("--optimal finds schedules of one segment", "leave out --chunks, or --optimal")
    if drawing is not None:
        check_drawing(drawing)
    num_bytes = None if bytes_text is None else parse_bytes(bytes_text, "--bytes")
    interrupted = False
    if optimal:
        request = OptimalRequest(collective, network, num_bytes, root, time_limit_s, gap, threads, method, cuts)
        with watched(SearchBar("searching", time_limit_s)) as watch:
            found = search_optimal(request, TerminalReporter(watch))
        interrupted = watch.interrupted
    else:
        with watched(Bar("searching")):  # the core does not hear signals while it simulates
            found = search(SearchRequest(collective, network, num_bytes, root, chunks))
    try:
        if drawing is not None:
            draw(found.drawn, found.network, drawing)
    finally:  # what was found is not lost with the drawing
        _print(found, num_bytes, form, as_json)
    if interrupted:
        message("interrupted: this is the best schedule that was found by then")
    return INTERRUPTED if interrupted else 0


def _print(found: OnNetwork, num_bytes: int | None, form: str | None, as_json: bool) -> None:
    from hocket.schedules.request import MOST_DRAWN

    transfers = found.drawn.transfers
    if as_json:
        print_json(found.values)
    elif form is None:
        print(f"{found.drawn.title} on {found.network.name}: {found.drawn.how}")
        if not transfers and found.network.num_ranks > MOST_DRAWN:
            print(f"of more than {MOST_DRAWN} ranks no transfers are listed: --format sends lists them")
            return
        print_transfers(transfers[:_TABLE_ROWS])
        if len(transfers) > _TABLE_ROWS:
            print(f"... and {len(transfers) - _TABLE_ROWS:,} more: --format sends lists all")
    else:
        print_schedule(Printed(found.schedule, num_bytes or 0, found.network, found.order), form)


def _print_crossover(request: CrossoverRequest, as_json: bool) -> int:
    from hocket import print_bytes
    from hocket.report import text
    from hocket.schedules.request import compare

    with watched(Bar("searching")):
        done = compare(request)
    if as_json:
        print_json(done.values)
        return 0
    found = done.crossover
    rows = [
        (print_bytes(row.bytes), text.seconds(row.one_piece_s), text.seconds(row.pipelined_s), row.chunks)
        for row in found.rows
    ]
    print_table(["bytes", "one segment", "pipelined", "chunks"], rows, f"{request.collective} on {done.network.name}")
    print(
        "one segment is faster throughout" if found.bytes is None else f"pipelined is faster from {found.bytes:,} B on"
    )
    return 0


def check_drawing(path: Path) -> None:
    """Before a search that takes long, not after it."""
    if path.suffix not in (".html", ".png", ".svg", ".pdf"):
        raise InvalidInput(
            f"{path}: a drawing is an .html, .png, .svg or .pdf file", "name it so: --draw schedule.html"
        )
    if path.is_dir():
        raise InvalidInput(f"{path}: it is a folder", "name a file: --draw schedule.html")
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"{path.parent}: no such folder", "make it first, or name another one")


def draw(schedule: DrawnSchedule, network: Network, path: Path) -> None:
    from hocket.schedules.request import MOST_DRAWN

    if not schedule.transfers and network.num_ranks > MOST_DRAWN:
        raise InvalidInput(
            f"{path}: a drawing shows at most {MOST_DRAWN} ranks, the network has {network.num_ranks}",
            "leave out --draw",
        )
    if path.suffix == ".html":
        from hocket.io.files import write_whole
        from hocket.report import schedule_page

        write_whole(path, schedule_page.render(schedule, network))
    else:
        from hocket.report.schedule_image import write_image

        write_image(schedule, network, path)
    message(f"wrote {path}")
