# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the tests of the MPI parts share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hocket.mpi.build import MpiParts
from mpis import LONG, MpiRunner

HERE = Path(__file__).resolve().parent
RANKS = (1, 2, 3, 4, 5, 7, 8) if LONG else (1, 2, 3, 4, 5, 8)


def compile_check(runner: MpiRunner, parts: MpiParts, name: str, *libraries: str) -> Path:
    """The executable of a C++ file of this folder. Not optimised: that takes longer than it saves."""
    library = parts.runtime.parent
    flags = ["-std=c++20", "-O0", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", f"-I{HERE}", f"-I{parts.include}"]
    flags += [f"-L{library}", f"-Wl,-rpath,{library}", "-pthread", "-ldl", *libraries]
    return runner.compile(HERE / f"{name}.cpp", *flags, name=name, language="c++")


def entry(
    collective: str,
    members: list[int],
    algorithm: str,
    segments: int = 1,
    bytes_min: int = 0,
    bytes_max: int = 2**40,
) -> dict[str, Any]:
    return {
        "collective": collective,
        "members": members,
        "bytes_min": bytes_min,
        "bytes_max": bytes_max,
        "root": None,
        "schedule": {"algorithm": algorithm, "segments": segments},
    }


def write_plan(folder: Path, ranks: int, entries: list[dict[str, Any]]) -> Path:
    path = folder / f"plan-{ranks}.json"
    path.write_text(json.dumps({"format": "hocket.plan/1", "ranks": ranks, "network": "test", "entries": entries}))
    return path
