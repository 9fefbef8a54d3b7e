# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a job's commands run: on this machine and the hosts of their launcher, or on an emulated network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.measure.local import LocalRunner
from hocket.measure.runner import Runner
from hocket.reporter import Reporter

if TYPE_CHECKING:
    from hocket import Network
    from hocket.mpi.discover import Mpi


@contextmanager
def open_runner(
    mpi: Mpi, workarounds: Sequence[Path], emulated: Network | None, reporter: Reporter
) -> Iterator[Runner]:
    """A runner on the network `emulated`, which is taken down at the end; on None, of commands as they are.

    `workarounds` are preloaded into every run. Raises Error if this machine cannot emulate the network.
    """
    if emulated is None:
        yield LocalRunner(mpi, tuple(workarounds))
        return
    from hocket.measure.testbed import TestbedRunner
    from hocket.testbed import Testbed

    reporter.message(f"setting up the emulated network {emulated.name}")
    with Testbed(emulated) as bed:
        yield TestbedRunner(mpi, bed, tuple(workarounds))
