# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket sweep` asks for, and how a campaign is run."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hocket.errors import Interrupted, InvalidInput
from hocket.reporter import SILENT, Reporter
from hocket.simulation.parallel import available_cores
from hocket.sweep.alone import MEASURES, is_busy
from hocket.sweep.campaign import Campaign, Task, read_campaign
from hocket.sweep.engine import Engine, LocalEngine
from hocket.sweep.runner import FailedTask, Runner
from hocket.sweep.store import RESULTS, Store

ATTEMPTS = 3


@dataclass(frozen=True)
class SweepRequest:
    """None = as the campaign file says, or the usual."""

    campaign: Path
    output: Path | None = None  #: None = the name of the campaign file with .sweep, in the current folder
    resume: bool = False
    workers: int | None = None
    scheduler: str | None = None  #: of Dask: "tcp://host:8786"
    memory_bytes: int | None = None  #: of a worker
    dry_run: bool = False

    @property
    def folder(self) -> Path:
        return self.output or Path(self.campaign.with_suffix(".sweep").name)


@dataclass(frozen=True)
class Swept:
    campaign: Campaign
    folder: Path
    ran: int  #: tasks, now
    kept: int  #: that had rows before
    failed: tuple[FailedTask, ...]
    seconds: float
    workers: int
    where: str  #: "2 processes", "tcp://host:8786"

    @property
    def values(self) -> dict[str, Any]:
        return {
            "campaign": str(self.campaign.path),
            "folder": str(self.folder),
            "request": self.campaign.kind,
            "tasks": len(self.campaign.tasks),
            "networks": len(self.campaign.networks),
            "ran": self.ran,
            "kept": self.kept,
            "failed": [vars(one) for one in self.failed],
            "seconds": self.seconds,
            "workers": self.workers,
            "where": self.where,
        }


def run(request: SweepRequest, reporter: Reporter = SILENT) -> Swept:
    """Runs what has no rows yet. @raises InvalidInput if the campaign or the folder is wrong."""
    campaign = read_campaign(request.campaign)
    memory = _memory(request, campaign)
    if request.dry_run:
        return Swept(campaign, request.folder, 0, 0, (), 0.0, _workers(request, campaign), "dry run")
    store = Store(request.folder, campaign, request.resume)
    try:
        done = store.done() if request.resume else set()
        missing = [task for task in campaign.tasks if task.key not in done]
        if others := len(done) + len(missing) - len(campaign.tasks):
            reporter.message(f"{request.folder}: rows of {others:,} tasks stay that {campaign.path} does not have")
        if not missing:
            return _ended(store, Swept(campaign, request.folder, 0, len(campaign.tasks), (), 0.0, 0, "nothing to run"))
        if campaign.kind in MEASURES:
            missing = [_with_folder(task, request.folder) for task in missing]
            if is_busy():
                reporter.message("waiting until no other campaign runs tasks on this host")
        engine, where = _engine(request, campaign, len(missing), memory, reporter)
        begin_s = time.monotonic()
        try:
            with reporter.steps("running", len(missing)) as advance:
                ran = Runner(engine, store, missing, campaign.run.get("attempts", ATTEMPTS), advance)
                ran.run()
        except KeyboardInterrupt:
            raise Interrupted("the same command with --resume goes on") from None
        finally:
            engine.close()
        seconds = time.monotonic() - begin_s
        kept = len(campaign.tasks) - len(missing)
        failed = tuple(ran.failed[index] for index in sorted(ran.failed))
        return _ended(store, Swept(campaign, request.folder, ran.done, kept, failed, seconds, engine.workers, where))
    finally:
        store.close()


def _ended(store: Store, swept: Swept) -> Swept:
    from hocket import __version__

    store.end({"version": __version__, **swept.values})
    return swept


def _with_folder(task: Task, folder: Path) -> Task:
    """What measures writes results of its own, and continues with those that it finds."""
    own = folder.resolve() / RESULTS / task.key[:16]
    if not hasattr(task.request, "output"):
        return task
    default = getattr(type(task.request), "output", None)
    if default is not None and default.suffix:  # a file
        own.mkdir(parents=True, exist_ok=True)
        own /= default.name
    return replace(task, request=replace(task.request, output=own))


def _workers(request: SweepRequest, campaign: Campaign) -> int:
    if campaign.kind in MEASURES:
        return 1
    return request.workers or campaign.run.get("workers") or available_cores()


def _memory(request: SweepRequest, campaign: Campaign) -> int | None:
    if request.memory_bytes is not None or "memory" not in campaign.run:
        return request.memory_bytes
    from hocket import parse_bytes

    return parse_bytes(campaign.run["memory"], f"{campaign.path}: run.memory")


def _engine(
    request: SweepRequest, campaign: Campaign, tasks: int, memory: int | None, reporter: Reporter
) -> tuple[Engine, str]:
    scheduler = request.scheduler or campaign.run.get("scheduler")
    slurm = campaign.dask.get("slurm")
    if scheduler is None and (slurm is None or request.workers is not None):
        workers = min(_workers(request, campaign), tasks)
        return LocalEngine(campaign.networks, workers, memory), f"{workers} process{'es' * (workers > 1)}"
    if campaign.kind in MEASURES:
        raise InvalidInput(f"{campaign.kind} measures: its tasks run one at a time, on this machine", "leave out Dask")
    from hocket.sweep.dask_engine import DaskEngine

    return DaskEngine.connect(campaign, request.folder, scheduler, slurm, reporter)
