# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Results for other tools, read back with those tools' own readers."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import bench_samples
import hocket.bench.mpi as package
from hocket.bench.mpi.export import write
from hocket.bench.mpi.results import read_results
from hocket.bench.mpi.summary import BenchResult
from hocket.bench.mpi.tables import flat_rows
from hocket.errors import InvalidInput

SAMPLES = Path(__file__).parents[1] / "samples"
SCHEMA = json.loads((Path(package.__file__).parent / "records.schema.json").read_text())


@pytest.fixture
def result() -> BenchResult:
    """With a label value that OpenMetrics must escape, and a point that was not measured."""
    found = bench_samples.results("mbl2-rma")
    found.suite["name"] = 'say "hello" \\ to\nall'
    del found.chunks[3]
    return BenchResult(found)


def test_openmetrics_by_the_parser_of_prometheus(result: BenchResult) -> None:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser", reason="needs prometheus_client")
    text = write([result], "openmetrics", None)
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    assert set(families) == {
        "hocket_bench_median_seconds",
        "hocket_bench_interval_low_seconds",
        "hocket_bench_interval_high_seconds",
        "hocket_bench_bytes_per_second",
    }
    medians = families["hocket_bench_median_seconds"]
    assert (medians.type, medians.unit) == ("gauge", "seconds")
    expected = {
        (row["item"], str(row["bytes"]), row["options"]): row["median_s"]
        for row in flat_rows(result)
        if row["median_s"] is not None
    }
    found = {
        (sample.labels["item"], sample.labels.get("bytes", "None"), sample.labels["options"]): sample.value
        for sample in medians.samples
    }
    assert found == expected
    assert len(medians.samples) == len(result.rows) - 1
    assert {sample.labels["suite"] for sample in medians.samples} == {'say "hello" \\ to\nall'}


def test_parquet_by_pyarrow(result: BenchResult, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    path = tmp_path / "found.parquet"
    assert write([result], "parquet", path) is None
    assert parquet.read_table(path).to_pylist() == flat_rows(result)
    types = dict(zip(parquet.read_schema(path).names, map(str, parquet.read_schema(path).types), strict=True))
    assert types["median_s"] == "double"
    assert types["bytes"] == "int64"
    assert types["item"] == "string"


@pytest.mark.parametrize("name", ["mbl2-rma", "mbl2-io", "bench-launches"])
def test_recorded_results_have_the_published_schema(name: str) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.check_schema(SCHEMA)
    for record in bench_samples.records(name):
        validator.validate(record)


def test_the_schema_refuses_what_is_no_record() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    records = bench_samples.records("mbl2-rma")
    of_type = {record["type"]: record for record in records}
    assert set(of_type) >= {"suite", "point", "run", "outcome", "chunk", "launch_end"}
    for kind, record in of_type.items():
        for name in record:
            without = {key: value for key, value in record.items() if key != name}
            assert not validator.is_valid(without) or name == "host_names", f"{kind} without {name}"
        assert not validator.is_valid(record | {"colour": 1}), kind
    assert not validator.is_valid(of_type["chunk"] | {"samples_ns": [1, 2]})
    assert not validator.is_valid({"type": "shopping list"})


def test_what_is_refused(result: BenchResult, tmp_path: Path) -> None:
    for kind in ("html", "parquet"):
        with pytest.raises(InvalidInput, match=f"--as {kind} writes a file"):
            write([result], kind, None)
    with pytest.raises(InvalidInput, match="--as csv is of one result; 2 are named"):
        write([result, result], "csv", tmp_path / "found.csv")
    result.results.runs.clear()
    with pytest.raises(InvalidInput, match="nothing is measured yet"):
        write([result], "html", tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda record: dict(record, bytes_moved=None), "bytes_moved is null"),
        (lambda record: dict(record, samples_ns=[]), "samples_ns is empty"),
        (lambda record: dict(record, samples_ns=[1, 2, "3"]), 'samples_ns is "3"'),
        (lambda record: dict(record, runs=0), "runs is 0"),
        (lambda record: dict(record, took_s=math.inf), "took_s is Infinity"),
        (lambda record: {key: value for key, value in record.items() if key != "round"}, "round is missing"),
        (lambda record: dict(record, type="index"), "its type is unknown"),
        (lambda record: [record], "its type is unknown"),
    ],
)
def test_a_damaged_record_is_refused_with_what_is_wrong(
    tmp_path: Path, damage: Callable[[Any], Any], message: str
) -> None:
    lines = gzip.decompress((SAMPLES / "mbl2-rma.jsonl.gz").read_bytes()).decode().splitlines()
    at = next(i for i, line in enumerate(lines) if json.loads(line)["type"] == "chunk")
    path = tmp_path / "results.jsonl"
    for damaged, expected in ((json.dumps(damage(json.loads(lines[at]))), message), ("[" * 5000, "nested too deeply")):
        path.write_text("\n".join([*lines[:at], damaged, *lines[at + 1 :]]) + "\n")
        with pytest.raises(InvalidInput, match=f"results.jsonl:{at + 1}: no record of hocket.bench/1: .*{expected}"):
            read_results(path)
