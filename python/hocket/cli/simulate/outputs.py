# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket simulate` writes: checked before a simulation that takes long, written before its result is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket.report.recorded_simulation import RecordedSimulation


@dataclass
class Outputs:
    folder: Path | None
    trace: Path | None
    replaces: bool  #: the folder held an earlier result when the simulation began
    failure: Exception | None = None

    @property
    def wanted(self) -> bool:
        return self.folder is not None or self.trace is not None

    def write(self, recorded: Callable[[], RecordedSimulation]) -> None:
        """Whatever fails is kept for `finish`: what was simulated is to be printed before."""
        try:
            self._write(recorded)
        except Exception as failure:
            self.failure = failure

    def _write(self, recorded: Callable[[], RecordedSimulation]) -> None:
        from hocket.report.simulation import write_simulation, write_trace

        simulation = recorded()
        if self.folder is not None:
            write_simulation(simulation, self.folder, self.replaces)
        if self.trace is not None:
            write_trace(simulation, self.trace)

    def finish(self, quiet: bool) -> None:
        """Once the result is printed: says what was written, or raises what kept it from that."""
        if self.failure is not None:
            raise self.failure
        for path in (self.folder and self.folder / "report.html", self.trace):
            if path is not None and not quiet:
                click.echo(f"{path}")


def checked_outputs(folder: Path | None, trace: Path | None) -> Outputs:
    """@raises InvalidInput if one cannot be written."""
    replaces = False
    if folder is not None:
        from hocket.report.simulation import check_output

        replaces = check_output(folder)
    if trace is not None:
        _check_file(trace)
    return Outputs(folder, trace, replaces)


def _check_file(path: Path) -> None:
    from hocket.io.files import check_room

    try:
        if path.is_dir():
            raise InvalidInput(f"{path}: is a folder", "name a file with --trace-json")
        there = path.exists()  # a name can be too long
        if not path.absolute().parent.is_dir():
            raise InvalidInput(f"{path.parent}: no such folder", "make it first, or name another one")
        if not there or path.is_file():  # a device or a pipe is written to as it is
            check_room(path.resolve().parent)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written: {error.strerror}", "name another file") from None
