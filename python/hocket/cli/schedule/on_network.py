# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule` on a network: the search, and what it found."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cli.common import note, print_json, print_table
from hocket.cli.options import load_network
from hocket.cli.schedule.output import Printed, print_schedule, print_transfers
from hocket.cli.watch import INTERRUPTED
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Network
    from hocket.report.schedule_page import DrawnSchedule
    from hocket.search import Found
    from hocket.search.optimal import OptimalSchedule

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
    from hocket.schedule import ROOTED

    if crossover:
        return _print_crossover(load_network(network_text, bandwidth, latency), collective, root, as_json)
    if collective == "barrier" and bytes_text is not None:
        raise InvalidInput("barrier: its messages are empty", "leave out --bytes")
    if bytes_text is None and collective != "barrier":
        raise InvalidInput("the size of the message is missing", 'add --bytes "1 MB"')
    if optimal and chunks not in (None, 1):
        raise InvalidInput("--optimal finds schedules of one piece", "leave out --chunks, or --optimal")
    if drawing is not None:
        check_drawing(drawing)
    num_bytes = 0 if bytes_text is None else parse_bytes(bytes_text, "--bytes")
    network = load_network(network_text, bandwidth, latency)
    check_root(root, network)
    interrupted = False
    title = _title(collective, num_bytes, root if collective in ROOTED else None)
    if optimal:
        from hocket.cli.schedule.progress import SearchBar
        from hocket.cli.watch import watched
        from hocket.search.optimal import optimal_schedule

        with watched(SearchBar("searching", time_limit_s)) as on_progress:
            best = optimal_schedule(
                network, collective, num_bytes, root,
                time_limit_s=time_limit_s, gap=gap, threads=threads, method=method, cuts=cuts, on_progress=on_progress,
            )  # fmt: skip
        interrupted = on_progress.interrupted
        shown = _shown_optimal(best, title)
        values = best.to_dict()
        printed = Printed(best.schedule, num_bytes, network)
    else:
        from hocket.cli.watch import Bar, watched
        from hocket.search.best import best_schedule

        with watched(Bar("searching")):  # the core does not hear signals while it simulates
            found = best_schedule(network, collective, num_bytes, root, chunks)
        shown = _shown_found(found, title, num_bytes, network)
        values = found.to_dict() | {
            "network": network.name,
            "bytes": num_bytes,
            "root": root,
            "status": shown.status,
            "makespan_s": found.predicted_s,
            "nodes_explored": found.tried,
            "transfers": [asdict(t) for t in shown.transfers],
        }
        printed = Printed(found.schedule, num_bytes, network, found.order)
    try:
        if drawing is not None:
            draw(shown, network, drawing)
    finally:  # what was found is not lost with the drawing
        if as_json:
            print_json(values)
        elif form is None:
            print(f"{title} on {network.name}: {shown.how}")
            print_transfers(shown.transfers[:_TABLE_ROWS])
            if len(shown.transfers) > _TABLE_ROWS:
                print(f"... and {len(shown.transfers) - _TABLE_ROWS:,} more: --format sends lists all")
        else:
            print_schedule(printed, form)
    if interrupted:
        note("interrupted: this is the best schedule that was found by then")
    return INTERRUPTED if interrupted else 0


def _print_crossover(network: Network, collective: str, root: int, as_json: bool) -> int:
    from hocket import print_bytes
    from hocket.cli.watch import Bar, watched
    from hocket.report import text
    from hocket.search.best import one_piece_crossover
    from hocket.search.optimal import COLLECTIVES

    if collective not in COLLECTIVES:
        raise InvalidInput(f"--crossover is for {' and '.join(COLLECTIVES)}, not for {collective}", "leave it out")
    check_root(root, network)
    with watched(Bar("searching")):
        found = one_piece_crossover(network, collective, root)
    if as_json:
        print_json({"network": network.name, "collective": collective, **asdict(found)})
        return 0
    rows = [
        (print_bytes(row.bytes), text.seconds(row.one_piece_s), text.seconds(row.pipelined_s), row.chunks)
        for row in found.rows
    ]
    print_table(["bytes", "one piece", "pipelined", "chunks"], rows, f"{collective} on {network.name}")
    print("one piece is faster throughout" if found.bytes is None else f"pipelined is faster from {found.bytes:,} B on")
    return 0


def check_root(root: int, network: Network) -> None:
    if not 0 <= root < network.num_ranks:
        raise InvalidInput(f"root is {root}: expected 0 to {network.num_ranks - 1}", "the network has no such rank")


def _title(collective: str, num_bytes: int, root: int | None) -> str:
    from hocket import print_bytes

    way = "from" if collective in ("bcast", "scatter") else "to"
    size = "" if collective == "barrier" else f" of {print_bytes(num_bytes)}"
    return f"{collective}{size}" + ("" if root is None else f" {way} rank {root}")


def _shown_optimal(best: OptimalSchedule, title: str) -> DrawnSchedule:
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


def _shown_found(found: Found, title: str, num_bytes: int, network: Network) -> DrawnSchedule:
    from hocket.interop.schedules import transfers
    from hocket.report import text
    from hocket.report.schedule_page import DrawnSchedule
    from hocket.transfers import timed

    how = (
        f"{found.how}: {text.seconds(found.predicted_s)} predicted, none takes less than "
        f"{text.seconds(found.lower_bound_s)}; {found.tried} tried in {text.seconds(found.search_s)}"
    )
    status = "optimal" if found.gap <= 1e-9 else "feasible"
    moved = timed(transfers(found.schedule, num_bytes, network))
    return DrawnSchedule(title, found.predicted_s, found.lower_bound_s, status, how, moved)


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
    if path.suffix == ".html":
        from hocket.files import write_whole
        from hocket.report import schedule_page

        write_whole(path, schedule_page.render(schedule, network))
    else:
        from hocket.report.schedule_image import write_image

        write_image(schedule, network, path)
    note(f"wrote {path}")
