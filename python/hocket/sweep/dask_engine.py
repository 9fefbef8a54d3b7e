# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Batches on a Dask cluster: one that runs, or one that dask-jobqueue starts by Slurm."""

from __future__ import annotations

import hashlib
import logging
import socket
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from hocket.errors import Error, InvalidInput
from hocket.networks.variation import VariedNetwork
from hocket.reporter import Reporter
from hocket.sweep.engine import Batch
from hocket.sweep.files import Packed, packed
from hocket.sweep.worker import Ran, run_batch

if TYPE_CHECKING:
    from hocket.sweep.campaign import Campaign

CONNECT_S = 20.0
START_S = 600.0  #: for the first job of Slurm to start
PATIENCE_S = 120.0  #: without any worker; of Slurm, which may let its jobs wait, START_S
_AHEAD = 2  #: batches of a worker: the next one is there when one ends


class DaskEngine:
    def __init__(self, client: Any, campaign: Campaign, folder: Path, start_s: float = CONNECT_S) -> None:
        self._client, self._cluster = client, None
        self._inputs = _name_of_inputs(folder)
        self._patience_s, self._seen_s = max(start_s, PATIENCE_S), time.monotonic()
        try:
            client.wait_for_workers(1, timeout=start_s)
            client.register_plugin(inputs_plugin(campaign.networks, packed(campaign.files)), name=self._inputs)
        except (TimeoutError, OSError) as error:
            raise Error(
                "the Dask cluster has no worker", f"start one: dask worker ADDRESS, where hocket is installed ({error})"
            ) from None
        self.workers = len(client.scheduler_info(n_workers=-1)["workers"])
        self._running: dict[Any, Batch] = {}
        self._ended: SimpleQueue[Any] = SimpleQueue()

    @classmethod
    def connect(
        cls, campaign: Campaign, folder: Path, scheduler: str | None, slurm: dict[str, Any] | None, reporter: Reporter
    ) -> tuple[DaskEngine, str]:
        """The engine, and where its workers are."""
        try:
            from distributed import Client
        except ImportError:
            raise Error("Dask is not installed", "pip install 'hocket[dask]', or leave --scheduler out") from None
        for name in ("client", "core", "comm", "utils", "tcp"):  # what fails is reported here, once
            logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
        if scheduler is not None:
            try:
                client = Client(scheduler, timeout=CONNECT_S, set_as_default=False)
            except (OSError, ValueError, TypeError) as error:
                reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                raise InvalidInput(
                    f"--scheduler {scheduler}: no Dask scheduler answers: {reason}",
                    "as in: --scheduler tcp://host:8786",
                ) from None
            return cls(client, campaign, folder), scheduler
        assert slurm is not None
        cluster = _slurm_cluster(slurm, campaign)
        reporter.message("waiting for the first worker from Slurm")
        engine = cls(Client(cluster, set_as_default=False), campaign, folder, START_S)
        engine._cluster = cluster
        return engine, "slurm"

    @property
    def room(self) -> int:
        known = len(self._client.scheduler_info(n_workers=-1)["workers"])
        if known:
            self.workers, self._seen_s = known, time.monotonic()
        return _AHEAD * self.workers - len(self._running)

    def submit(self, batch: Batch) -> None:
        # Dask tries a batch on another worker when one dies, and gives up after some deaths.
        future = self._client.submit(run_batch, batch, pure=False)
        self._running[future] = batch
        future.add_done_callback(self._ended.put)

    def ended(self, timeout_s: float) -> list[tuple[Batch, Ran | str]]:
        try:
            futures = [self._ended.get(timeout=timeout_s)]
        except Empty:
            if time.monotonic() - self._seen_s > self._patience_s:
                raise Error(
                    f"the Dask cluster has had no worker for {self._patience_s:.0f} s",
                    "start workers, then add --resume",
                ) from None
            return []
        while not self._ended.empty():
            futures.append(self._ended.get())
        found: list[tuple[Batch, Ran | str]] = []
        for future in futures:
            batch = self._running.pop(future)
            if future.status == "finished":
                found.append((batch, future.result()))
            elif future.status == "error":
                error = future.exception()
                found.append((batch, f"{type(error).__name__}: {error}".splitlines()[0]))
            else:
                raise Error(f"the Dask scheduler has gone: batches are {future.status}", "start it, then add --resume")
            future.release()
        return found

    def close(self) -> None:
        self._client.cancel(list(self._running), force=True)
        if self._client.status == "running":
            with suppress(OSError, ValueError, TimeoutError):  # it may go at any moment
                self._client.unregister_worker_plugin(self._inputs)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _name_of_inputs(folder: Path) -> str:
    """Of one campaign at a time; with --resume the same, so that what was left at a kill is replaced."""
    return "hocket-inputs-" + hashlib.sha256(f"{socket.gethostname()}:{folder.resolve()}".encode()).hexdigest()[:16]


def inputs_plugin(networks: dict[str, VariedNetwork], files: Packed) -> Any:
    """Sent once to each worker, also to those that come later, until it is unregistered or replaced."""
    from distributed import WorkerPlugin

    class Inputs(WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            from hocket.simulation.parallel import use_one_core
            from hocket.sweep.worker import take_files, take_networks

            use_one_core()
            take_networks(networks)
            self.places = take_files(files, worker.local_directory)

        def teardown(self, worker: Any) -> None:
            from hocket.sweep.worker import drop_files

            drop_files(self.places)

    return Inputs()


def _slurm_cluster(slurm: dict[str, Any], campaign: Campaign) -> Any:
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise Error("dask-jobqueue is not installed", "pip install 'hocket[dask]'") from None
    values = dict(slurm)
    jobs = values.pop("jobs", 1)
    if type(jobs) is not int or jobs < 1:
        raise InvalidInput(f"{campaign.path}: dask.slurm.jobs: {jobs!r}; accepted: a whole number from 1")
    values.setdefault("processes", values.get("cores", 1))  # tasks run one at a time in a process
    try:
        cluster = SLURMCluster(**values)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{campaign.path}: dask.slurm: {error}", "accepted: jobs, and what dask_jobqueue.SLURMCluster accepts"
        ) from None
    cluster.scale(jobs=jobs)
    return cluster
