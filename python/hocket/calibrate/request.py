# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket calibrate` asks for."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.calibrate.calibrate import STEPS, CalibrateOptions, Laboratory, calibrate
from hocket.calibrate.calibration import Calibration
from hocket.calibrate.file import to_json, to_toml
from hocket.errors import InvalidInput
from hocket.io.files import check_parent, printable, write_whole
from hocket.measure.eager import measure_rendezvous_bytes
from hocket.measure.local import LocalRunner
from hocket.measure.runner import Runner
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.command_line import with_hosts
from hocket.mpi.discover import mpi_of_command
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from hocket import Network


@dataclass(frozen=True)
class CalibrateRequest:
    command: tuple[str, ...]  #: a launcher with its options, without a program
    output: Path = Path("calibrated.toml")  #: the network file
    hosts: str | None = None  #: of the ranks, in this order: "a,b,c"
    name: str | None = None  #: of the network; None = that of the file
    testbed: NetworkSource | None = None  #: measure this network, emulated
    launches: int = 5  #: for each step
    rounds: int = 1  #: in each launch
    timeout_s: float | None = None  #: of a launch
    seed: int = 1


@dataclass(frozen=True)
class Calibrated:
    calibration: Calibration

    @property
    def values(self) -> dict[str, Any]:
        return to_json(self.calibration)


def run(request: CalibrateRequest, reporter: Reporter = SILENT) -> Calibrated:
    command, output = request.command, request.output
    check_parent(output)
    mpi = mpi_of_command(command)
    if request.hosts is not None:
        if request.testbed is not None:
            raise InvalidInput("--hosts does not apply to --testbed: the ranks are on the hosts of that network")
        command = with_hosts(command, request.hosts, mpi.family)
    options = CalibrateOptions(request.launches, request.rounds, timeout_s=request.timeout_s, seed=request.seed)
    emulated = None
    with ExitStack() as stack:
        parts = build_mpi_parts(mpi, report=reporter.message)
        runner: Runner = LocalRunner(mpi, parts.workarounds)
        if request.testbed is not None:
            from hocket.measure.testbed import TestbedRunner
            from hocket.testbed import Testbed

            emulated = request.testbed.load()
            runner = TestbedRunner(mpi, stack.enter_context(Testbed(emulated)), parts.workarounds)
        following = stack.enter_context(reporter.steps("measuring", STEPS * request.launches + 2))
        following("what messages wait for")
        rendezvous_bytes = measure_rendezvous_bytes([*command, "true"], runner, parts, request.timeout_s)
        laboratory = Laboratory(command, runner, parts, options, following)
        found = calibrate(laboratory, printable(request.name or output.stem), rendezvous_bytes)
    write_whole(output, to_toml(found))
    if emulated is not None and (missing := _hosts(emulated) - _hosts(found.network)):
        reporter.message(f"{missing} of the testbed's {_hosts(emulated)} hosts had no rank: they are not in {output}")
    return Calibrated(found)


def _hosts(network: Network) -> int:
    return sum(node.kind == "host" for node in network.nodes)
