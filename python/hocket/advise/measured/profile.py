# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a collective asks of the machine: rounds on a placement become counts of messages and of bytes.

The counts are those of the busiest rank, host or link of each round, which is what the others wait for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hocket.advise.measured.placement import Placement
from hocket.advise.measured.rounds import Floats, Ints, Round, Rounds

FEW = 64  # messages: below, numbering hosts anew is faster than a table of all of them


@dataclass(frozen=True)
class Profile:
    """One row for each round; all sizes are shares of the vector."""

    times: Floats
    message: Floats  #: the largest message
    sent: Floats  #: messages that the busiest rank sends
    received: Floats
    inside: Floats  #: 1 if a message stays in its host, or the share of those that do in a pipeline
    near: Floats  #: the same for messages between hosts of a cell
    far: Floats  #: and between cells
    hops: Floats  #: links passed in a torus
    nic: Floats  #: through the busiest network adapter, in one direction
    nic_messages: Floats
    peers: Floats  #: ranks of other hosts that the busiest rank sends to, in each of the `times`
    rank_bytes: Floats  #: sent to or received from other hosts by the busiest rank
    memory: Floats  #: passed between the ranks of the busiest host
    link: Floats  #: over the busiest link of the torus
    cell: Floats  #: out of or into the busiest cell, for each host that the job has there
    combined: Floats  #: combined by the busiest rank
    host_combined: Floats  #: combined by all ranks of the busiest host
    handshakes: Floats
    mutual: Floats  #: through the busiest adapter where two ranks send to each other
    fresh: Floats  #: by the busiest rank from buffers allocated in the call
    allocated: float
    copied: float
    ranks_per_host: int

    @property
    def posted(self) -> Floats:
        return np.maximum(self.sent, self.received)


def profile(rounds: Rounds, placement: Placement) -> Profile:
    rows = [_row(one, placement) for one in rounds.rounds]
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Profile(**columns, allocated=rounds.allocated, copied=rounds.copied, ranks_per_host=placement.ranks_per_host)


def _most(numbers: Ints, weights: Floats) -> float:
    """The largest sum of the weights of one number. Rounds of a chain have one message each: they cost no more."""
    if not len(numbers):
        return 0.0
    if len(numbers) < FEW:
        numbers = np.unique(numbers, return_inverse=True)[1]
    return float(np.bincount(numbers, weights).max())


def _row(one: Round, at: Placement) -> dict[str, float]:
    source, target = one.source, one.target
    inside = at.host[source] == at.host[target]
    far = at.cell[source] != at.cell[target]
    outside = ~inside
    pieces = np.full(len(source), one.pieces)
    out = one.share[outside]
    rank_bytes = max(_most(source[outside], out), _most(target[outside], out))
    nic = max(_most(at.host[source][outside], out), _most(at.host[target][outside], out))
    counts = pieces[outside]
    nic_messages = max(_most(at.host[source][outside], counts), _most(at.host[target][outside], counts))
    memory = _most(at.host[source][inside], one.share[inside])
    cell = 0.0
    if far.any():
        for end in (source, target):
            load = np.bincount(at.cell[end][far], one.share[far], minlength=len(at.hosts_of_cell))
            cell = max(cell, float((load / np.maximum(at.hosts_of_cell, 1)).max()))
    hops, link = _torus(one, at)
    if one.pipelined:
        levels = [inside.mean(), (outside & ~far).mean(), far.mean()]
    else:
        levels = [float(not outside.any()), float(outside.any() and not far.any()), float(far.any())]
    return {
        "times": one.times,
        "message": float(one.share.max()) / one.pieces,
        "sent": _most(source, pieces),
        "received": _most(target, pieces),
        "inside": levels[0],
        "near": levels[1],
        "far": levels[2],
        "hops": hops,
        "nic": nic,
        "nic_messages": nic_messages,
        "peers": _most(source[outside], np.full(len(out), one.peers)) / (one.times if one.pipelined else 1),
        "rank_bytes": rank_bytes,
        "memory": memory,
        "link": link,
        "cell": cell,
        "combined": _most(target, one.share) if one.combines else 0.0,
        "host_combined": _most(at.host[target], one.share) if one.combines else 0.0,
        "handshakes": float(one.handshake),
        "mutual": nic * _mutual(one, at),
        "fresh": rank_bytes * one.fresh,
    }


def _mutual(one: Round, at: Placement) -> float:
    """Share of the messages that go back and forth between two ranks."""
    there = one.source * at.ranks + one.target
    back = one.target * at.ranks + one.source
    return float(np.isin(there, back).mean())


def _torus(one: Round, at: Placement) -> tuple[float, float]:
    """Hops of the farthest message (of the mean one in a pipeline), and the load of the busiest link: messages go along
    the dimensions in turn, the shorter way around."""
    if at.coordinates is None:
        return 0.0, 0.0
    here, there = at.coordinates[one.source].copy(), at.coordinates[one.target]
    hops = np.zeros(len(here), dtype=np.int64)
    busiest = 0.0
    for dimension, size in enumerate(at.torus):
        ahead = (there[:, dimension] - here[:, dimension]) % size
        for step, distance in ((1, ahead), (-1, size - ahead)):
            moves = (ahead <= size // 2) if step == 1 else (ahead > size // 2)
            left = np.where(moves, distance, 0)
            hops += left
            load = np.zeros(at.torus)
            at_dimension = here.copy()
            while (left > 0).any():
                going = left > 0
                np.add.at(load, tuple(at_dimension[going].T), one.share[going])
                at_dimension[going, dimension] = (at_dimension[going, dimension] + step) % size
                left = left - 1
            busiest = max(busiest, float(load.max()))
        here[:, dimension] = there[:, dimension]
    return float(hops.mean() if one.pipelined else hops.max()), busiest
