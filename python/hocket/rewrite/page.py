# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The HTML page of a rewrite: both sides of each file, the proofs, and the reasons of refusals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocket import __version__
from hocket.errors import InvalidInput
from hocket.io.files import write_whole
from hocket.report.html import render_page
from hocket.rewrite.differences import side_by_side
from hocket.rewrite.outcomes import Rewritten
from hocket.rewrite.timeline import saved_share, timeline
from hocket.rewrite.verify import Comparison


def write_page(path: Path, result: Rewritten, comparisons: Sequence[Comparison]) -> None:
    """Raises InvalidInput if the file cannot be written."""
    sides = [(str(one), list(side_by_side(result.old[one], result.new[one]))) for one in result.changed]
    rewritten = [
        (one, timeline(one.prediction, one.measured_s) if one.prediction is not None else None)
        for one in result.outcomes
        if one.is_rewritten
    ]
    page = render_page(
        "rewrite.html",
        {},
        version=__version__,
        files=[str(one) for one in result.old],
        rewritten=rewritten,
        refused=[one for one in result.outcomes if not one.is_rewritten],
        sides=sides,
        comparisons=comparisons,
        saved=saved_share(result),
    )
    try:
        write_whole(path, page)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written: {error.strerror}", "name another file with --report") from None
