# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where it is measured: networks, placements of ranks on their hosts, and what is measured there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from hocket.mpi.build_inputs import source_folder

if TYPE_CHECKING:
    from hocket import Network
    from hocket.advise.calls import CallGroup

PLACEMENTS = ("in order", "interleaved")
COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "alltoall")
SIZES = (8, 64, 512, 4096, 32768, 65536, 262144, 1 << 20, 4 << 20)
QUICK_SIZES = (8, 4096, 65536, 1 << 20)
# Of these a block of `bytes` / ranks goes from a rank to each other one: `bytes` is what a rank has in the end.
OF_BLOCKS = ("allgather", "alltoall")


@dataclass(frozen=True)
class Case:
    collective: str
    size_bytes: int  # of the buffer of a rank

    def group(self, ranks: int) -> CallGroup:
        from hocket.advise.calls import CallGroup

        block = max(1, self.size_bytes // ranks) if self.collective in OF_BLOCKS else self.size_bytes
        return CallGroup(self.collective, tuple(range(ranks)), block, block, (0,), 1, commutative=True)


def bundled_networks() -> list[Network]:
    """A star, two unequal clusters, a tree of three levels, and hosts of two ranks; eight ranks each."""
    from hocket import Network

    folder = source_folder() / "networks"
    names = ("two-clusters", "three-level-tree", "four-by-two")
    return [
        Network.generate("star:8", bandwidth="200 Mbit/s"),
        *(Network.from_file(str(folder / f"{n}.toml")) for n in names),
    ]


def placements(network: Network) -> list[str]:
    """Those that differ: on a star of equal hosts any order of the ranks is the same."""
    hosts = _hosts(network)
    centre = {link.target for link in network.links if link.source in hosts}
    bandwidths = {link.bandwidth_bytes_per_s for link in network.links}
    alone = len(set(hosts)) == network.num_ranks
    return [PLACEMENTS[0]] if alone and len(centre) == 1 and len(bandwidths) == 1 else list(PLACEMENTS)


def placed(network: Network, placement: str) -> Network:
    """Ranks on the hosts as the file lists these, a host's ranks together; or in turns on both halves of the list."""
    from hocket import Network

    sequence = _hosts(network)
    if placement != PLACEMENTS[0]:
        order = list(dict.fromkeys(sequence))
        half = (len(order) + 1) // 2
        mixed = [host for pair in zip_longest(order[:half], order[half:]) for host in pair if host is not None]
        ranks = Counter(sequence)
        sequence = [host for turn in range(max(ranks.values())) for host in mixed if turn < ranks[host]]
    return Network.build(network.blueprint().replace(placement=sequence))


def quick_cases(network: int, mpi: int) -> list[Case]:
    """A sample for the network and the MPI of these numbers: each MPI, and each network, has every case somewhere.

    A third of the cases in each setting, and the largest size, which takes long, of one collective in some.
    """
    every = [Case(collective, size) for size in QUICK_SIZES for collective in COLLECTIVES]
    largest = [Case(COLLECTIVES[(network + 2 * mpi) % len(COLLECTIVES)], 4 << 20)] if (network + mpi) % 4 == 0 else []
    return [case for i, case in enumerate(every) if (i + network + mpi) % 3 == 0] + largest


def all_cases(sizes: Sequence[int], collectives: Sequence[str]) -> list[Case]:
    return [Case(collective, size) for size in sizes for collective in collectives]


def _hosts(network: Network) -> list[int]:
    """The host of each rank, as the file lists the hosts."""
    rank_nodes, rank_hosts = network.rank_nodes, network.rank_hosts
    return [rank_hosts[rank] for rank in sorted(range(network.num_ranks), key=lambda rank: rank_nodes[rank])]
