# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket advise --measured` asks for: the fastest algorithm of each instance, learnt from tables of others."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hocket.advise.measured.forms import FASTEST, FORMS
from hocket.advise.measured.model import Amounts, learn
from hocket.advise.measured.tables import Candidate, read_instances, read_placements, read_tables
from hocket.errors import InvalidInput
from hocket.io.files import check_parent, write_whole
from hocket.reporter import SILENT, Reporter

COLUMNS = ("test_id", "collective", "bytes", "algorithm", "chosen", "predicted_s")


@dataclass(frozen=True)
class MeasuredRequest:
    tables: Path  #: folder with measurements and allocations to learn from
    instances: Path  #: the candidates to choose from, without times
    allocations: Path  #: where the ranks of the instances are
    output: Path  #: written: a row for each candidate


@dataclass(frozen=True)
class Chosen:
    candidate: Candidate
    chosen: bool
    predicted_s: float


@dataclass(frozen=True)
class Decided:
    choices: tuple[Chosen, ...]
    learnt: int  #: measurements that the costs were learnt from
    warnings: tuple[str, ...]

    @property
    def instances(self) -> int:
        return sum(choice.chosen for choice in self.choices)

    @property
    def values(self) -> dict[str, Any]:
        rows = [dict(zip(COLUMNS, _row(choice), strict=True)) for choice in self.choices]
        return {"learnt_from": self.learnt, "warnings": list(self.warnings), "choices": rows}


def run(request: MeasuredRequest, reporter: Reporter = SILENT) -> Decided:
    """Raises InvalidInput for tables that cannot be read, and OSError if the output cannot be written."""
    check_parent(request.output)
    tables = read_tables(request.tables)
    candidates = read_instances(request.instances, tables.names)
    placements = read_placements(request.allocations)
    with reporter.steps("rounds of algorithms", None) as advance:
        model = learn(tables.measurements, Amounts(tables.placements, advance))
        of_instances = Amounts(placements, advance)
        predicted = model.predict([one.case for one in candidates], of_instances)
        unknown = [k for k, time in enumerate(predicted) if time is None]
        fastest = model.predict([replace(candidates[k].case, algorithm=FASTEST) for k in unknown], of_instances)
    choices = _choose(candidates, predicted, dict(zip(unknown, fastest, strict=True)))
    names = dict.fromkeys(f"{candidates[k].case.collective} {candidates[k].name}" for k in unknown)
    warnings = tuple(
        f"{name} is not known: it is predicted as the slowest that is known, and chosen only where none is"
        for name in names
    )
    decided = Decided(choices, model.learnt, warnings)
    write_whole(request.output, _csv(choices))
    return decided


def _choose(
    candidates: tuple[Candidate, ...], predicted: list[float | None], of_unknown: dict[int, float | None]
) -> tuple[Chosen, ...]:
    """`of_unknown`: for the candidates that are not known, what the fastest form of the collective takes."""
    instances: dict[tuple[str, str, int], list[int]] = {}
    for k, one in enumerate(candidates):
        instances.setdefault((one.case.test, one.case.collective, one.case.bytes), []).append(k)
    choices: dict[int, Chosen] = {}
    for members in instances.values():
        known = {k: time for k in members if (time := predicted[k]) is not None}
        best = min(known or members, key=lambda k: known.get(k, 0.0))
        for k in members:
            time = known.get(k) or max(known.values(), default=of_unknown.get(k))
            if time is None:
                raise InvalidInput(
                    f"no algorithm of the collective {candidates[k].case.collective!r} is known here",
                    f"accepted: {', '.join(dict.fromkeys(collective for collective, _ in FORMS))}",
                )
            choices[k] = Chosen(candidates[k], k == best, time)
    return tuple(choices[k] for k in range(len(candidates)))


def _row(choice: Chosen) -> tuple[object, ...]:
    case = choice.candidate.case
    return (
        case.test, case.collective, case.bytes, choice.candidate.name, int(choice.chosen), choice.predicted_s,
    )  # fmt: skip


def _csv(choices: tuple[Chosen, ...]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((*_row(choice)[:-1], f"{choice.predicted_s:.6g}") for choice in choices)
    return text.getvalue()
