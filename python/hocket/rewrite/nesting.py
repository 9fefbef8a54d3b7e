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
def deep_nesting(place: Callable[[], str]) -> Iterator[None]:
    """`place`: what is being looked at. Raises InvalidInput for a program that is nested too deeply."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _MAX_FRAMES))
    try:
        yield
    except RecursionError:
        raise too_deep(place()) from None
    finally:
        sys.setrecursionlimit(limit)


def too_deep(place: str) -> InvalidInput:
    return InvalidInput(
        f"{place}: expressions, blocks or calls are nested more deeply than hocket can follow",
        "divide the expression or the procedure, or leave its file out",
    )
