# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The JSON by which MPICH selects algorithms: MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE.

The file takes the place of the tree that MPICH was built with, and an algorithm that it lacks ends the program. So it
is that tree, read from the library, with branches for communicators of one number of ranks put into it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hocket.errors import InvalidInput
from hocket.site.selection import Algorithm, Rule

_START = b'{"collective='
_INTRA = "comm_type=intra"
_ALGORITHMS = {
    "bcast": {
        "binomial": "MPIR_Bcast_intra_binomial",
        "scatter_recursive_doubling": "MPIR_Bcast_intra_scatter_recursive_doubling_allgather",
        "scatter_allgather": "MPIR_Bcast_intra_scatter_ring_allgather",
    },
    "allreduce": {
        "recursive_doubling": "MPIR_Allreduce_intra_recursive_doubling",
        "rabenseifner": "MPIR_Allreduce_intra_reduce_scatter_allgather",
    },
    "allgather": {
        "ring": "MPIR_Allgather_intra_ring",
        "recursive_doubling": "MPIR_Allgather_intra_recursive_doubling",
        "bruck": "MPIR_Allgather_intra_brucks",
    },
    "alltoall": {
        "linear": "MPIR_Alltoall_intra_scattered",
        "pairwise": "MPIR_Alltoall_intra_pairwise",
        "bruck": "MPIR_Alltoall_intra_brucks",
    },
}
Tree = dict[str, Any]


def own_tree(library: Path) -> Tree:
    """The tree in the MPI's library, of the algorithms that all its devices have."""
    content = library.read_bytes()
    at = content.find(_START)
    while at >= 0:
        text = content[at : content.find(b"\0", at)]
        if b"algorithm=MPIR_Bcast_intra_binomial" in text:
            try:
                tree: Tree = json.loads(text)
                return tree
            except ValueError:
                break
        at = content.find(_START, at + 1)
    raise InvalidInput(
        f"{library}: has no tree of algorithms as MPICH 4 and later have it", "MPICH before 4 reads none"
    )


def catalogue(ranks: int, tree: Tree) -> dict[str, list[Algorithm]]:
    """Of what the tree names, that which serves so many ranks."""
    text = json.dumps(tree)
    is_power = ranks & (ranks - 1) == 0
    return {
        collective: [
            Algorithm(name)
            for name, own in names.items()
            if f"algorithm={own}" in text
            and (is_power or name not in ("recursive_doubling", "scatter_recursive_doubling"))
        ]
        for collective, names in _ALGORITHMS.items()
    }


def with_rules(tree: Tree, ranks: int, rules: Mapping[str, Sequence[Rule]]) -> Tree:
    """The tree with these rules for communicators of `ranks` ranks."""
    changed: Tree = dict(tree)
    for collective, found in rules.items():
        key = f"collective={collective}"
        if not found:
            continue
        before = tree[key][_INTRA]
        branch = _branch(collective, ranks, found, before)
        intra = {f"comm_size<{ranks}": before, f"comm_size<={ranks}": branch, "comm_size=any": before}
        changed[key] = {**tree[key], _INTRA: intra}
    return changed


def _branch(collective: str, ranks: int, rules: Sequence[Rule], before: Tree) -> Tree:
    sizes: Tree = {}
    # avg_msg_size is of bcast's and allreduce's message and of alltoall's block; allgather has that of all blocks.
    quantity, factor = ("total_msg_size", ranks) if collective == "allgather" else ("avg_msg_size", 1)
    for rule, following in zip(rules, [*rules[1:], None], strict=True):
        until = f"{quantity}=any" if following is None else f"{quantity}<{following.from_bytes * factor}"
        sizes[until] = _leaf(collective, rule.algorithm)
    if collective == "allreduce":  # another order of operands
        return {"is_commutative=yes": sizes, "is_commutative=no": before}
    if collective == "alltoall":
        return {"is_sendbuf_inplace=yes": before, "is_sendbuf_inplace=no": sizes}
    return sizes


def _leaf(collective: str, name: str) -> Tree:
    chosen: Tree = {f"algorithm={_ALGORITHMS[collective][name]}": {}}
    if name != "rabenseifner":
        return chosen
    # It divides the elements among the ranks: there must be enough of them, and the operator must be one of MPI's.
    doubling: Tree = {f"algorithm={_ALGORITHMS[collective]['recursive_doubling']}": {}}
    return {"is_op_built_in=no": doubling, "is_op_built_in=yes": {"count<pow2": doubling, "count=any": chosen}}
