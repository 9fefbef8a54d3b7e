# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The collectives of a result in few rows, for people.

A row is one collective on one kind of communicator, for one root and a range of sizes. Disjoint communicators of equal
size with calls of about the same bytes share a row, as the rows of a grid of ranks do. So do sizes next to each other
for which the same was decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hocket.report import text
from hocket.report.communicators import Members, disjoint_sets, names
from hocket.report.result import CollectiveResult, Result

MAX_DRAWN = 6  #: timelines before and after: they take most of a report's size
# Rows without an entry in the plan are shown from this share of the program's time on, and so many at most.
LEAST_SHARE_SHOWN = 0.01
MAX_SHOWN = 20


@dataclass(frozen=True)
class Row:
    communicator: str  #: "world", "4 of 8: even ranks", "pairs (x4)"
    sizes: tuple[
        tuple[CollectiveResult, ...], ...
    ]  #: ascending, each within a factor of two, on any of the communicators

    @property
    def entries(self) -> list[CollectiveResult]:
        return [entry for of_size in self.sizes for entry in of_size]

    @property
    def most(self) -> CollectiveResult:
        """That of the size that takes most of the program's time; of its communicators a slowest one."""
        return max((max(of_size, key=time_s) for of_size in self.sizes), key=time_s)

    @property
    def collective(self) -> str:
        return self.most.collective

    @property
    def root(self) -> int | None:
        return self.most.root

    @property
    def bytes_min(self) -> int:
        return min(entry.bytes if entry.bytes_min is None else entry.bytes_min for entry in self.entries)

    @property
    def bytes_max(self) -> int:
        return max(entry.bytes for entry in self.entries)

    @property
    def communicators(self) -> list[Members]:
        return sorted({tuple(entry.members) for entry in self.entries})

    @property
    def calls(self) -> tuple[int, int]:
        """Of the communicator with the fewest, of that with the most."""
        totals = _by_communicator(self.entries, lambda entry: entry.calls)
        return round(min(totals)), round(max(totals))

    @property
    def nonblocking_calls(self) -> int:
        """Of the communicator with the most."""
        return round(max(_by_communicator(self.entries, lambda entry: entry.nonblocking_calls)))

    @property
    def time_s(self) -> float:
        """Of a run: disjoint communicators work at the same time."""
        return sum(max(_by_communicator(of_size, time_s)) for of_size in self.sizes)

    @property
    def uneven_calls(self) -> int:
        """Of the communicator with the most."""
        return round(max(_by_communicator(self.entries, lambda entry: entry.uneven_calls)))

    @property
    def kept(self) -> int:
        """Entries in the plan."""
        return sum(entry.kept for entry in self.entries)

    @property
    def is_kept(self) -> bool:
        return self.kept > 0

    @property
    def reason(self) -> str:
        """Why the entry of most time that is not in the plan is left out; empty if all are in it."""
        left = [entry for entry in self.entries if not entry.kept]
        return max(left, key=time_s).reason or "" if left else ""

    @property
    def calls_text(self) -> str:
        """ "30", "30 each", "30 non-blocking", "30, 10 non-blocking", or "30, 20 uneven"."""
        least, most = self.calls
        shown = text.span([str(least), str(most)]) + (" each" if len(self.communicators) > 1 else "")
        for number, kind in ((self.nonblocking_calls, "non-blocking"), (self.uneven_calls, "uneven")):
            if number:
                shown += f" {kind}" if number == most else f", {number} {kind}"
        return shown

    @property
    def reason_kind(self) -> str:
        return reason_kind(self.reason)

    @property
    def measured(self) -> list[CollectiveResult]:
        """Those whose times were compared with native ones; one of those that share their times."""
        found = {(one.bytes, *one.native_s, *one.tuned_s): one for one in self.entries if one.native_s and one.tuned_s}
        return list(found.values())

    @property
    def spans(self) -> list[str]:
        """Of what was measured: native and new times, speed-ups, predictions, wire limits, each from least to most."""
        measured = self.measured
        ratios = sorted(one.ratio for one in measured if one.ratio is not None)
        return [
            seconds_of(text.median(one.native_s) for one in measured),
            seconds_of(text.median(one.tuned_s) for one in measured),
            _ratios(ratios),
            seconds_of(one.predicted_s for one in measured),
            seconds_of(one.wire_limit_s for one in measured),
        ]

    @property
    def data_differ(self) -> bool:
        return any(entry.output_identical is False for entry in self.entries)

    @property
    def schedule(self) -> str:
        """ "ring in 2 to 8 segments"; of what is in the plan, or else of what was measured."""
        entries = sorted([entry for entry in self.entries if entry.kept] or self.measured, key=lambda one: one.segments)
        if not entries:
            return ""
        names = {"found by search" if one.algorithm == "custom" else one.algorithm for one in entries}
        found = ", ".join(sorted(names))
        segments = (
            f" in {text.span([str(one.segments) for one in entries])} segments" if entries[-1].segments > 1 else ""
        )
        derived = [one.derived for one in entries]
        return found + segments + (", derived" if all(derived) else ", some derived" if any(derived) else "")

    @property
    def size(self) -> str:
        """ "8 B to 64 KiB"; empty for a barrier."""
        if self.collective == "barrier":
            return ""
        return text.span([text.byte_count(self.bytes_min), text.byte_count(self.bytes_max)])

    @property
    def what(self) -> str:
        """ "bcast of 64 to 512 KiB, root 0"."""
        return self._what(self.size)

    @property
    def label(self) -> str:
        return f"{self.what}, {self.communicator}"

    def label_of(self, entry: CollectiveResult) -> str:
        """Of one of its sizes."""
        size = "" if entry.collective == "barrier" else text.byte_count(entry.bytes)
        return f"{self._what(size)}, {self.communicator}"

    def _what(self, size: str) -> str:
        root = "" if self.root is None else f", root {self.root}"
        return f"{self.collective}{f' of {size}' if size else ''}{root}"


