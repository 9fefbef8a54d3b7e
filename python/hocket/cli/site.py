# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket site`: one installation for all users of a cluster."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from hocket.cli.common import command_argument, json_option, print_json, print_table
from hocket.cli.options import Duration, OutputPath, generator_options, network_option
from hocket.cli.reporter import TerminalReporter

prefix_option = click.option(
    "--prefix",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FOLDER",
    help="Of the installation, on a file system that all hosts see.",
)


@click.group()
def command() -> None:
    """Install hocket once for all users of a cluster: libraries for each MPI, the network, modulefiles.

    \b
    Examples:
      hocket site install --prefix /opt/hocket --network cluster.toml
      hocket site check --prefix /opt/hocket -- srun -N 2 -n 4
      hocket site tables --network cluster.toml --mpi openmpi-4.1.4 -o tuned.rules
    """


@command.command()
@prefix_option
@click.option("--network", type=click.Path(path_type=Path), metavar="FILE", help="Of the cluster, for all jobs.")
@click.option(
    "--mpi", "mpis", multiple=True, metavar="NAME", help="Only for this MPI; may be repeated.  [default: all]"
)
@json_option
def install(prefix: Path, network: Path | None, mpis: tuple[str, ...], as_json: bool) -> None:
    """Build the libraries for each MPI of this machine and lay them out below one folder.

    Users then compile nothing and need no Python: `module load hocket`, and they start their programs as ever. An
    earlier installation in the folder is replaced, whole; jobs that run go on with theirs.

    \b
    Example:
      hocket site install --prefix /opt/hocket --network cluster.toml
    """
    from hocket.site.install import InstallRequest, run

    site = run(InstallRequest(prefix, network, mpis), TerminalReporter())
    if as_json:
        print_json({"prefix": str(site.prefix), **site.to_json()})
        return
    for mpi in site.mpis:
        click.echo(f"{mpi.name}: {site.parts(mpi)}")
    click.echo(f"modules: module use {site.prefix / 'modulefiles'}; module load hocket")
    click.echo(f"prove it: hocket site check --prefix {site.prefix} -- mpiexec -n 2")


@command.command()
@prefix_option
@click.option(
    "--timeout", "timeout_s", type=Duration(1), metavar="TIME", default="5min", show_default=True, help="Of the job."
)
@json_option
@command_argument
def check(prefix: Path, timeout_s: float, as_json: bool, command: tuple[str, ...]) -> int:
    """Prove an installation by a job: every rank has the library of its MPI, and collectives give the right data.

    COMMAND is a launcher with its options, without a program. The exit status is 1 if the proof fails.

    \b
    Examples:
      hocket site check --prefix /opt/hocket -- mpiexec -n 4
      hocket site check --prefix /opt/hocket -- srun --mpi=pmi2 -N 2 -n 4
    """
    from hocket.site.check import CheckRequest, run

    found = run(CheckRequest(prefix, command, timeout_s), TerminalReporter())
    if as_json:
        print_json({**dataclasses.asdict(found), "right": found.is_right})
        return int(not found.is_right)
    hosts = dict.fromkeys(found.hosts)
    click.echo(f"{found.mpi}: {found.ranks} rank(s) on {len(hosts)} host(s): {' '.join(hosts)}")
    click.echo(f"hocket's library: in {found.with_hocket} of {found.ranks} rank(s)")
    click.echo(f"data of collectives: {'right' if found.wrong == 0 else f'{found.wrong} elements are WRONG'}")
    if found.calls:
        served = sum(count for outcome, count in found.calls.items() if outcome in ("derived", "planned", "comparison"))
        click.echo(f"collective calls: {served} of {sum(found.calls.values())} by schedules for the network")
    if found.with_hocket < found.ranks:
        click.echo("hint: the launcher does not hand LD_PRELOAD on to all hosts, or the folder is not there")
    return int(not found.is_right)


@command.command()
@network_option()
@generator_options
@click.option("--mpi", metavar="NAME", help="Whose library reads the file, by `hocket doctor`.  [default: its first]")
@click.option("-o", "--output", type=OutputPath(), required=True, help="The file.")
@json_option
def tables(
    network_text: str, latency: str | None, bandwidth: str | None, mpi: str | None, output: Path, as_json: bool
) -> None:
    """Write a table by which an MPI chooses among its own algorithms: for jobs that run without hocket.

    For each size the algorithm that is predicted to be fastest on the network, for communicators with as many ranks as
    it has, in the order of its ranks: the rules of Open MPI's coll/tuned, or the selection JSON of MPICH.

    \b
    Example:
      hocket site tables --network cluster.toml --mpi openmpi-4.1.4 -o tuned.rules
    """
    from hocket import print_bytes
    from hocket.networks.source import NetworkSource
    from hocket.site.tables import TablesRequest, run

    source = NetworkSource(network_text, latency=latency, bandwidth=bandwidth)
    found = run(TablesRequest(source, output, mpi), TerminalReporter())
    if as_json:
        print_json(found.values)
        return
    rows = [
        (
            name,
            print_bytes(rule.from_bytes),
            rule.algorithm,
            print_bytes(rule.segment_bytes) if rule.segment_bytes else "",
        )
        for name, rules in found.rules.items()
        for rule in rules
    ]
    print_table(("collective", "from", "algorithm", "segments"), rows, f"{found.mpi}, {found.ranks} ranks")
    for name, value in found.variables.items():
        click.echo(f"export {name}={value}")
