# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tables 1 to 4 of [Uehara] for the machines measured, and the shapes that its text points out, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hocket.report import text
from hocket.report.bench_figures import (
    LATENCY,
    MESSAGE_EXCHANGE,
    PUT_EXCHANGE,
    THROUGHPUT,
    WRITE,
    WRITE_SYNC,
    Document,
    Row,
    Series,
    byte_rate,
    name_of,
    throughput,
    time_s,
)

SEEK = Series("MPI_File_seek", "io.seek", (("file", "shared"),))
SEEK_SHARED = Series("MPI_File_seek_shared", "io.seek_shared")
SYNC = Series("MPI_File_sync, nothing to write", "io.sync", (("file", "shared"),))
FENCE = Series("MPI_Win_fence", "rma.epoch", (("epoch", "fence"),))


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    remark: str = ""  # what is missing, and how to have it


def paper_tables(documents: Sequence[Document]) -> list[Table]:
    """Those that there are points for."""
    tables = [_functions(documents), _best(documents), *_by_hosts(documents)]
    return [table for table in tables if table.rows]


def _functions(documents: Sequence[Document]) -> Table:
    rows: list[tuple[str, ...]] = [
        (series.name, str(row["ranks"]), name_of(document), *_with_interval(row))
        for series in (SEEK, SEEK_SHARED, SYNC, FENCE)
        for document in documents
        for row in series.rows(document)
        if not row["bytes"]
    ]
    return Table(
        "table-1",
        "Table 1. Functions that move no data",
        ("function", "ranks", "result", "time", "95 % interval"),
        rows,
    )


def _best(documents: Sequence[Document]) -> Table:
    rows: list[tuple[str, ...]] = []
    for fast, short in zip(THROUGHPUT, LATENCY, strict=True):
        for document in documents:
            rates, times = _best_rate(fast, document), _one_byte(short, document)
            if rates or times:
                rows.append(
                    (
                        fast.name,
                        name_of(document),
                        *(rates or ("", "", "")),
                        *(times or ("", "")),
                    )
                )
    columns = ("function", "result", "highest throughput", "95 % interval", "at", "time of 1 B", "95 % interval")
    return Table("table-2", "Table 2. Highest throughput and time of 1 B", columns, rows)


def _by_hosts(documents: Sequence[Document]) -> list[Table]:
    """Tables 3 and 4 set one host beside two."""
    rates: list[tuple[str, ...]] = []
    times: list[tuple[str, ...]] = []
    for document in sorted(documents, key=lambda one: one["machine"]["hosts"]):
        where = text.counted(document["machine"]["hosts"], "host")
        label = name_of(document)
        for fast, short in zip(THROUGHPUT, LATENCY, strict=True):
            if rate := _best_rate(fast, document):
                rates.append((where, fast.name, label, *rate))
            if time := _one_byte(short, document):
                times.append((where, short.name, label, *time))
    hosts = {document["machine"]["hosts"] for document in documents}
    remark = (
        f"All results are of {text.counted(hosts.pop(), 'host')}. To set one host beside two, measure once more with "
        "a launcher over two hosts, or on an emulated cluster (hocket testbed run), and show both results together."
        if len(hosts) == 1
        else ""
    )
    return [
        Table(
            "table-3",
            "Table 3. Highest throughput, by number of hosts",
            ("hosts", "function", "result", "throughput", "95 % interval", "at"),
            rates,
            remark,
        ),
        Table(
            "table-4",
            "Table 4. Time of 1 B, by number of hosts",
            ("hosts", "function", "result", "time", "95 % interval"),
            times,
            remark,
        ),
    ]


def _best_rate(series: Series, document: Document) -> tuple[str, str, str] | None:
    rows = [row for row in series.rows(document) if row["measured"]["bytes_moved"]]
    if not rows:
        return None
    row = max(rows, key=lambda row: throughput(row)[0])
    middle, low, high = throughput(row)
    ends = "" if low is None or high is None else f"{byte_rate(low)} to {byte_rate(high)}"
    return byte_rate(middle), ends, text.byte_count(row["bytes"])