def time_s(entry: CollectiveResult) -> float:
    """Of all its calls in a run: as recorded, or else as measured alone."""
    return entry.calls * (entry.recorded_s or text.median(entry.native_s) or 0.0)


def seconds_of(times: Iterable[float | None]) -> str:
    """ "1 ms", "1 ms to 2 ms"; empty where there is none."""
    known = sorted(time for time in times if time is not None)
    return text.span([text.seconds(known[0]), text.seconds(known[-1])]) if known else ""


def _ratios(ascending: Sequence[float]) -> str:
    if len(set(ascending)) > 1:
        return f"{text.significant(ascending[0])} to {text.ratio(ascending[-1])}"
    return text.ratio(ascending[0]) if ascending else ""


def drawn(rows: Sequence[Row]) -> list[CollectiveResult]:
    """Of the rows of most time, in their order, the entries that the report shows timelines of."""
    return [max(row.measured, key=time_s) for row in rows if row.measured][:MAX_DRAWN]


def starts_collectives(result: Result) -> bool:
    """Whether the program waits later for some of them."""
    return any(entry.nonblocking_calls for entry in result.collectives)


def run_s(result: Result) -> float:
    """What shares of time are of: the recorded run, or with an older result a native one."""
    return result.time.wall_s if result.time else text.median(result.program.native_s) or 0.0


def shown(result: Result) -> list[Row]:
    """The rows to show; `left_native` has the others."""
    found = rows_of(result.collectives, result.ranks)
    return [
        row
        for i, row in enumerate(found)
        if row.is_kept or (row.time_s >= LEAST_SHARE_SHOWN * run_s(result) and i < MAX_SHOWN)
    ]


def left_native(result: Result) -> list[str]:
    """Why: of each kind of reason the row of most time, and how many more there are."""
    by_kind: dict[str, list[Row]] = {}
    for row in rows_of(result.collectives, result.ranks):
        if row.reason:
            by_kind.setdefault(reason_kind(row.reason), []).append(row)
    lines = []
    for kind, alike in by_kind.items():
        lines.append(f"{alike[0].label} left native: {alike[0].reason}")
        if len(alike) > 1:
            lines.append(f"{len(alike) - 1} more left native: {kind}")
    return lines


def reason_kind(reason: str | None) -> str:
    """Without figures: reasons of one kind differ in them alone."""
    return (reason or "").partition(":")[0]


def rows_of(collectives: Sequence[CollectiveResult], ranks: int) -> list[Row]:
    """The row of most time first."""
    alike: dict[tuple[str, int, int | None], list[CollectiveResult]] = {}
    for entry in collectives:
        alike.setdefault((entry.collective, len(entry.members), entry.root), []).append(entry)
    rows = [
        Row("", tuple(of_sizes))
        for entries in alike.values()
        for communicators in disjoint_sets(sorted({tuple(entry.members) for entry in entries}))
        for of_sizes in _ranges([entry for entry in entries if tuple(entry.members) in communicators])
    ]
    # The same communicators have one name in all rows.
    sets = sorted({tuple(row.communicators) for row in rows}, key=lambda one: (-len(one[0]), -len(one), one))
    name_of = dict(zip(sets, names(sets, ranks), strict=True))
    named = [replace(row, communicator=name_of[tuple(row.communicators)]) for row in rows]
    return sorted(named, key=lambda row: -row.time_s)


def _by_communicator(entries: Iterable[CollectiveResult], value_of: Callable[[CollectiveResult], float]) -> list[float]:
    """Sums over the entries of each communicator."""
    sums: dict[Members, float] = {}
    for entry in entries:
        members = tuple(entry.members)
        sums[members] = sums.get(members, 0) + value_of(entry)
    return list(sums.values())


def _ranges(entries: Iterable[CollectiveResult]) -> list[list[tuple[CollectiveResult, ...]]]:
    """Neighbouring sizes with the same outcome."""
    of_size: dict[int, list[CollectiveResult]] = {}
    for entry in entries:
        of_size.setdefault(entry.bytes.bit_length(), []).append(entry)
    ranges: list[list[tuple[CollectiveResult, ...]]] = []
    for _, alike in sorted(of_size.items()):
        if ranges and _outcomes(ranges[-1][-1]) == _outcomes(alike):
            ranges[-1].append(tuple(alike))
        else:
            ranges.append([tuple(alike)])
    return ranges


def _outcomes(entries: Iterable[CollectiveResult]) -> set[tuple[bool, str]]:
    return {(entry.kept, entry.algorithm if entry.kept else reason_kind(entry.reason)) for entry in entries}
