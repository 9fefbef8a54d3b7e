# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The result of one simulation as files: numbers, arrays, a page, a trace (docs/reference/simulation-format.md)."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import Error, InvalidInput
from hocket.io.files import check_room, whole_folder, write_whole

if TYPE_CHECKING:
    from hocket.report.recorded_simulation import RecordedSimulation

_NOT_LOST = "what was found is printed above; run it again and write elsewhere"
SIMULATION_FORMAT = "hocket.simulation/1"
RESULT_FILE, ARRAYS_FILE, PAGE_FILE, TRACE_FILE = "result.json", "result.npz", "report.html", "trace.json"


def check_output(folder: Path) -> bool:
    """Before a simulation that takes long, not after it. Returns whether the folder holds an earlier result.

    @raises InvalidInput unless the folder can be made, is empty, or holds an earlier result and nothing in the way.
    """
    try:
        if not folder.is_symlink() and not folder.exists():
            if not folder.absolute().parent.is_dir():
                raise InvalidInput(f"{folder.parent}: no such folder", "make it first, or name another one")
            check_room(folder.absolute().parent)
            return False
        if not folder.is_dir():
            raise InvalidInput(f"{folder}: is not a folder", "name a folder with --output")
        names = {path.name for path in folder.iterdir()}
        if names and not _holds_result(folder):
            raise InvalidInput(
                f"{folder}: the folder holds files that are no result of hocket simulate: {_few(names)}",
                "name a new folder with --output, or an empty one",
            )
        for name in names.intersection((RESULT_FILE, ARRAYS_FILE, PAGE_FILE, TRACE_FILE)):
            if (folder / name).is_dir() and not (folder / name).is_symlink():
                raise InvalidInput(f"{folder / name}: is a folder, no file of a result", "name another folder")
        check_room(folder)
        return bool(names)
    except OSError as error:
        raise InvalidInput(
            f"{folder}: cannot be written: {error.strerror or error}", "name another folder with --output"
        ) from None


def _holds_result(folder: Path) -> bool:
    """Told by the key that result.json begins with, read without following a link."""
    path = folder / RESULT_FILE
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return re.match(rb'\s*\{\s*"format"\s*:\s*"hocket\.simulation/', file.read(200)) is not None


def _few(names: set[str]) -> str:
    shown = sorted(names)[:3]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


def write_simulation(simulation: RecordedSimulation, folder: Path, replaces: bool = True) -> None:
    """All of the folder, or nothing of it. `check_output` comes first; `replaces` is what it has returned.

    @raises Error if it cannot be written, or if there is a result now where there was none.
    """
    import io
    import json

    import numpy as np

    from hocket.report.simulation_page import render
    from hocket.report.trace_events import trace_events

    arrays = io.BytesIO()
    time, of_link = simulation.link_time, simulation.capacities.of_link
    np.savez_compressed(
        arrays,
        finish_s=simulation.finish_s,
        link_bytes=simulation.link_bytes,
        link_bandwidth_bytes_per_s=simulation.capacities.bandwidth_bytes_per_s[of_link],
        link_row=time.row_of_capacity[of_link],
        row_group=time.group_of_row,
        row_bin_bytes=time.bytes.astype(np.float32),
        bin_s=time.bin_s,
        group_names=np.array(time.group_names),
    )
    values = {"format": SIMULATION_FORMAT, **simulation.values}
    written_meanwhile = Error(
        f"{folder}: not written: another run has written there meanwhile", "name another folder with --output"
    )
    try:
        if not replaces and folder.is_dir() and any(folder.iterdir()):
            raise written_meanwhile
        with whole_folder(folder) as aside:
            (aside / ARRAYS_FILE).write_bytes(arrays.getvalue())
            trace = json.dumps(trace_events(simulation), separators=(",", ":"), allow_nan=False)
            (aside / TRACE_FILE).write_text(trace, encoding="utf-8")
            (aside / PAGE_FILE).write_text(render(simulation), encoding="utf-8")
            (aside / RESULT_FILE).write_text(json.dumps(values, indent=2, default=str) + "\n", encoding="utf-8")
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # while this run wrote aside
            raise written_meanwhile from None
        raise Error(f"{folder}: cannot be written: {error.strerror or error}", _NOT_LOST) from None


def write_trace(simulation: RecordedSimulation, path: Path) -> None:
    """@raises Error if the file cannot be written."""
    import json

    from hocket.report.trace_events import trace_events

    try:
        write_whole(path, json.dumps(trace_events(simulation), separators=(",", ":"), allow_nan=False))
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror or error}", _NOT_LOST) from None
