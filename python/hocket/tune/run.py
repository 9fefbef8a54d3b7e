# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs a program with a plan, with progress in the background, or both; its input and output untouched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hocket import Network
from hocket.errors import InvalidInput
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.cache import decisions_folder
from hocket.mpi.coarrays import coarray_libraries
from hocket.mpi.command_line import num_ranks
from hocket.mpi.launch import run_command, with_preload
from hocket.mpi.of_command import mpi_of_command
from hocket.networks.source import NetworkSource
from hocket.plan import Plan
from hocket.reporter import SILENT, Reporter


@dataclass(frozen=True)
class RunRequest:
    """None = as HOCKET_SELF_CHECK, HOCKET_PROGRESS and HOCKET_PROGRESS_CORE say; progress without that as the plan."""

    command: tuple[str, ...]  #: that starts the MPI program
    plan: Path | None = None
    network: Path | None = None  #: of the cluster: decisions for the calls that no plan serves are made from it
    self_check: bool | None = None  #: whether the running program compares the plan with native calls
    progress: str | None = None  #: "off", "on" or "auto": whether non-blocking communication goes on in the background
    progress_core: str | None = None  #: "any", "idle" or the number of the core that does it


def run(request: RunRequest, reporter: Reporter = SILENT) -> int:
    """The exit status of the command. Nothing is started if the plan cannot be read or is for other ranks."""
    command, plan_path, progress = request.command, request.plan, request.progress
    if plan_path is not None and (plan_path.is_fifo() or plan_path.is_char_device()):
        raise InvalidInput(f"{plan_path} can be read only once: every rank reads the plan", "write the plan to a file")
    plan = None if plan_path is None else Plan.from_file(plan_path)
    if request.network is not None:
        _check(request.network)
    mpi = mpi_of_command(command)
    environment = {"HOCKET_SUMMARY": "1"}
    if plan is not None:
        ranks = num_ranks(command)
        if ranks is not None:
            plan.check_ranks(ranks, str(plan_path))
    parts = build_mpi_parts(mpi, report=reporter.message)
    if plan_path is not None and plan is not None:
        environment["HOCKET_PLAN"] = str(plan_path.absolute())
        others = sorted({entry.evidence.mpi for entry in plan.entries if entry.evidence} - {mpi.library_name})
        if others:
            environment["HOCKET_EVIDENCE"] = "off"
            reporter.message(
                f"the plan was measured with {' and '.join(others)}, this is {mpi.library_name}: `hocket tune` again"
            )
    if request.network is not None:
        environment["HOCKET_NETWORK"] = str(request.network.absolute())
        folder = os.environ.get("HOCKET_DECISIONS", decisions_folder(parts.folder))
        if folder:
            environment["HOCKET_DECISIONS"] = os.path.abspath(folder)
    settings = {
        "HOCKET_SELF_CHECK": None if request.self_check is None else "on" if request.self_check else "off",
        "HOCKET_PROGRESS": progress,
        "HOCKET_PROGRESS_CORE": request.progress_core,
    }
    for name, value in settings.items():
        if value == "off" and name == "HOCKET_PROGRESS" and plan is not None and plan.progress != "off":
            reporter.message(
                f"the plan is for --progress {plan.progress}: without it non-blocking collectives stay native"
            )
        chosen = os.environ.get(name) if value is None else value  # not every launcher passes the environment on
        if chosen is None and name == "HOCKET_PROGRESS" and plan is not None and plan.progress != "off":
            chosen = plan.progress
        if chosen is not None:
            environment[name] = chosen
    libraries = [parts.interpose, *coarray_libraries(command, parts), *parts.workarounds]
    has_entries = request.network is not None or (plan is not None and plan.entries)
    counts_nothing = not has_entries and environment.get("HOCKET_PROGRESS", "off") == "off"
    if counts_nothing and os.environ.get("HOCKET_STATISTICS"):
        reporter.message(
            "HOCKET_STATISTICS: nothing is written, for there are neither entries of a plan nor progress to count"
        )
    changed, needed = with_preload(command, mpi, libraries, environment)
    status = run_command(changed, env=needed).returncode
    if plan is not None and not plan.entries and request.network is None:
        reporter.message("the plan has no entries: all collective calls stayed native")
    return status if status >= 0 else 128 - status


def _check(network: Path) -> None:
    """Raises InvalidInput if the ranks could not use it."""
    if NetworkSource(str(network)).is_generated:
        raise InvalidInput(
            f"{network}: expected a network file: decisions need the names of the real hosts",
            "`hocket calibrate` or `hocket network import` writes it",
        )
    if network.is_fifo() or network.is_char_device():
        raise InvalidInput(f"{network} can be read only once: the program reads the network", "write it to a file")
    if Network.from_file(network).circuits is not None:
        raise InvalidInput(
            f"{network} has circuits; decisions are made for networks whose links are always there",
            "`hocket schedule circuits` plans for circuits",
        )
