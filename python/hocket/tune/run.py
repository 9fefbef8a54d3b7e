# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs a program with a plan, its input and output untouched."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import mpi_of_command
from hocket.mpi.launch import num_ranks, run_command, with_preload
from hocket.plan import Plan


def run_with_plan(
    command: Sequence[str], plan_path: Path, note: Callable[[str], None] | None = None, self_check: bool | None = None
) -> int:
    """The exit status of the command. Nothing is started if the plan cannot be read or is for other ranks.

    `self_check`: whether the running program compares the plan with native calls; None = as HOCKET_SELF_CHECK says.
    """
    plan = Plan.from_file(plan_path)
    mpi = mpi_of_command(command)
    ranks = num_ranks(command)
    if ranks is not None:
        plan.check_ranks(ranks, str(plan_path))
    parts = build_mpi_parts(mpi, notify=note)
    environment = {"HOCKET_PLAN": str(plan_path.absolute()), "HOCKET_SUMMARY": "1"}
    others = sorted({entry.evidence.mpi for entry in plan.entries if entry.evidence} - {mpi.name})
    if others:
        environment["HOCKET_EVIDENCE"] = "off"
        if note is not None:
            note(f"the plan was measured with {' and '.join(others)}, this is {mpi.name}: `hocket tune` again")
    if self_check is not None:
        environment["HOCKET_SELF_CHECK"] = "on" if self_check else "off"
    elif "HOCKET_SELF_CHECK" in os.environ:  # not every launcher passes the environment on
        environment["HOCKET_SELF_CHECK"] = os.environ["HOCKET_SELF_CHECK"]
    changed, needed = with_preload(command, mpi, [parts.interpose], environment)
    status = run_command(changed, env=needed).returncode
    return status if status >= 0 else 128 - status
