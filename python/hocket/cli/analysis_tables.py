# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket trace analyse` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.cli.common import print_table

if TYPE_CHECKING:
    from hocket.traces.analysed import FunctionTime
    from hocket.traces.analysis_request import Analysis

MOST_ROWS = 16  #: of a table


def print_analysis(found: Analysis) -> None:
    recorded, simulated = found.recorded, found.simulated
    title = f"{recorded.trace.ranks} rank(s): measured {recorded.span_s:.3f} s from MPI_Init to MPI_Finalize"
    if simulated is not None:
        title += f", predicted {simulated.span_s:.3f} s"
        if recorded.span_s > 0:
            title += f" ({simulated.span_s / recorded.span_s:.3f} of it)"
    predicted = {one.function: one for one in simulated.functions} if simulated is not None else {}
    measured = {one.function: one for one in recorded.functions}
    names = sorted(
        {**measured, **predicted}, key=lambda name: -max(_longest(measured.get(name)), _longest(predicted.get(name)))
    )
    columns = ["function", "calls", "measured, s", *(["predicted, s"] if predicted else []), "on the path, s"]
    columns += ["predicted path, s"] if predicted else []
    rows = []
    for name in names[:MOST_ROWS]:
        one, other = measured.get(name), predicted.get(name)
        either = one or other
        row = [name, f"{either.calls:,}" if either is not None and either.calls else "", _seconds(one, "mean_s")]
        row += [_seconds(other, "mean_s")] if predicted else []
        row += [_seconds(one, "on_path_s"), *([_seconds(other, "on_path_s")] if predicted else [])]
        rows.append(row)
    print_table(columns, rows, title=f"{title}; means over the ranks")
    _print_waits(found)
    _print_ranks(found)


def _longest(one: FunctionTime | None) -> float:
    return 0.0 if one is None else max(one.mean_s, one.on_path_s)


def _seconds(one: FunctionTime | None, name: str) -> str:
    return "" if one is None else f"{getattr(one, name):.4f}"


def _print_waits(found: Analysis) -> None:
    runs = [found.recorded, *([found.simulated] if found.simulated is not None else [])]
    totals = [{(one.state, one.function): one.total_s for one in run.waits} for run in runs]
    keys = sorted({key for of_run in totals for key in of_run}, key=lambda key: -max(one.get(key, 0) for one in totals))
    if not keys:
        return
    print_table(
        ["wait state", "in", "measured, s", *(["predicted, s"] if len(runs) > 1 else [])],
        [[*key, *(f"{one.get(key, 0.0):.4f}" for one in totals)] for key in keys[:MOST_ROWS]],
        title="wait states, sums over the ranks",
    )


def _print_ranks(found: Analysis) -> None:
    both = found.simulated is not None
    others = found.simulated.ranks if found.simulated is not None else found.recorded.ranks
    columns = ["rank", "computation, s", "in MPI, s", "waiting, s", "on the path, s", "ends, s"]
    columns += ["predicted: computation, s", "in MPI, s", "waiting, s", "on the path, s", "ends, s"] if both else []
    rows = []
    for one, other in list(zip(found.recorded.ranks, others, strict=True))[:MOST_ROWS]:
        row = [str(one.rank)]
        for rank in (one, other) if both else (one,):
            times_s = (rank.computation_s, rank.mpi_s, rank.waiting_s, rank.on_path_s, rank.end_s)
            row += [f"{time_s:.3f}" for time_s in times_s]
        rows.append(row)
    print_table(columns, rows, title="ranks")
