# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The ways to run the program that overlaps, as mpi/probes/overlap_modes.cpp has them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from hocket.errors import InvalidInput

BASE = "MPI"  # what all are compared with
MODES = {
    BASE: "the MPI's own blocking collective, then the computation",
    "NBCF-noovlp": "a schedule in the calls of the program, waited for before the computation",
    "NBCF-ovlp-test": "the same under the computation, moved on once in each outer iteration",
    "NBCF-ovlp-notest": "the same, moved on only by the wait",
    "NBCT-ovlp": "a schedule in a thread that always looks, as LibNBC's",
    "TCC-ovlp": "the MPI's own blocking collective in a thread, one after another",
    "TCC-schedule": "a schedule in the same thread, one after another: the algorithm of NBCF and NBCT",
    "nap-ovlp": "a schedule in a thread that naps between looks",
    "nap-native": "the MPI's own non-blocking collective, tested by that thread",
    "native-ovlp-test": "the MPI's own non-blocking collective, tested once in each outer iteration",
    "native-ovlp-notest": "the same, not tested",
    "adaptive": "what a selection has found to be the fastest of these, tested once in each outer iteration",
}
COLLECTIVES = (
    "alltoall", "allreduce", "bcast", "reduce", "allgather", "reduce_scatter_block", "scatter", "gather",
)  # fmt: skip
# What LibNBC takes for large messages, or the nearest that there is.
ALGORITHMS = {
    "alltoall": "linear",
    "allreduce": "ring",
    "bcast": "binomial",
    "reduce": "binomial",
    "allgather": "ring",
    "reduce_scatter_block": "ring",
    "scatter": "linear",
    "gather": "linear",
}
COMPUTE_MODELS = ("free-core", "real")


def check_choices(collective: str, algorithm: str | None, modes: Sequence[str], core: str) -> None:
    """Raises InvalidInput."""
    from hocket import algorithms

    if collective not in COLLECTIVES:
        raise InvalidInput(f"--collective: {collective} is none of {', '.join(COLLECTIVES)}")
    known = [one.name for one in algorithms() if one.collective == collective]
    if algorithm is not None and algorithm not in known:
        raise InvalidInput(
            f"--algorithm: {algorithm} is not an algorithm of {collective}; accepted: {', '.join(known)}"
        )
    for mode in modes:
        if mode not in MODES:
            raise InvalidInput(f"--mode: {mode} is none of {', '.join(MODES)}")
    if core in ("any", "idle"):
        return
    cores = sorted(usable_cores())
    if not (core.isascii() and core.isdecimal() and core in map(str, cores)):
        accepted = f"any, idle, {', '.join(map(str, cores))}"
        raise InvalidInput(f"--core: {core} cannot be used; accepted: {accepted}")


def usable_cores() -> set[int]:
    """Those that a process of this machine may move to, whatever this one is bound to. A thread is bound by itself."""

    def move() -> set[int]:
        os.sched_setaffinity(0, range(os.sysconf("SC_NPROCESSORS_CONF")))  # the kernel takes away the others
        return os.sched_getaffinity(0)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(move).result()
