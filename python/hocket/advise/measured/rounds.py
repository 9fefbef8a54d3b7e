# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A collective algorithm as rounds: which messages travel at the same time, and how large they are.

Sizes are shares of the whole vector, so that one list of rounds serves every size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

Ints = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@dataclass(frozen=True)
class Round:
    """Messages that travel at once, each of `share` of the vector; the next round begins when they have arrived."""

    source: Ints
    target: Ints
    share: Floats
    combines: bool = False  #: the receiver adds what it receives to its own operand
    times: float = 1.0  #: so many rounds like this one follow each other
    pipelined: bool = False  #: a rank waits for its neighbour only, not for the slowest of all
    pieces: float = 1.0  #: messages that each of these is cut into
    peers: float = 1.0  #: receivers that each of these stands for
    handshake: bool = False  #: the receiver first asks for the message
    fresh: bool = False  #: sent from a buffer that was allocated in this call


@dataclass(frozen=True)
class Rounds:
    rounds: tuple[Round, ...]
    allocated: float = 0.0  #: buffers that the busiest rank allocates in the call, as a share of the vector
    copied: float = 0.0  #: bytes that the busiest rank copies in its memory, as a share of the vector


def messages(
    source: ArrayLike,
    target: ArrayLike,
    share: ArrayLike,
    *,
    combines: bool = False,
    times: float = 1.0,
    pipelined: bool = False,
    pieces: float = 1.0,
    peers: float = 1.0,
    handshake: bool = False,
    fresh: bool = False,
) -> Round:
    """A round; a single source, target or share stands for all of them."""
    sources, targets = np.broadcast_arrays(
        np.atleast_1d(np.asarray(source, dtype=np.int64)), np.asarray(target, dtype=np.int64)
    )
    shares = np.broadcast_to(np.asarray(share, dtype=np.float64), sources.shape)
    return Round(sources, targets, shares, combines, times, pipelined, pieces, peers, handshake, fresh)
