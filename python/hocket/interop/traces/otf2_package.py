# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The package `otf2` of Score-P's authors, which not everybody needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hocket.errors import InvalidInput

SIZES = "hocket.sizes"  # name of an attribute for the sizes of v-variants; other readers skip it


MOST_S = 30  # for opening an archive: hundreds of thousands of locations take a second


def import_otf2() -> Any:
    """Raises InvalidInput with what to install if it is not there."""
    try:
        import otf2
    except ImportError as error:
        raise InvalidInput("OTF2 needs the package otf2, which is not installed", "pip install otf2") from error
    return otf2


def check_opens(anchor: Path) -> None:
    """Raises InvalidInput where the package's library does not come back from opening the archive.

    Its handling of some damaged files waits for a lock that it has itself, so another process tries first.
    """
    script = "import sys, otf2; otf2.reader.open(sys.argv[1]).close()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, str(anchor)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=MOST_S, check=False,
        )  # fmt: skip
        ending = f"the package otf2 is ended by signal {-done.returncode}" if done.returncode < 0 else ""
    except subprocess.TimeoutExpired:
        ending = f"the package otf2 has not opened it after {MOST_S} s"
    if ending:
        raise InvalidInput(
            f"{anchor}: {ending}", "it is damaged: copy the whole archive again: .otf2, .def and its folder"
        )
