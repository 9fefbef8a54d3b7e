# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A plan with which the program runs slower is withdrawn, although its calls were faster when they ran alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.plan import Plan, write_plan
from hocket.tune.evidence import are_shorter
from hocket.tune.measurement import Measurement

if TYPE_CHECKING:
    from hocket.report.result import ProgramResult

WITHDRAWN_PLAN_FILE = "withdrawn-plan.json"
REASON = "withdrawn: the program was slower with the plan"


def is_slower(program: ProgramResult) -> bool:
    """With the plan."""
    return are_shorter(program.native_s, program.tuned_s)


def withdraw(plan: Plan, measured: Sequence[Measurement], folder: Path) -> tuple[Plan, list[Measurement], str]:
    """The plan without schedules, the reasons why its calls are native, a note; `folder` keeps what was tried."""
    write_plan(plan, folder / WITHDRAWN_PLAN_FILE)
    natively = "natively" if plan.progress == "off" else "natively, without progress in the background"
    although = ", although its calls were faster alone: the plan has no schedules now, and" if plan.entries else ":"
    note = (
        f"the program was slower with the plan{although} it runs {natively}; {WITHDRAWN_PLAN_FILE} has what was tried"
    )
    reasoned = [one if one.reason else replace(one, reason=REASON) for one in measured]
    return plan.replace(entries=(), progress="off"), reasoned, note
