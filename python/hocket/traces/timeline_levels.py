# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What each rank does over time, at several levels of detail, so that a page draws no more than fits on the screen.

The size is bounded by the finest level, whatever the number of calls.
"""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING

import numpy as np

from hocket.traces.analysed import ACTIVITIES, SHARES, Timeline
from hocket.traces.time_split import is_collective, is_point_to_point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hocket.traces.analysis import ProgramRun

ENDED, COMPUTATION, POINT_TO_POINT, COLLECTIVE, OTHER, WAITING = range(len(ACTIVITIES))
FEWEST_BINS, FACTOR = 1024, 4  #: of the coarsest level, and between levels
MOST_CELLS = 2_000_000  #: of the finest level
MOST_RANKS = 64
MOST_STEPS = 2000  #: of the critical path that are drawn


def timeline_levels(run: ProgramRun, span_s: float, most_cells: int = MOST_CELLS) -> Timeline:
    """`span_s`: of the axis, at least that of the run. All ranks, or a sample at equal distances."""
    step = max(1, math.ceil(run.trace.ranks / MOST_RANKS))
    ranks = list(range(0, run.trace.ranks, step))
    calls = max((len(run.main[rank]) for rank in ranks), default=0)
    sizes = [FEWEST_BINS]
    # With four columns for each call of a rank hardly anything is left to be seen closer.
    while sizes[-1] < 4 * calls and sizes[-1] * FACTOR * len(ranks) <= most_cells:
        sizes.append(sizes[-1] * FACTOR)
    courses = [_course(run, rank) for rank in ranks]
    levels = [np.stack([_cells(course, np.linspace(0, span_s, size + 1)) for course in courses]) for size in sizes]
    cells = [base64.b64encode(level.tobytes()).decode() for level in levels]
    return Timeline(span_s, ranks, sizes, cells, *_path(run, ranks))


def _path(run: ProgramRun, ranks: list[int]) -> tuple[list[int], list[float], list[float]]:
    """Rank, start and end of each step of the critical path; without its shortest steps if there are many."""
    core = run.core
    shown = np.flatnonzero(np.isin(core.path_rank, ranks))
    if len(shown) > MOST_STEPS:
        lengths = (core.path_end_s - core.path_start_s)[shown]
        shown = np.sort(shown[np.argsort(-lengths)[:MOST_STEPS]])
    return core.path_rank[shown].tolist(), core.path_start_s[shown].tolist(), core.path_end_s[shown].tolist()


def _course(run: ProgramRun, rank: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Instants, and for each activity how long the rank has done it until then."""
    main = run.main[rank]
    kinds = np.full(len(run.trace.functions) or 1, OTHER)
    for i, name in enumerate(run.trace.functions):
        kinds[i] = COLLECTIVE if is_collective(name) else POINT_TO_POINT if is_point_to_point(name) else OTHER
    enter, leave = run.spans[rank][main, 0], run.spans[rank][main, 1]
    waits = np.zeros(len(run.spans[rank]))
    here = run.core.wait_rank == rank
    waits[run.core.wait_call[here]] = run.core.wait_ns[here] * 1e-9
    leave = np.maximum(leave, enter)
    waited = np.minimum(enter + waits[main], leave)
    # Of each call three instants: it is entered, no longer waits, and returns. Rows that cover others, such as folds of
    # polls, begin where those have ended.
    instants = np.maximum.accumulate(np.stack([enter, waited, leave], axis=1).ravel())
    instants = np.concatenate([[0.0], np.maximum(instants, 0.0)])
    activity = np.stack(
        [
            np.full(len(main), COMPUTATION),
            np.full(len(main), WAITING),
            kinds[run.trace.calls(rank)["function"][main]],
        ],
        axis=1,
    ).ravel()
    done = np.zeros((len(ACTIVITIES), len(instants)))
    lengths = np.diff(instants)
    for one in range(1, len(ACTIVITIES)):
        done[one, 1:] = np.cumsum(np.where(activity == one, lengths, 0.0))
    return instants, done


def _cells(course: tuple[NDArray[np.float64], NDArray[np.float64]], edges: NDArray[np.float64]) -> NDArray[np.uint8]:
    instants, done = course
    spent = np.stack([np.diff(np.interp(edges, instants, one)) for one in done])
    width = np.diff(edges)
    spent[ENDED] = np.maximum(0.0, width - spent[1:].sum(axis=0))
    most = spent.argmax(axis=0)
    share = np.divide(spent.max(axis=0), width, out=np.ones(len(width)), where=width > 0).clip(0, 1)
    cells: NDArray[np.uint8] = (most * SHARES + np.round(share * (SHARES - 1))).astype(np.uint8)
    return cells
