# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A schedule on a network as a picture for papers and slides. Needs matplotlib."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import Error
from hocket.io.files import write_whole
from hocket.report.figure_parts import time_scale

if TYPE_CHECKING:
    from hocket import Network
    from hocket.report.schedule_page import DrawnSchedule

MOST_NAMES = 64  #: rows or nodes with a name
MOST_CHARACTERS = 80  #: of a name
MOST_EDGES = 1000  #: transfers with a white edge; between more of them it would hide the bars
BELOW_BOX = 0.1  #: where arrows leave a node, in levels of the tree


def write_image(schedule: DrawnSchedule, network: Network, path: Path) -> None:
    """The network with the transfers, if it is a tree, beside a Gantt chart; the suffix of `path` names the format."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise Error(
            f"{path}: pictures need matplotlib", "pip install 'hocket[plots]', or draw a page: FILE.html"
        ) from None
    ranks = network.num_ranks
    height = min(3 + 0.22 * ranks, 40)
    figure = Figure(figsize=(15 if network.is_tree else 9, height))
    FigureCanvasAgg(figure)
    if network.is_tree:
        tree, gantt = figure.subplots(1, 2, width_ratios=(3, 4))
        _draw_tree(tree, schedule, network)
    else:
        gantt = figure.subplots()
    _draw_gantt(gantt, schedule, ranks)
    title = f"{schedule.title} on {network.name[:MOST_CHARACTERS]}: {schedule.status}"
    figure.suptitle(title, y=1, parse_math=False)
    content = BytesIO()
    figure.savefig(content, format=path.suffix[1:], bbox_inches="tight", dpi=150)
    write_whole(path, content.getvalue())


def _draw_gantt(axes: Any, schedule: DrawnSchedule, ranks: int) -> None:
    scale, unit = time_scale(schedule.makespan_s)
    for place, kind, colour in ((-0.21, "send", "tab:blue"), (0.21, "receive", "tab:orange")):
        rows = [(t.source if kind == "send" else t.target) + place for t in schedule.transfers]
        lengths = [(t.end_s - t.start_s) / scale for t in schedule.transfers]
        starts = [t.start_s / scale for t in schedule.transfers]
        edge = {"edgecolor": "white", "linewidth": 0.4} if len(rows) <= MOST_EDGES else {}
        axes.barh(rows, lengths, left=starts, height=0.4, color=colour, label=kind, **edge)
    axes.axvline(schedule.lower_bound_s / scale, color="black", linestyle=":", label="no schedule below")
    axes.set(xlabel=f"time ({unit})", ylabel="rank", ylim=(ranks - 0.4, -0.6), xlim=(0, None))
    if ranks <= MOST_NAMES:
        axes.set_yticks(range(ranks))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)


def _draw_tree(axes: Any, schedule: DrawnSchedule, network: Network) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as MatplotlibPath

    from hocket.report.drawing import place_nodes

    places = place_nodes(network)
    for link in network.links:
        (x1, y1), (x2, y2) = places[link.source], places[link.target]
        axes.plot([x1, x2], [-y1, -y2], color="0.75", zorder=1)
    ranks_at: dict[int, list[int]] = {}
    for rank, node in enumerate(network.rank_nodes):
        ranks_at.setdefault(node, []).append(rank)
    for i, place in enumerate(places):
        x, y = place
        if i in ranks_at and network.num_ranks <= MOST_NAMES:
            name = ",".join(map(str, ranks_at[i]))
        else:
            name = network.nodes[i].name[:MOST_CHARACTERS] if i not in ranks_at else ""
        box = {"boxstyle": "round" if i in ranks_at else "square", "facecolor": "white", "edgecolor": "0.5"}
        axes.text(x, -y, name, ha="center", va="center", fontsize=8, bbox=box, zorder=3, parse_math=False)
    floor = max(y for _, y in places)
    for i, t in enumerate(schedule.transfers, 1):
        (x1, y1), (x2, y2) = places[network.rank_nodes[t.source]], places[network.rank_nodes[t.target]]
        middle, low = (x1 + x2) / 2, floor + 0.4 + 0.3 * abs(x2 - x1)
        ends = ((x1, -y1 - BELOW_BOX), (x2, -y2 - BELOW_BOX))
        arc = MatplotlibPath([ends[0], (middle, -low), ends[1]], [MatplotlibPath.MOVETO, *[MatplotlibPath.CURVE3] * 2])
        axes.add_patch(FancyArrowPatch(path=arc, arrowstyle="->", mutation_scale=8, color="tab:blue"))
        if len(schedule.transfers) <= MOST_NAMES:
            height = -(y1 + 2 * low + y2) / 4
            pad = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            axes.text(middle, height, str(i), fontsize=7, ha="center", va="center", bbox=pad)
    axes.set_axis_off()
