# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`tune` on a bundled program, on an emulated cluster where the machine allows one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import Error, InvalidInput
from hocket.io.leftovers import working_folder
from hocket.mpi.build_inputs import source_folder
from hocket.mpi.discover import Mpi, default_mpi, find_mpis
from hocket.reporter import SILENT, Reporter
from hocket.tune.folder import check_target
from hocket.tune.request import Tuned
from hocket.tune.tune import TuneOptions, tune

if TYPE_CHECKING:
    from hocket import Network

ITERATIONS = 8


@dataclass(frozen=True)
class DemoRequest:
    mpi: str | None = None  #: its name, as `hocket doctor` calls it; None = the one that is found first
    output: Path = Path("hocket-demo")  #: the folder for the result
    repetitions: int = 5  #: runs of the program with the plan, and without
    keep: bool = False  #: the trace and the program too


def run(request: DemoRequest, reporter: Reporter = SILENT) -> Tuned:
    from hocket import Network
    from hocket.testbed import available

    check_target(request.output)
    mpi = _find(request.mpi)
    network = Network.from_file(str(source_folder() / "networks/two-clusters.toml"))
    emulated, why = available()
    notes: tuple[str, ...] = ()
    if not emulated:
        notes = (
            f"namespaces are refused here ({why}): the program ran on this machine itself, not on an emulated cluster",
        )
        reporter.message(notes[0])
        network = _this_machine(network.num_ranks)
    options = TuneOptions(
        repetitions=request.repetitions,
        testbed=emulated,
        timeout_s=300,
        keep_trace=request.keep,
        notes=notes,
        # The program itself is compiled for this run and gone after it.
        shown_command=("hocket", "demo", "--mpi", mpi.label, "--repetitions", str(request.repetitions)),
    )
    with working_folder("hocket-demo-", Path(tempfile.gettempdir())) as folder:
        program = _compile(mpi, folder)
        command = [str(mpi.mpiexec), "-n", str(network.num_ranks), str(program), str(ITERATIONS)]
        result = tune(command, network, request.output, options, reporter)
        if request.keep:
            shutil.copy2(program, request.output / program.name)
    return Tuned(result, request.output)


def _this_machine(ranks: int) -> Network:
    """Ranks that share memory: a rough model, since nothing was measured."""
    from hocket import Network

    return Network.generate(f"star:{ranks}", bandwidth="16 Gbit/s", latency="1 us")


def _find(name: str | None) -> Mpi:
    if name is None:
        return default_mpi()
    mpis = find_mpis()
    for mpi in mpis:
        if name in (mpi.label, mpi.name, mpi.family):
            return mpi
    found = ", ".join(mpi.label for mpi in mpis) or "none"
    raise InvalidInput(f"no MPI is called {name}; found: {found}", hint="`hocket doctor` shows more")


def _compile(mpi: Mpi, folder: Path) -> Path:
    program = folder / "kmeans"
    source = source_folder() / "examples/kmeans/kmeans.c"
    done = subprocess.run(
        [str(mpi.mpicc), "-O2", str(source), "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()[:5]
        raise Error(
            "\n  | ".join([f"{mpi.mpicc} cannot compile {source}:", *reason]), "`hocket doctor` checks the compilers"
        )
    return program
