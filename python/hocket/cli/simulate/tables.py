# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket simulate` prints for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hocket.cli.common import print_table

if TYPE_CHECKING:
    from hocket.simulation.jobs import JobsResult
    from hocket.simulation.request import SimulateRequest, Simulation

_LINKS_SHOWN = 12


def print_pattern(values: dict[str, Any]) -> None:
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


def _milliseconds(time_s: float) -> str:
    return f"{time_s * 1e3:.3f} ms"


def print_program(request: SimulateRequest, done: Simulation) -> None:
    from hocket import algorithms
    from hocket.report.text import NOT_MEASURED

    values, what = done.values, request.what
    found = values["results"]
    head, title = ["", "time", "events"], f"{what} on {values['network']}"
    rows = [[one["name"], _milliseconds(one["makespan_s"]), one["events"]] for one in found]
    if "circuits" in found[0]:
        head += ["circuits", "messages", "mean wait", "end"]
        for row, circuits in zip(rows, (one["circuits"] for one in found), strict=True):
            mean_s = circuits["waiting_s"] / circuits["messages"] if circuits["messages"] else 0.0
            row += [circuits["set_up"], circuits["messages"], _milliseconds(mean_s), _milliseconds(circuits["end_s"])]
        if any(one["circuits"]["relayed"] for one in found):
            head.append("relayed")
            for row, one in zip(rows, found, strict=True):
                row.append(one["circuits"]["relayed"])
        title += f", circuits {found[0]['circuits']['policy']}"
    else:
        title += f", sharing {values['sharing']}"
    refused = values.get("refused", [])
    rows += [[one["name"], NOT_MEASURED] + [""] * (len(head) - 2) for one in refused]
    print_table(head, rows, title)
    for one in refused:
        click.echo(f"{one['name']}: not simulated: {one['reason']}")
    for sentence in (*request.what_if.sentences, *(done.recorded.sentences if done.recorded else ())):
        click.echo(sentence)
    if request.segments == 1 and request.kind == "collective":
        collective = what.partition(":")[0]
        pipelined = {a.name for a in algorithms() if a.collective == collective and a.pipelines}
        if pipelined & {one["name"] for one in found}:
            click.echo(f"(in 1 segment: --segments N cuts it into N; `hocket schedule {collective}` finds the best)")
    if len(found) + len(refused) > 1:
        return
    cells = [
        (
            load["source"],
            load["target"] + (" (half duplex)" if load["half_duplex"] else ""),
            f"{round(load['bytes']):,}",
            NOT_MEASURED if load["use"] is None else f"{load['use']:.0%}",
        )
        for load in found[0]["links"]
    ]
    print_table(["from", "to", "bytes", "in use"], cells[:_LINKS_SHOWN])
    if len(cells) > _LINKS_SHOWN:
        click.echo(f"({len(cells) - _LINKS_SHOWN} links less used are not shown; --json has them all)")


def print_jobs(done: JobsResult) -> None:
    values = done.values
    rows = [
        (one.job.what, len(one.job.ranks), _milliseconds(one.alone_s), _milliseconds(one.together_s),
         f"{one.slow_down:.3f}")
        for one in done.jobs
    ]  # fmt: skip
    title = (
        f"{len(rows)} {'jobs' if len(rows) > 1 else 'job'} at once on {values['network']}, sharing {values['sharing']}"
    )
    print_table(["job", "ranks", "alone", "together", "slow-down"], rows, title)
    for one in done.jobs:
        for sentence in one.recorded.left_out_sentences if one.recorded else ():
            click.echo(f"{one.job.what}: {sentence}")
