# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What is said of ranks that share cores."""

from __future__ import annotations

from dataclasses import replace

from hocket import CostModel
from hocket.measure.compare import SharedCores
from hocket.tune.shared_cores import note_on_shared_cores, overhead_warnings

YIELDS = SharedCores("node1", ranks=8, cores=2, turn_s=5e-6)
SPINS = replace(YIELDS, turn_s=2.5e-3)


def test_ranks_with_cores_of_their_own_need_no_note() -> None:
    assert note_on_shared_cores([], "MPICH 5.0.2", testbed=False) == []


def test_cores_that_are_shared_and_given_away() -> None:
    (note,) = note_on_shared_cores([YIELDS, YIELDS], "Open MPI 4.1.4", testbed=True)
    assert note.startswith("8 ranks share this machine's 2 cores; those that wait give their cores to others")
    (note,) = note_on_shared_cores([replace(YIELDS, ranks=2, cores=1)], "Open MPI 4.1.4", testbed=False)
    assert note.startswith("2 ranks share node1's 1 core;")


def test_an_mpi_that_keeps_cores_is_named_with_what_to_do() -> None:
    (note,) = note_on_shared_cores([SPINS, YIELDS, SPINS], "MPICH 4.0.2", testbed=False)
    assert note.startswith(
        "8 ranks share node1's 2 cores, and a rank that waits in MPICH 4.0.2 keeps its core for 2.5 ms"
    )
    assert note.endswith("It has no setting for that: start no more ranks than cores")
    (note,) = note_on_shared_cores([SPINS], "Open MPI 4.1.4", testbed=False)
    assert "OMPI_MCA_mpi_yield_when_idle=1" in note


def test_one_launch_among_others_on_a_busy_machine_says_nothing() -> None:
    (note,) = note_on_shared_cores([YIELDS, SPINS, YIELDS], "MPICH 5.0.2", testbed=True)
    assert "give their cores to others" in note


def test_costs_that_no_message_has() -> None:
    assert overhead_warnings(CostModel(15e-6, 90e-6)) == []
    (warning,) = overhead_warnings(CostModel(15e-6, 300e-6))
    assert warning.startswith("messages were found to cost 300 us of a core")
