# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket calibrate` asks for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hocket import CostModel, Network
from hocket.calibrate.calibrate import STEPS, CalibrateOptions, Laboratory, calibrate
from hocket.calibrate.calibration import Calibration
from hocket.calibrate.file import native_values, to_json, to_toml
from hocket.calibrate.natives import measure_natives
from hocket.errors import InvalidInput
from hocket.io.files import check_parent, printable, write_whole
from hocket.measure.compare import measure_within
from hocket.measure.eager import measure_rendezvous_bytes
from hocket.measure.open_runner import open_runner
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.command_line import with_hosts
from hocket.mpi.of_command import mpi_of_command
from hocket.networks.source import NetworkSource
from hocket.plan import write_candidates
from hocket.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from hocket._core import NativeTimes
    from hocket.measure.compare import Measured
    from hocket.plan import PlanEntry

NATIVE_LAUNCHES = 2
NATIVE_REPETITIONS = 5  # of each collective in a launch


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
    natives: bool = False  #: measure the MPI's own collectives too
    network: Path | None = None  #: with `natives`: measure nothing else, and add them to this file's network
    natives_s: float = 120.0  #: for these


@dataclass(frozen=True)
class Calibrated:
    calibration: Calibration | None  # None: the network was given
    natives: Sequence[NativeTimes]

    @property
    def values(self) -> dict[str, Any]:
        found = {} if self.calibration is None else to_json(self.calibration)
        return found | {"natives": [native_values(one) for one in self.natives]}


def run(request: CalibrateRequest, reporter: Reporter = SILENT) -> Calibrated:
    command, output = request.command, request.output
    check_parent(output)
    if request.network is not None and not request.natives:
        raise InvalidInput("--network does nothing without --natives", "leave it out, or give --natives")
    mpi = mpi_of_command(command)
    if request.hosts is not None:
        if request.testbed is not None:
            raise InvalidInput("--hosts does not apply to --testbed: the ranks are on the hosts of that network")
        command = with_hosts(command, request.hosts, mpi.family)
    options = CalibrateOptions(request.launches, request.rounds, timeout_s=request.timeout_s, seed=request.seed)
    with ExitStack() as stack:
        parts = build_mpi_parts(mpi, report=reporter.message)
        emulated = None if request.testbed is None else request.testbed.load()
        runner = stack.enter_context(open_runner(mpi, parts.workarounds, emulated, reporter))
        num_steps = (STEPS * request.launches + 2) * (request.network is None) + request.natives * (NATIVE_LAUNCHES + 1)
        following = stack.enter_context(reporter.steps("measuring", num_steps))
        laboratory = Laboratory(command, runner, parts, options, following)
        found = None
        if request.network is None:
            following("what messages wait for")
            rendezvous_bytes = measure_rendezvous_bytes([*command, "true"], runner, parts, request.timeout_s)
            found = calibrate(laboratory, printable(request.name or output.stem), rendezvous_bytes)
            text = to_toml(found)  # has comments, which the network has not
            write_whole(output, text)
            network = Network.from_file(str(output))
        else:
            network = Network.from_file(request.network)
        natives = _natives(network, laboratory, request) if request.natives else []
    if request.natives:
        with_natives = network.with_native_times(natives)
        tables = with_natives.to_toml().removeprefix(network.to_toml())
        write_whole(output, with_natives.to_toml() if found is None else text + tables)
    if found is not None and emulated is not None and (missing := _hosts(emulated) - _hosts(found.network)):
        reporter.message(f"{missing} of the testbed's {_hosts(emulated)} hosts had no rank: they are not in {output}")
    return Calibrated(found, natives)


def _natives(cluster: Network, laboratory: Laboratory, request: CalibrateRequest) -> list[NativeTimes]:
    network = cluster.on_hosts(laboratory.find_hosts().of_ranks)
    runner, following = laboratory.runner, laboratory.following
    with TemporaryDirectory(prefix="hocket-natives-") as folder:
        path = Path(folder) / "entries.json"

        def measure(entries: Sequence[PlanEntry]) -> Sequence[Measured | None]:
            following("the MPI's own collectives")
            write_candidates(path, network.num_ranks, network.name, entries)
            return measure_within(
                [*request.command, "true"], path, len(entries), NATIVE_REPETITIONS, runner, laboratory.parts,
                request.timeout_s, request.natives_s / NATIVE_LAUNCHES,
            ).entries  # fmt: skip

        costs = runner.costs_here(CostModel.of(network))
        return measure_natives(network, costs, runner.mpi.library_name, measure, NATIVE_LAUNCHES, request.seed)


def _hosts(network: Network) -> int:
    return sum(node.kind == "host" for node in network.nodes)
