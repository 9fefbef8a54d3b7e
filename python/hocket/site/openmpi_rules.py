# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The file of rules that Open MPI's component coll/tuned reads: coll_tuned_dynamic_rules_filename.

Its form is that of ompi/mca/coll/tuned/coll_tuned_dynamic_file.c: for each collective communicator sizes, for each of
these message sizes with an algorithm, a fan-out and a segment size; the last rule that is not above a call serves it.
A fan-out of 0 and a segment size of 0 are the algorithm's own.

Reductions are left out: coll/tuned takes its rules for operators that do not commute, too, and most algorithms give
these wrong results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hocket.site.selection import Algorithm, Rule

# coll_base_functions.h: number of the collective -> and, in coll_tuned's parameters, of each algorithm.
_COLLECTIVES = {"allgather": 0, "alltoall": 3, "bcast": 7, "gather": 9, "scatter": 15}
_ALGORITHMS = {
    "bcast": {
        "linear": 1, "pipelined_chain": 3, "binomial": 6, "scatter_recursive_doubling": 8, "scatter_allgather": 9
    },
    "allgather": {"bruck": 2, "recursive_doubling": 3, "ring": 4, "neighbor_exchange": 5},
    "alltoall": {"linear": 1, "pairwise": 2, "bruck": 3},
    "gather": {"linear": 1, "binomial": 2},
    "scatter": {"linear": 1, "binomial": 2},
}  # fmt: skip


def catalogue(ranks: int) -> dict[str, list[Algorithm]]:
    """What it has for so many ranks."""
    is_power = ranks & (ranks - 1) == 0
    left_out = {"scatter_recursive_doubling": not is_power, "recursive_doubling": not is_power,
                "neighbor_exchange": ranks % 2 == 1}  # fmt: skip
    return {
        collective: [Algorithm(name, name.startswith("pipelined")) for name in names if not left_out.get(name, False)]
        for collective, names in _ALGORITHMS.items()
    }


def variables(path: str) -> dict[str, str]:
    """That make Open MPI read the file, and leave out what may serve collectives before coll/tuned."""
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": path,
        "OMPI_MCA_coll": "^han,hcoll,ucc",
    }


def to_rules(ranks: int, rules: Mapping[str, Sequence[Rule]]) -> str:
    """The file, for communicators of `ranks` ranks; all others are served as without it."""
    served = {name: found for name, found in rules.items() if found}
    lines = [f"{len(served)} # collectives"]
    for collective, found in served.items():
        sizes = {2: "0 0 0 0", ranks: "", ranks + 1: "0 0 0 0"}
        lines += [f"{_COLLECTIVES[collective]} # {collective}", f"{len(sizes)} # sizes of communicators"]
        for size in sorted(sizes):
            own = [sizes[size]] if sizes[size] else [_line(collective, ranks, rule) for rule in found]
            lines += [f"{size} # ranks", f"{len(own)} # sizes of messages", *own]
    return "\n".join(lines) + "\n"


def _line(collective: str, ranks: int, rule: Rule) -> str:
    # The sizes of bcast are of the message, those of the others of all ranks' blocks together.
    size = rule.from_bytes if collective == "bcast" else rule.from_bytes * ranks
    fan_out = 1 if rule.segment_bytes else 0
    return f"{size} {_ALGORITHMS[collective][rule.algorithm]} {fan_out} {rule.segment_bytes} # {rule.algorithm}"
