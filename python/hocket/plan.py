# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The plan: which schedule serves which collective call of one application on one network."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput
from hocket.files import write_whole
from hocket.json_input import (
    integer_of,
    number_of,
    object_of,
    ranks_of,
    refuse_duplicates,
    seconds_of,
    shown,
    text_of,
    truth_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hocket import Schedule

FORMAT = "hocket.plan/2"
READABLE = (FORMAT, "hocket.plan/1")  # the earlier one lacks segment_bytes, other_members, shared schedules and hosts
COLLECTIVES = (
    "bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "scatter", "gather", "barrier",
)  # fmt: skip
ROOTED = ("bcast", "reduce", "scatter", "gather")
PROGRESS = ("off", "on", "auto")
_FIGURES = ("predicted_s", "lower_bound_s", "native_s", "tuned_s")
_MAX_BYTES = 64 << 20  # far above any plan: a device such as /dev/zero never ends. As in mpi/runtime/plan.hpp
_REMAKE = "write a new plan with `hocket advise` or `hocket tune`"
_object = partial(object_of, hint=_REMAKE)


@dataclass(frozen=True)
class Evidence:
    """How an entry was shown to be faster than the MPI's own function."""

    mpi: str  # "Open MPI 4.1.4"
    launches: int  # of a program that measured native and new calls in turns
    repetitions: int  # measurements of each kind in a launch, at least
    ratio: float  # median native time / median tuned time
    ratio_interval: tuple[float, float]  # 95 % confidence

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ratio_interval": list(self.ratio_interval)}


@dataclass(frozen=True)
class PlanEntry:
    """One schedule and the calls that it serves.

    `members` are world ranks in the order of the communicator; `root` and `order` are ranks in the communicator. Sizes
    are those of `lower`: the whole message of bcast, reduce and allreduce, the block of one rank for the others, 0 for
    barrier. Sizes with `evidence` were measured; those without are derived from the model, or not measured yet.
    """

    collective: str
    members: tuple[int, ...]
    bytes_min: int
    bytes_max: int
    algorithm: str  # "custom" when `custom` carries the schedule
    pieces: int = 1
    order: tuple[int, ...] | None = None
    root: int | None = None  # None = any root; an entry that names one goes before
    custom: str | None = None  # the schedule's JSON text
    predicted_s: float | None = None
    lower_bound_s: float | None = None
    native_s: float | None = None
    tuned_s: float | None = None
    calls: int = 0
    evidence: Evidence | None = None
    reproducible: bool = (
        False  # every call uses this schedule: the running program does not compare it with native ones
    )
    segment_bytes: int | None = None  # the most that a segment has, instead of `pieces`
    other_members: tuple[tuple[int, ...], ...] = ()  # communicators of the same shape that it serves too

    def pieces_of(self, size_bytes: int) -> int:
        """The pieces that the algorithm is asked for in a call of this size."""
        if self.custom is not None or self.segment_bytes is None:
            return self.pieces
        from hocket import algorithms

        algorithm = next(a for a in algorithms() if (a.collective, a.name) == (self.collective, self.algorithm))
        return algorithm.pieces_of_segments(len(self.members), size_bytes, self.segment_bytes)

    def schedule(self, root: int = 0, size_bytes: int | None = None) -> Schedule:
        """The schedule of this entry for one root (that of the entry, if it names one) and size (its largest)."""
        from hocket import Schedule

        if self.custom is not None:
            return Schedule.from_json(self.custom)
        chosen = self.root if self.root is not None else root
        order = list(self.order) if self.order is not None else None
        pieces = self.pieces_of(self.bytes_max if size_bytes is None else size_bytes)
        return Schedule.build(
            self.collective, self.algorithm, len(self.members), root=chosen, pieces=pieces, order=order
        )

    def serves(self, collective: str, members: Sequence[int], size_bytes: int, root: int | None) -> bool:
        return (
            self.collective == collective
            and tuple(members) in (self.members, *self.other_members)
            and self.bytes_min <= size_bytes <= self.bytes_max
            and (self.root is None or self.root == root)
        )

    def to_dict(self) -> dict[str, Any]:
        schedule: dict[str, Any]
        if self.custom is not None:
            schedule = {"custom": json.loads(self.custom)}
        else:
            schedule = {"algorithm": self.algorithm}
            if self.segment_bytes is None:
                schedule["pieces"] = self.pieces
            else:
                schedule["segment_bytes"] = self.segment_bytes
            if self.order is not None:
                schedule["order"] = list(self.order)
        document: dict[str, Any] = {"collective": self.collective, "members": list(self.members)}
        if self.other_members:
            document["other_members"] = [list(members) for members in self.other_members]
        document |= {
            "bytes_min": self.bytes_min,
            "bytes_max": self.bytes_max,
            "root": self.root,
            "schedule": schedule,
            **{key: getattr(self, key) for key in _FIGURES},
            "calls": self.calls,
        }
        if self.evidence is not None:
            document["evidence"] = self.evidence.to_dict()
        if self.reproducible:
            document["reproducible"] = True
        return document


@dataclass(frozen=True)
class Plan:
    ranks: int
    network: str
    entries: tuple[PlanEntry, ...]
    created_by: str = ""
    progress: str = "off"  # of non-blocking communication in the background: one of PROGRESS
    hosts: tuple[str, ...] = ()  # of each rank when the plan was made; empty = not known

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Plan:
        try:
            with Path(path).open("rb") as file:
                content = file.read(_MAX_BYTES + 1)
            if len(content) > _MAX_BYTES:
                raise InvalidInput(
                    f"{path}: cannot read the plan: it is larger than {_MAX_BYTES >> 20} MiB", hint=_REMAKE
                )
            text = content.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise InvalidInput(f"{path}: cannot read the plan: {reason}", hint=_REMAKE) from None
        return cls.from_text(text, str(path))

    @classmethod
    def from_text(cls, text: str, source_name: str = "plan") -> Plan:
        """Reads and checks a plan. Raises InvalidInput that says where, what was found and what is accepted."""
        try:
            document = json.loads(text, object_pairs_hook=refuse_duplicates)
        except InvalidInput as error:
            raise InvalidInput(f"{source_name}: {error.message}", hint=_REMAKE) from None
        except (ValueError, RecursionError) as error:
            if re.search(r'^format *= *"hocket\.network/', text, re.MULTILINE):
                raise InvalidInput(f"{source_name}: this is a network file, not a plan", hint=_REMAKE) from None
            raise InvalidInput(f"{source_name}: not JSON: {error}", hint=_REMAKE) from None
        return _read_plan(document, source_name)

    def to_json(self) -> str:
        from hocket import __version__

        document = {
            "format": FORMAT,
            "ranks": self.ranks,
            "network": self.network,
            "created_by": self.created_by or f"hocket {__version__}",
        }
        if self.progress != "off":
            document["progress"] = self.progress
        if self.hosts:
            document["hosts"] = list(self.hosts)
        first_with: dict[str, int] = {}  # a schedule carried whole
        entries = []
        for i, entry in enumerate(self.entries):
            written = entry.to_dict()
            if entry.custom is not None and (first := first_with.setdefault(entry.custom, i)) != i:
                written["schedule"] = {"entry": first}
            entries.append("\n  " + _lines(written, 2))
        return f'{_lines(document, 0)[:-2]},\n "entries": [{",".join(entries)}\n ]\n}}\n'

    def write(self, path: str | os.PathLike[str]) -> None:
        """Complete or not at all."""
        try:
            write_whole(path, self.to_json())
        except OSError as error:
            raise InvalidInput(f"{path}: cannot write the plan: {error.strerror}") from None

    def with_entries(self, entries: Iterable[PlanEntry]) -> Plan:
        return replace(self, entries=tuple(entries))

    def entry_for(self, collective: str, members: Sequence[int], size_bytes: int, root: int | None) -> PlanEntry | None:
        serving = [entry for entry in self.entries if entry.serves(collective, members, size_bytes, root)]
        return next((entry for entry in serving if entry.root is not None), serving[0] if serving else None)

    def check_ranks(self, ranks: int, source_name: str = "the plan") -> None:
        """Raises InvalidInput unless the plan is for a program of that many ranks."""
        if ranks != self.ranks:
            raise InvalidInput(
                f"{source_name} is for {self.ranks} ranks, but the command starts {ranks}",
                hint=f"start {self.ranks} ranks, or {_REMAKE} for {ranks} ranks",
            )


def _lines(document: dict[str, Any], indent: int) -> str:
    """An object with a line for each key. Every rank gets the text from rank 0: a schedule of thousands of operations
    must not become four times as long by white space."""
    margin = " " * indent
    lines = [
        f"{margin} {json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in document.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{margin}}}"


def _read_plan(document: object, where: str) -> Plan:
    plan = _object(
        document,
        where,
        {"format", "ranks", "network", "entries"},
        {"created_by", "progress", "hosts"},
        READABLE,
    )
    ranks = integer_of(plan, "ranks", where, 1, 2**31 - 1)
    if not isinstance(plan["entries"], list):
        raise InvalidInput(f"{where}: entries must be a list, not {shown(plan['entries'])}")
    entries: list[PlanEntry] = []
    for i, entry in enumerate(plan["entries"]):
        entries.append(_read_entry(entry, f"{where}: entries[{i}]", ranks, entries))
    _refuse_overlap(entries, where)
    progress = plan.get("progress", "off")
    if progress not in PROGRESS:
        raise InvalidInput(f"{where}: progress is {shown(progress)}; accepted: {', '.join(PROGRESS)}")
    return Plan(
        ranks,
        text_of(plan, "network", where),
        tuple(entries),
        text_of(plan, "created_by", where),
        progress,
        _read_hosts(plan.get("hosts", []), where, ranks),
    )


def _read_hosts(document: object, where: str, ranks: int) -> tuple[str, ...]:
    of_texts = isinstance(document, list) and all(isinstance(host, str) for host in document)
    if not isinstance(document, list) or not of_texts or len(document) not in (0, ranks):
        raise InvalidInput(f"{where}: hosts is {shown(document)}; accepted: a list of {ranks} texts, one for each rank")
    return tuple(document)


def _read_entry(document: object, where: str, ranks: int, earlier: Sequence[PlanEntry]) -> PlanEntry:
    required = {"collective", "members", "bytes_min", "bytes_max", "root", "schedule"}
    entry = _object(document, where, required, {*_FIGURES, "other_members", "calls", "evidence", "reproducible"})
    collective = entry["collective"]
    if collective not in COLLECTIVES:
        raise InvalidInput(f"{where}: collective is {shown(collective)}; accepted: {', '.join(COLLECTIVES)}")
    members = ranks_of(entry, "members", where, ranks)
    size = len(members)
    bytes_min = integer_of(entry, "bytes_min", where, 0, 2**63 - 1)
    root = None if entry["root"] is None else integer_of(entry, "root", where, 0, size - 1)
    if root is not None and collective not in ROOTED:
        raise InvalidInput(f"{where}: {collective} has no root, but root is {root}; use null")
    chosen = _read_schedule(entry["schedule"], f"{where}: schedule", collective, size, earlier)
    figures: dict[str, Any] = {key: seconds_of(entry, key, where) for key in _FIGURES}
    read = PlanEntry(
        collective=collective,
        members=members,
        bytes_min=bytes_min,
        bytes_max=integer_of(entry, "bytes_max", where, bytes_min, 2**63 - 1),
        root=root,
        **chosen,
        other_members=_read_other_members(entry.get("other_members", []), where, ranks, size),
        calls=integer_of(entry, "calls", where, 0, 2**63 - 1) if "calls" in entry else 0,
        evidence=_read_evidence(entry.get("evidence"), f"{where}: evidence"),
        reproducible=truth_of(entry, "reproducible", where),
        **figures,
    )
    _check_custom(read, where)
    return read


def _read_evidence(document: object, where: str) -> Evidence | None:
    if document is None:
        return None
    evidence = _object(document, where, {"mpi", "launches", "repetitions", "ratio", "ratio_interval"}, set())
    interval = evidence["ratio_interval"]
    if not isinstance(interval, list) or len(interval) != 2:
        raise InvalidInput(f"{where}: ratio_interval is {shown(interval)}; accepted: two numbers")
    low, high = (number_of(end, f"{where}: ratio_interval") for end in interval)
    return Evidence(
        mpi=text_of(evidence, "mpi", where),
        launches=integer_of(evidence, "launches", where, 1, 2**31 - 1),
        repetitions=integer_of(evidence, "repetitions", where, 1, 2**31 - 1),
        ratio=number_of(evidence["ratio"], f"{where}: ratio"),
        ratio_interval=(low, high),
    )


def _read_other_members(document: object, where: str, ranks: int, size: int) -> tuple[tuple[int, ...], ...]:
    if not isinstance(document, list):
        raise InvalidInput(f"{where}: other_members is {shown(document)}; accepted: a list of lists of ranks")
    found = []
    for i, other in enumerate(document):
        name = f"other_members[{i}]"
        found.append(ranks_of({name: other}, name, where, ranks))
        if len(found[-1]) != size:
            raise InvalidInput(f"{where}: {name} has {len(found[-1])} ranks; members has {size}")
    return tuple(found)


def _read_schedule(
    document: object, where: str, collective: str, size: int, earlier: Sequence[PlanEntry]
) -> dict[str, Any]:
    """The fields of PlanEntry that say which schedule it is."""
    from hocket import algorithms

    if isinstance(document, dict) and "custom" in document:
        return {"algorithm": "custom", "custom": json.dumps(_object(document, where, {"custom"}, set())["custom"])}
    if isinstance(document, dict) and "entry" in document:
        if not earlier:
            raise InvalidInput(f"{where}: entry: there is no earlier entry")
        of = earlier[integer_of(_object(document, where, {"entry"}, set()), "entry", where, 0, len(earlier) - 1)]
        if of.custom is None:
            raise InvalidInput(f"{where}: entry is {document['entry']}, which has no custom schedule")
        return {"algorithm": "custom", "custom": of.custom}
    schedule = _object(document, where, {"algorithm"}, {"pieces", "segment_bytes", "order"})
    known = [a.name for a in algorithms() if a.collective == collective]
    algorithm = schedule["algorithm"]
    if algorithm not in known:
        raise InvalidInput(f"{where}: algorithm is {shown(algorithm)}; accepted for {collective}: {', '.join(known)}")
    if "pieces" in schedule and "segment_bytes" in schedule:
        raise InvalidInput(f"{where} has both pieces and segment_bytes; give one")
    pieces = integer_of(schedule, "pieces", where, 1, 2**31 - 1) if "pieces" in schedule else 1
    segment = integer_of(schedule, "segment_bytes", where, 1, 2**63 - 1) if "segment_bytes" in schedule else None
    order = None
    if "order" in schedule:
        order = ranks_of(schedule, "order", where, size)
        if len(order) != size:
            raise InvalidInput(f"{where}: order has {len(order)} ranks; it must hold each of 0 to {size - 1} once")
    return {"algorithm": algorithm, "pieces": pieces, "segment_bytes": segment, "order": order}


def _check_custom(entry: PlanEntry, where: str) -> None:
    if entry.custom is None:
        return
    from hocket import validate

    try:
        schedule = entry.schedule()
    except InvalidInput as error:
        raise InvalidInput(f"{where}: schedule: custom: {error}", hint=error.hint) from None
    if (schedule.collective, schedule.num_ranks) != (entry.collective, len(entry.members)):
        raise InvalidInput(
            f"{where}: schedule: custom is a {schedule.collective} of {schedule.num_ranks} ranks; "
            f"the entry needs a {entry.collective} of {len(entry.members)}"
        )
    if entry.collective in ROOTED and entry.root != schedule.root:
        raise InvalidInput(f"{where}: schedule: custom has root {schedule.root}, but the entry's root is {entry.root}")
    violations = validate(schedule).violations
    if violations:
        raise InvalidInput(f"{where}: schedule: custom is wrong: {violations[0]}", hint=_REMAKE)


def _refuse_overlap(entries: Sequence[PlanEntry], where: str) -> None:
    """Two entries for the same calls, unless one of them names the root."""
    alike: dict[tuple[str, tuple[int, ...], int | None], list[tuple[int, PlanEntry]]] = {}
    for i, entry in enumerate(entries):
        for members in (entry.members, *entry.other_members):
            alike.setdefault((entry.collective, members, entry.root), []).append((i, entry))
    for some in alike.values():
        some.sort(key=lambda numbered: numbered[1].bytes_min)
        for place, (i, a) in enumerate(some):
            for j, b in some[place + 1 :]:
                if b.bytes_min > a.bytes_max:
                    break
                raise InvalidInput(f"{where}: entries[{max(i, j)}] serves calls that entries[{min(i, j)}] serves too")
