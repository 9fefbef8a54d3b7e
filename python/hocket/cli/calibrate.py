# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket calibrate`: a network file from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import command_argument, json_option, print_json, print_table
from hocket.cli.options import Duration, OutputPath
from hocket.cli.reporter import TerminalReporter
from hocket.networks.source import NetworkSource

if TYPE_CHECKING:
    from hocket._core import NativeTimes
    from hocket.calibrate.calibration import Calibration, Errors


@click.command()
@click.option(
    "-o", "--output", type=OutputPath(), default=Path("calibrated.toml"), show_default=True, help="The network file."
)
@click.option("--hosts", metavar="A,B,...", help="Start the ranks on these hosts, in this order.")
@click.option("--name", help="Of the network.  [default: the file's name, without its ending]")
@click.option(
    "--testbed",
    "testbed_text",
    metavar="FILE|KIND:SHAPE",
    help="Measure the emulated network of this file, not this machine's.",
)
@click.option(
    "--launches", type=click.IntRange(1, 100), default=5, show_default=True, help="Starts of the program for each step."
)
@click.option(
    "--rounds", type=click.IntRange(1, 1000), default=1, show_default=True, help="Measurements in each start."
)
@click.option("--timeout", "timeout_s", type=Duration(1), metavar="TIME", help="End a start that takes longer.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the random pairings and sizes.")
@click.option(
    "--natives",
    is_flag=True,
    help="Measure the MPI's own collectives too, so that `hocket run --network` knows when to leave a call to it.",
)
@click.option(
    "--network",
    "network_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --natives: take the network from this file instead of measuring it.",
)
@click.option(
    "--time", "natives_s", type=Duration(1), default=120.0, metavar="TIME", help="For --natives.  [default: 120]"
)
@json_option
@command_argument
def command(
    output: Path,
    hosts: str | None,
    name: str | None,
    testbed_text: str | None,
    launches: int,
    rounds: int,
    timeout_s: float | None,
    seed: int,
    natives: bool,
    network_path: Path | None,
    natives_s: float,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Measure the network between hosts with the MPI on them, and write it as a network file.

    COMMAND is a launcher with its options, without a program: start one rank or more on each host. Transfers alone give
    bandwidths and latencies; transfers at the same time give the switches between the hosts, by who slows whom down.
    The file says how well it predicts what was measured (grades A, B or C, one of what bandwidths decide and one of
    short messages) and how sure each link is.

    \b
    Examples:
      hocket calibrate --hosts a,b,c,d,e,f,g,h -o cluster.toml -- mpiexec -n 8
      hocket calibrate --testbed networks/two-clusters.toml -- mpiexec -n 8
      hocket calibrate --natives --network cluster.toml -o cluster-openmpi.toml -- mpiexec -n 64
    """
    from hocket import print_bytes
    from hocket.calibrate.request import CalibrateRequest, run

    emulated = None if testbed_text is None else NetworkSource(testbed_text)
    request = CalibrateRequest(
        command, output, hosts, name, emulated, launches, rounds, timeout_s, seed, natives, network_path, natives_s
    )
    done = run(request, TerminalReporter())
    if as_json:
        print_json(done.values)
        return
    if done.calibration is not None:
        _print_network(done.calibration)
    if done.natives:
        print_table(
            ("collective", "up to", "as", "times as long", "schedules"),
            [
                (one.collective, print_bytes(one.bytes_max), _algorithm(one), f"{one.factor:.2f}",
                 f"{one.schedule_factor:.2f}")
                for one in done.natives
            ],
            f"{done.natives[0].mpi}, measured beside the prediction of an algorithm",
        )  # fmt: skip
    click.echo(f"{output}: the network, for --network")


def _algorithm(times: NativeTimes) -> str:
    from hocket import print_bytes

    segments = "" if times.segment_bytes is None else f" in segments of {print_bytes(times.segment_bytes)}"
    return times.algorithm + segments


def _print_network(found: Calibration) -> None:
    from hocket.calibrate.warnings import warnings

    rows = [
        (
            " - ".join(link.between),
            _mbit(link.bandwidth, link.interval),
            _mbit(link.bandwidth_back, link.interval_back),
            "" if link.error_without is None else f"{link.error_without:.0%} instead of {found.error_with_links:.0%}",
        )
        for link in found.links
    ]
    print_table(("link", "Mbit/s", "back", "error without it"), rows, f"{found.mpi}, {found.network.num_ranks} ranks")
    long = f"of long messages by {_off(found.long)}, " if found.long else ""
    click.echo(
        f"grade {found.grade}: predictions are off {long}of messages at once by {found.together.median:.0%} "
        "(docs/how-to/calibrate.md explains the grades)"
    )
    if found.short:
        click.echo(
            f"grade {found.grade_short} for short messages, which are mostly latency and the work of processors: "
            f"off by {_off(found.short)}"
        )
    for one in warnings(found):
        click.echo(f"warning: {one}")


def _off(errors: Errors) -> str:
    return f"{errors.median:.0%} ({errors.p95:.0%} at most in 19 of 20)"


def _mbit(bandwidth: float, interval: tuple[float, float] | None) -> str:
    return " .. ".join(f"{value * 8e-6:.0f}" for value in interval or (bandwidth,))
