# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Charts of the circuits of a simulation: what each port does over time, and how many ports are in use."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from hocket.report import text
from hocket.report.circuits_over_time import CircuitsOverTime, Span, phases
from hocket.report.figure_parts import Figure, bar, plain, rows_axis, time_axis, time_scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLOURS = {"set up": "--bad", "up": "--shade1", "transfer": "--good", "tear down": "--receive", "waiting": "--limit"}
MOST_ROWS = 80  #: ports, and hosts with messages that wait
MOST_BARS = 3000  #: beyond that only the beginning is drawn: bars of many circuits as one would look like one
BINS = 300  #: of the occupancy
_LEFT = 120
#: Offset and width of bars in their row, where they are not as wide as it: a set-up may run beside a teardown.
_PLACES = {"set up": (-0.42, 0.42), "tear down": (0.0, 0.42), "transfer": (-0.25, 0.5), "waiting": (-0.25, 0.5)}
_LABELS = {"up": "up, without a message", "waiting": "messages wait"}


Row = tuple[str, dict[str, list[Span]]]  # its name, and the spans of each kind of bar


def rows_of(shown: CircuitsOverTime) -> tuple[list[Row], int, int]:
    """A row for each port that is used, and after those of a host one for its messages that wait; of the first hosts,
    as many as fit. And how many hosts these are, and how many use circuits."""
    of_host: dict[int, dict[int, dict[str, list[Span]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for circuit, transfers in zip(shown.circuits, shown.transfers, strict=True):
        for host, port in zip(circuit["nodes"], circuit["ports"], strict=True):
            row = of_host[host][port]
            for begin_s, end_s, phase in phases(circuit):
                row[phase].append((begin_s, end_s))
            row["transfer"] += transfers
    rows: list[Row] = []
    num_shown = 0
    for host in sorted(of_host):
        name = shown.node_names[host]
        more = [(f"{name} port {port}", dict(of_host[host][port])) for port in sorted(of_host[host])]
        if host in shown.waiting:
            more.append((f"{name} waiting", {"waiting": shown.waiting[host]}))
        if rows and len(rows) + len(more) > MOST_ROWS:
            break
        rows += more
        num_shown += 1
    return rows[:MOST_ROWS], num_shown, len(of_host)


def ports_figure(shown: CircuitsOverTime, rows: list[Row]) -> Figure:
    """Bars of what ports do, until `drawn_until`."""
    end_s = drawn_until(shown, rows)
    scale, unit = time_scale(end_s)
    height = max(6, min(20, 640 // max(1, len(rows))))
    traces: list[Figure] = []
    for kind, colour in COLOURS.items():
        spans = [
            (row, name, (begin_s, until_s))
            for row, (name, kinds) in enumerate(rows)
            for begin_s, until_s in kinds.get(kind, ())
            if begin_s < end_s
        ]
        if not spans:
            continue
        label = _LABELS.get(kind, kind)
        traces.append(
            bar(
                [(min(end, end_s) - begin) / scale for _, _, (begin, end) in spans],
                [row for row, _, _ in spans],
                colour,
                base=[begin / scale for _, _, (begin, _) in spans],
                offset=_PLACES.get(kind, (-0.42, 0.84))[0],
                width=_PLACES.get(kind, (-0.42, 0.84))[1],
                name=label,
                text=[
                    f"{plain(name)}: {label}<br>{text.seconds(begin)} to {text.seconds(end)}"
                    for _, name, (begin, end) in spans
                ],
                textposition="none",
                hovertemplate="%{text}<extra></extra>",
            )
        )
    every = max(1, -(-12 // height))
    ticks: list[Any] = list(range(0, len(rows), every))
    return {
        "data": traces,
        "layout": {
            "height": height * max(4, len(rows)) + 96,
            "margin": {"l": _LEFT, "r": 24, "t": 48, "b": 48},
            "xaxis": time_axis(unit, "simulated time") | {"range": [0, 1.01 * (end_s or 1) / scale]},
            "yaxis": rows_axis(ticks, [plain(rows[row][0]) for row in ticks], len(rows) - 0.5, -0.5),
            "barmode": "overlay",
            "legend": _legend(),
        },
    }


def occupancy_figure(shown: CircuitsOverTime) -> Figure:
    """How many ports of all hosts do what, as means over equal bins; the area reaches the ports in use."""
    import numpy as np

    end_s = end_of(shown)
    scale, unit = time_scale(end_s)
    edges_s = np.linspace(0, end_s or 1.0, BINS + 1)
    spans: dict[str, list[Span]] = {kind: [] for kind in ("transfer", "up", "set up", "tear down")}
    spans["transfer"] = 2 * [span for several in shown.transfers for span in several]
    for circuit in shown.circuits:
        for begin_s, until_s, phase in phases(circuit):
            if phase != "tear down":
                spans[phase] += 2 * [(begin_s, until_s)]
    spans["tear down"] = _teardowns(shown)
    means = {kind: _means(several, edges_s) for kind, several in spans.items()}
    means["up"] = np.maximum(means["up"] - means["transfer"], 0)  # without a message
    middles = ((edges_s[:-1] + edges_s[1:]) / 2 / scale).round(9).tolist()
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": _LABELS.get(kind, kind),
            "x": middles,
            "y": mean.round(3).tolist(),
            "stackgroup": "ports",
            "line": {"width": 0.5, "color": COLOURS[kind]},
            "fillcolor": COLOURS[kind],
            "hovertemplate": f"%{{x:.4g}} {unit}: %{{y:.3g}} ports {_LABELS.get(kind, kind)}<extra></extra>",
        }
        for kind, mean in means.items()
    ]
    layout: Figure = {
        "height": 320,
        "margin": {"l": _LEFT, "r": 24, "t": 48, "b": 48},
        "xaxis": time_axis(unit, "simulated time") | {"range": [0, (end_s or 1) / scale]},
        "yaxis": {"title": {"text": "ports", "font": {"size": 13}}, "rangemode": "tozero"},
        "legend": _legend(),
    }
    if shown.ports:
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"all {shown.ports:,} ports",
                "x": [0, end_s / scale],
                "y": [shown.ports, shown.ports],
                "line": {"color": "--text", "width": 1.5, "dash": "dot"},
                "hoverinfo": "skip",
            }
        )
    return {"data": traces, "layout": layout}


def drawn_until(shown: CircuitsOverTime, rows: list[Row]) -> float:
    """The end of the bars of `rows`: that of the last teardown, or where there are as many as can be drawn."""
    begins_s = sorted(begin_s for _, kinds in rows for spans in kinds.values() for begin_s, _ in spans)
    return end_of(shown) if len(begins_s) <= MOST_BARS else begins_s[MOST_BARS]


def _teardowns(shown: CircuitsOverTime) -> list[Span]:
    """Of each port, until the next set-up: a port that is torn down beside one counts once."""
    latest: dict[tuple[int, int], Span] = {}
    found: list[Span] = []
    for circuit in sorted(shown.circuits, key=lambda circuit: circuit["setup_s"]):
        for port in zip(circuit["nodes"], circuit["ports"], strict=True):
            if port in latest:
                begin_s, down_s = latest[port]
                found.append((begin_s, max(begin_s, min(down_s, circuit["setup_s"][0]))))
            latest[port] = circuit["teardown_s"]
    return found + list(latest.values())


def end_of(shown: CircuitsOverTime) -> float:
    """Of the last teardown."""
    return max((circuit["teardown_s"][1] for circuit in shown.circuits), default=0.0)


def _legend() -> Figure:
    return {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yref": "container", "yanchor": "top"}


def _means(spans: list[Span], edges_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many of `spans` there are in each bin, on average."""
    import numpy as np

    begun, ended = (_integral(np.array([span[end] for span in spans]), edges_s) for end in (0, 1))
    means: NDArray[np.float64] = np.diff(begun - ended) / np.diff(edges_s)
    return np.maximum(means, 0)


def _integral(steps_s: NDArray[np.float64], times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Until each of `times_s`, of the number of steps that have been."""
    import numpy as np

    steps_s = np.sort(steps_s)
    before = np.searchsorted(steps_s, times_s, side="right")
    integral: NDArray[np.float64] = before * times_s - np.concatenate([[0.0], np.cumsum(steps_s)])[before]
    return integral
