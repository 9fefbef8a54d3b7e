# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rounds of the algorithms in which every rank sends and receives in every round."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hocket.advise.measured.rounds import Round, Rounds, messages

MOST_ROUNDS = 48  # of a long series of similar rounds (an all-to-all) so many stand for all


def _ring(p: int, combines: bool = False, fresh: bool = False) -> Round:
    ranks = np.arange(p)
    return messages(ranks, (ranks + 1) % p, 1 / p, combines=combines, times=p - 1, pipelined=True, fresh=fresh)


def ring_allgather(p: int) -> Rounds:
    return Rounds((_ring(p),))


def ring_allreduce(p: int) -> Rounds:
    return Rounds((_ring(p, combines=True), _ring(p)), allocated=2 / p, copied=1.0)


def ring_reduce_scatter(p: int) -> Rounds:
    return Rounds((_ring(p, combines=True, fresh=True),), allocated=1.0 + 2 / p, copied=1.0)


def neighbor_exchange(p: int) -> Rounds:
    """Pairs of ranks swap two blocks a round, with the one neighbour and the other in turn [Chen05]."""
    if p % 2:
        return ring_allgather(p)
    ranks = np.arange(p)
    even = ranks % 2 == 0
    first, second = np.where(even, ranks + 1, ranks - 1) % p, np.where(even, ranks - 1, ranks + 1) % p
    rounds = [messages(ranks, first, 1 / p)]
    for targets, times in ((second, p // 4), (first, p // 2 - 1 - p // 4)):
        if times:
            rounds.append(messages(ranks, targets, 2 / p, times=times, pipelined=True))
    return Rounds(tuple(rounds))


def power_of_two_within(p: int) -> int:
    return 1 << (p.bit_length() - 1)


def distances(power: int) -> list[int]:
    """1, 2, 4, ... below the power."""
    return [1 << bit for bit in range(power.bit_length() - 1)]


class Folded:
    """The ranks that act in an algorithm for powers of two: of the first 2e ranks the odd ones, as in Open MPI, or the
    even ones where rank 0 has to."""

    def __init__(self, p: int, with_root: bool = False) -> None:
        self.power = power_of_two_within(p)
        excess = p - self.power
        even = np.arange(0, 2 * excess, 2)
        self._givers, self._takers = (even + 1, even) if with_root else (even, even + 1)
        self.real = np.concatenate([self._takers, np.arange(2 * excess, p)])

    def give(self) -> list[Round]:
        return [messages(self._givers, self._takers, 1.0, combines=True)] if len(self._givers) else []

    def get(self, share: float) -> list[Round]:
        return [messages(self._takers, self._givers, share)] if len(self._givers) else []

    def exchange(self, distance: int, share: float, combines: bool, fresh: bool = False) -> Round:
        numbers = np.arange(self.power)
        return messages(self.real, self.real[numbers ^ distance], share, combines=combines, fresh=fresh)

    def halving(self, far_first: bool = False, fresh: bool = False) -> list[Round]:
        """Each rank ends with its part of the sum [Rabenseifner04]."""
        order = distances(self.power)
        if far_first:
            order.reverse()
        return [self.exchange(distance, 0.5 ** (k + 1), True, fresh) for k, distance in enumerate(order)]

    def doubling(self, far_first: bool = False) -> list[Round]:
        """From each rank's part to the whole."""
        order = distances(self.power)
        shares = [distance / self.power for distance in order]
        if far_first:
            order.reverse()
        return [self.exchange(distance, share, False) for distance, share in zip(order, shares, strict=True)]


def recursive_doubling_allreduce(p: int) -> Rounds:
    folded = Folded(p)
    exchanges = [folded.exchange(distance, 1.0, True) for distance in distances(folded.power)]
    return Rounds((*folded.give(), *exchanges, *folded.get(1.0)), allocated=1.0, copied=1.0)


def rabenseifner_allreduce(p: int) -> Rounds:
    folded = Folded(p)
    halving, doubling = folded.halving(), folded.doubling(far_first=True)
    return Rounds((*folded.give(), *halving, *doubling, *folded.get(1.0)), allocated=1.0, copied=1.0)


def recursive_halving_reduce_scatter(p: int) -> Rounds:
    folded = Folded(p)
    halving = folded.halving(far_first=True, fresh=True)
    return Rounds((*folded.give(), *halving, *folded.get(1 / p)), allocated=2.0, copied=1.0)


def distance_doubling_reduce_scatter(p: int) -> Rounds:
    """Halves at doubling distances; blocks are permuted before, in a buffer of their own."""
    folded = Folded(p)
    return Rounds((*folded.give(), *folded.halving(fresh=True), *folded.get(1 / p)), allocated=2.0, copied=2.0)


def pairwise_reduce_scatter(p: int) -> Rounds:
    ranks = np.arange(p)
    rounds = (messages(ranks, (ranks + k) % p, 1 / p, combines=True, times=times) for k, times in _some(p - 1))
    return Rounds(tuple(rounds), allocated=1 / p, copied=1 / p)


def recursive_doubling_allgather(p: int) -> Rounds:
    """Of a number of ranks that is no power of two, libraries run Bruck's algorithm instead."""
    folded = Folded(p)
    return Rounds(tuple(folded.doubling())) if folded.power == p else bruck_allgather(p)


def bruck_allgather(p: int) -> Rounds:
    ranks, rounds, distance = np.arange(p), [], 1
    while distance < p:
        rounds.append(messages(ranks, (ranks - distance) % p, min(distance, p - distance) / p))
        distance *= 2
    return Rounds(tuple(rounds), allocated=0.5, copied=1.5)


def sparbit_allgather(p: int) -> Rounds:
    """Binomial trees with halving distances, one for each block; a block is a message of its own [Loch21]."""
    ranks, rounds = np.arange(p), []
    distance, held = 1 << max(0, (p - 1).bit_length() - 1), 1
    while distance and held < p:
        blocks = min(held, p - held)
        rounds.append(messages(ranks, (ranks + distance) % p, blocks / p, pieces=blocks))
        held += blocks
        distance //= 2
    return Rounds(tuple(rounds))


def _some(count: int) -> Iterator[tuple[int, float]]:
    """1 .. count, or some of them, and how many each stands for."""
    picked = np.unique(np.linspace(1, count, min(count, MOST_ROUNDS)).round().astype(int))
    for k in picked:
        yield int(k), count / len(picked)


def pairwise_alltoall(p: int) -> Rounds:
    ranks = np.arange(p)
    return Rounds(tuple(messages(ranks, (ranks + k) % p, 1 / p, times=times) for k, times in _some(p - 1)))


def linear_alltoall(p: int) -> Rounds:
    """Every message is posted at once. Some distances stand for all of them."""
    ranks = np.arange(p)
    some = [(ranks + k) % p for k, _ in _some(p - 1)]
    pieces = (p - 1) / len(some)
    return Rounds((messages(np.tile(ranks, len(some)), np.concatenate(some), pieces / p, pieces=pieces, peers=pieces),))


def bruck_alltoall(p: int) -> Rounds:
    ranks, rounds, distance = np.arange(p), [], 1
    while distance < p:
        rounds.append(messages(ranks, (ranks + distance) % p, np.count_nonzero(ranks & distance) / p))
        distance *= 2
    return Rounds(tuple(rounds), allocated=1.0, copied=2.0 + len(rounds))
