# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces that are written by hand: of each rank its calls with their instants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hocket.traces.trace import Trace
from hocket.traces.traced_rank import COMPLETION, OwnCommunicator, TracedRank, new_calls

#: function, enter and exit in microseconds, other values of its row; "waits": requests that it completes
Row = tuple[str, float, float, dict[str, Any]]


def traced_calls(
    folder: Path, ranks: Sequence[Sequence[Row]], groups: Sequence[Sequence[int]] = (), init: str = "MPI_Init"
) -> Trace:
    """`init` returns at 0 everywhere; the rows end with MPI_Finalize. Communicator 0 is MPI_COMM_WORLD, 1 and so on
    are `groups`, of world ranks."""
    size = len(ranks)
    made = []
    for rank, calls in enumerate(ranks):
        own = [number for number, group in enumerate(groups) if rank in group]
        communicators = [OwnCommunicator(range(size)), *(OwnCommunicator(groups[number], made_by=0) for number in own)]
        rows: list[Row] = [(init, -1, 0, {}), *calls]
        functions = list(dict.fromkeys(name for name, *_ in rows))
        table, completions = new_calls(len(rows)), []
        for row, (name, enter, leave, values) in zip(table, rows, strict=True):
            row["function"] = functions.index(name)
            row["enter_ns"], row["exit_ns"] = round(1000 * (1000 + enter)), round(1000 * (1000 + leave))
            row["communicator"] = 0
            for key, value in values.items():
                if key == "waits":
                    row["completions"], row["num_completions"] = len(completions), len(value)
                    completions += [(request, -1, -1, -1) for request in value]
                elif key == "communicator" and value > 0:
                    row[key] = 1 + own.index(value - 1)
                else:
                    row[key] = value
        of_rank = np.zeros(len(completions), COMPLETION)
        for place, values_of in enumerate(completions):
            of_rank[place] = values_of
        made.append(TracedRank(table, functions, communicators, completions=of_rank))
    return Trace.create(folder, made)
