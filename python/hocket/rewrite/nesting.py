# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs that are nested deeply: followed far, and then refused in one message."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hocket.errors import InvalidInput

# Some thousand nested operators. With half a KiB of stack for each frame this is far from the usual 8 MiB.
_MAX_FRAMES = 8000


@contextmanager
def deep_nesting(report: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Gives what takes the place of `report`, which is told the name of each procedure that is looked at.

    Raises InvalidInput for a program that is nested too deeply.
    """
    at, limit = "the declarations", sys.getrecursionlimit()

    def report_next(name: str) -> None:
        nonlocal at
        at = name
        report(name)

    sys.setrecursionlimit(max(limit, _MAX_FRAMES))
    try:
        yield report_next
    except RecursionError:
        raise too_deep(at) from None
    finally:
        sys.setrecursionlimit(limit)


def too_deep(place: str) -> InvalidInput:
    return InvalidInput(
        f"{place}: expressions, blocks or calls are nested more deeply than hocket can follow",
        "divide the expression or the procedure, or leave its file out",
    )