def _one_byte(series: Series, document: Document) -> tuple[str, str] | None:
    row = next((row for row in series.rows(document) if row["bytes"] == 1), None)
    return None if row is None else _with_interval(row)


def _with_interval(row: Row) -> tuple[str, str]:
    middle, low, high = time_s(row)
    return text.seconds(middle), "" if low is None or high is None else f"{text.seconds(low)} to {text.seconds(high)}"


def sentences(document: Document) -> list[str]:
    """What the paper found on its machines, for this one: only what the intervals show."""
    found = [_first_sync(document), _shared_pointer(document), *_exchange(document), _fence(document)]
    return [sentence for sentence in found if sentence]


def _first_sync(document: Document) -> str:
    pair = _at_least_size(WRITE, WRITE_SYNC, document)
    if pair is None:
        return ""
    plain, sync = pair
    relation = _relation(sync, plain)
    return relation and (
        f"A write of {text.byte_count(plain['bytes'])} with sync takes {relation} the write alone "
        f"({text.seconds(time_s(sync)[0])} and {text.seconds(time_s(plain)[0])})."
    )


def _shared_pointer(document: Document) -> str:
    own, shared = SEEK.rows(document)[:1], SEEK_SHARED.rows(document)[:1]
    relation = _relation(shared[0], own[0]) if own and shared else ""
    return relation and f"To seek the shared file pointer takes {relation} to seek a rank's own."


def _exchange(document: Document) -> list[str]:
    found = []
    puts = {(row["ranks"], row["bytes"]): row for row in PUT_EXCHANGE.rows(document)}
    messages = {(row["ranks"], row["bytes"]): row for row in MESSAGE_EXCHANGE.rows(document)}
    both = sorted(puts.keys() & messages.keys())
    for ranks in sorted({ranks for ranks, _ in both}):
        sizes = [size for count, size in both if count == ranks]
        faster = [size for size in sizes if _is_less(puts[ranks, size], messages[ranks, size])]
        slower = [size for size in sizes if _is_less(messages[ranks, size], puts[ranks, size])]
        if not (faster or slower):
            found.append(
                f"Exchange of {text.counted(ranks, 'rank')}: the intervals of MPI_Put and of messages overlap."
            )
            continue
        found.append(
            f"Exchange of {text.counted(ranks, 'rank')}: MPI_Put with fence is faster than messages for "
            f"{_sizes(faster)} and slower for {_sizes(slower)}; the intervals of other sizes overlap."
        )
    return found


def _fence(document: Document) -> str:
    rows = [row for row in FENCE.rows(document) if not row["bytes"]]
    if len(rows) < 2:
        return ""
    steps = [f"{text.seconds(time_s(row)[0])} with {text.counted(row['ranks'], 'rank')}" for row in rows]
    return f"A fence without operations takes {', '.join(steps)}."


def _at_least_size(one: Series, other: Series, document: Document) -> tuple[Row, Row] | None:
    left, right = ({(row["ranks"], row["bytes"]): row for row in series.rows(document)} for series in (one, other))
    both = sorted(left.keys() & right.keys(), key=lambda key: (key[0], key[1] or 0))
    return (left[both[0]], right[both[0]]) if both else None


def _relation(row: Row, reference: Row) -> str:
    """ "3.2 times as long as"; empty where the intervals do not tell them apart."""
    if not (_is_less(row, reference) or _is_less(reference, row)):
        return ""
    return f"{text.significant(time_s(row)[0] / time_s(reference)[0])} times as long as"


def _is_less(row: Row, other: Row) -> bool:
    _, _, high = time_s(row)
    _, low, _ = time_s(other)
    return high is not None and low is not None and high < low


def _sizes(sizes: Sequence[int]) -> str:
    shown: Callable[[int], str] = text.byte_count
    return ", ".join(map(shown, sizes)) if sizes else "no size"
