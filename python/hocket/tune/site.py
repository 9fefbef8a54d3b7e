# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A plan for every program of a placement: all collectives and sizes are measured, and no program is needed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from hocket.advise import Advice, CallGroup, advise, cover
from hocket.calibrate.hosts import hosts_of
from hocket.calibrate.natives import sizes_of
from hocket.cost.source import OF_NETWORK, CostSource
from hocket.errors import InvalidInput
from hocket.io.files import check_parent
from hocket.io.leftovers import working_folder
from hocket.measure.open_runner import open_runner
from hocket.measure.transfers import launch
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.command_line import has_program, program_index
from hocket.mpi.of_command import mpi_of_command
from hocket.networks.source import NetworkSource
from hocket.plan import COLLECTIVES, Plan, write_plan
from hocket.report.text import significant
from hocket.reporter import SILENT, Reporter
from hocket.tune.budget import Budget
from hocket.tune.costs import UsedCosts
from hocket.tune.find_costs import find_costs
from hocket.tune.launcher import Launcher
from hocket.tune.measured_advice import in_plan, measure_advice, verdicts
from hocket.tune.request import known_costs
from hocket.tune.shared_cores import note_on_shared_cores

if TYPE_CHECKING:
    from hocket.tune.measurement import Measurement

REPETITIONS = 5  # of each collective, with and without a schedule, in each launch
COLUMNS = ("collective", "bytes", "schedule", "native", "with it", "speed-up", "in the plan")


@dataclass(frozen=True)
class SiteRequest:
    command: tuple[str, ...]  #: a launcher with its options, without a program
    network: NetworkSource
    output: Path = Path("site.plan")
    costs: CostSource = OF_NETWORK
    fit: bool = True  #: measure what messages cost, unless `costs` say it
    testbed: bool = False  #: emulate the network on this machine
    launches: int = 3  #: of the program that measures the collectives, at most
    measure_s: float = 300.0  #: for that
    timeout_s: float | None = None  #: of a launch
    force: bool = False  #: replace an earlier plan


@dataclass(frozen=True)
class SiteTuned:
    plan: Plan
    mpi: str
    collectives: tuple[dict[str, Any], ...]  #: what was measured or left native, see _row
    notes: tuple[str, ...]

    @property
    def values(self) -> dict[str, Any]:
        return {
            "mpi": self.mpi,
            "ranks": self.plan.ranks,
            "network": self.plan.network,
            "hosts": list(self.plan.hosts),
            "entries": len(self.plan.entries),
            "collectives": list(self.collectives),
            "notes": list(self.notes),
        }

    @property
    def rows(self) -> list[tuple[str, ...]]:
        from hocket import print_bytes

        return [
            (
                one["collective"],
                print_bytes(one["bytes"]),
                one["schedule"],
                _milliseconds(one["native_s"]),
                _milliseconds(one["tuned_s"]),
                "" if one["ratio"] is None else f"{one['ratio']:.2f}",
                one["reason"] or "yes",
            )
            for one in self.collectives
            if one["native_s"] is not None
        ]


def run(request: SiteRequest, reporter: Reporter = SILENT) -> SiteTuned:
    """Writes the plan. Raises Error if nothing could be started, or there is no room for the plan."""
    if has_program(request.command):
        program = request.command[program_index(request.command)]
        raise InvalidInput(f"{program}: with --site the command is a launcher without a program", "leave it out")
    check_parent(request.output)
    if request.output.is_dir() or not os.access(request.output.parent, os.W_OK):
        raise InvalidInput(f"{request.output}: no file can be written there", "-o names another file")
    if not request.force and request.output.exists():
        raise InvalidInput(f"{request.output} exists", hint="--force replaces it; -o names another file")
    mpi = mpi_of_command(request.command)
    cluster = request.network.load()
    costs, source, fit = known_costs(cluster, request.costs, request.fit)
    command = [*request.command, "true"]  # which the programs that measure take the place of
    with ExitStack() as stack:
        parts = build_mpi_parts(mpi, report=reporter.message)
        emulated = cluster if request.testbed else None
        runner = stack.enter_context(open_runner(mpi, parts.workarounds, emulated, reporter))
        places = launch(request.command, [], 1, 1.0, runner, parts, request.timeout_s).places
        ranks = len(places)
        if ranks < 2:
            raise InvalidInput("one rank alone has nobody to communicate with", "start two ranks or more")
        network = runner.network_here(cluster.on_hosts(hosts_of(places).of_ranks))
        folder = stack.enter_context(working_folder("hocket-site-", Path(tempfile.gettempdir())))
        launcher = Launcher(
            command, folder / "entries.json", runner, parts, REPETITIONS, request.timeout_s, Budget(request.measure_s)
        )
        notes = [*runner.notes]
        used = UsedCosts(runner.costs_here(costs), source)
        used = find_costs(launcher, network, ranks, used, fit, notes, reporter)
        reporter.message("choosing schedules by simulation")
        advice = advise(list(_groups(ranks)), network, ranks, used.costs)
        # No program says what a call is worth: whatever is faster is kept.
        advice, measured = measure_advice(advice, network, launcher, request.launches, 0.0, reporter)
        reporter.message("deriving schedules for other sizes and roots")
        entries = cover(verdicts(advice, measured, mpi.library_name), network, used.costs)
        notes += note_on_shared_cores(launcher.shared_cores, mpi.name, runner.is_emulated)
    plan = advice.plan.replace(entries=entries, hosts=tuple(place.host for place in places))
    write_plan(plan, request.output)
    return SiteTuned(plan, mpi.name, tuple(_collectives(advice, measured)), tuple(notes))


def _groups(ranks: int) -> Sequence[CallGroup]:
    """Of all ranks; the sizes are those of `hocket calibrate --natives`."""
    members = tuple(range(ranks))
    return [
        CallGroup(collective, members, size, size, (0,), calls=1, commutative=True)
        for collective in COLLECTIVES
        for size in sizes_of(collective)
    ]


def _collectives(advice: Advice, measured: Sequence[Measurement]) -> list[dict[str, Any]]:
    of_choice = {id(choice): one for choice, one in zip(in_plan(advice), measured, strict=True)}
    return [
        {
            "collective": choice.group.collective,
            "bytes": choice.group.bytes_max,
            "schedule": choice.best.label,
            "predicted_s": choice.predicted_s,
            "native_s": median(one.native_s) if one and one.native_s else None,
            "tuned_s": median(one.tuned_s) if one and one.tuned_s else None,
            "ratio": one.ratio.value if one and one.ratio else None,
            "ratio_interval": [one.ratio.low, one.ratio.high] if one and one.ratio else None,
            "reason": (one.reason if one else choice.reason) or None,
        }
        for choice in advice.choices
        for one in [of_choice.get(id(choice))]
    ]


def _milliseconds(seconds: float) -> str:
    return f"{significant(seconds * 1e3, 3)} ms"
