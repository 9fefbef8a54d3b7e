# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What was chosen from measured tables, as a table: a row for each test and collective."""

from __future__ import annotations

from hocket.advise.measured.request import Decided

COLUMNS = ("test", "collective", "ranks", "up to bytes", "algorithm")


def rows(decided: Decided) -> list[tuple[str, ...]]:
    """Runs of sizes with the same choice are one row."""
    found: list[tuple[str, ...]] = []
    chosen = sorted(
        (one.candidate for one in decided.choices if one.chosen),
        key=lambda one: (one.case.test, one.case.collective, one.case.bytes),
    )
    for one in chosen:
        case = one.case
        row = (case.test, case.collective, str(case.ranks), str(case.bytes), one.name)
        if found and (found[-1][:3], found[-1][4]) == (row[:3], row[4]):
            found.pop()
        found.append(row)
    return found
