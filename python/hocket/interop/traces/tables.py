# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The calls of a trace as a table (Parquet), and as a timeline for ui.perfetto.dev."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from hocket import Trace
from hocket.errors import InvalidInput


def write_parquet(trace: Trace, path: Path) -> list[str]:
    """One row a call: rank, the name of the function, and the numbers of Trace.calls; -1 is "none".

    Raises InvalidInput if the package pyarrow is not there.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidInput(
            "Parquet needs the package pyarrow, which is not installed", "pip install pyarrow"
        ) from error
    names = pyarrow.array(trace.functions or [""])
    writer = None
    try:
        for rank in range(trace.ranks):
            calls = trace.calls(rank)
            columns: dict[str, Any] = {
                "rank": pyarrow.array(np.full(len(calls), rank, np.int32)),
                "name": pyarrow.DictionaryArray.from_arrays(
                    pyarrow.array(np.ascontiguousarray(calls["function"])), names
                ),
            }
            for name in calls.dtype.names or ():
                if name not in ("function", "blocks", "completions"):  # places in the trace's own arrays
                    columns[name] = pyarrow.array(np.ascontiguousarray(calls[name]))
            table = pyarrow.table(columns)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
    return ["sizes for each rank of v-variants and lists of requests: they are in the trace folder"]


def write_perfetto(trace: Trace, path: Path) -> list[str]:
    """Chrome's trace event format, which ui.perfetto.dev opens: a track a rank and thread, a slice a call."""
    first_ns = min((int(c["enter_ns"].min()) for r in range(trace.ranks) if len(c := trace.calls(r))), default=0)
    names = [json.dumps(name) for name in trace.functions]
    with path.open("w") as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        lines = (
            f'{{"ph":"M","pid":{rank},"tid":0,"name":"process_name","args":{{"name":"rank {rank}"}}}}'
            for rank in range(trace.ranks)
        )
        file.write(",\n".join(lines))
        for rank in range(trace.ranks):
            calls = trace.calls(rank)
            columns = ("thread", "function", "enter_ns", "exit_ns", "bytes", "communicator", "peer", "calls")
            for row in zip(*(calls[name].tolist() for name in columns), strict=True):
                thread, function, enter, exit_, size, communicator, peer, number = row
                known = {"bytes": size, "communicator": communicator, "peer": peer}
                arguments = {name: value for name, value in known.items() if value >= 0}
                if number > 1:
                    arguments["calls"] = number
                file.write(
                    f',\n{{"ph":"X","pid":{rank},"tid":{thread},"ts":{(enter - first_ns) / 1000:.3f},'
                    f'"dur":{(exit_ - enter) / 1000:.3f},"name":{names[function]},"args":{json.dumps(arguments)}}}'
                )
        file.write("\n]}\n")
    return ["tags, operators and requests: they are in the trace folder"]
