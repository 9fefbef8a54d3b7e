# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces of other tools as traces of hocket, or as programs where they have no MPI calls."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hocket import Program, Trace, _core
from hocket.errors import InvalidInput
from hocket.interop.programs import read_program
from hocket.interop.sources import FORMATS, PROGRAMS, Sources, find_sources
from hocket.interop.traces.counts import (
    CommunicatorCount,
    Count,
    count_calls,
    count_communicators,
    count_ops,
)
from hocket.io.files import check_parent, write_whole
from hocket.reporter import SILENT, Reporter

FLOPS_PER_S = 1e9  # of a core, where the user gives nothing: TI counts flops, not time


@dataclass(frozen=True)
class ImportRequest:
    path: Path
    output: Path | None = None  #: a folder for a trace, a file for a program; None = only count
    format: str | None = None  #: one of FORMATS; None = by content
    flops_per_s: float | None = None  #: of SimGrid's traces
    align: bool = False  #: let all ranks return from MPI_Init at once; DUMPI and liballprof


@dataclass(frozen=True)
class Imported:
    format: str
    ranks: int
    calls: list[Count]
    communicators: list[CommunicatorCount]  #: of a trace
    notes: list[str]  #: what was left out or assumed, a line each
    trace: Trace | None
    program: Program | None
    output: Path | None

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": "hocket.trace-import/1",
            "source_format": self.format,
            "kind": "program" if self.trace is None else "trace",
            "ranks": self.ranks,
            "calls": [asdict(one) for one in self.calls],
            "communicators": [asdict(one) for one in self.communicators],
            "notes": self.notes,
            "output": None if self.output is None else str(self.output),
        }


def run(request: ImportRequest, reporter: Reporter = SILENT) -> Imported:
    """Raises InvalidInput, naming the file and the line or byte."""
    if request.format is not None and request.format not in FORMATS:
        raise InvalidInput(f"format {request.format!r} is not known", f"accepted: {', '.join(FORMATS)}")
    sources = find_sources(request.path, request.format)
    _refuse_foreign_options(request, sources.format)
    if request.output is not None:
        _check_output(request.output, sources.format in PROGRAMS)
    if sources.format in PROGRAMS:
        program, notes = read_program(sources.format, sources.read())
        if request.output is not None:
            write_whole(request.output, program.to_goal())
        ranks = program.num_ranks
        return Imported(sources.format, ranks, count_ops(program), [], notes, None, program, request.output)
    trace, notes = read_trace(sources, request, reporter)
    if request.output is not None:
        trace.write(request.output)
    return Imported(
        sources.format,
        trace.ranks,
        count_calls(trace),
        count_communicators(trace),
        notes,
        trace,
        None,
        request.output,
    )


def read_trace(sources: Sources, request: ImportRequest, reporter: Reporter = SILENT) -> tuple[Trace, list[str]]:
    notes: list[str] = []
    if sources.format == "otf2":
        from hocket.interop.traces.otf2_reader import read_otf2

        return read_otf2(sources.paths[0], reporter)
    if sources.format == "ti":
        rate = request.flops_per_s or FLOPS_PER_S
        core, notes = _core.read_simgrid_ti(sources.read(), rate)
        if request.flops_per_s is None:
            notes = [*notes, f"flops were turned into time at {rate:g} each second: --flops sets it"]
    elif sources.format == "dumpi":
        core, notes = _core.read_dumpi(sources.read(), request.align)
    else:
        core, notes = _core.read_liballprof(sources.read(), request.align)
    meta = {
        "format": "hocket.trace/3",
        "ranks": core.num_ranks,
        "mpi": f"imported from {FORMATS[sources.format]}",
        "thread_level": "single",
        "functions_wrapped": 0,
        "cost_per_call_ns": 0,
        "program": [request.path.name],
        "command": [request.path.name],
        "created_by": "hocket trace import",
    }
    return Trace(core, meta, request.path), notes


def _refuse_foreign_options(request: ImportRequest, found: str) -> None:
    """An option that a format cannot use would be a silent no."""
    if request.flops_per_s is not None and found != "ti":
        raise InvalidInput(f"--flops is for SimGrid's traces; this one is of {FORMATS[found]}", "leave it out")
    if request.align and found not in ("dumpi", "liballprof"):
        raise InvalidInput(f"--align is for DUMPI and liballprof; this one is of {FORMATS[found]}", "leave it out")


def _check_output(output: Path, is_program: bool) -> None:
    if is_program:
        check_parent(output)
        if output.is_dir():
            raise InvalidInput(
                f"{output}: is a folder; the import is a program in one file", "name a file: -o app.goal"
            )
    elif output.exists() and not output.is_dir():
        raise InvalidInput(f"{output}: is a file; the import is a folder of traces", "name a new folder")
