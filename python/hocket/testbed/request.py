# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket testbed` asks for: emulated clusters that are brought up, used, listed and ended."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.mpi.build import workarounds_for
from hocket.mpi.launch import with_preload
from hocket.mpi.of_command import mpi_of_launcher
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter
from hocket.testbed import RunResult, Testbed
from hocket.testbed.cluster import PRELOADED
from hocket.testbed.names import names


@dataclass(frozen=True)
class UpRequest:
    network: NetworkSource
    name: str | None = None  #: of the testbed; None = the network's


@dataclass(frozen=True)
class RunRequest:
    network: str  #: a testbed that is up, or a network for as long as the command runs
    command: tuple[str, ...]
    host: str | None = None  #: where the command starts; None = that of rank 0
    timeout_s: float | None = None  #: then the command is killed
    capture: bool = False  #: what it prints becomes part of the result


@dataclass(frozen=True)
class DownRequest:
    name: str | None = None  #: None = every testbed of this user


@dataclass(frozen=True)
class ListRequest:
    """The testbeds of this user that are up."""


@dataclass(frozen=True)
class Beds:
    values: dict[str, Any]


@dataclass(frozen=True)
class BedRun:
    result: RunResult

    @property
    def values(self) -> dict[str, Any]:
        result = self.result
        return {
            "command": result.command,
            "returncode": result.returncode,
            "stdout": result.stdout,
            "stderr": result.stderr,
            "wall_s": result.wall_s,
            "link_bytes": result.link_bytes,
            "bytes_crossed": result.bytes_crossed,
        }


def run(request: UpRequest | RunRequest | DownRequest | ListRequest, reporter: Reporter = SILENT) -> Beds | BedRun:
    """Each kind has a function of its own."""
    if isinstance(request, RunRequest):
        return run_command(request, reporter)
    if isinstance(request, UpRequest):
        return bring_up(request, reporter)
    return end(request) if isinstance(request, DownRequest) else find_all(request)


def bring_up(request: UpRequest, reporter: Reporter = SILENT) -> Beds:
    """`values` describes the testbed, which stays."""
    network = request.network.load()
    with Testbed(network, name=network.name if request.name is None else request.name) as bed:
        _report_notes(bed, reporter)
        return Beds(_row(bed.information))


def run_command(request: RunRequest, reporter: Reporter = SILENT) -> BedRun:
    command, needed = _mended(request.command, reporter)
    with _bed(request.network) as bed:
        if not request.capture:
            _report_notes(bed, reporter)
        result = bed.run(command, env=needed, timeout=request.timeout_s, capture=request.capture, host=request.host)
    return BedRun(result)


def end(request: DownRequest) -> Beds:
    ended = names() if request.name is None else [request.name]
    for name in ended:
        Testbed.attach(name).down()
    return Beds({"down": ended})


def find_all(request: ListRequest) -> Beds:
    rows = []
    for name in names():
        with Testbed.attach(name) as bed:
            rows.append(_row(bed.information))
    return Beds({"testbeds": rows})


def _mended(command: tuple[str, ...], reporter: Reporter) -> tuple[list[str], dict[str, str]]:
    """The command of an MPI launcher, with what its MPI needs on several hosts preloaded; any other as it is."""
    mpi = mpi_of_launcher(command[0])
    libraries = workarounds_for(mpi, reporter.message) if mpi else ()
    if not mpi or not libraries:
        return list(command), {}
    return with_preload(command, mpi, [*libraries, Path(PRELOADED)], {})


def _bed(network: str) -> Testbed:
    """A name of one that is up goes before a file of that name only if there is no such file."""
    if not os.path.exists(network) and network in names():
        return Testbed.attach(network)
    return Testbed(NetworkSource(network).load())


def _report_notes(bed: Testbed, reporter: Reporter) -> None:
    for text in bed.notes:
        reporter.message(text)


def _row(information: dict[str, Any]) -> dict[str, Any]:
    layout = information["layout"]
    return {
        "name": information["name"],
        "network": information["network"],
        "process": information["process"],
        "up_s": max(0.0, time.time() - information["started_s"]),
        "hosts": [host["name"] for host in layout["hosts"]],
        "ranks": len(layout["rank_hosts"]),
        "command": " ".join(information.get("command", [])),
        "notes": information["notes"],
    }
