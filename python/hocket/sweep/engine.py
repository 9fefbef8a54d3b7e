# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where batches run: on processes of this machine."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
from collections.abc import Sequence
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.util import get_temp_dir
from typing import TYPE_CHECKING, Protocol

from hocket.errors import InvalidInput
from hocket.networks.variation import VariedNetwork
from hocket.sweep.sockets import FOLDER
from hocket.sweep.worker import OUT_OF_MEMORY

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerProcess

    from hocket.sweep.campaign import Task
    from hocket.sweep.worker import Ran

Batch = Sequence["Task"]
_OUT_OF_MEMORY = errno.ENOMEM  # the status of a worker that had not even enough memory to say so


class Engine(Protocol):
    """Runs batches at once. A batch whose worker died comes back with what the machine says of it."""

    workers: int

    @property
    def room(self) -> int:
        """Batches that it takes now."""

    def submit(self, batch: Batch) -> None: ...

    def ended(self, timeout_s: float) -> list[tuple[Batch, Ran | str]]:
        """Batches that have ended, after at most this time; text is why a worker died.

        @raises InvalidInput if no worker can run any.
        """

    def close(self) -> None: ...


class LocalEngine:
    """One batch a process. A process that dies is replaced; when this one dies they end."""

    def __init__(self, networks: dict[str, VariedNetwork], workers: int, memory_bytes: int | None = None) -> None:
        self.workers = workers
        self._networks, self._memory_bytes = networks, memory_bytes
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(
            ["hocket.sweep.sockets", "hocket._core", "hocket.sweep.worker", "pyarrow.parquet"]
        )
        os.environ[FOLDER] = get_temp_dir()
        try:
            forkserver.ensure_running()
        finally:
            del os.environ[FOLDER]
        self._idle: list[tuple[ForkServerProcess, Connection]] = []
        self._busy: dict[Connection, tuple[ForkServerProcess, Batch]] = {}

    @property
    def room(self) -> int:
        return self.workers - len(self._busy)

    def submit(self, batch: Batch) -> None:
        process, pipe = self._idle.pop() if self._idle else self._start()
        try:
            pipe.send(batch)
        except OSError:  # it was killed while it had nothing to do
            process, pipe = self._start()
            pipe.send(batch)
        self._busy[pipe] = process, batch

    def ended(self, timeout_s: float) -> list[tuple[Batch, Ran | str]]:
        found: list[tuple[Batch, Ran | str]] = []
        for pipe in wait(list(self._busy), timeout_s):
            assert isinstance(pipe, Connection)
            process, batch = self._busy.pop(pipe)
            try:
                ran = pipe.recv()
                if isinstance(ran, InvalidInput):
                    raise ran
                found.append((batch, ran))
                self._idle.append((process, pipe))
            except (EOFError, OSError):
                process.join()
                found.append((batch, _end_of(process.exitcode)))
        return found

    def close(self) -> None:
        for process, pipe in [*self._idle, *((process, pipe) for pipe, (process, _) in self._busy.items())]:
            pipe.close()
            process.kill()
            process.join()

    def _start(self) -> tuple[ForkServerProcess, Connection]:
        own, other = self._context.Pipe()
        given = other, self._networks, self._memory_bytes
        process = self._context.Process(target=_serve, args=given, daemon=True)
        process.start()
        other.close()
        return process, own


def _end_of(status: int | None) -> str:
    if status == _OUT_OF_MEMORY:
        return OUT_OF_MEMORY
    if status is not None and status < 0:
        return f"the worker was ended by {signal.Signals(-status).name}"
    return f"the worker ended with status {status}"


def _serve(pipe: Connection, networks: dict[str, VariedNetwork], memory_bytes: int | None) -> None:
    """Until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the command ends its workers itself
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    from hocket.simulation.parallel import use_one_core
    from hocket.sweep.worker import limit_memory, run_batch, take_networks

    use_one_core()
    take_networks(networks)
    try:
        if memory_bytes is not None:
            try:
                limit_memory(memory_bytes)
            except InvalidInput as error:
                pipe.recv()
                pipe.send(error)
        while True:
            pipe.send(run_batch(pipe.recv()))
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except (EOFError, OSError):
        os._exit(0)
