# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Reads tables of measured collectives, lists of instances to decide, and the allocations of both."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hocket.advise.measured.placement import Place, Placement, placement
from hocket.errors import InvalidInput

MEASUREMENTS = "measurements.csv.gz"
ALLOCATIONS = "allocations.csv.gz"
# Where one algorithm was measured in several implementations, the library's own counts.
SOURCES = {"library": 0, "pico": 1, "pico-utofu": 2}


@dataclass(frozen=True)
class Case:
    """One algorithm of a collective in one test."""

    test: str
    system: str
    collective: str
    algorithm: str  #: the usual name, as in `forms.FORMS`
    bytes: int  #: of the whole vector
    count: int  #: elements of the whole vector
    ranks: int


@dataclass(frozen=True)
class Measurement:
    case: Case
    job: str
    seconds: float


@dataclass(frozen=True)
class Candidate:
    case: Case
    name: str  #: as the list of instances has it


@dataclass(frozen=True)
class Names:
    """Other names of algorithms that the tables know: collective and name to the usual name."""

    usual: dict[tuple[str, str], str]

    def of(self, collective: str, name: str) -> str:
        return self.usual.get((collective, name), name)


@dataclass(frozen=True)
class Tables:
    measurements: tuple[Measurement, ...]
    placements: dict[str, Placement]
    names: Names


def read_tables(folder: Path) -> Tables:
    """Of a folder with measurements.csv.gz and allocations.csv.gz (or without .gz).

    Raises InvalidInput.
    """
    if not folder.is_dir():
        raise InvalidInput(f"{folder}: no such folder", f"expected a folder with {MEASUREMENTS} and {ALLOCATIONS}")
    path = _table(folder, MEASUREMENTS)
    rows = [row for row in _Rows(path, _MEASURED) if row["valid"] == "1" and row["gpu"] == "0"]
    usual: dict[tuple[str, str], str] = {}
    for row in rows:
        if row["textbook"]:
            for name in (row["hocket"], row["algorithm"]):
                usual.setdefault((row["collective"], name), row["textbook"])
            usual[row["collective"], row["textbook"]] = row["textbook"]
    found: dict[Case, list[tuple[int, float, str]]] = {}
    for row in rows:
        if row["is_default"] == "1" or row["family"] != "textbook":
            continue
        case = _case(row, row["textbook"])
        found.setdefault(case, []).append((SOURCES.get(row["source"], len(SOURCES)), row.seconds(), row["alloc_id"]))
    if not found:
        raise InvalidInput(f"{path}: no valid measurement of an algorithm with a usual name to learn from")
    measurements = []
    for case, several in found.items():
        best = min(source for source, _, _ in several)
        times = sorted(seconds for source, seconds, _ in several if source == best)
        measurements.append(Measurement(case, several[0][2], times[(len(times) - 1) // 2]))
    return Tables(tuple(measurements), read_placements(_table(folder, ALLOCATIONS)), Names(usual))


def read_instances(path: Path, names: Names) -> tuple[Candidate, ...]:
    """One row for each candidate of each instance. Times are neither needed nor read.

    Raises InvalidInput.
    """
    found: dict[tuple[str, str, int, str], Candidate] = {}
    for row in _Rows(path, _INSTANCE):
        name = row["algorithm"]
        case = _case(row, names.of(row["collective"], name))
        key = (case.test, case.collective, case.bytes, name)
        if key in found:
            raise row.wrong(f"the candidate {name} of {case.collective}, {case.bytes} bytes, is there twice")
        found[key] = Candidate(case, name)
    if not found:
        raise InvalidInput(f"{path}: no instances to decide")
    return tuple(found.values())


def read_placements(path: Path) -> dict[str, Placement]:
    """Of each test_id. Raises InvalidInput."""
    found = {}
    for row in _Rows(path, _ALLOCATED):
        at = Place(
            ranks=row.whole("ranks"),
            nodes=row.whole("nodes"),
            torus=row["torus"],
            order=row.optional("rank_order"),
            hosts=row["hosts"],
            cells=row.optional("cells"),
        )
        try:
            found[row["test_id"]] = placement(at)
        except InvalidInput as error:
            raise row.wrong(error.message) from None
    return found


_CASE = ("test_id", "system", "collective", "bytes", "count", "ranks", "algorithm")
_INSTANCE = _CASE
_MEASURED = (
    *_CASE, "alloc_id", "textbook", "hocket", "family", "source", "valid", "gpu", "is_default", "median_s",
)  # fmt: skip
_ALLOCATED = ("test_id", "ranks", "nodes", "torus", "hosts")


class _Row:
    def __init__(self, path: Path, line: int, values: dict[str, str]) -> None:
        self._path, self._line, self._values = path, line, values

    def __getitem__(self, column: str) -> str:
        return self._values[column]

    def optional(self, column: str) -> str:
        return self._values.get(column) or ""

    def wrong(self, text: str) -> InvalidInput:
        return InvalidInput(f"{self._path}, line {self._line}: {text}")

    def whole(self, column: str) -> int:
        text = self[column]
        if not re.fullmatch("[0-9]{1,19}", text) or not 1 <= int(text) < 1 << 62:
            raise self.wrong(f"{column} is {text[:40]!r}: expected a whole number from 1 to {(1 << 62) - 1}")
        return int(text)

    def seconds(self) -> float:
        try:
            value = float(self["median_s"])
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise self.wrong(f"median_s is {self['median_s']!r}: expected a time in seconds")
        return value


class _Rows:
    """The rows of a CSV file, gzipped if its name ends so, with the columns that are asked for."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self._path, self._columns = path, columns

    def __iter__(self) -> Iterator[_Row]:
        try:
            content = self._path.read_bytes()
            text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8-sig")
        except (OSError, EOFError, zlib.error, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InvalidInput(f"{self._path}: {reason}", "expected a CSV file, as it is or gzipped") from None
        reader = csv.DictReader(io.StringIO(text), restval="")
        missing = [name for name in self._columns if name not in (reader.fieldnames or ())]
        if missing:
            raise InvalidInput(
                f"{self._path}: no column {', '.join(missing)}", f"expected at least: {', '.join(self._columns)}"
            )
        try:
            for values in reader:
                yield _Row(self._path, reader.line_num, values)
        except csv.Error as error:
            raise InvalidInput(f"{self._path}, line {reader.line_num}: {error}") from None


def _case(row: _Row, algorithm: str) -> Case:
    size = row.whole("bytes")
    return Case(
        row["test_id"], row["system"], row["collective"], algorithm, size, row.whole("count"), row.whole("ranks")
    )


def _table(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / name.removesuffix(".gz")):
        if path.exists():
            return path
    raise InvalidInput(f"{folder}: no file {name}", f"expected a folder with {MEASUREMENTS} and {ALLOCATIONS}")
