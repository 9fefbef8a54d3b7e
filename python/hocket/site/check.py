# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket site check`: a job whose ranks say whether hocket's library is loaded and whether their data are right."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.errors import Error, InvalidInput
from hocket.mpi.launch import launch_environment, run_command
from hocket.mpi.of_command import mpi_of_command
from hocket.reporter import SILENT, Reporter
from hocket.site.site import Site, SiteMpi, read_site


@dataclass(frozen=True)
class CheckRequest:
    prefix: Path  #: of the installation
    command: tuple[str, ...]  #: a launcher with its options, without a program
    timeout_s: float = 300.0  #: of the job


@dataclass(frozen=True)
class Checked:
    """What the job found."""

    mpi: str
    ranks: int
    with_hocket: int  # ranks that have the library
    wrong: int  # elements of wrong data
    hosts: tuple[str, ...]  # of the ranks
    calls: dict[str, int]  # collective calls by what became of them; empty without a network

    @property
    def is_right(self) -> bool:
        return self.with_hocket == self.ranks and self.wrong == 0


def run(request: CheckRequest, reporter: Reporter = SILENT) -> Checked:
    """The command starts the job as a user does: nothing is added to it but what the module sets."""
    site = read_site(request.prefix)
    mpi = mpi_of_command(request.command)
    own = _own_mpi(site, str(mpi.library.resolve()), mpi.name)
    program = site.parts(own) / "bin/hocket-site-job"
    inherited = [word for word in os.environ.get("LD_PRELOAD", "").replace(" ", ":").split(":") if word]
    with tempfile.TemporaryDirectory(prefix="hocket-site-", dir=Path.cwd()) as folder:
        statistics = Path(folder, "statistics.json")
        environment = {
            **launch_environment(request.command, mpi),
            **site.variables(),
            "LD_PRELOAD": ":".join(dict.fromkeys([str(site.preloaded), *inherited])),
            "HOCKET_STATISTICS": str(statistics),
        }
        if site.openmpi_list:
            environment[site.openmpi_list] = ";".join(["LD_PRELOAD", "HOCKET_STATISTICS", *site.variables()])
        done = run_command([*request.command, str(program)], environment, request.timeout_s, capture=True)
        if done.returncode != 0:
            shown = (done.stderr.strip() or done.stdout.strip()).splitlines()[-8:]
            raise Error(
                f"the job ended with status {done.returncode}:" + "".join(f"\n  | {line}" for line in shown),
                f"does it run without hocket? {program} is an ordinary MPI program",
            )
        return _read(own, done.stdout, statistics)


def _own_mpi(site: Site, library: str, name: str) -> SiteMpi:
    for mpi in site.mpis:
        if mpi.library == library:
            return mpi
    raise InvalidInput(
        f"{site.prefix} was not installed for {name} ({library})",
        f"installed for: {', '.join(mpi.name for mpi in site.mpis)}; install again: hocket site install",
    )


def _read(mpi: SiteMpi, output: str, statistics: Path) -> Checked:
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if len(lines) != 1:
        raise Error(
            f"{len(lines)} processes answered as the first rank of a job: the launcher is not of this MPI"
            if lines
            else f"the job gave no result: {output[:200]!r}",
            "start it with the MPI's own mpiexec, or with srun --mpi=pmi2 or pmix",
        )
    value = json.loads(lines[0])
    calls: dict[str, int] = {}
    if statistics.exists():
        rows: list[dict[str, Any]] = json.loads(statistics.read_text())["calls"]
        for row in rows:
            calls[row["outcome"]] = calls.get(row["outcome"], 0) + int(row["calls"])
    return Checked(mpi.name, value["ranks"], value["with_hocket"], value["wrong"], tuple(value["hosts"]), calls)
