# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A file of results, `hocket.bench/1`: what hocket-bench appended to it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hocket import formats
from hocket.bench.mpi.record_schema import read_record
from hocket.errors import InvalidInput

FORMAT = "hocket.bench/1"


@dataclass(frozen=True)
class Point:
    """An item with one value of each parameter."""

    index: int
    item: str
    number: int | None  # in a published list
    size_bytes: int | None
    ranks: int
    options: tuple[tuple[str, str], ...]
    variant: str  # the item with the options that are not as usual

    @property
    def key(self) -> tuple[object, ...]:
        """The same for the same point of another suite."""
        return (self.item, self.size_bytes, self.ranks, self.options)


@dataclass(frozen=True)
class Chunk:
    """The samples of one visit."""

    launch: int
    round: int
    runs: int  # of which a sample consists
    operations: int  # of which a run consists
    bytes_moved: int  # by all ranks together in a run
    first_ns: int
    took_s: float
    samples_ns: tuple[int, ...]
    parts_ns: dict[str, float] = field(default_factory=dict)  # medians of parts of a run: "post", "wait", ...

    @property
    def run_s(self) -> list[float]:
        """The samples as seconds of one run."""
        return [1e-9 * sample / self.runs for sample in self.samples_ns]


@dataclass(frozen=True)
class Outcome:
    """What became of an attempt to run a variant: "ok", "unsupported", "error", "crash", "hang" or "wrong_data"."""

    status: str
    message: str


@dataclass
class Results:
    path: Path
    suite: dict[str, Any] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)  # one for each start of hocket-bench
    points: list[Point] = field(default_factory=list)
    chunks: dict[int, list[Chunk]] = field(default_factory=dict)  # by point
    outcomes: dict[tuple[str, int | None], Outcome] = field(default_factory=dict)  # by variant and point
    ended: set[int] = field(default_factory=set)  # launches

    def outcome(self, point: Point) -> Outcome | None:
        """Of the point if its measurement failed, else of its variant; None before it was tried."""
        return self.outcomes.get((point.variant, point.index)) or self.outcomes.get((point.variant, None))

    def launches(self, point: Point) -> list[list[Chunk]]:
        """The chunks of a point, those of each launch together."""
        found: dict[int, list[Chunk]] = {}
        for chunk in self.chunks.get(point.index, []):
            found.setdefault(chunk.launch, []).append(chunk)
        return list(found.values())


def read_results(path: Path) -> Results:
    """Raises InvalidInput. A last line without an end, as a kill leaves it, is not read."""
    if path.is_dir():
        path = path / "results.jsonl"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InvalidInput(f"{path}: cannot be read: {reason}", "name a folder of `hocket bench run`") from None
    results = Results(path)
    for i, line in enumerate(text.split("\n")[:-1], start=1):
        try:
            add_record(results, read_record(line))
        except ValueError as error:
            damaged = "the file is damaged: without this line the rest can be read"
            hint = formats.hint(_format_of(line), FORMAT, damaged)
            raise InvalidInput(f"{path}:{i}: no record of {FORMAT}: {error}", hint) from None
    if results.suite.get("format") != FORMAT:
        hint = formats.hint(results.suite.get("format"), FORMAT, "name a folder of `hocket bench run`")
        raise InvalidInput(f"{path}: no results of {FORMAT}", hint)
    return results


def add_record(results: Results, record: dict[str, Any]) -> None:
    """Of a record that `read_record` has checked."""
    match record["type"]:
        case "suite":
            results.suite = record
        case "run":
            results.runs.append(record)
        case "point":
            options = tuple((name, str(value)) for name, value in record["options"].items())
            point = Point(
                record["point"], record["item"], record["number"], record["bytes"], record["ranks"], options,
                record["variant"],
            )  # fmt: skip
            results.points.append(point)
        case "chunk":
            chunk = Chunk(
                record["launch"], record["round"], record["runs"], record["operations"], record["bytes_moved"],
                record["first_ns"], record["took_s"], tuple(record["samples_ns"]), record.get("parts_ns", {}),
            )  # fmt: skip
            results.chunks.setdefault(record["point"], []).append(chunk)
        case "outcome":
            key = (record["variant"], record["point"])
            results.outcomes.setdefault(key, Outcome(record["status"], record["message"]))
        case "launch_end":
            results.ended.add(record["launch"])


def _format_of(line: str) -> object:
    """Of the first record, which a later version may have with other keys."""
    try:
        return json.loads(line)["format"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
