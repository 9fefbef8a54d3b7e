# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Results as files of other formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hocket.bench.mpi.comparison import WITHIN
from hocket.bench.mpi.page import page
from hocket.bench.mpi.tables import FLAT, csv_text, flat_rows, openmetrics_text
from hocket.errors import Error, InvalidInput
from hocket.io.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hocket.bench.mpi.summary import BenchResult


def write(results: Sequence[BenchResult], kind: str, output: Path | None) -> str | None:
    """Writes a file of kind "html", "csv", "openmetrics" or "parquet"; its text where `output` is None.

    Raises InvalidInput: only a page is of several results.
    """
    if kind == "html":
        if output is None:
            raise InvalidInput("--as html writes a file, which has no name", "give one with -o")
        write_whole(output, page(results, WITHIN))
        return None
    if len(results) > 1:
        raise InvalidInput(f"--as {kind} is of one result; {len(results)} are named", "name one, or take --as html")
    result = results[0]
    if kind == "parquet":
        _write_parquet(result, output)
        return None
    text = csv_text(result) if kind == "csv" else openmetrics_text(result)
    if output is None:
        return text
    write_whole(output, text)
    return None


def _write_parquet(result: BenchResult, output: Path | None) -> None:
    if output is None:
        raise InvalidInput("--as parquet writes a file, which has no name", "give one with -o")
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise Error("Parquet needs pyarrow, which is not installed", "pip install pyarrow, or take --as csv") from None
    rows = flat_rows(result)
    table = pyarrow.table({name: [row[name] for row in rows] for name in FLAT})
    parquet.write_table(table, output)
