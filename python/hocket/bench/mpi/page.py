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


def page(results: Sequence[BenchResult], within: float, pairs: Sequence[tuple[int, int]] | None = None) -> str:
    """With each result's performance guidelines, and comparisons: of `pairs`, numbers of results, before and after.

    Without `pairs` each later result is compared with the first one of its suite. Raises InvalidInput.
    """
    from hocket.report.bench_page import render

    for result in results:
        if not result.results.runs:
            raise InvalidInput(f"{result.results.path}: nothing is measured yet", "finish it with `hocket bench run`")
    documents = [result.values for result in results]
    names = labels(results) if len(results) > 1 else [""]
    for document, name in zip(documents, names, strict=True):
        document["label"] = name
    comparisons = [
        compare(results[one].results, results[other].results, within).values
        | {"before": names[one], "after": names[other]}
        for one, other in (pairs if pairs is not None else _of_one_suite(results))
    ]
    checked = [check(result.results, within) for result in results]
    guidelines = [
        found.values | {"label": name}
        for found, name in zip(checked, names, strict=True)
        if any(one.kind == "mock-up" for one in found.checks)
    ]
    return render(documents, comparisons, guidelines)


def _of_one_suite(results: Sequence[BenchResult]) -> list[tuple[int, int]]:
    names = [result.results.suite["name"] for result in results]
    return [(names.index(name), i) for i, name in enumerate(names) if names.index(name) < i]


def labels(results: Sequence[BenchResult]) -> list[str]:
    """Short and different names: of the MPIs, else of the folders, else whole paths."""
    mpis = [result.mpi for result in results]
    files = [result.results.path for result in results]
    for names in (mpis, list(map(_short, files))):
        if len(set(names)) == len(names) and all(names):
            return names
    return list(map(str, files))


def _short(path: Path) -> str:
    return path.parent.name if path.name == "results.jsonl" else path.stem
