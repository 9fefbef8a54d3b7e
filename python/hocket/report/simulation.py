# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The result of one simulation as files: numbers, arrays, a page and a trace. docs/formats.md describes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput
from hocket.files import write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hocket.report.timeline import TimelineData

SIMULATION_FORMAT = "hocket.simulation/1"
RESULT_FILE, ARRAYS_FILE, PAGE_FILE, TRACE_FILE = "result.json", "result.npz", "report.html", "trace.json"


@dataclass(frozen=True)
class LinkTime:
    """Bytes that passed links over time, in equal bins. A row is one link, or several of a group."""

    bin_s: float
    bytes: NDArray[np.float64]  #: [row, bin]
    row_of_link: NDArray[np.int32]
    links_in_row: NDArray[np.int64]
    group_of_row: NDArray[np.int8]
    group_names: list[str]
    bandwidth_of_row: NDArray[np.float64]  #: of its links together

    @property
    def one_link_a_row(self) -> bool:
        return len(self.links_in_row) == len(self.row_of_link)


@dataclass(frozen=True)
class RecordedSimulation:
    title: str  #: "random-ring on fat-tree:8x8x16"
    values: dict[str, Any]  #: what `--json` prints
    completed: bool
    makespan_s: float  #: the time reached, if it was stopped
    finish_s: NDArray[np.float64]  #: of the ranks that take part; NaN = not finished
    link_bytes: NDArray[np.float64]
    link_bandwidths: NDArray[np.float64]  #: infinity = unlimited
    link_name: Callable[[int], str]
    link_time: LinkTime
    timeline: TimelineData  #: the operations of some ranks
    num_left_out: int  #: operations of these ranks that have no bar


def write_simulation(simulation: RecordedSimulation, folder: Path) -> None:
    """@raises InvalidInput if the folder or a file in it cannot be written."""
    import io
    import json

    import numpy as np

    from hocket.report.simulation_page import render
    from hocket.report.trace_events import trace_events

    arrays = io.BytesIO()
    time = simulation.link_time
    np.savez_compressed(
        arrays,
        finish_s=simulation.finish_s,
        link_bytes=simulation.link_bytes,
        link_bandwidth_bytes_per_s=simulation.link_bandwidths,
        link_row=time.row_of_link,
        row_group=time.group_of_row,
        row_bin_bytes=time.bytes.astype(np.float32),
        bin_s=time.bin_s,
        group_names=np.array(time.group_names),
    )
    values = {"format": SIMULATION_FORMAT, **simulation.values}
    try:
        folder.mkdir(exist_ok=True)
        (folder / ARRAYS_FILE).write_bytes(arrays.getvalue())
        write_whole(folder / TRACE_FILE, json.dumps(trace_events(simulation), separators=(",", ":"), allow_nan=False))
        write_whole(folder / PAGE_FILE, render(simulation))
        write_whole(folder / RESULT_FILE, json.dumps(values, indent=2, default=str) + "\n")
    except OSError as error:
        raise InvalidInput(
            f"{error.filename or folder}: cannot be written: {error.strerror}", "name another folder with --output"
        ) from None


def write_trace(simulation: RecordedSimulation, path: Path) -> None:
    """@raises InvalidInput if the file cannot be written."""
    import json

    from hocket.report.trace_events import trace_events

    try:
        write_whole(path, json.dumps(trace_events(simulation), separators=(",", ":"), allow_nan=False))
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written: {error.strerror}", "name another file") from None
