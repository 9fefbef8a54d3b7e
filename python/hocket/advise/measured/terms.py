# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The terms that the time of a collective is the sum of: LogGP's [Alexandrov95], and what memory costs.

Each term is an amount, which follows from the algorithm, the placement and the size, times a cost of the system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hocket.advise.measured.profile import Profile
from hocket.advise.measured.rounds import Floats

# A host has several adapters of which a rank uses half: what all ranks of a host send together counts half against what
# one rank sends (Leonardo: four ports of 100 Gbit/s, two of which a message uses by UCX's default).
HOST_TO_RANK = 0.5

EAGER = 8 << 10  # about where libraries begin to ask the receiver first: 8 KiB (UCX) to 64 KiB (Open MPI over TCP)
LARGE_MESSAGE = 64 << 10
REGISTERED = 256 << 10  # from about here on a message is sent from the user's pages, which are registered first
EXCHANGED = 2 << 20  # messages larger than this fill a link for long enough to disturb those coming back
CACHE = 32 << 20  # vectors beyond do not stay in the last level of a core's share of caches
MAPPED = 33e6  # glibc maps and unmaps each buffer above 32 MiB (DEFAULT_MMAP_THRESHOLD_MAX), page by page


@dataclass(frozen=True)
class Term:
    name: str
    usual: float  #: seconds for each message, round or byte: what is expected before anything is measured
    amount: Callable[[Profile, float], float]
    waits: bool = False  #: of latencies and overheads, which differ from job to job together


def _above(value: Floats | float, limit: float, sharpness: float = 2) -> Floats:
    """0 far below the limit, 1 far above it, and a half at it: real thresholds differ by library and by path."""
    power = np.asarray(value, dtype=np.float64) ** sharpness
    return np.asarray(power / (power + limit**sharpness))


def _sum(p: Profile, amounts: Floats) -> float:
    return float((p.times * amounts).sum())


def _mapped(p: Profile, size: float) -> float:
    return float(p.allocated * size * _above(min(p.allocated, 1.0) * size, MAPPED, 8))


def _fresh(p: Profile, size: float) -> float:
    return _sum(p, p.fresh * _above(p.message * size, REGISTERED)) * size


TERMS = (
    Term("call", 1e-6, lambda p, n: 1.0, True),
    Term("latency inside a host", 0.5e-6, lambda p, n: _sum(p, p.inside), True),
    Term("latency in a cell", 1.5e-6, lambda p, n: _sum(p, p.near), True),
    Term("latency between cells", 1e-6, lambda p, n: _sum(p, p.far), True),
    Term("hop", 0.1e-6, lambda p, n: _sum(p, p.hops), True),
    Term("send", 0.2e-6, lambda p, n: _sum(p, p.sent), True),
    Term("receive", 0.1e-6, lambda p, n: _sum(p, p.received), True),
    Term("message of a host", 0.05e-6, lambda p, n: _sum(p, p.nic_messages), True),
    Term("rendezvous", 1e-6, lambda p, n: _sum(p, _above(p.message * n, EAGER)), True),
    Term("large message", 2e-6, lambda p, n: _sum(p, _above(p.message * n, LARGE_MESSAGE) * p.posted), True),
    Term("peer", 0.3e-6, lambda p, n: _sum(p, p.peers), True),
    Term("handshake", 2e-6, lambda p, n: _sum(p, p.handshakes), True),
    Term("byte of a host", 3e-12, lambda p, n: _sum(p, p.nic) * n),
    Term("byte", 3e-11, lambda p, n: _sum(p, np.maximum(p.rank_bytes, HOST_TO_RANK * p.nic)) * n),
    Term("byte of a small message", 5e-11, lambda p, n: _sum(p, p.posted * np.minimum(p.message * n, 2 * EAGER))),
    Term("byte sent back and forth", 1e-11, lambda p, n: _sum(p, p.mutual * _above(p.message * n, EXCHANGED)) * n),
    Term("byte inside a host", 3e-11, lambda p, n: _sum(p, p.memory) * n),
    Term("byte on a link of a torus", 4e-11, lambda p, n: _sum(p, p.link) * n),
    Term("byte between cells", 4e-12, lambda p, n: _sum(p, p.cell) * n),
    Term("byte combined", 1e-10, lambda p, n: _sum(p, p.combined) * n),
    Term("byte combined by a host", 2e-11, lambda p, n: _sum(p, p.host_combined) * n),
    Term("byte combined beyond caches", 1e-10, lambda p, n: _sum(p, p.combined) * n * float(_above(n, CACHE, 3))),
    Term("byte copied", 3e-11, lambda p, n: p.copied * n),
    Term("byte mapped", 3e-10, lambda p, n: _mapped(p, n)),
    Term("byte mapped by a host", 5e-11, lambda p, n: _mapped(p, n) * p.ranks_per_host),
    Term("byte registered", 5e-11, _fresh),
)


USUAL: Floats = np.array([term.usual for term in TERMS])


def amounts(profile: Profile, size_bytes: int) -> Floats:
    """One value for each of TERMS."""
    return np.array([term.amount(profile, float(size_bytes)) for term in TERMS])
