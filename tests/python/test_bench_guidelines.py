# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Performance guidelines on launches whose truth is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bench_samples
from hocket.bench.mpi.guidelines import Checks, check
from hocket.bench.mpi.results import Chunk, Point, Results
from hocket.bench.mpi.summary import BenchResult

SEED = 20261125
# Microseconds of each item at 1 KiB and 16 KiB, on a machine that violates one guideline of each kind: its allreduce
# is slower than by reduce and bcast; its bcast is slower with less data; one alltoall of 16 KiB is slower than 16.
PARTS = "reduce_scatter_block+allgather"
TIMES_US = {
    ("coll.allreduce ranks=2", "coll.allreduce", None): (20.0, 60.0),
    ("mockup.allreduce ranks=2", "mockup.allreduce", "reduce+bcast"): (15.0, 70.0),
    (f"mockup.allreduce as={PARTS} ranks=2", "mockup.allreduce", PARTS): (30.0, 61.0),
    ("coll.bcast ranks=2", "coll.bcast", None): (12.0, 9.0),
    ("coll.alltoall ranks=2", "coll.alltoall", None): (3.0, 60.0),
    ("mockup.gather ranks=2", "mockup.gather", "allgather"): (1.0, 2.0),  # without what it imitates
}  # fmt: skip
SIZES = (1024, 16384)


def results(launches: int, seed: int = SEED, times_us: dict = TIMES_US) -> Results:
    """Launches differ by 2 %, chunks by 3 %."""
    random = np.random.default_rng(seed)
    found = Results(Path("synthetic/results.jsonl"), suite={"target": 0.05, "name": "synthetic", "launches": launches})
    found.runs.append(bench_samples.results("mbl2-rma").runs[0])
    for (variant, item, way), times in times_us.items():
        for size, time_us in zip(SIZES, times, strict=True):
            index = len(found.points)
            options = () if way is None else (("as", way),)
            found.points.append(Point(index, item, None, size, 2, options, variant))
            for launch in range(launches):
                level = 1000 * time_us * random.lognormal(0, 0.02)
                for i in range(2):
                    samples = tuple(round(level * random.lognormal(0, 0.03)) for _ in range(5))
                    chunk = Chunk(launch, i, 1, 1, 0, 100, took_s=0.1, samples_ns=samples)
                    found.chunks.setdefault(index, []).append(chunk)
    return found


def named(checks: Checks, verdict: str) -> set[str]:
    return {one.guideline for one in checks.checks if one.verdict == verdict}


def test_one_violation_of_each_kind_is_found() -> None:
    checks = check(results(10), within=0.05)
    violated = [(one.kind, one.guideline, one.bytes) for one in checks.checks if one.verdict == "violated"]
    assert violated == [
        ("mock-up", "MPI_Allreduce <= MPI_Reduce + MPI_Bcast", 1024),
        ("monotony", "MPI_Bcast(1024 B) <= MPI_Bcast(16384 B)", 1024),
        ("split", "MPI_Alltoall(16384 B) <= 16 MPI_Alltoall(1024 B)", 16384),
    ]
    # 2 of allreduce for each size, and two of sizes for each function; none where a side is missing.
    assert len(checks.checks) == 4 + 3 * 2
    first = checks.checks[0]
    assert first.ratio == pytest.approx(20 / 15, rel=0.1)
    assert 1 < first.low <= first.ratio <= first.high
    assert first.p <= 0.05
    # 60 and 61 us are the same within 5 % on most launches, or cannot be told apart; never a violation.
    near = next(one for one in checks.checks if one.bytes == 16384 and "Reduce_scatter_block" in one.guideline)
    assert near.verdict in ("holds", "undecided")
    assert "10 guidelines: 3 violated" in checks.sentence


def test_few_launches_prove_no_violation() -> None:
    checks = check(results(3), within=0.05)
    assert checks.counts == {"violated": 0, "holds": 0, "undecided": len(checks.checks)}
    assert "too few launches" in checks.sentence


def test_an_mpi_that_keeps_them_is_seldom_blamed() -> None:
    """Each mock-up takes exactly what the function does: the guideline holds, as closely as it can."""
    equal = {("coll.bcast ranks=2", "coll.bcast", None): (10.0, 100.0),
             ("mockup.bcast ranks=2", "mockup.bcast", "scatter+allgather"): (10.0, 100.0)}  # fmt: skip
    blamed = sum(check(results(10, seed, equal), 0.05).counts["violated"] > 0 for seed in range(60))
    assert blamed <= 3, f"{blamed} of 60"


def test_the_page_lists_them() -> None:
    from hocket.bench.mpi.page import page
    from hocket.report.bench_page import render

    text = page([BenchResult(results(10))], 0.05)
    assert '<section class="card guidelines">' in text
    assert "MPI_Allreduce &lt;= MPI_Reduce + MPI_Bcast" in text
    assert '<section class="card guidelines">' not in render([BenchResult(results(1)).values])
