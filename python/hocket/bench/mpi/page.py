# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The HTML page of one or several results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocket.bench.mpi.comparison import compare
from hocket.bench.mpi.guidelines import check
from hocket.bench.mpi.summary import BenchResult
from hocket.errors import InvalidInput


def page(results: Sequence[BenchResult], within: float) -> str:
    """With each later result compared with the first, and each one's performance guidelines. Raises InvalidInput."""
    from hocket.report.bench_page import render

    for result in results:
        if not result.results.runs:
            raise InvalidInput(f"{result.results.path}: nothing is measured yet", "finish it with `hocket bench run`")
    documents = [result.values for result in results]
    names = labels([result.results.path for result in results])
    comparisons = []
    if len(results) > 1:
        for document, name in zip(documents, names, strict=True):
            document["label"] = name
        for other, name in zip(results[1:], names[1:], strict=True):
            found = compare(results[0].results, other.results, within)
            comparisons.append(found.values | {"before": names[0], "after": name})
    checked = [check(result.results, within) for result in results]
    guidelines = [
        found.values | {"label": document.get("label", "")}
        for found, document in zip(checked, documents, strict=True)
        if any(one.kind == "mock-up" for one in found.checks)
    ]
    return render(documents, comparisons, guidelines)


def labels(files: Sequence[Path]) -> list[str]:
    """Short and different names for files of results: that of the folder where it is enough."""
    short = [path.parent.name if path.name == "results.jsonl" else path.stem for path in files]
    return short if len(set(short)) == len(short) and all(short) else [str(path) for path in files]
