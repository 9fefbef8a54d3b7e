# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket simulate` of a traffic pattern."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cli.common import available_cores, print_json, print_table
from hocket.cli.options import load_fabric
from hocket.cli.simulate.progress import ended, watched

if TYPE_CHECKING:
    from hocket.cli.simulate.outputs import Outputs
    from hocket.patterns import Pattern


def run(
    what: str,
    *,
    network_text: str,
    bandwidth: str | None,
    latency: str | None,
    routing: str | None,
    seed: int | None,
    sharing: str,
    in_flight: int | None,
    threads: int | None,
    reference: bool,
    links: bool | None,
    as_json: bool,
    outputs: Outputs,
    **parameters: Any,
) -> int:
    from hocket.traffic_simulation import RunOptions, simulate_pattern

    pattern = _pattern(what, seed, **parameters)
    options = RunOptions(
        sharing=sharing,
        in_flight=in_flight,
        threads=threads or (1 if reference else available_cores()),
        reference=reference,
        count_links=(not as_json or outputs.wanted) if links is None else links,
        record=outputs.wanted,
    )
    with watched(f"simulating {what}", "messages") as on_progress:
        done = simulate_pattern(
            pattern,
            lambda: load_fabric(network_text, bandwidth, latency, routing, seed if routing == "ecmp" else None),
            options,
            on_progress,
        )
    values = done.to_dict() | {"routing": _routing(network_text, routing)}
    if outputs.wanted:
        from hocket.simulation_record import recorded_traffic

        outputs.write(lambda: recorded_traffic(done, values))
    if as_json:
        print_json(values)
    else:
        _print(values)
    status = ended(on_progress, None if done.result.completed else done.result.simulated_s)
    outputs.finish(quiet=as_json)
    return status


def _pattern(
    what: str,
    seed: int | None,
    *,
    bytes_text: str | None,
    bytes_spread: float | None,
    messages: int | None,
    ranks: int | None,
    distance: int | None,
    target: int | None,
    grid: tuple[int, ...] | None,
    periodic: bool,
    **_others: Any,  # of programs; they were not given
) -> Pattern:
    from hocket import InvalidInput, parse_bytes
    from hocket.patterns import Pattern

    name, _, file = what.partition(":")
    if name == "matrix" and not file:
        raise InvalidInput("matrix: the file is missing", "write matrix:FILE")
    if ranks is not None and grid is not None:
        raise InvalidInput("--ranks does not go with --grid", "the grid tells the number of ranks")
    given: dict[str, Any] = {
        "bytes": None if bytes_text is None else parse_bytes(bytes_text, "--bytes"),
        "spread": bytes_spread,
        "messages": messages,
        "ranks": ranks,
        "seed": seed,
        "distance": distance,
        "target": target,
        "grid": grid,
        "periodic": periodic,
        "matrix_file": Path(file) if file else None,
    }
    return Pattern(name, **{key: value for key, value in given.items() if value is not None})


def _routing(network_text: str, routing: str | None) -> str | None:
    """The rule that routes follow; None = that of the network file."""
    own = {"fat-tree": "d-mod-k", "dragonfly": "minimal", "torus": "dimension-order", "mesh": "dimension-order",
           "hypercube": "dimension-order", "star": "the only path", "tree": "the only path",
           "two-clusters": "the only path"}  # fmt: skip
    kind, colon, _ = network_text.partition(":")
    return routing or (own.get(kind) if colon else None)


def _print(values: dict[str, Any]) -> None:
    from hocket.report.text import NOT_MEASURED, byte_count, percent, seconds

    quantiles = values["finish_quantiles_s"]
    events_per_s = values["events"] / values["solve_s"] if values["solve_s"] > 0 else 0
    unfinished = "" if values["completed"] else f" ({values['finished']:,} have finished)"
    rows = [
        ("makespan" if values["completed"] else "reached", seconds(values["makespan_s"])),
        ("mean finish", seconds(values["mean_finish_s"])),
        ("finish p50, p90, p99", ", ".join(seconds(quantiles[name]) for name in ("p50", "p90", "p99"))),
        ("ranks that send", f"{values['nodes']:,}" + unfinished),
        ("messages", f"{values['events']:,}"),
        ("links", f"{values['links']:,}"),
        ("took", f"set-up {seconds(values['setup_s'])}, solving {seconds(values['solve_s'])} "
                 f"({events_per_s:,.0f} messages/s), {byte_count(values['peak_rss_bytes'])} of memory"),
    ]  # fmt: skip
    print_table(["quantity", "value"], rows, f"{values['pattern']} on {values['network']}, sharing {values['sharing']}")
    if values.get("bottlenecks"):
        cells = [
            (
                one["source"],
                one["target"] + (" (half duplex)" if one["half_duplex"] else ""),
                byte_count(one["bytes"]),
                NOT_MEASURED if one["utilisation"] is None else percent(one["utilisation"]),
            )
            for one in values["bottlenecks"]
        ]
        print_table(["from", "to", "bytes", "in use"], cells, "links that are used most")
