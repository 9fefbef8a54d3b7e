# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule` on a network: the search, and what it found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cli.common import note, print_json
from hocket.cli.options import load_network
from hocket.cli.schedule.output import print_schedule, print_transfers
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Network
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
    if drawing is not None:
        check_drawing(drawing)
    network = load_network(network_text, bandwidth, latency)
    found = optimal_schedule(
        network, collective, parse_bytes(bytes_text, "--bytes"), root, time_limit_s=time_limit_s, gap=gap
    )
    if drawing is not None:
        draw(found, network, drawing)
    if as_json:
        print_json(found.to_dict())
    elif form is None or form == "transfers":
        print(summary(found))
        print_transfers(found.transfers)
    else:
        print_schedule(found.schedule, form, bytes_text, network)
    return 0


def title_of(found: OptimalSchedule) -> str:
    from hocket import print_bytes

    way = "from" if found.collective == "bcast" else "to"
    return f"{found.collective} of {print_bytes(found.bytes)} {way} rank {found.root}"


def summary(found: OptimalSchedule) -> str:
    from hocket.report import text

    head = f"{title_of(found)} on {found.network}: {text.seconds(found.makespan_s)}"
    effort = f"{found.nodes_explored:,} states in {text.seconds(found.search_s)}"
    if found.status == "optimal":
        return f"{head}, the least {found.claim}; proven with {effort}"
    bound = f"none takes less than {text.seconds(found.lower_bound_s)}"
    return f"{head}, at most {100 * found.gap:.3g} % more than the least {found.claim}: {bound}; {effort}"


def check_drawing(path: Path) -> None:
    """Before a search that takes long, not after it."""
    if path.suffix not in (".html", ".png", ".svg", ".pdf"):
        raise InvalidInput(
            f"{path}: a drawing is an .html, .png, .svg or .pdf file", "name it so: --draw schedule.html"
        )
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"{path.parent}: no such folder", "make it first, or name another one")


def draw(found: OptimalSchedule, network: Network, path: Path) -> None:
    from hocket.report import schedule_page

    drawn = schedule_page.DrawnSchedule(
        title=title_of(found),
        bytes=found.bytes,
        makespan_s=found.makespan_s,
        lower_bound_s=found.lower_bound_s,
        status=found.status,
        how=summary(found),
        transfers=found.transfers,
    )
    if path.suffix == ".html":
        from hocket.files import write_whole

        write_whole(path, schedule_page.render(drawn, network))
    else:
        from hocket.report.schedule_image import write_image

        write_image(drawn, network, path)
    note(f"wrote {path}")
