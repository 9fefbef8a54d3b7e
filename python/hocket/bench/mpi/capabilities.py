# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What an MPI can do, remembered: trying all items again takes time, and some of them end or hang the launch."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from hocket.bench.mpi.results import Results
from hocket.io.files import write_whole
from hocket.mpi.cache import make_cache_folder
from hocket.mpi.discover import Mpi

# Variables that choose components of an MPI, as mpi/bench/runner/machine.cpp records them.
STEERING = ("OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPICH_", "MPIR_CVAR_", "I_MPI_", "UCX_", "FI_", "ROMIO_")


def capability_file(mpi: Mpi, program: Path, command: Sequence[str], folder: Path) -> Path:
    """Where they are remembered for this MPI, hocket-bench, launcher command, environment and file system."""
    library = mpi.library.resolve()
    steering = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(STEERING))
    texts = (str(library), str(library.stat().st_mtime_ns), str(program), *command, *steering, str(_device(folder)))
    key = hashlib.sha256("\0".join(texts).encode(errors="surrogateescape")).hexdigest()[:16]
    return make_cache_folder().parent / "capabilities" / f"{mpi.label}-{key}.jsonl"


def remember(path: Path, results: Results, anew: bool) -> None:
    """Adds the outcomes of variants; `anew`: they replace those that are known.

    What failed as a point of its own size is not remembered, nor what hung on a busy machine: it may be the load's.
    """
    was_busy = any(run["load"] > (os.cpu_count() or 1) for run in results.runs[:1])
    known = {}
    if path.exists():
        known = {json.loads(line)["variant"]: line for line in path.read_text(encoding="utf-8").splitlines()}
    for (variant, point), outcome in results.outcomes.items():
        # Patterns and plug-ins are a suite's own; what needs more ranks than the launch had may have them another time.
        is_own = variant.startswith(("pattern.", "plugin."))
        if outcome.status == "hang" and was_busy:
            continue
        if point is None and not is_own and not outcome.message.startswith("needs "):
            record = {"type": "outcome", "variant": variant, "point": None, "status": outcome.status,
                      "message": outcome.message}  # fmt: skip
            if anew or variant not in known:
                known[variant] = json.dumps(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(line + "\n" for line in known.values()))


def _device(folder: Path) -> int:
    return os.stat(folder).st_dev
