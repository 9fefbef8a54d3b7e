# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket sweep` asks for, and how a campaign is run."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput
from hocket.reporter import SILENT, Reporter
from hocket.simulation.parallel import available_cores
from hocket.sweep.alone import MEASURES, is_busy
from hocket.sweep.batches import Batches
from hocket.sweep.campaign import Campaign, Task, read_campaign
from hocket.sweep.engine import Engine, LocalEngine
from hocket.sweep.store import RESULTS, Store, bytes_to_rows

if TYPE_CHECKING:
    from hocket.sweep.worker import Ran

ATTEMPTS = 3
_REPORT_EVERY_S = 2.0


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
class FailedTask:
    task: int
    parameters: dict[str, Any]
    message: str
    attempts: int


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
    """Rows are on the disk as soon as a batch ends. @raises InvalidInput if the campaign or the folder is wrong."""
    campaign = read_campaign(request.campaign)
    memory = _memory(request, campaign)
    if request.dry_run:
        return Swept(campaign, request.folder, 0, 0, (), 0.0, _workers(request, campaign), "dry run")
    store = Store(request.folder, campaign, request.resume)
    try:
        done = store.done() if request.resume else set()
        missing = [task for task in campaign.tasks if task.key not in done]
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
                ran = _Run(engine, store, missing, campaign.run.get("attempts", ATTEMPTS), advance)
                ran.run()
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

    return DaskEngine.connect(campaign, scheduler, slurm, reporter)


class _Run:
    def __init__(self, engine: Engine, store: Store, tasks: list[Task], attempts: int, advance: Any) -> None:
        self.engine, self.store, self.attempts, self.advance = engine, store, attempts, advance
        self.by_index = {task.index: task for task in tasks}
        self.batches = Batches(tasks, engine.workers)
        self.tried: dict[int, int] = {}
        self.failed: dict[int, FailedTask] = {}
        self.done, self.running = 0, 0
        self.begin_s = self.reported_s = time.monotonic()

    def run(self) -> None:
        while len(self.batches) or self.running:
            while self.engine.room > 0 and len(self.batches):
                batch = self.batches.take()
                self.running += 1
                self.engine.submit(batch)
            for ended, found in self.engine.ended(1.0):
                self.running -= 1
                if isinstance(found, str):
                    self._died(ended, found)
                else:
                    self._ended(found)

    def _ended(self, found: Ran) -> None:
        if found.rows:
            self.store.add(bytes_to_rows(found.rows))
        for index, seconds in found.seconds:
            self.batches.ended(self.by_index[index], seconds)
            self.done += 1
            self.failed.pop(index, None)
            self.advance(self._progress())
        for failure in found.failures:
            self._failed(self.by_index[failure.index], failure.message, failure.again)

    def _died(self, batch: Any, reason: str) -> None:
        if len(batch) == 1:
            self._failed(batch[0], reason, True)
        else:  # any of them may be the reason
            self.batches.put_back(batch)

    def _failed(self, task: Task, message: str, again: bool) -> None:
        tried = self.tried[task.index] = self.tried.get(task.index, 0) + 1
        if again and tried < self.attempts:
            self.batches.put_back([task])
            return
        self.failed[task.index] = FailedTask(task.index, task.parameters, message, tried)
        self.advance(self._progress())

    def _progress(self) -> str:
        """Now and then how long the rest will take; else nothing new."""
        now_s = time.monotonic()
        if now_s - self.reported_s < _REPORT_EVERY_S or not self.done:
            return ""
        self.reported_s = now_s
        ended = self.done + len(self.failed)
        left_s = (now_s - self.begin_s) / ended * (len(self.by_index) - ended)
        return f"{ended:,} of {len(self.by_index):,} tasks; {_duration(left_s)} left"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
