# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The best schedule of one collective call: what `hocket schedule` shows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hocket.search.candidates import Candidates
from hocket.search.decide import decide
from hocket.search.found import Found
from hocket.search.limits import Limits
from hocket.search.predict import Call

if TYPE_CHECKING:
    from hocket import CostModel, Network


def find(
    collective: str,
    network: Network,
    size_bytes: int,
    members: Sequence[int] | None = None,
    root: int = 0,
    costs: CostModel | None = None,
    chunks: int | None = None,
    max_chunk_bytes: int | None = None,
    algorithms: Sequence[str] | None = None,
    seed: int = 1,
    limits: Limits | None = None,
) -> Found:
    """The schedule predicted to be fastest.

    `members`: the communicator's network ranks in order, all by default; `root` and orders are positions in it.
    `size_bytes` as in `lower`. `costs`: of messages, `CostModel.usual()` if None. `chunks`: the number of segments, if
    given; else chosen, with no segment above `max_chunk_bytes`. `algorithms`: names of families to choose from.
    `limits`: what else a schedule must keep to.
    """
    from hocket import CostModel, wire_limit_s

    began = time.perf_counter()
    members = tuple(range(network.num_ranks) if members is None else members)
    costs = costs or CostModel.usual()
    limits = limits or Limits()
    limits = replace(
        limits,
        segments=limits.segments if chunks is None else chunks,
        most_segment_bytes=limits.most_segment_bytes if max_chunk_bytes is None else max_chunk_bytes,
        families=limits.families if algorithms is None else tuple(algorithms),
    )
    # Refuses wrong members and sizes.
    lower_bound_s = wire_limit_s(collective, network, list(members), size_bytes, root, costs.burst_bytes, costs.burst_s)
    candidates = Candidates(network, costs, collective, members, (root,), limits, seed)
    decision = decide(candidates, Call(collective, members, size_bytes, (root,)))
    assert decision.best is not None  # a family remains, and any of its schedules serves the call
    best = decision.best.candidate
    textbook = best.family.algorithm
    return Found(
        collective=collective,
        algorithm=best.schedule(root).algorithm if textbook is None else textbook.name,
        build=lambda: best.schedule(root),
        predicted_s=decision.best.time_s,
        lower_bound_s=lower_bound_s,
        chunks=best.segments,
        order=best.order,
        search_s=time.perf_counter() - began,
        how=best.how,
        tried=decision.tried,
    )
