# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The rounds of each algorithm by its usual name, as Open MPI's sources have them, whose relatives were measured.

Trees are not segmented; buffers are allocated in each call. What a library calls the same may differ in such details:
`corrections` learns that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hocket.advise.measured.exchanges import (
    Folded,
    bruck_allgather,
    bruck_alltoall,
    distance_doubling_reduce_scatter,
    distances,
    linear_alltoall,
    neighbor_exchange,
    pairwise_alltoall,
    pairwise_reduce_scatter,
    rabenseifner_allreduce,
    recursive_doubling_allgather,
    recursive_doubling_allreduce,
    recursive_halving_reduce_scatter,
    ring_allgather,
    ring_allreduce,
    ring_reduce_scatter,
    sparbit_allgather,
)
from hocket.advise.measured.rounds import Round, Rounds, messages
from hocket.advise.measured.trees import (
    Tree,
    bcast_rounds,
    binary,
    binomial,
    chains,
    in_order_binary,
    in_order_binomial,
    knomial,
    reduce_rounds,
)

Form = Callable[[int], Rounds]


def _bcast(tree: Callable[[int], Tree]) -> Form:
    return lambda p: Rounds(tuple(bcast_rounds(tree(p))))


def _reduce(tree: Callable[[int], Tree]) -> Form:
    """An inner rank has two buffers to receive into and one to add in."""
    return lambda p: Rounds(tuple(reduce_rounds(tree(p))), allocated=3.0, copied=1.0)


def _linear_bcast(p: int) -> Rounds:
    return Rounds((messages(np.zeros(p - 1), np.arange(1, p), 1.0),))


def _split_binary_bcast(p: int) -> Rounds:
    """Each half of the message goes down one half of the tree; then pairs of ranks swap halves [PjesivacGrbovic07]."""
    if p < 4:
        return _bcast(lambda p: chains(p, 1))(p)
    tree = binary(p)
    left = np.zeros(p, dtype=bool)
    for v in tree.from_root()[1:]:
        parent = int(tree.parent[v])
        left[v] = v == 1 if parent == 0 else left[parent]
    ranks = np.arange(1, p)
    lefts, rights = ranks[left[1:]], ranks[~left[1:]]
    pairs = min(len(lefts), len(rights))
    alone = np.concatenate([lefts[pairs:], rights[pairs:]])  # these get the other half from the root
    lefts, rights = lefts[:pairs], rights[:pairs]
    sources, targets = (lefts, rights, np.zeros(len(alone))), (rights, lefts, alone)
    return Rounds((*bcast_rounds(tree, 0.5), messages(np.concatenate(sources), np.concatenate(targets), 0.5)))


def _scattered(p: int) -> list[Round]:
    """Down the binomial tree of consecutive ranks, the largest part first."""
    rounds = []
    distance = 1 << max(0, (p - 1).bit_length() - 1)
    while distance:
        sources = np.arange(0, p - distance, 2 * distance)
        rounds.append(messages(sources, sources + distance, np.minimum(distance, p - sources - distance) / p))
        distance //= 2
    return rounds


def _scatter_then(allgather: Form) -> Form:
    def form(p: int) -> Rounds:
        rest = allgather(p)
        return Rounds((*_scattered(p), *rest.rounds), rest.allocated, rest.copied)

    return form


def _binomial_scatter(p: int) -> Rounds:
    return Rounds(tuple(_scattered(p)), allocated=0.5, copied=0.5)


def _binomial_gather(p: int) -> Rounds:
    rounds = tuple(messages(one.target, one.source, one.share) for one in reversed(_scattered(p)))
    return Rounds(rounds, allocated=0.5, copied=0.5)


def _linear_scatter(p: int) -> Rounds:
    """Blocking sends: one after another where they wait for the receiver, at once where they do not."""
    in_turn = messages(0, 1, 1 / p, times=0.5 * (p - 1))
    return Rounds((in_turn, messages(np.zeros(p - 1), np.arange(1, p), 0.5 / p)))


def _nonblocking_scatter(p: int) -> Rounds:
    return Rounds((messages(np.zeros(p - 1), np.arange(1, p), 1 / p),))


def _linear_gather(p: int) -> Rounds:
    return Rounds((messages(np.arange(1, p), np.zeros(p - 1), 1 / p),))


