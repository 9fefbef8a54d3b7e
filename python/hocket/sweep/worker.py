# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a worker does: it keeps the networks of a campaign and runs batches of tasks."""

from __future__ import annotations

import math
import re
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import Error, InvalidInput
from hocket.networks.source import give_network
from hocket.networks.variation import VariedNetwork
from hocket.report.text import byte_count
from hocket.sweep.alone import measures, on_host
from hocket.sweep.files import Packed, unpacked, with_places

if TYPE_CHECKING:
    from hocket.sweep.campaign import Task

MOST_LOADED = 8  #: networks in the memory of a worker
LEAST_ROOM_BYTES = 64 << 20  #: beside what a worker has from its start: what the smallest task imports and needs
OUT_OF_MEMORY = "not enough memory for this task: give workers more, or fewer of them (--memory, --workers)"


@dataclass(frozen=True)
class Failure:
    index: int
    message: str
    again: bool  #: False = the same input fails always


@dataclass(frozen=True)
class Ran:
    """A batch that has ended."""

    rows: bytes  #: of Arrow, of the tasks that did not fail; empty if all did
    seconds: tuple[tuple[int, float], ...]  #: of each of these tasks by its index
    failures: tuple[Failure, ...]


def take_networks(networks: dict[str, VariedNetwork]) -> None:
    """Once for each worker. They are loaded when they are first asked for."""
    loaded: OrderedDict[tuple[str, bool], Any] = OrderedDict()
    of_threads = threading.Lock()  # a Dask worker may have several

    def of(name: str, fabric: bool) -> Callable[[], Any]:
        def load() -> Any:
            with of_threads:
                if (name, fabric) not in loaded:
                    while len(loaded) >= MOST_LOADED:
                        loaded.popitem(last=False)
                    loaded[name, fabric] = networks[name].load_fabric() if fabric else networks[name].load()
                loaded.move_to_end((name, fabric))
                return loaded[name, fabric]

        return load

    for name in networks:
        give_network(name, of(name, False), of(name, True))


_places: dict[str, str] = {}  # of files that were sent


def take_files(files: Packed, under: str) -> dict[str, str]:
    """Once for each worker on another machine. What `drop_files` takes."""
    places = unpacked(files, under)
    _places.update(places)
    return places


def drop_files(places: dict[str, str]) -> None:
    for path, place in places.items():
        if _places.get(path) == place:
            del _places[path]
        shutil.rmtree(Path(place).parent, ignore_errors=True)


def used_memory() -> int:
    """Bytes of this process that count towards `limit_memory`."""
    found = re.search(r"^VmData:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def limit_memory(num_bytes: int) -> None:
    """Of this process, that is, of one task. @raises InvalidInput if it needs more before any task."""
    import resource

    if (needed := used_memory() + LEAST_ROOM_BYTES) > num_bytes:
        raise InvalidInput(
            f"memory of a worker: {byte_count(num_bytes)}; it needs {needed / 1e6:.0f} MB before any task",
            f'give more: --memory "{math.ceil(2 * needed / 1e8) * 100} MB", or [run] memory of the campaign',
        )
    resource.setrlimit(resource.RLIMIT_DATA, (num_bytes, num_bytes))


def run_batch(tasks: Sequence[Task]) -> Ran:
    with on_host(alone=measures(tasks[0].request)):
        return _run(tasks)


def _run(tasks: Sequence[Task]) -> Ran:
    from hocket.requests import run
    from hocket.sweep.records import records_of
    from hocket.sweep.store import rows_to_bytes

    keys, rows, seconds, failures = [], [], [], []
    for task in tasks:
        begin_s = time.perf_counter()
        try:
            found = records_of(run(with_places(task.request, _places)))
        except (
            Error,
            MemoryError,
            ArithmeticError,
            ValueError,
            TypeError,
            LookupError,
            RuntimeError,
            OSError,
        ) as error:
            failures.append(Failure(task.index, _message(error), not isinstance(error, InvalidInput)))
            continue
        keys.append(task.key)
        rows.append([task.parameters | _apart(row, task.parameters) | _place(task) for row in found])
        seconds.append((task.index, time.perf_counter() - begin_s))
    return Ran(rows_to_bytes(keys, rows) if keys else b"", tuple(seconds), tuple(failures))


def _place(task: Task) -> dict[str, Any]:
    """Where a task that measures has its own results."""
    output = getattr(task.request, "output", None)
    return {"results": task.key[:16]} if output is not None and measures(task.request) else {}


def _apart(row: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """A result of the name of a parameter says no more than it, or gets a name of its own."""
    return {
        name if name not in parameters else f"result.{name}": value
        for name, value in row.items()
        if name not in parameters or value != parameters[name]
    }


def _message(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if isinstance(error, Error):
        first = error.message.partition("\n")[0]
        return f"{first}; {error.hint}" if error.hint else first
    text = f"{type(error).__name__}: {error}"
    return text.splitlines()[0]
