# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The library that all programs on a testbed have preloaded, so that ranks that wait give their cores to others.

On the cluster that a testbed stands for each rank has a core, and may spin while it waits. Here ranks share cores: see
python/preload.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from hocket.errors import Error

LIBRARY = "libhocket_testbed.so"


def library() -> Path:
    """As it was installed: beside the compiled core, which is not beside this file in an editable install."""
    for folder in sys.path:
        path = Path(folder, "hocket", LIBRARY)
        if path.exists():
            return path
    raise Error(
        f"{LIBRARY} is missing from the installed hocket", "install hocket again; in the repository: make build"
    )


def with_library(environment: Mapping[str, str], path: str) -> dict[str, str]:
    """`environment` with the library at `path` behind those that the user preloads."""
    return {**environment, "LD_PRELOAD": " ".join(filter(None, [environment.get("LD_PRELOAD"), path]))}