def _synchronised_gather(p: int) -> Rounds:
    """The root asks each rank for its block, one after another."""
    return Rounds((messages(p // 2, 0, 1 / p, times=p - 1, handshake=True),))


def _linear_reduce(p: int) -> Rounds:
    return Rounds((messages(np.arange(1, p), np.zeros(p - 1), 1.0, combines=True),), allocated=1.0, copied=1.0)


def _rabenseifner_reduce(p: int) -> Rounds:
    folded = Folded(p, with_root=True)
    gathered = []
    for distance in distances(folded.power):
        senders = np.arange(distance, folded.power, 2 * distance)
        receivers, share = folded.real[senders - distance], distance / folded.power
        gathered.append(messages(folded.real[senders], receivers, share))
    return Rounds((*folded.give(), *folded.halving(), *gathered), allocated=2.0, copied=1.0)


def _in_order_reduce(p: int) -> Rounds:
    """To the last rank, and from there to the root."""
    return Rounds((*reduce_rounds(in_order_binary(p)), messages(p - 1, 0, 1.0)), allocated=3.0, copied=1.0)


FORMS: dict[tuple[str, str], Form] = {
    ("allgather", "bruck"): bruck_allgather,
    ("allgather", "neighbor-exchange"): neighbor_exchange,
    ("allgather", "recursive-doubling"): recursive_doubling_allgather,
    ("allgather", "ring"): ring_allgather,
    ("allgather", "sparbit"): sparbit_allgather,
    ("allreduce", "rabenseifner"): rabenseifner_allreduce,
    ("allreduce", "recursive-doubling"): recursive_doubling_allreduce,
    ("allreduce", "ring"): ring_allreduce,
    ("allreduce", "ring-segmented"): ring_allreduce,
    ("alltoall", "bruck"): bruck_alltoall,
    ("alltoall", "linear"): linear_alltoall,
    ("alltoall", "linear-sync"): linear_alltoall,
    ("alltoall", "pairwise"): pairwise_alltoall,
    ("bcast", "binary-tree"): _bcast(binary),
    ("bcast", "binomial"): _bcast(binomial),
    ("bcast", "chain"): _bcast(lambda p: chains(p, 4)),
    ("bcast", "knomial-4"): _bcast(lambda p: knomial(p, 4)),
    ("bcast", "linear"): _linear_bcast,
    ("bcast", "pipeline"): _bcast(lambda p: chains(p, 1)),
    ("bcast", "scatter-recursive-doubling-allgather"): _scatter_then(recursive_doubling_allgather),
    ("bcast", "scatter-ring-allgather"): _scatter_then(ring_allgather),
    ("bcast", "split-binary-tree"): _split_binary_bcast,
    ("gather", "binomial"): _binomial_gather,
    ("gather", "linear"): _linear_gather,
    ("gather", "linear-sync"): _synchronised_gather,
    ("reduce", "binary-tree"): _reduce(binary),
    ("reduce", "binomial"): _reduce(in_order_binomial),
    ("reduce", "chain"): _reduce(lambda p: chains(p, 4)),
    ("reduce", "in-order-binary-tree"): _in_order_reduce,
    ("reduce", "knomial-4"): _reduce(lambda p: knomial(p, 4)),
    ("reduce", "linear"): _linear_reduce,
    ("reduce", "pipeline"): _reduce(lambda p: chains(p, 1)),
    ("reduce", "rabenseifner"): _rabenseifner_reduce,
    ("reduce_scatter", "pairwise"): pairwise_reduce_scatter,
    ("reduce_scatter", "recursive-distance-doubling"): distance_doubling_reduce_scatter,
    ("reduce_scatter", "recursive-halving"): recursive_halving_reduce_scatter,
    ("reduce_scatter", "ring"): ring_reduce_scatter,
    ("scatter", "binomial"): _binomial_scatter,
    ("scatter", "linear"): _linear_scatter,
    ("scatter", "linear-nonblocking"): _nonblocking_scatter,
}

FASTEST = ""  # the name that stands for the fastest form of a collective, as a library itself might choose

# Made of other collectives, by the algorithms that the library itself chooses for them.
COMPOSED: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("allgather", "gather-bcast"): (("gather", FASTEST), ("bcast", FASTEST)),
    ("allgather", "linear"): (("gather", FASTEST), ("bcast", FASTEST)),
    ("allreduce", "reduce-bcast"): (("reduce", FASTEST), ("bcast", FASTEST)),
    ("allreduce", "reduce-bcast-linear"): (("reduce", "linear"), ("bcast", "linear")),
    ("reduce_scatter", "reduce-scatterv"): (("reduce", FASTEST), ("scatter", "linear")),
}


def parts_of(collective: str, algorithm: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The collectives that an algorithm is made of, one after another: for each the forms to take the fastest of.
    Empty for an algorithm without a form here."""
    parts = COMPOSED.get((collective, algorithm), ((collective, algorithm),))
    forms = tuple(tuple(form for form in FORMS if form[0] == of and name in (FASTEST, form[1])) for of, name in parts)
    return forms if all(forms) else ()


def runs_as(collective: str, algorithm: str, ranks: int, count: int) -> str:
    """What the libraries run when the vector has fewer elements than ranks: allreduce's rings become another."""
    if collective == "allreduce" and count < ranks and algorithm in ("ring", "ring-segmented"):
        return "recursive-doubling"
    return algorithm
