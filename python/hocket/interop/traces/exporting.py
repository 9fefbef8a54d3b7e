# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces of hocket, and programs, in the formats of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket import Program, Trace, _core
from hocket.errors import InvalidInput
from hocket.interop.programs import read_program
from hocket.interop.sources import PROGRAMS, find_sources
from hocket.interop.traces.importing import FLOPS_PER_S
from hocket.io.files import check_parent, whole_file, whole_folder, write_whole
from hocket.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from collections.abc import Sequence

OF_TRACES = {
    "otf2": "OTF2, for Vampir and others: a folder",
    "ti": "SimGrid's time-independent trace: a folder",
    "perfetto": "JSON for ui.perfetto.dev: a file",
    "parquet": "a table of calls: a file",
}
OF_PROGRAMS = {
    "goal": "GOAL text: a file",
    "goal-binary": "GOAL as LogGOPSim runs it: a file",
    "chakra": "execution traces of Chakra: a folder",
}
FOLDERS = ("otf2", "ti", "chakra")


@dataclass(frozen=True)
class ExportRequest:
    what: Path  #: a trace folder, or a program of a format that can be imported
    format: str  #: of OF_TRACES or OF_PROGRAMS
    output: Path
    flops_per_s: float | None = None  #: of SimGrid's traces
    reduce_bytes_per_s: float | None = None  #: of GOAL, which knows no reduction; None = it takes no time
    plan: Path | None = None  #: of the collectives, where a trace becomes a program
    messages: bool = False  #: of SimGrid's traces: collectives as the messages of their algorithms


@dataclass(frozen=True)
class Exported:
    format: str
    ranks: int
    output: Path
    notes: list[str]  #: what the format does not hold, a line each

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": "hocket.trace-export/1",
            "target_format": self.format,
            "ranks": self.ranks,
            "output": str(self.output),
            "notes": self.notes,
        }


def run(request: ExportRequest, reporter: Reporter = SILENT) -> Exported:
    """Raises InvalidInput if the trace cannot be read, or the format does not go with it."""
    _check(request)
    is_folder = request.what.is_dir() and (request.what / "meta.json").is_file()
    trace = Trace.open(request.what) if is_folder else None
    if request.format in OF_TRACES:
        if trace is None:
            raise InvalidInput(
                f"{request.what}: is no trace folder; {request.format} needs the MPI calls of one",
                f"of a program: {', '.join(OF_PROGRAMS)}; traces of other tools: hocket trace import",
            )
        return Exported(request.format, trace.ranks, request.output, _write_trace(trace, request))
    program, notes = _program(trace, request)
    _write_program(program, request)
    return Exported(request.format, program.num_ranks, request.output, notes)


def _check(request: ExportRequest) -> None:
    if request.format not in OF_TRACES | OF_PROGRAMS:
        raise InvalidInput(f"format {request.format!r} is not known", f"accepted: {', '.join(OF_TRACES | OF_PROGRAMS)}")
    if request.flops_per_s is not None and request.format != "ti":
        raise InvalidInput("--flops is for --format ti", "leave it out")
    if request.messages and request.format != "ti":
        raise InvalidInput("--messages is for --format ti", "leave it out: programs have messages only")
    if request.reduce_bytes_per_s is not None and not request.format.startswith("goal"):
        raise InvalidInput("--reduce-rate is for GOAL", "leave it out")
    for option, rate in (("--flops", request.flops_per_s), ("--reduce-rate", request.reduce_bytes_per_s)):
        if rate is not None and not 0 < rate < float("inf"):
            raise InvalidInput(f"{option}: {rate:g} is no rate", "accepted: a number above 0")
    if request.plan is not None and request.format in OF_TRACES:
        raise InvalidInput(f"--plan is for {', '.join(OF_PROGRAMS)}", "leave it out")
    output = request.output
    if request.format in FOLDERS:
        if output.exists() and (not output.is_dir() or any(output.iterdir())):
            raise InvalidInput(f"{output}: is there already", "name a new folder")
        check_parent(output)
    else:
        check_parent(output)
        if output.is_dir():
            raise InvalidInput(f"{output}: is a folder", "name a file")


def _write_trace(trace: Trace, request: ExportRequest) -> list[str]:
    if request.format in FOLDERS:
        with whole_folder(request.output) as folder:
            if request.format == "otf2":
                from hocket.interop.traces.otf2_writer import write_otf2

                return write_otf2(trace, folder)
            from hocket.interop.traces.ti_writer import write_ti

            return write_ti(trace, folder, request.flops_per_s or FLOPS_PER_S, request.messages)
    from hocket.interop.traces.tables import write_parquet, write_perfetto

    with whole_file(request.output) as aside:
        return (write_parquet if request.format == "parquet" else write_perfetto)(trace, aside)


def _program(trace: Trace | None, request: ExportRequest) -> tuple[Program, list[str]]:
    if trace is not None:
        from hocket.plan import Plan
        from hocket.traces.replay import replay

        plan = None if request.plan is None else Plan.from_file(request.plan)
        if plan is not None:
            plan.check_ranks(trace.ranks)
        replayed = replay(trace, plan)
        left_out = [f"{one.calls} {one.function}: {one.reason}" for one in replayed.left_out]
        return replayed.program, [*left_out, "collectives are the messages of their algorithms"]
    if request.plan is not None:
        raise InvalidInput("--plan is for traces: a program has no collectives", "leave it out")
    sources = find_sources(request.what)
    if sources.format not in PROGRAMS:
        raise InvalidInput(
            f"{request.what}: is a trace of another tool", f"import it: hocket trace import {request.what}"
        )
    return read_program(sources.format, sources.read())


def _write_program(program: Program, request: ExportRequest) -> None:
    rate = request.reduce_bytes_per_s or float("inf")
    if request.format == "goal":
        write_whole(request.output, program.to_goal(rate))
    elif request.format == "goal-binary":
        write_whole(request.output, _core.to_goal_binary(program, rate))
    else:
        files: Sequence[bytes] = _core.to_chakra(program)
        with whole_folder(request.output) as folder:
            for rank, content in enumerate(files):
                (folder / f"program.{rank}.et").write_bytes(content)
