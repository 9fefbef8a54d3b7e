# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The figures and tables of a result beside its samples."""

from __future__ import annotations

import copy
import re
import statistics
from pathlib import Path

import pytest

import bench_samples
from hocket.bench.mpi.page import labels, page
from hocket.bench.mpi.summary import BenchResult
from hocket.report.bench_figures import item_figures, paper_figures
from hocket.report.bench_tables import paper_tables, sentences


def document(name: str, **machine: object) -> dict:
    found = BenchResult(bench_samples.results(name)).values
    found["machine"] |= machine
    return found


def medians(name: str, number: int) -> dict[int, float]:
    """By size, of an item's number in the suite: the median of medians of chunks."""
    points = {
        r["point"]: r["bytes"] for r in bench_samples.records(name) if r["type"] == "point" and r["number"] == number
    }
    chunks: dict[int, list[float]] = {}
    for record in bench_samples.records(name):
        if record["type"] == "chunk" and record["point"] in points:
            value = 1e-9 * statistics.median(record["samples_ns"]) / record["runs"]
            chunks.setdefault(points[record["point"]], []).append(value)
    return {size: statistics.median(values) for size, values in chunks.items()}


# The numbers of the items that a figure consists of, as the suites state them.
@pytest.mark.parametrize(
    ("suite", "figure", "numbers"),
    [
        ("mbl2-io", 3, [37, 41, 54, 55]),
        ("mbl2-io", 4, [41, 45, 55, 56]),
        ("mbl2-io", 5, [17, 19]),
        ("mbl2-rma", 7, [1, 2, 3]),
        ("mbl2-rma", 8, [14, 17]),
    ],
)
def test_figures_show_the_medians_of_their_items(suite: str, figure: int, numbers: list[int]) -> None:
    _, chart = paper_figures([document(suite)])[f"figure-{figure}"]
    assert len(chart["data"]) == len(numbers)
    for trace, number in zip(chart["data"], numbers, strict=True):
        assert dict(zip(trace["x"], trace["y"], strict=True)) == pytest.approx(medians(suite, number))
        assert all(high >= 0 for high in trace["error_y"]["array"])
        assert sum(high > 0 for high in trace["error_y"]["array"]) >= 2


def test_throughput_is_of_all_operations() -> None:
    _, chart = paper_figures([document("mbl2-rma")])["figure-6"]
    for trace, number in zip(chart["data"], (4, 5, 6), strict=True):
        expected = {size: 16 * size / value for size, value in medians("mbl2-rma", number).items()}
        assert dict(zip(trace["x"], trace["y"], strict=True)) == pytest.approx(expected)


def test_of_points_with_further_options_the_usual_one_is_drawn() -> None:
    shown = document("mbl2-rma")
    for row in list(shown["points"]):
        if row["number"] == 2:
            other = copy.deepcopy(row)
            other["variant"] = other["variant"].replace("rma.put", "rma.put info=no_locks=true")
            other["options"]["info"] = "no_locks=true"
            other["measured"]["median_s"] *= 100
            shown["points"] += [other]
    _, chart = paper_figures([shown])["figure-7"]
    put = chart["data"][1]
    assert dict(zip(put["x"], put["y"], strict=True)) == pytest.approx(medians("mbl2-rma", 2))


def test_tables_by_hosts_and_what_is_missing() -> None:
    one = document("mbl2-rma")
    names = {table.name: table for table in paper_tables([one])}
    assert [row[0] for row in names["table-2"].rows] == ["MPI_Get", "MPI_Put", "MPI_Accumulate"]
    assert "All results are of 1 host." in names["table-3"].remark
    two = document("mbl2-rma", hosts=2) | {"label": "two"}
    names = {table.name: table for table in paper_tables([two, one])}
    assert [row[0] for row in names["table-4"].rows] == ["1 host"] * 3 + ["2 hosts"] * 3
    assert names["table-3"].remark == names["table-4"].remark == ""
    functions = [row[0] for row in paper_tables([document("mbl2-io")])[0].rows]
    assert functions == ["MPI_File_seek", "MPI_File_seek_shared", "MPI_File_sync, nothing to write"]


def test_sentences_claim_only_what_intervals_show() -> None:
    shown = document("mbl2-io")
    assert any(sentence.startswith("To seek the shared file pointer takes") for sentence in sentences(shown))
    for row in shown["points"]:
        if row["measured"]:
            row["measured"]["interval_s"] = None
    assert sentences(shown) == []


def test_each_item_with_sizes_has_a_chart() -> None:
    shown = document("bench-launches")
    figures = item_figures([shown, document("bench-launches") | {"label": "again"}])
    assert list(figures) == ["item-p2p.isend_irecv", "item-rma.put", "item-io.write_at"]
    _, put = figures["item-rma.put"]
    assert [trace["name"] for trace in put["data"]] == ["ranks=2", "ranks=2, again", "epoch=lock ranks=2",
                                                       "epoch=lock ranks=2, again"]  # fmt: skip


def named(path: str, mpi: str = "One MPI 1.0") -> BenchResult:
    found = bench_samples.results("mbl2-rma")
    found.path = Path(path)
    found.runs[0]["mpi"] = mpi
    return BenchResult(found)


def test_labels_are_short_and_different() -> None:
    assert labels([named("a/before/results.jsonl"), named("mine.jsonl")]) == ["before", "mine"]
    same = ["a/b/results.jsonl", "c/b/results.jsonl"]
    assert labels(list(map(named, same))) == same
    assert labels([named(same[0]), named(same[1], "Other\tMPI")]) == ["One MPI 1.0", "Other MPI"]


def test_the_page_of_two_commands_compares_the_first_with_each_other_one() -> None:
    text = page([named("a.jsonl"), named("b.jsonl"), named("c.jsonl")], 0.05, [(1, 0), (2, 0)])
    assert re.findall(r"<h2>(\w+) compared with (\w+)</h2>", text) == [("a", "b"), ("a", "c")]
