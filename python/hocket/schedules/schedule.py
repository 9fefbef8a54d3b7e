# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Schedules for people: from a collective's name or a file, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import Error, InvalidInput

if TYPE_CHECKING:
    from hocket._core import Algorithm, Schedule


ROOTED = ("bcast", "reduce", "scatter", "gather")


def is_file(what: str) -> bool:
    """Whether `what` means a schedule file rather than a collective."""
    return what.endswith(".json") or "/" in what or Path(what).is_file()


def read_schedule(path: str) -> Schedule:
    """The schedule in a file of format hocket.schedule/1."""
    from hocket._core import Schedule

    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{path}: {error.strerror}", "give a collective or a file of format hocket.schedule/1"
        ) from None
    # Bytes that are no text become a character that JSON accepts in texts only; the reader says where they are wrong.
    return Schedule.from_json(content.decode("utf-8", "replace"), path)


def algorithms_of(collective: str) -> list[Algorithm]:
    """The textbook algorithms of a collective."""
    from hocket._core import algorithms

    found = [algorithm for algorithm in algorithms() if algorithm.collective == collective]
    if not found:
        names = ", ".join(dict.fromkeys(algorithm.collective for algorithm in algorithms()))
        raise InvalidInput(f"unknown collective {collective!r}", f"accepted: {names}; or a file that ends in .json")
    return found


def parse_order(text: str | None) -> list[int] | None:
    """ "0,2,1,3" """
    if text is None:
        return None
    try:
        return [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise InvalidInput(f"--order is {text!r}: expected ranks such as 0,2,1,3") from None


def require_right(schedule: Schedule, name: str) -> None:
    """Raises the violations that validate finds."""
    from hocket._core import validate

    validation = validate(schedule)
    if not validation.ok:
        first, *others = validation.violations
        more = f" (and {len(others)} more)" if others else ""
        raise Error(f"{name}: {first}{more}", f"`hocket schedule {name} --json` lists all violations")


def listing(schedule: Schedule) -> Iterator[str]:
    """Line by line what each rank does."""
    root = f", root {schedule.root}" if schedule.collective in ROOTED else ""
    segments = f"{schedule.segments} segment{'s' if schedule.segments > 1 else ''} a block"
    yield f"{schedule.collective} {schedule.algorithm}: {schedule.num_ranks} ranks{root}, {segments}"
    for rank in range(schedule.num_ranks):
        yield f"rank {rank}"
        for index, op in enumerate(schedule.ops(rank)):
            direction = "to" if op.kind == "send" else "from"
            chunks = f"  chunks {_ranges(op.chunks)}" if op.chunks else ""
            after = f"  after {', '.join(map(str, op.after))}" if op.after else ""
            yield f"  {index:4}  {op.kind} {direction} {op.peer}{chunks}{after}"


def summary(schedule: Schedule) -> dict[str, object]:
    """What the schedule is and whether it is right, for --json."""
    from hocket._core import validate

    validation = validate(schedule)
    sends = [op for rank in range(schedule.num_ranks) for op in schedule.ops(rank) if op.kind == "send"]
    return {
        "collective": schedule.collective,
        "algorithm": schedule.algorithm,
        "ranks": schedule.num_ranks,
        "root": schedule.root,
        "segments": schedule.segments,
        "messages": len(sends),
        "chunks_sent": sum(count for op in sends for _, count in op.chunks),
        "ok": validation.ok,
        "violations": list(validation.violations),
        "preserves_order": validation.preserves_order,
    }


def _ranges(chunks: Sequence[tuple[int, int]]) -> str:
    return ", ".join(str(first) if count == 1 else f"{first}-{first + count - 1}" for first, count in chunks)
